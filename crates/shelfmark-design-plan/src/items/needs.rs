//! Collects what patterns need of rows: the reads, and the rows that writes go through.
//!
//! What it is not: no candidate and no cost.
//!
//! Invariant: a read without a need has a note that says why, or is of several row types, or is a
//! count.

use std::collections::{BTreeMap, BTreeSet};

use crate::families::counts::Kept;
use crate::families::draft::Ask;
use crate::families::mixed::Mixed;
use crate::families::{Modes, Planner};
use crate::load::{self, Load};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::{
    ColumnPath, Consistency, Model, Predicate, RelationId, Term, Type, canonical,
};
use shelfmark_design_language::syntax::tree::CondOp;
use shelfmark_design_language::target::Target;
use shelfmark_design_prove::unservable;

/// The origin of a need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A read, by its place in the model.
    Read(usize),
    /// The rows that a write goes through, by the write's place.
    Loop(usize),
}

/// Attributes behind one reference.
#[derive(Debug, Clone)]
pub(crate) struct Behind {
    /// The reference, seen from the row.
    pub(crate) base: ColumnPath,
    /// The entity that it refers to.
    pub(crate) owner: RelationId,
    /// The attributes, seen from the row.
    pub(crate) shown: BTreeSet<ColumnPath>,
    /// True if some write changes one of them.
    pub(crate) changes: bool,
    /// True if a point read can follow the reference.
    pub(crate) followed: bool,
    /// True if copies can be found again when they change.
    pub(crate) copied: bool,
}

/// The requirements of one read of one relation.
#[derive(Debug, Clone)]
pub(crate) struct Need {
    pub(crate) origin: Origin,
    pub(crate) ask: Ask,
    /// The same among rows of which the constants hold that the read asks for: of them nobody asks again.
    pub(crate) narrow: Option<Ask>,
    /// The row's own attributes that are shown.
    pub(crate) own: BTreeSet<ColumnPath>,
    pub(crate) behind: Vec<Behind>,
    /// True if one of the known attributes has a list of values.
    pub(crate) list: bool,
    pub(crate) strong: bool,
    pub(crate) rate: f64,
    /// Rows of one call.
    pub(crate) rows: f64,
}

impl Need {
    /// Returns the requirements, and those on rows of which the read's constants hold.
    pub(crate) fn asks(&self) -> impl Iterator<Item = &Ask> {
        std::iter::once(&self.ask).chain(&self.narrow)
    }

    /// Returns the requirements on rows that are there under just these conditions.
    pub(crate) fn among(&self, when: &[Predicate]) -> Option<&Ask> {
        self.asks().find(|ask| ask.when == when)
    }
}

/// All requirements of a model.
pub(crate) struct Needs {
    pub(crate) needs: Vec<Need>,
    pub(crate) mixed: Vec<Mixed>,
    /// Counts and sums that rows keep, by the reads of them.
    pub(crate) counts: Vec<(usize, Kept)>,
    pub(crate) notes: Vec<String>,
}

impl Needs {
    /// Collects them; rows keep the numbers of these reads.
    pub(crate) fn of(
        model: &Model,
        target: &Target,
        load: &Load<'_>,
        kept: &BTreeSet<usize>,
    ) -> Self {
        let modes = Modes { counts: kept, narrow: true };
        let mut rules = Planner::new(model, target, modes, BTreeSet::new());
        rules.weighing = true;
        let mut needs = Vec::new();
        let mut counts = Vec::new();
        for (index, read) in model.reads.iter().enumerate() {
            let name = &read.name.text;
            if read.aggregate.is_some() || kept.contains(&index) {
                match rules.kept(index, read) {
                    Some(kept) => counts.push((index, kept)),
                    None => {
                        if let Some(why) = rules.uncounted(read) {
                            rules.note(format!("{name} is unservable: {why}"));
                        }
                    }
                }
                continue;
            }
            if let Some(why) = unservable(model, read) {
                rules.note(format!("{name} is unservable: {why}"));
                continue;
            }
            match rules.read_ask(index, read) {
                Ok(Some(ask)) if ask.directions() > 1 => rules.note(format!(
                    "{name} has no plan: an index is read in one direction, and this order has two"
                )),
                Ok(Some(ask)) => needs.push(of_read(model, load, &rules, index, ask)),
                Ok(None) => {}
                Err(why) => rules.note(format!("{name} has no plan: {why}")),
            }
        }
        needs.extend(loops(model));
        Self { needs, mixed: std::mem::take(&mut rules.mixed), counts, notes: rules.notes }
    }
}

