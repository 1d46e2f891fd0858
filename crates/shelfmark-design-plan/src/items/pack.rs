//! Packs chosen rows into tables, and entries into indexes.
//!
//! In one table each row type's keys begin with its name, and an index is shared by row types that
//! have at most one entry each in it: fewer tables and indexes, for some bytes more. Apart, each
//! row type has a table with typed keys.
//!
//! What it is not: no text yet, and no proof.
//!
//! Invariant: two entries of one row are never in one index, and the row types of a collection are
//! in one table, with one beginning.

use std::collections::{BTreeMap, BTreeSet};

use super::arrange::Apart;
use super::beside;
use super::needs::{sorts_as_text, typed};
use super::projection;
use super::ways::{Access, Beside, Market, Place, Rows, Thing};
use crate::families::names::{Names, snake};
use crate::load::Load;
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::{ColumnPath, Model, Predicate, RelationId, Term, Value};
use shelfmark_design_language::syntax::tree::CondOp;

/// The form of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Form {
    /// A column for each attribute.
    Typed,
    /// One attribute as partition key, and a text that begins with the row type as sort key.
    Direct,
    /// A text that begins with the row type as partition key, and a column for each attribute of the
    /// sort key.
    Sorted,
    /// Two texts, of which the first begins with the row type.
    #[default]
    Text,
}

/// Chosen rows with their place.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    /// The candidates that these rows stand for.
    pub(crate) things: Vec<usize>,
    pub(crate) rows: Rows,
    /// The name of the row type.
    pub(crate) name: String,
    /// The name of the table or index.
    pub(crate) table: String,
    pub(crate) form: Form,
    /// The beginning of the partition key's text.
    pub(crate) head: String,
    /// True if several row types lie in the table, so that each has a sort key.
    pub(crate) sorted: bool,
    /// The place of the row that an entry belongs to.
    pub(crate) base: Option<usize>,
    /// True for an entry that shows all that its row holds.
    pub(crate) whole: bool,
}

/// All chosen rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    pub(crate) placed: Vec<Placed>,
    /// The copies that the rows of a relation themselves hold.
    pub(crate) copied: Vec<(RelationId, ColumnPath)>,
}

impl Layout {
    /// Returns the place of a candidate.
    pub(crate) fn of(&self, thing: usize) -> Option<&Placed> {
        self.placed.iter().find(|one| one.things.contains(&thing))
    }

    /// Returns the row itself of a relation.
    pub(crate) fn base(&self, relation: RelationId) -> Option<&Placed> {
        self.placed
            .iter()
            .find(|one| one.rows.relation == relation && one.rows.place == Place::Base)
    }
}

/// Packs the things that the chosen ways use.
pub(crate) fn pack(
    market: &Market<'_>,
    chosen: &[Option<&Access>],
    used: &BTreeSet<usize>,
    apart: Apart<'_>,
) -> Layout {
    let mut layout = Layout::default();
    for thing in used {
        match market.things.get(*thing) {
            Some(Thing::Rows(rows)) => gather(&mut layout, *thing, rows),
            Some(Thing::Copied(relation, path, Beside::Rows)) => {
                layout.copied.push((*relation, path.clone()));
            }
            // Second rows show what the reads of them ask for.
            Some(Thing::Copied(_, _, Beside::Copies)) | None => {}
        }
    }
    forced(market, &mut layout);
    shown(market, chosen, &mut layout);
    let mut names = Names::of("dynamodb");
    tables(market, &mut layout, apart, &mut names);
    indexes(market.model, market.load, &mut layout, &mut names);
    beside::local_indexes(market.model, &mut layout, &mut names);
    projection::widen(market, &mut layout);
    layout
}

/// Adds rows; entries and guards of one key are one.
fn gather(layout: &mut Layout, thing: usize, rows: &Rows) {
    let same = layout.placed.iter_mut().find(|one| {
        one.rows.relation == rows.relation
            && one.rows.place == rows.place
            && one.rows.key == rows.key
            && one.rows.when == rows.when
    });
    match same {
        Some(one) => {
            one.things.push(thing);
            one.rows.shown.extend(rows.shown.iter().cloned());
        }
        None => layout.placed.push(Placed {
            things: vec![thing],
            rows: rows.clone(),
            name: String::new(),
            table: String::new(),
            form: Form::Text,
            head: String::new(),
            sorted: true,
            base: None,
            whole: false,
        }),
    }
}

