//! Checks items against the row families that the model has in their tables: types, sizes, enums, what may
//! not be absent, and how many rows a partition has.
//!
//! What it is not: a check of what the engine stores. Items come as plain JSON, from writes that were seen
//! or from a scan.
//!
//! Invariant: what is told of an item names an attribute and what is declared of it, never what it holds.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};
use shelfmark_design_language::model::schema::{Family, Part, Schema};
use shelfmark_design_language::model::types::{TextDomain, Type};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, canonical};
use shelfmark_design_plan::volume::{Figure, partition, rows};
use shelfmark_design_prove::calls::Calls;

use crate::template::Template;

/// Characters of a UUID and of a ULID as texts.
const UUID_CHARS: usize = 36;
const ULID_CHARS: usize = 26;
/// Row types of a partition that are counted at once. Source: ours.
const FAMILIES_COUNTED_MAX: usize = 64;

/// A finding about an item or a partition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Broken {
    /// `type`, `missing`, `row` or `partition`.
    pub kind: &'static str,
    /// The attribute, row family or table.
    pub about: String,
    /// The declaration that does not hold.
    pub message: String,
}

/// An attribute of a row family.
#[derive(Debug, Clone)]
struct Attribute {
    /// Its column.
    column: String,
    /// As the model names it: `User.email`.
    name: String,
    ty: Type,
    /// True if a row has it, in an attribute of its own.
    needed: bool,
}

/// A row family of a table.
#[derive(Debug, Clone)]
struct Rows {
    name: String,
    key: Vec<Template>,
    attributes: Vec<Attribute>,
    /// Rows of one partition at most, as declared, and by which attributes.
    most: Option<(f64, String)>,
}

/// A table.
#[derive(Debug, Clone)]
struct OfTable {
    name: String,
    key: Vec<String>,
    partition: usize,
    rows: Vec<Rows>,
}

/// The row families of a schema's tables.
#[derive(Debug, Clone)]
pub struct Items(Vec<OfTable>);

impl Items {
    /// Collects the row families.
    #[must_use]
    pub fn of(model: &Model, schema: &Schema, calls: &Calls<'_>) -> Self {
        let tables = schema.tables.iter().enumerate().filter(|(_, table)| !table.is_index);
        let tables = tables.map(|(id, table)| OfTable {
            name: table.name.text.clone(),
            key: calls.key_names(id).into_iter().map(str::to_owned).collect(),
            partition: table.partition,
            rows: schema
                .of_table(id)
                .map(|(family_id, family)| {
                    rows_of(model, schema, family, calls.attributes(family_id))
                })
                .collect(),
        });
        Self(tables.collect())
    }

    /// Checks an item of a table.
    #[must_use]
    pub fn check(&self, table: &str, item: &Map<String, Json>) -> Vec<Broken> {
        let Some(table) = self.0.iter().find(|own| own.name == table) else { return Vec::new() };
        match table.family(item) {
            Some((_, rows)) => rows.check(item),
            None => vec![Broken {
                kind: "row",
                about: table.name.clone(),
                message: "a row has a key that no row of the model has".to_owned(),
            }],
        }
    }

    /// Counts a row of a table, and tells what its partition has too much of: with each further row again.
    /// Rows come in key order, `partitions` is one for each walk.
    pub fn count(
        &self,
        partitions: &mut Partitions,
        table: &str,
        item: &Map<String, Json>,
    ) -> Option<Broken> {
        let table = self.0.iter().find(|own| own.name == table)?;
        let partition = Some(table.partition(item));
        if partition != partitions.at {
            partitions.at = partition;
            partitions.counts = vec![0; table.rows.len().min(FAMILIES_COUNTED_MAX)];
        }
        let (place, rows) = table.family(item)?;
        let count = partitions.counts.get_mut(place)?;
        *count += 1;
        let (most, by) = rows.most.as_ref()?;
        (*count as f64 > *most).then(|| Broken {
            kind: "partition",
            about: rows.name.clone(),
            message: format!("a partition has {count} rows or more; one {by} has at most {most}"),
        })
    }
}

impl OfTable {
    /// Returns the row family of an item with its place: that whose templates its key has.
    fn family(&self, item: &Map<String, Json>) -> Option<(usize, &Rows)> {
        let fits = |rows: &Rows| {
            self.key.iter().zip(&rows.key).all(|(name, template)| match item.get(name) {
                Some(Json::String(text)) => template.matches(text),
                Some(other) => !other.is_null(),
                None => false,
            })
        };
        let found = self.rows.iter().enumerate().filter(|(_, rows)| fits(rows));
        found.max_by_key(|(_, rows)| rows.key.iter().map(Template::weight).sum::<usize>())
    }

    /// Returns the partition key of an item, as text that is compared and not kept.
    fn partition(&self, item: &Map<String, Json>) -> String {
        let values = self.key.iter().take(self.partition).map(|name| item.get(name));
        values.map(|own| own.unwrap_or(&Json::Null).to_string()).collect::<Vec<_>>().join(",")
    }
}

