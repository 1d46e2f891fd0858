//! The keys of a schema's tables and indexes as requests name them, and the shapes of requests by them.
//!
//! Invariant: a request of a table that the schema does not have gets a shape too, whose texts are `*`.

use std::collections::BTreeMap;

use shelfmark_design_language::model::schema::{Schema, TableId};
use shelfmark_design_prove::calls::Calls;

use crate::asked::{Asked, AskedBound, AskedOrder, Text};
use crate::shape::{Bound, Forms, Kind, Part, STRANGE, Shape};
use crate::template::Template;

/// A column of a key.
#[derive(Debug, Clone)]
pub(crate) struct KeyColumn {
    /// The name.
    pub(crate) name: String,
    /// True if it descends.
    pub(crate) descending: bool,
    /// The templates of its texts, the most specific first.
    templates: Vec<Template>,
}

/// The key of a table or index.
#[derive(Debug, Clone)]
pub(crate) struct TableKey {
    /// Its place in the schema.
    pub(crate) id: TableId,
    /// The columns, partition key first.
    pub(crate) columns: Vec<KeyColumn>,
    /// True for an index.
    pub(crate) is_index: bool,
}

/// The keys of a schema's tables and indexes.
#[derive(Debug, Clone)]
pub struct Tables(BTreeMap<String, TableKey>);

impl Tables {
    /// Collects the keys of a schema.
    #[must_use]
    pub fn of(schema: &Schema, calls: &Calls<'_>) -> Self {
        let keys = schema.tables.iter().enumerate().map(|(id, table)| {
            let columns = calls.key_names(id).into_iter().enumerate().map(|(at, name)| {
                let parts = schema.of_table(id).filter_map(|(_, family)| family.key.get(at));
                let mut templates: Vec<Template> =
                    parts.map(|column| Template::of(&column.parts)).collect();
                templates.sort_by_key(|own| (std::cmp::Reverse(own.weight()), own.form()));
                templates.dedup();
                let descending = table.desc.get(at).copied().unwrap_or(false);
                KeyColumn { name: name.to_owned(), descending, templates }
            });
            let columns = columns.collect();
            (table.name.text.clone(), TableKey { id, columns, is_index: table.is_index })
        });
        Self(keys.collect())
    }

    /// Returns the key of a table, or of its index.
    pub(crate) fn find(&self, table: &str, index: Option<&str>) -> Option<&TableKey> {
        self.0.get(index.unwrap_or(table)).filter(|own| own.is_index == index.is_some())
    }

    /// Returns true if the schema has the table.
    #[must_use]
    pub fn has(&self, table: &str) -> bool {
        self.find(table, None).is_some()
    }

    /// Returns the names of the tables, without indexes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, own)| !own.is_index).map(|(name, _)| name.as_str())
    }

    /// Returns the shape of what is asked.
    #[must_use]
    pub fn shape(&self, asked: &Asked) -> Shape {
        let key = self.find(&asked.table, asked.index.as_deref());
        let place = |name: &str| key?.columns.iter().position(|own| own.name == name);
        let mut parts: Vec<(Option<usize>, Part)> = Vec::new();
        for (name, bound) in &asked.bound {
            let at = place(name);
            // Of what a put writes, the key alone is a matter of shape.
            if at.is_none() && asked.kind == Kind::Put && key.is_some() {
                continue;
            }
            let column = at.and_then(|at| key?.columns.get(at));
            parts.push((at, Part { column: name.clone(), bound: bound_of(column, bound) }));
        }
        if asked.kind == Kind::Put && key.is_none() {
            parts.clear();
        }
        parts.sort_by(|(at, one), (other_at, other)| {
            let last = |at: &Option<usize>| at.unwrap_or(usize::MAX);
            (last(at), &one.column).cmp(&(last(other_at), &other.column))
        });
        let is_whole = key.is_some_and(|key| {
            let bound = parts
                .iter()
                .filter(|(at, part)| at.is_some() && matches!(part.bound, Bound::Equal(_)));
            bound.count() >= key.columns.len()
        });
        let backward = match &asked.order {
            AskedOrder::Key { backward } => *backward,
            AskedOrder::Column { name, descending } => {
                let column = place(name).and_then(|at| key?.columns.get(at));
                column.map_or(*descending, |own| own.descending != *descending)
            }
        };
        Shape {
            kind: asked.kind,
            table: asked.table.clone(),
            index: asked.index.clone(),
            parts: parts.into_iter().map(|(_, part)| part).collect(),
            changes: asked.changes.clone(),
            // One row has no order.
            backward: backward && !is_whole,
            limited: asked.limited && !is_whole,
            filtered: asked.filtered,
        }
    }
}

fn bound_of(column: Option<&KeyColumn>, bound: &AskedBound) -> Bound {
    let begun = |text: &Text| forms(column, text, Template::begun);
    match bound {
        AskedBound::Equal(text) => {
            Bound::Equal(forms(column, text, |own, text| own.matches(text).then(|| own.form())))
        }
        AskedBound::Prefix(text) => Bound::Prefix(begun(text)),
        AskedBound::Range(from, to) => Bound::Range {
            from: from.is_some(),
            to: to.is_some(),
            forms: from.as_ref().or(to.as_ref()).map_or_else(Forms::any, begun),
        },
    }
}

/// Returns the forms of a text by the templates of its column.
fn forms(
    column: Option<&KeyColumn>,
    text: &Text,
    form: impl Fn(&Template, &str) -> Option<String>,
) -> Forms {
    let (Some(column), Some(text)) = (column, text) else { return Forms::any() };
    let mut found: Vec<String> =
        column.templates.iter().filter_map(|own| form(own, text)).collect();
    found.dedup();
    if found.is_empty() {
        found.push(STRANGE.to_owned());
    }
    Forms(found)
}
