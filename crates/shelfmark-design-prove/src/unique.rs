//! Proves O4: one row for each source, and no row of two.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::canon::{canonical, canonical_term};
use super::range::{begin_apart, columns_may_meet};
use crate::closure::determines_tuple;
use crate::key::facts::{codec_is_total, endless_hole};
use crate::key::language::Language;
use shelfmark_design_language::model::schema::{Family, FamilyId, Part, Schema, Stored};
use shelfmark_design_language::model::{ColumnPath, Model, Term};
use shelfmark_design_language::notes::Notes;
use shelfmark_design_language::syntax::tree::CondOp;

/// Cached results about a family.
#[derive(Default)]
struct Known {
    /// The attributes that its rows show.
    shown: OnceLock<BTreeSet<ColumnPath>>,
    /// True if its key distinguishes tuples.
    key_tells: OnceLock<bool>,
}

/// A defect of a family's keys.
#[derive(Debug, Clone)]
pub enum Clash {
    /// Two sources of the family have one key.
    Collapse(String),
    /// One text can be the key of two sources, because the end of a part is ambiguous.
    Ambiguous(String),
    /// A row of another family, the one named, can have the same key.
    Meets(FamilyId, String),
    /// A value that the codec cannot write.
    Unwritable(String),
}

impl Clash {
    /// Returns the message.
    pub fn text(&self) -> &str {
        let (Self::Collapse(text)
        | Self::Ambiguous(text)
        | Self::Meets(_, text)
        | Self::Unwritable(text)) = self;
        text
    }
}

/// Returns the attributes that a key's text determines.
pub fn key_paths(model: &Model, family: &Family) -> BTreeSet<ColumnPath> {
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

/// Returns the attributes that have a single value in all rows of a sparse family.
fn guarded(model: &Model, family: &Family) -> BTreeSet<ColumnPath> {
    let equal = family.when.iter().filter(|one| one.op == CondOp::Eq);
    equal.map(|one| canonical(model, family.source, &one.path)).collect()
}

/// Returns true if a key distinguishes tuples only among those that a sparse family holds: under
/// the key of another tuple a foreign row may lie.
pub fn tells_only_its_own(model: &Model, family: &Family) -> bool {
    !family.when.is_empty() && !key_tells(model, family)
}

/// Returns the attributes that can be read off a key where some hole's end cannot be told: from the left
/// up to that hole, from the right over parts of fixed length and over those that never hold what
/// the text before them ends with.
fn told_paths(model: &Model, family: &Family) -> BTreeSet<ColumnPath> {
    let mut told = guarded(model, family);
    for column in &family.key {
        let parts = column.parts.as_slice();
        let open = endless_hole(parts)
            .and_then(|hole| parts.iter().position(|part| std::ptr::eq(part, hole)));
        let (head, rest) = parts.split_at(open.unwrap_or(parts.len()));
        for part in head.iter().chain(told_from_right(rest)) {
            if let Part::Hole { term: Term::Column(path), .. } = part {
                told.insert(canonical(model, family.source, path));
            }
        }
    }
    told
}

/// Returns the parts of a column whose texts can be found from its end: by their length, or by
/// their beginning. When all of them can, the first, whose end cannot be told from the left, is
/// what is left over.
fn told_from_right(parts: &[Part]) -> &[Part] {
    let begins = |at: usize, part: &Part| {
        let before = at.checked_sub(1).and_then(|before| parts.get(before));
        let Some(Part::Literal(text)) = before else { return at == 0 };
        text.bytes().last().is_some_and(|mark| !Language::of(part).bytes().contains(mark))
    };
    let open = parts
        .iter()
        .enumerate()
        .rposition(|(at, part)| !Language::of(part).is_fixed_length() && !begins(at, part));
    parts.get(open.map_or(0, |open| open + 1)..).unwrap_or(&[])
}

/// Returns the first defect that keeps the family from having one row for each source.
///
/// Cost: each family is compared once with those of its table; asked again, it is remembered.
pub fn clash(model: &Model, schema: &Schema, id: FamilyId) -> Option<Clash> {
    let notes = schema.lookup.notes(id).map(Notes::get::<OnceLock<Option<Clash>>>);
    match notes {
        Some(known) => known.get_or_init(|| find(model, schema, id)).clone(),
        None => find(model, schema, id),
    }
}

/// Returns true if a row of one family may have the key of a row of the other, by their texts.
pub fn keys_may_meet(family: &Family, other: &Family) -> bool {
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
    let ambiguous = family.key.iter().find_map(|column| endless_hole(&column.parts));
    // What can be told of the key may be enough, whatever runs into what beside it.
    if let Some(Part::Hole { term, .. }) = ambiguous
        && !determines_tuple(model, family.source, &told_paths(model, family))
    {
        let name = super::order::term_text(model, family.source, term);
        let text =
            format!("{name} may hold what follows it in the key, so two keys can be one text");
        return Some(Clash::Ambiguous(text));
    }
    let paths = key_paths(model, family);
    let known: BTreeSet<ColumnPath> = paths.union(&guarded(model, family)).cloned().collect();
    if !determines_tuple(model, family.source, &known) {
        let parts = family.key.iter().flat_map(|column| &column.parts);
        let mut names: Vec<String> = Vec::new();
        for part in parts {
            if let Part::Hole { term, .. } = part
                && !matches!(term, Term::Const(_))
            {
                let term = canonical_term(model, family.source, term);
                let name = super::order::term_text(model, family.source, &term);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
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
            let (one, other) = (&family.name.text, &other.name.text);
            Clash::Meets(other_id, format!("{one} and {other} can have the same key"))
        })
    })
}

/// Returns the attributes that a row shows: those of its key and those it stores.
///
/// Cost: worked out once for each family, then remembered.
pub fn available<'f>(model: &Model, family: &'f Family) -> &'f BTreeSet<ColumnPath> {
    family.notes.get::<Known>().shown.get_or_init(|| {
        let mut paths = key_paths(model, family);
        for stored in &family.stored {
            if let Stored::Path(path) = stored {
                paths.insert(canonical(model, family.source, path));
            }
        }
        paths
    })
}

/// Returns true if the attributes of the key distinguish tuples, whatever the condition of a sparse
/// family.
///
/// Cost: as of [`available`].
pub fn key_tells(model: &Model, family: &Family) -> bool {
    *family
        .notes
        .get::<Known>()
        .key_tells
        .get_or_init(|| determines_tuple(model, family.source, &key_paths(model, family)))
}
