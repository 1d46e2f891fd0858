//! O4: one row for each source, and no row of two.

use std::collections::BTreeSet;

use super::canon::canonical;
use super::range::{begin_apart, columns_may_meet};
use crate::key::facts::{ambiguous_hole, codec_is_total};
use crate::model::closure::determines_tuple;
use crate::model::schema::{Family, FamilyId, Part, Schema};
use crate::model::{ColumnPath, Model, Term};

/// What is wrong with a family's keys.
#[derive(Debug, Clone)]
pub(crate) enum Clash {
    /// Two sources of the family have one key.
    Collapse(String),
    /// One text can be the key of two sources, because a part's end cannot be told.
    Ambiguous(String),
    /// A row of another family can have the same key.
    Meets(String),
    /// A value that the codec cannot write.
    Unwritable(String),
}

impl Clash {
    pub(crate) fn text(&self) -> &str {
        let (Self::Collapse(text)
        | Self::Ambiguous(text)
        | Self::Meets(text)
        | Self::Unwritable(text)) = self;
        text
    }
}

/// The attributes that a key's text tells.
pub(crate) fn key_paths(model: &Model, family: &Family) -> BTreeSet<ColumnPath> {
    family
        .key
        .iter()
        .flat_map(|column| &column.parts)
        .filter_map(|part| match part {
            Part::Hole { term: Term::Column(path), .. } => {
                Some(canonical(model, family.source, path))
            }
            _ => None,
        })
        .collect()
}

/// Returns the first thing that keeps the family from having one row for each source.
///
/// Cost: each family is compared once with those of its table; asked again, it is remembered.
pub(crate) fn clash(model: &Model, schema: &Schema, id: FamilyId) -> Option<Clash> {
    match schema.lookup.clash(id) {
        Some(known) => known.get_or_init(|| find(model, schema, id)).clone(),
        None => find(model, schema, id),
    }
}

/// Whether a row of one family may have the key of a row of the other, by their texts.
pub(crate) fn keys_may_meet(family: &Family, other: &Family) -> bool {
    let columns = || family.key.iter().zip(&other.key);
    // What begins otherwise is told apart at once; automata are for the rest.
    !columns().any(|(a, b)| begin_apart(&a.parts, &b.parts))
        && columns().all(|(a, b)| columns_may_meet(&a.parts, &b.parts))
}

fn find(model: &Model, schema: &Schema, id: FamilyId) -> Option<Clash> {
    let family = schema.families.get(id)?;
    if let Some(base) = family.base {
        // The key of an entry holds the key of its row.
        return clash(model, schema, base);
    }
    let unwritable =
        family.key.iter().flat_map(|column| &column.parts).find_map(|part| match part {
            Part::Hole { ty, codec, term } if !codec_is_total(ty, *codec) => Some(term),
            _ => None,
        });
    if let Some(term) = unwritable {
        let name = super::order::term_text(model, family.source, term);
        return Some(Clash::Unwritable(format!("the codec of {name} cannot write all its values")));
    }
    for column in &family.key {
        if let Some(Part::Hole { term, .. }) = ambiguous_hole(&column.parts) {
            let name = super::order::term_text(model, family.source, term);
            let text =
                format!("{name} may hold what follows it in the key, so two keys can be one text");
            return Some(Clash::Ambiguous(text));
        }
    }
    let paths = key_paths(model, family);
    if !determines_tuple(model, family.source, &paths) {
        let names: Vec<String> =
            paths.iter().map(|path| model.path_text(family.source, path)).collect();
        let source = &model.relation(family.source).name.text;
        return Some(Clash::Collapse(format!(
            "the key of {} ({}) does not determine the {source}, so two of them are one row",
            family.name.text,
            names.join(", ")
        )));
    }
    let key = family.key.iter().map(|column| column.parts.as_slice());
    schema.like(family.table, key).find_map(|(other_id, other)| {
        let meets = other_id != id && keys_may_meet(family, other);
        meets.then(|| {
            Clash::Meets(format!(
                "{} and {} can have the same key",
                family.name.text, other.name.text
            ))
        })
    })
}

/// The attributes that a row shows: those of its key and those it stores.
pub(crate) fn available(model: &Model, family: &Family) -> BTreeSet<ColumnPath> {
    use crate::model::schema::Stored;
    let mut paths = key_paths(model, family);
    for stored in &family.stored {
        if let Stored::Path(path) = stored {
            paths.insert(canonical(model, family.source, path));
        }
    }
    paths
}
