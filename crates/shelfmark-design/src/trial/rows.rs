//! Converts the evaluator's rows to those of a store and back.
//!
//! Invariant: a row that went to a [`Shelf`] and came back shows the same attributes; an attribute
//! that it does not carry cannot be read from it.

use std::collections::{BTreeMap, BTreeSet};

use super::shelf::{Ask, Image, Limit, Shelf};
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::schema::{Family, FamilyId, Part, Schema, TableId};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Value};
use shelfmark_design_language::syntax::tree::BoundKind;
use shelfmark_design_prove::eval::rows::{KeyValue, Row, column, key_of};
use shelfmark_design_prove::eval::shelf::{End, Holder, Key, RangeAsk, Reader};
use shelfmark_design_prove::eval::state::compare;
use shelfmark_design_prove::paths::{all_key_paths, asked_by_index};
use shelfmark_design_prove::unique::available;

/// A store behind the evaluator's interface.
pub(super) struct OnShelf<'a> {
    pub(super) model: &'a Model,
    pub(super) schema: &'a Schema,
    pub(super) shelf: &'a dyn Shelf,
}

/// Returns the attributes that a stored row carries: its own, and what the indexes of it need.
fn carried(model: &Model, schema: &Schema, id: FamilyId) -> BTreeSet<ColumnPath> {
    let mut paths =
        schema.families.get(id).map(|family| available(model, family).clone()).unwrap_or_default();
    for family in schema.families.iter().filter(|family| family.base == Some(id)) {
        paths.extend(available(model, family).iter().cloned());
        paths.extend(all_key_paths(model, family));
        paths.extend(asked_by_index(model, schema, family));
    }
    paths
}

/// Returns a row with the attributes that `value` knows.
pub(super) fn image(
    model: &Model,
    schema: &Schema,
    key: &[KeyValue],
    row: &Row,
    value: &dyn Fn(&ColumnPath) -> Option<Value>,
) -> Result<Image, String> {
    let family = schema.families.get(row.family).ok_or("no such row family")?;
    let mut values = BTreeMap::new();
    for path in carried(model, schema, row.family) {
        let name = model.path_text(family.source, &path);
        let found = value(&path)
            .ok_or_else(|| format!("a row of {} does not hold {name}", family.name.text))?;
        values.insert(name, found);
    }
    let mut entries = BTreeMap::new();
    for other in schema.families.iter().filter(|other| other.base == Some(row.family)) {
        let leaf = |term: &Term| match term {
            Term::Column(path) => value(&canonical(model, family.source, path)),
            _ => None,
        };
        let asked = schema.own_conditions(other).iter().all(|one| {
            let values: Option<Vec<Value>> =
                one.values.iter().map(|term| term.compute(&leaf)).collect();
            let found = value(&canonical(model, family.source, &one.path));
            found.zip(values).is_some_and(|(found, values)| compare(one.op, &found, &values))
        });
        if let (true, Some(key)) = (asked, key_of(&other.key, &leaf)) {
            entries.insert(other.table, key);
        }
    }
    Ok(Image {
        table: family.table,
        key: key.to_vec(),
        family: row.family,
        values,
        kept: row.kept.clone(),
        entries,
    })
}

impl OnShelf<'_> {
    /// Returns the evaluator's row of a stored one, as `table` (an index or its base) shows it.
    fn row(&self, table: TableId, image: &Image) -> Option<Row> {
        let (id, family) = self.schema.of_table(table).find(|(id, family)| {
            *id == image.family || (family.base.is_some() && family.base == Some(image.family))
        })?;
        let find =
            |path: &[usize]| image.values.get(&self.model.path_text(family.source, path)).cloned();
        let values = available(self.model, family)
            .iter()
            .filter_map(|path| find(path).map(|value| (path.clone(), value)))
            .collect();
        let count = self.model.relation(family.source).columns.len();
        let origin = (0..count).map(|at| find(&[at]).unwrap_or(Value::Null)).collect();
        Some(Row { family: id, values, kept: image.kept.clone(), origin })
    }

    fn ask(&self, table: TableId, bound: Key) -> Ask {
        Ask {
            step: 0,
            table,
            point: false,
            bound,
            prefix: None,
            low: Limit::Open,
            high: Limit::Open,
            desc: false,
            limit: None,
            holes: BTreeMap::new(),
        }
    }

    /// Returns the range of a family's keys that the wanted values bind, as far as they reach from
    /// the left.
    fn lookup(&self, family: &Family, wanted: &[(ColumnPath, Value)]) -> Result<Ask, String> {
        let leaf = |term: &Term| match term {
            Term::Column(path) => {
                let path = canonical(self.model, family.source, path);
                wanted.iter().find(|(other, _)| *other == path).map(|(_, value)| value.clone())
            }
            _ => None,
        };
        let table = self.schema.tables.get(family.table).ok_or("no such table")?;
        let mut ask = self.ask(family.table, Key::new());
        for found in &family.key {
            if let Some(value) = column(&found.parts, &leaf) {
                ask.bound.push(value);
                continue;
            }
            let texts = found.parts.iter().map_while(|part| match part {
                Part::Hole { .. } | Part::Literal(_) => {
                    match column(&[part.clone(), Part::End], &leaf) {
                        Some(KeyValue::Text(text)) => Some(text),
                        _ => None,
                    }
                }
                Part::End => None,
            });
            let head: String = texts.collect();
            if !head.is_empty() {
                let end =
                    End { kind: BoundKind::Begins, value: KeyValue::Text(head), whole: false };
                (ask.prefix, ask.low, ask.high) = limits(&[end]);
            }
            break;
        }
        if ask.bound.len() < table.partition {
            return Err(format!("the partition of {} is not known", table.name.text));
        }
        ask.point = ask.bound.len() == table.kinds.len() && !table.is_index;
        Ok(ask)
    }
}