/// Adds the rows that keep unique values apart, whether or not they are read.
fn forced(market: &Market<'_>, layout: &mut Layout) {
    for (thing, one) in market.things.iter().enumerate() {
        let Thing::Rows(rows) = one else { continue };
        let there = layout.placed.iter().any(|placed| {
            placed.rows.relation == rows.relation
                && matches!(placed.rows.place, Place::Guard | Place::Base)
                && placed.rows.key.paths() == rows.key.paths()
        });
        if rows.place == Place::Guard && !there {
            gather(layout, thing, rows);
        }
    }
}

/// Leaves in entries and second rows only what a read takes from them.
fn shown(market: &Market<'_>, chosen: &[Option<&Access>], layout: &mut Layout) {
    for one in &mut layout.placed {
        let second = one.rows.place.is_entry() || one.rows.place == Place::Copy;
        if !second || one.rows.key.tag.is_some() {
            continue;
        }
        let mut wanted: BTreeSet<ColumnPath> = BTreeSet::new();
        for (need, access) in market.needs.needs.iter().zip(chosen) {
            let Some(access) = access.filter(|access| {
                access.rows.iter().any(|thing| one.things.contains(thing)) && !access.own
            }) else {
                continue;
            };
            wanted.extend(need.own.iter().cloned());
            for (place, behind) in need.behind.iter().enumerate() {
                if access.follows.contains(&place) {
                    wanted.insert(behind.base.clone());
                } else {
                    wanted.extend(behind.shown.iter().cloned());
                }
            }
        }
        one.rows.shown.retain(|path| wanted.contains(path));
    }
}

/// Assigns tables and beginnings to rows.
fn tables(market: &Market<'_>, layout: &mut Layout, apart: Apart<'_>, names: &mut Names) {
    let model = market.model;
    let collected: BTreeSet<usize> = layout
        .placed
        .iter()
        .filter(|one| !one.rows.place.is_entry())
        .filter_map(|one| one.rows.key.tag.as_ref().map(|tag| tag.read))
        .collect();
    let own: Vec<usize> = (0..layout.placed.len())
        .filter(|at| layout.placed.get(*at).is_some_and(|one| !one.rows.place.is_entry()))
        .collect();
    let together = |one: &Placed| {
        let sorts = |path: &ColumnPath| sorts_as_text(&model.path_type(one.rows.relation, path));
        // What a range holds together with other row types stays with them.
        let alone = one.rows.place == Place::Base && one.rows.key.tag.is_none();
        let parted = match apart {
            Apart::All => true,
            Apart::Some(relations) => alone && relations.contains(&one.rows.relation),
        };
        !parted && one.rows.key.sort.iter().all(sorts)
    };
    let packed = own.iter().filter(|at| layout.placed.get(**at).is_some_and(together)).count();
    let shared = packed > 1;
    let common = if shared { names.take("items") } else { String::new() };
    let direct = shared && {
        let rows = own.iter().filter_map(|at| layout.placed.get(*at));
        one_column(model, rows.filter(|one| together(one)).map(|one| &one.rows))
    };
    let mut heads = Heads::default();
    let of_read: BTreeMap<usize, String> = collected
        .iter()
        .map(|read| {
            let first = model.reads.get(*read).and_then(|read| read.sources.first());
            let first = first.map_or(0, |source| source.relation);
            (*read, names.take(&snake(&model.relation(first).name.text)))
        })
        .collect();
    for at in own {
        let Some(one) = layout.placed.get_mut(at) else { continue };
        let relation = snake(&model.relation(one.rows.relation).name.text);
        let tag = one.rows.key.tag.clone();
        let wanted = match one.rows.place {
            Place::Guard => format!("unique_{relation}_{}", parts(model, &one.rows)),
            Place::Copy => format!("{relation}_by_{}", parts(model, &one.rows)),
            _ => relation,
        };
        let head = tag.as_ref().and_then(|tag| of_read.get(&tag.read));
        one.name = match head {
            // The first type of a collection has its name.
            Some(head) if *head == wanted => head.clone(),
            _ => names.take(&wanted),
        };
        one.head = heads.of(head.unwrap_or(&one.name));
        one.form = Form::Text;
        if shared && together(one) {
            one.table.clone_from(&common);
            one.form = if direct { Form::Direct } else { Form::Text };
        } else if let Some(head) = head {
            one.table = format!("{head}_items");
        } else {
            one.table.clone_from(&one.name);
            one.sorted = false;
            one.form = if fits_typed(model, &one.rows, 1, 1) { Form::Typed } else { Form::Text };
        }
    }
}