fn rows_of(
    model: &Model,
    schema: &Schema,
    family: &Family,
    attributes: Vec<(&str, ColumnPath)>,
) -> Rows {
    let source = family.source;
    let mut in_key = BTreeSet::new();
    for part in family.key.iter().flat_map(|column| &column.parts) {
        if let Part::Hole { term, .. } = part {
            term.columns(&mut |path| {
                in_key.insert(canonical(model, source, path));
            });
        }
    }
    let relation = &model.relation(source).name.text;
    let attributes = attributes.into_iter().map(|(column, path)| Attribute {
        column: column.to_owned(),
        name: format!("{relation}.{}", model.path_text(source, &path)),
        ty: model.path_type(source, &path),
        // What stands in the key already need not be there a second time.
        needed: !is_optional(model, source, &path)
            && !in_key.contains(&canonical(model, source, &path)),
    });
    let (known, _) = partition(model, schema, family);
    let by = known.iter().map(|path| model.path_text(source, path)).collect::<Vec<_>>().join(", ");
    let most = rows(model, source, &known, Figure::Worst).filter(|_| !known.is_empty());
    Rows {
        name: family.name.text.clone(),
        key: family.key.iter().map(|column| Template::of(&column.parts)).collect(),
        attributes: attributes.collect(),
        most: most.map(|most| (most, by)),
    }
}

/// Returns true if an attribute or a reference on its path may be absent, or is an empty list.
fn is_optional(model: &Model, source: RelationId, path: &[usize]) -> bool {
    (1..=path.len()).any(|length| {
        let head = path.get(..length).unwrap_or_default();
        let owner = model.relation(model.path_owner(source, head));
        let column = head.last().and_then(|last| owner.columns.get(*last));
        column.is_none_or(|own| own.optional || matches!(own.ty, Type::List(..)))
    })
}

impl Rows {
    fn check(&self, item: &Map<String, Json>) -> Vec<Broken> {
        let broken = self.attributes.iter().filter_map(|own| {
            let value = item.get(&own.column).filter(|value| !value.is_null());
            let (kind, message) = match value {
                None if own.needed => ("missing", "is absent and not optional".to_owned()),
                None => return None,
                Some(value) => ("type", wrong(value, &own.ty)?),
            };
            let rows = &self.name;
            let message = format!("{message}, in a row of {rows}");
            Some(Broken { kind, about: own.name.clone(), message })
        });
        broken.collect()
    }
}

/// Returns what is wrong with a value of a type; `None` if nothing is.
fn wrong(value: &Json, ty: &Type) -> Option<String> {
    let is = |fits: bool| (!fits).then(|| format!("is not {}", ty.a_name()));
    match (ty, value) {
        (Type::Text(domain), Json::String(text)) => outside(text, domain),
        (Type::Enum(words), Json::String(text)) => {
            (!words.contains(text)).then(|| format!("is none of {}", words.join(", ")))
        }
        (Type::Uuid, Json::String(text)) => is(text.len() == UUID_CHARS),
        (Type::Ulid, Json::String(text)) => is(text.len() == ULID_CHARS),
        (Type::Int(range), Json::Number(number)) => match number.as_i64() {
            Some(number) => beyond(number, *range),
            // A whole number of more digits is still one.
            None => is(range.is_none() && !number.to_string().contains(['.', 'e', 'E'])),
        },
        (Type::Decimal(range), Json::Number(number)) => {
            let (low, high) = (*range)?;
            let within = number.as_f64().is_some_and(|own| low as f64 <= own && own <= high as f64);
            (!within).then(|| format!("is not within {low}..{high}"))
        }
        // The requests of a target write moments as numbers or as texts.
        (Type::Timestamp | Type::Date, Json::String(_) | Json::Number(_)) => None,
        (Type::Bool, Json::Bool(_)) => None,
        // Plain JSON has them as `0x` and digits.
        (Type::Bytes(sizes), Json::String(text)) => match text.strip_prefix("0x") {
            Some(hex) if sizes.holds(hex) => None,
            Some(_) => Some("has another number of bytes than is declared".to_owned()),
            None => is(false),
        },
        (Type::List(element, most), Json::Array(values)) => match most {
            Some(most) if values.len() as u64 > *most => {
                Some(format!("has more than {most} elements"))
            }
            _ => values
                .iter()
                .find_map(|own| wrong(own, element))
                .map(|why| format!("has an element that {why}")),
        },
        _ => is(false),
    }
}

fn beyond(number: i64, range: Option<(i64, i64)>) -> Option<String> {
    let (low, high) = range?;
    (!(low..=high).contains(&number)).then(|| format!("is not within {low}..{high}"))
}

fn outside(text: &str, domain: &TextDomain) -> Option<String> {
    let length = text.chars().count() as u64;
    if let Some(max) = domain.max.filter(|max| length > *max) {
        return Some(format!("is longer than {max} characters"));
    }
    if length < domain.min {
        return Some(format!("is shorter than {} characters", domain.min));
    }
    (!domain.holds(text)).then(|| "has a character that its type excludes".to_owned())
}

/// Rows of the partition that a walk in key order is at, by row family.
#[derive(Debug, Clone, Default)]
pub struct Partitions {
    at: Option<String>,
    counts: Vec<u64>,
}