impl Reader for OnShelf<'_> {
    fn range(&self, ask: &RangeAsk) -> Result<Vec<Row>, String> {
        let (prefix, low, high) = limits(&ask.ends);
        let asked = Ask {
            step: ask.step,
            table: ask.table,
            point: ask.point,
            bound: ask.bound.clone(),
            prefix,
            low,
            high,
            desc: ask.desc,
            limit: ask.limit,
            holes: ask.holes.clone(),
        };
        let found = self.shelf.read(&asked)?;
        found
            .iter()
            .map(|image| self.row(ask.table, image).ok_or_else(|| "a foreign row".to_owned()))
            .collect()
    }
}

impl Holder for OnShelf<'_> {
    fn matching(
        &self,
        family_id: FamilyId,
        wanted: &[(ColumnPath, Value)],
    ) -> Result<Vec<(Key, Row)>, String> {
        let family = self.schema.families.get(family_id).ok_or("no such row family")?;
        let found = self.shelf.read(&self.lookup(family, wanted)?)?;
        let rows = found.iter().filter_map(|image| {
            let row = self.row(family.table, image)?;
            let fits = row.family == family_id
                && wanted.iter().all(|(path, value)| row.values.get(path) == Some(value));
            fits.then(|| (image.key.clone(), row))
        });
        Ok(rows.collect())
    }

    fn get(&self, table: TableId, key: &Key) -> Result<Option<Row>, String> {
        let ask = Ask { point: true, ..self.ask(table, key.clone()) };
        let found = self.shelf.read(&ask)?;
        Ok(found.first().and_then(|image| self.row(table, image)))
    }

    fn put(&mut self, _: TableId, key: Key, row: Row) -> Result<(), String> {
        let value = |path: &ColumnPath| {
            row.values.get(path).cloned().or_else(|| match path.as_slice() {
                [column] => row.origin.get(*column).cloned(),
                _ => None,
            })
        };
        self.shelf.put(&image(self.model, self.schema, &key, &row, &value)?)
    }

    fn remove(&mut self, table: TableId, key: &Key) -> Result<(), String> {
        self.shelf.remove(table, key)
    }
}

/// Returns the ends of a range in the store's form: the beginning of the column, or its smallest
/// and largest values.
fn limits(ends: &[End]) -> (Option<String>, Limit, Limit) {
    if let [End { kind: BoundKind::Begins, value: KeyValue::Text(text), whole: false }] = ends {
        return (Some(text.clone()), Limit::Open, Limit::Open);
    }
    let (mut low, mut high) = (Limit::Open, Limit::Open);
    for end in ends {
        let value = end.value.clone();
        let behind = match &end.value {
            KeyValue::Text(text) if !end.whole => successor(text).map(KeyValue::Text),
            _ => None,
        };
        // Every text begins with the empty one: behind all of them lies nothing.
        let all = matches!(&end.value, KeyValue::Text(text) if !end.whole && text.is_empty());
        let last = if all { Limit::Open } else { Limit::Included(value.clone()) };
        let through = behind.clone().map_or(last, Limit::Excluded);
        match end.kind {
            BoundKind::Begins => {
                low = higher(low, Limit::Included(value));
                high = lower(high, through);
            }
            BoundKind::From => low = higher(low, Limit::Included(value)),
            BoundKind::After if all => high = lower(high, Limit::Excluded(value)),
            BoundKind::After => {
                let after = behind.map_or(Limit::Excluded(value), Limit::Included);
                low = higher(low, after);
            }
            BoundKind::To => high = lower(high, Limit::Included(value)),
            BoundKind::Before => high = lower(high, Limit::Excluded(value)),
            BoundKind::Through => high = lower(high, through),
        }
    }
    (None, low, high)
}

/// Returns the smallest text above everything that begins with this one.
fn successor(text: &str) -> Option<String> {
    let mut head = text.to_owned();
    while let Some(last) = head.pop() {
        let next = match last {
            '\u{D7FF}' => Some('\u{E000}'),
            other => char::from_u32(u32::from(other) + 1),
        };
        if let Some(next) = next {
            head.push(next);
            return Some(head);
        }
    }
    None
}

fn higher(a: Limit, b: Limit) -> Limit {
    pick(a, b, std::cmp::Ordering::Greater)
}

fn lower(a: Limit, b: Limit) -> Limit {
    pick(a, b, std::cmp::Ordering::Less)
}

/// Returns the narrower of two limits of one side.
fn pick(a: Limit, b: Limit, narrower: std::cmp::Ordering) -> Limit {
    let (Limit::Included(x) | Limit::Excluded(x)) = &a else { return b };
    let (Limit::Included(y) | Limit::Excluded(y)) = &b else { return a };
    match y.cmp(x) {
        std::cmp::Ordering::Equal if matches!(b, Limit::Excluded(_)) => b,
        order if order == narrower => b,
        _ => a,
    }
}