/// Returns true if a column of a text key has a changing attribute beside one that whoever changes
/// it does not know: then its text cannot be written anew.
pub(super) fn mixes(load: &Load<'_>, rows: &Rows) -> bool {
    let own = |paths: &[ColumnPath]| -> BTreeSet<usize> {
        paths.iter().filter(|path| path.len() == 1).flatten().copied().collect()
    };
    [own(&rows.key.partition), own(&rows.key.sort)].iter().any(|column| {
        load.about(rows.relation).any(|change| {
            change.kind != EffectKind::Insert
                && column.iter().any(|one| change.set.contains(one))
                && column.iter().any(|one| !change.set.contains(one) && !change.key.contains(one))
        })
    })
}

/// Returns true if the columns of an entry's key may be texts: they sort as the values do, and whoever
/// changes one can write it anew.
fn fits_text(model: &Model, load: &Load<'_>, rows: &Rows) -> bool {
    let sorts = |path: &ColumnPath| sorts_as_text(&model.path_type(rows.relation, path));
    rows.key.sort.iter().all(sorts) && !mixes(load, rows) && !is_added_to(load, rows)
}

/// Returns true if some write adds to a number in the key: a text cannot be put together from a sum.
fn is_added_to(load: &Load<'_>, rows: &Rows) -> bool {
    let keys = rows.key.paths();
    let about = load.about(rows.relation);
    let mut added = about.filter(|change| change.kind == EffectKind::Increment);
    let hits = |set: &BTreeSet<usize>| {
        keys.iter().any(|path| matches!(path.as_slice(), [one] if set.contains(one)))
    };
    added.any(|change| hits(&change.set))
}

/// Returns the name of a key's attributes.
pub(super) fn parts(model: &Model, rows: &Rows) -> String {
    let text = |path: &ColumnPath| model.path_text(rows.relation, path).replace('.', "_");
    let all: Vec<String> = rows.key.partition.iter().chain(&rows.key.sort).map(text).collect();
    if all.is_empty() { "all".to_owned() } else { all.join("_") }
}

/// Returns the wanted name of an index: by its key; of a sparse one, whose name stands in each of its
/// entries and items, by its conditions.
fn index_name(model: &Model, relation: &str, rows: &Rows) -> String {
    match rows.when.is_empty() {
        true => format!("{relation}_by_{}", parts(model, rows)),
        false => format!("{relation}{}", some_of(model, rows)),
    }
}

/// Returns what names the rows of a sparse index among all: `_open`, `_due`, `_without_due`.
fn some_of(model: &Model, rows: &Rows) -> String {
    let word = |one: &Predicate| {
        let name = snake(&model.path_text(rows.relation, &one.path).replace('.', "_"));
        match (one.op, one.values.first()) {
            (CondOp::Absent, _) => format!("_without_{name}"),
            (CondOp::Eq, Some(Term::Const(Value::Text(text)))) if is_word(text) => {
                format!("_{}", snake(text))
            }
            (CondOp::Eq, Some(Term::Const(Value::Bool(false)))) => format!("_not_{name}"),
            _ => format!("_{name}"),
        }
    };
    rows.when.iter().map(word).collect()
}

/// Returns true if a text can be a part of a name.
fn is_word(text: &str) -> bool {
    (1..=20).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Returns true if one typed column holds the partition of all rows: one attribute of one type.
fn one_column<'r>(model: &Model, mut rows: impl Iterator<Item = &'r Rows>) -> bool {
    let of = |rows: &Rows| match rows.key.partition.as_slice() {
        [only] if rows.key.shards == 1 => Some(model.path_type(rows.relation, only)).filter(typed),
        _ => None,
    };
    let Some(first) = rows.next().and_then(of) else { return false };
    rows.all(|rows| of(rows).is_some_and(|ty| ty.comparable(&first)))
}

/// Returns true if a key may have a column for each attribute.
fn fits_typed(model: &Model, rows: &Rows, partition_max: usize, sort_max: usize) -> bool {
    let key = &rows.key;
    let columns = key.partition.len().max(1) + usize::from(key.shards > 1);
    let fits = columns <= partition_max && key.sort.len() <= sort_max && key.tag.is_none();
    let good = |path: &ColumnPath| typed(&model.path_type(rows.relation, path));
    fits && key.paths().iter().all(good)
}

/// Returns true if the sort key of an index may have a column for each attribute.
fn fits_sorted(model: &Model, rows: &Rows) -> bool {
    let key = &rows.key;
    let good = |path: &ColumnPath| typed(&model.path_type(rows.relation, path));
    key.tag.is_none() && (1..=4).contains(&key.sort.len()) && key.sort.iter().all(good)
}