fn of_read(model: &Model, load: &Load<'_>, rules: &Planner<'_>, index: usize, ask: Ask) -> Need {
    let read = model.reads.get(index);
    let source = read.and_then(|read| read.sources.first());
    let (own, far): (BTreeSet<ColumnPath>, BTreeSet<ColumnPath>) =
        ask.shown.iter().cloned().partition(|path| path.len() == 1);
    let now = |level| matches!(level, Consistency::Strong | Consistency::Session);
    Need {
        origin: Origin::Read(index),
        own,
        behind: behind(model, load, rules, ask.relation, &far),
        list: source.is_some_and(|one| one.predicates.iter().any(|one| one.op == CondOp::In)),
        strong: read.is_some_and(|read| now(read.consistency)),
        rate: read.map_or(1.0, |read| load::rate(&read.facts)),
        rows: read.map_or(1.0, |read| load::rows_read(model, read, 0)),
        narrow: narrow(model, rules.constants(index), &ask),
        ask,
    }
}

/// Returns requirements on rows of which constants hold; `None` where the read asks for none.
fn narrow(model: &Model, constants: Vec<Predicate>, ask: &Ask) -> Option<Ask> {
    let fixed = |path: &ColumnPath| constants.iter().any(|one| one.path == *path);
    let equal: Vec<ColumnPath> = ask.equal.iter().filter(|path| !fixed(path)).cloned().collect();
    if equal.len() == ask.equal.len() {
        return None;
    }
    let mut narrow = Ask::new(model, ask.relation, equal, ask.tail.clone());
    narrow.when = ask.when.iter().cloned().chain(constants).collect();
    narrow.shown.clone_from(&ask.shown);
    Some(narrow)
}

/// Groups attributes by the reference that they lie behind.
fn behind(
    model: &Model,
    load: &Load<'_>,
    rules: &Planner<'_>,
    relation: RelationId,
    far: &BTreeSet<ColumnPath>,
) -> Vec<Behind> {
    let mut groups: BTreeMap<ColumnPath, BTreeSet<ColumnPath>> = BTreeMap::new();
    for path in far {
        let base = path.split_last().map_or(Vec::new(), |(_, base)| base.to_vec());
        groups.entry(canonical(model, relation, &base)).or_default().insert(path.clone());
    }
    let found = groups.into_iter().map(|(base, shown)| {
        let first = shown.iter().next().cloned().unwrap_or_default();
        let owner = model.path_owner(relation, &first);
        Behind {
            changes: shown.iter().any(|path| load.changes_at(model, relation, path)),
            followed: base.len() == 1 && model.relation(owner).key().len() == 1,
            copied: !shown.iter().any(|path| rules.is_out_of_reach(relation, path)),
            base,
            owner,
            shown,
        }
    });
    found.collect()
}

/// Returns the rows that loops of writes go through.
fn loops(model: &Model) -> Vec<Need> {
    let mut found = Vec::new();
    for (index, write) in model.writes.iter().enumerate() {
        for effect in &write.effects {
            let Some(each) = &effect.each else { continue };
            if !each.predicates.iter().all(|one| one.op == CondOp::Eq) {
                continue;
            }
            let known = load::equal(model, each.relation, &each.predicates);
            let mut ask =
                Ask::new(model, each.relation, known.iter().cloned().collect(), Vec::new());
            ask.shown = (0..model.relation(each.relation).columns.len()).map(|n| vec![n]).collect();
            found.push(Need {
                origin: Origin::Loop(index),
                own: compared(model, effect, &known),
                behind: Vec::new(),
                list: false,
                strong: false,
                rate: load::rate(&write.facts),
                rows: load::rows_of(model, each.relation, &known),
                narrow: None,
                ask,
            });
        }
    }
    found
}

/// Returns what a loop over the tuples that it changes selects by beside their key, and its rows must show.
fn compared(model: &Model, effect: &Effect, known: &BTreeSet<ColumnPath>) -> BTreeSet<ColumnPath> {
    let itself = effect.each.as_ref().is_some_and(|each| each.relation == effect.relation);
    if effect.kind == EffectKind::Insert || !itself {
        return BTreeSet::new();
    }
    let key = model.relation(effect.relation).key();
    let compares = |(column, term): &&(usize, Term)| {
        let own = *term == Term::Prior(vec![*column]);
        !own && !key.contains(column) && !known.contains(&vec![*column])
    };
    effect.key.iter().filter(compares).map(|(column, _)| vec![*column]).collect()
}

/// Returns true if values of the type may stand in a key of typed columns.
pub(crate) fn typed(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::List(..) => false,
        Type::Bytes(sizes) => sizes.min > 0,
        Type::Text(domain) => domain.min > 0,
        Type::Enum(words) => words.iter().all(|word| !word.is_empty()),
        _ => true,
    }
}

/// Returns true if texts of values sort as the values do.
pub(crate) fn sorts_as_text(ty: &Type) -> bool {
    match ty {
        Type::Int(Some((low, _))) => *low >= 0,
        Type::Int(None) | Type::Decimal(_) | Type::List(..) => false,
        _ => true,
    }
}