/// Assigns entries to indexes of their tables.
fn indexes(model: &Model, load: &Load<'_>, layout: &mut Layout, names: &mut Names) {
    let mut slots: Vec<Slot> = Vec::new();
    let mut entries: Vec<usize> = (0..layout.placed.len())
        .filter(|at| layout.placed.get(*at).is_some_and(|one| one.rows.place == Place::Index))
        .collect();
    // Entries of collections first: all of one must be in one index.
    entries.sort_by_key(|at| {
        layout.placed.get(*at).map(|one| (one.rows.key.tag.is_none(), one.rows.key.tag.clone()))
    });
    for at in entries {
        let Some(one) = layout.placed.get(at) else { continue };
        let relation = one.rows.relation;
        let base = layout
            .placed
            .iter()
            .position(|base| base.rows.relation == relation && base.rows.place == Place::Base);
        let table = base.and_then(|base| layout.placed.get(base)).map(|base| base.table.clone());
        let tag = one.rows.key.tag.as_ref().map(|tag| tag.read);
        let textual = fits_text(model, load, &one.rows);
        let fits = |slot: &Slot, layout: &Layout| {
            let of_tag = tag.is_some() && slot.tags.contains(&tag);
            slot.table == table
                && textual
                && slot.textual
                && !slot.entries.iter().any(|other| {
                    layout.placed.get(*other).is_some_and(|other| other.rows.relation == relation)
                })
                && (of_tag || tag.is_none() || !slot.tags.iter().any(Option::is_some))
        };
        let found = slots.iter_mut().find(|slot| fits(slot, layout));
        match found {
            Some(slot) => {
                slot.entries.push(at);
                slot.tags.push(tag);
            }
            None => slots.push(Slot { table, textual, entries: vec![at], tags: vec![tag] }),
        }
        if let Some(one) = layout.placed.get_mut(at) {
            one.base = base;
        }
    }
    named(model, layout, &slots, names);
}

/// Names indexes, and forms the keys of their entries.
fn named(model: &Model, layout: &mut Layout, slots: &[Slot], names: &mut Names) {
    let mut numbered = 0;
    for slot in slots {
        let shared = slot.entries.len() > 1;
        let mut table = String::new();
        let mut heads = Heads::default();
        for at in &slot.entries {
            let Some(one) = layout.placed.get_mut(*at) else { continue };
            let relation = snake(&model.relation(one.rows.relation).name.text);
            let wanted = index_name(model, &relation, &one.rows);
            if table.is_empty() {
                // Its name stands in each item that has an entry: a short one, and the field's own.
                numbered += usize::from(shared);
                let short = format!("gsi{numbered}");
                table = names.take(if shared { &short } else { &wanted });
            }
            one.name.clone_from(&table);
            one.table.clone_from(&table);
            one.sorted = true;
            let name = match &one.rows.key.tag {
                Some(tag) => {
                    model.reads.get(tag.read).map_or(relation, |read| read.name.text.clone())
                }
                None => relation,
            };
            one.head = heads.of(&name);
            let alone = !shared && fits_typed(model, &one.rows, 4, 4);
            let columns = !shared && !slot.textual && fits_sorted(model, &one.rows);
            one.form = match (alone, columns) {
                (true, _) => Form::Typed,
                (false, true) => Form::Sorted,
                (false, false) => Form::Text,
            };
            one.sorted = shared || !one.rows.key.sort.is_empty();
        }
    }
}

/// The beginnings of the texts of one table or index: short, because every key has one.
#[derive(Debug, Default)]
struct Heads {
    given: BTreeMap<String, String>,
}

impl Heads {
    /// Returns the beginning for a name: the letters that its words begin with, or as many letters
    /// as tell it from the others.
    fn of(&mut self, name: &str) -> String {
        if let Some(head) = self.given.get(name) {
            return head.clone();
        }
        let words: String = name.split('_').filter_map(|word| word.chars().next()).collect();
        let letters: Vec<char> = name.chars().filter(|c| *c != '_').collect();
        let longer = (1..=letters.len()).map(|n| letters.iter().take(n).collect());
        let numbered = (2..).map(|n| format!("{words}{n}"));
        let free = |head: &String| !self.given.values().any(|other| other == head);
        let mut tried = std::iter::once(words.clone()).chain(longer).chain(numbered);
        let head = tried.find(free).unwrap_or_else(|| name.to_owned());
        self.given.insert(name.to_owned(), head.clone());
        head
    }
}

/// One index and its entries.
struct Slot {
    table: Option<String>,
    /// True if all of its keys can be texts.
    textual: bool,
    entries: Vec<usize>,
    tags: Vec<Option<usize>>,
}
