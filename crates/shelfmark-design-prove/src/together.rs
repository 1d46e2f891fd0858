//! Proves effects of one write that may concern one tuple, or one row.
//!
//! A write's effects come one after the other, a plan works out what it puts from what it read
//! before the first of them. `prove::write` looks at each effect for itself; here pairs are looked
//! at: where the inputs may name one tuple twice, the steps must come in an order that is right
//! then too, or the write is refused.
//!
//! Invariant: no failure is returned only when, for every pair of effects and every row family that
//! both concern, the steps leave what the effects leave one after the other, also where both speak
//! of one tuple.

use super::analysis::Analysis;
use super::canon::canonical;
use super::needs::{Need, changes, needs, replaces, stays_out};
use super::paths::all_key_paths;
use super::tally::tallies;
use super::unique::available;
use crate::closure::determines_tuple;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{
    Family, FamilyId, Schema, Stored, WritePlan, WriteStepKind,
};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term, Write};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};

/// The changes that one effect requires of one family.
struct Asked<'a> {
    effect: &'a Effect,
    /// Put, delete, rekey or patch of the tuple's own row.
    own: Option<Need>,
    /// True if a list or count of the parent's row changes.
    parent: bool,
    /// References through which copies are changed in place.
    copies: Vec<usize>,
    /// References through which copies are part of keys.
    moved_copies: Vec<usize>,
}

struct Pairs<'a> {
    model: &'a Model,
    schema: &'a Schema,
    write: &'a Write,
    plan: &'a WritePlan,
}

/// Proves that the effects of a write do not interfere.
pub(super) fn together(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    analysis: &mut Analysis,
) {
    let pairs = Pairs { model, schema, write, plan };
    for (at, first) in write.effects.iter().enumerate() {
        let later = write.effects.iter().skip(at + 1);
        // What is in no row is selected in vain, whatever by.
        let shown = |effect: &Effect| schema.concerned(effect.relation).next().is_some();
        if later.clone().any(|second| pairs.selects_anew(first, second) && shown(second))
            || !pairs.loops_apart(first) && pairs.selects_by_change(first, first) && shown(first)
        {
            let relation = &model.relation(first.relation).name.text;
            let why = format!("a part of the write selects a {relation} by what another changes");
            analysis.fail(4, "W5", why);
        }
        for (id, family) in schema.concerned(first.relation) {
            let asked = pairs.asked(id, first);
            let mut trouble = pairs.alone(id, family, &asked);
            for second in later.clone() {
                let other = pairs.asked(id, second);
                trouble = trouble.or_else(|| pairs.pair(id, family, &asked, &other));
            }
            if let Some(why) = trouble {
                analysis.fail(4, "W5", format!("{}: {why}", family.name.text));
            }
        }
    }
}

impl<'a> Pairs<'a> {
    fn asked(&self, id: FamilyId, effect: &'a Effect) -> Asked<'a> {
        let mut asked = Asked {
            effect,
            own: None,
            parent: false,
            copies: Vec::new(),
            moved_copies: Vec::new(),
        };
        for need in needs(self.model, self.schema, id, effect) {
            match need {
                Need::PatchParent { .. } => asked.parent = true,
                Need::PatchCopies { via } => asked.copies.push(via),
                Need::RekeyCopies { via } => asked.moved_copies.push(via),
                Need::Unplanned(_) => {}
                own => asked.own = Some(own),
            }
        }
        // A new tuple that the family does not hold yet may come into it by the next effect.
        if let (None, Some(family)) = (&asked.own, self.schema.families.get(id))
            && stays_out(self.model, family, effect)
        {
            asked.own = Some(Need::Put);
        }
        asked
    }

    /// Returns the position of the step that does this for an effect.
    fn place(&self, id: FamilyId, effect: &Effect, wanted: fn(&WriteStepKind) -> bool) -> usize {
        let found = self.plan.steps.iter().position(|step| {
            !step.kind.is_read()
                && step.kind.each().is_some() == effect.each.is_some()
                && step.families.contains(&id)
                && wanted(&step.kind)
        });
        // A step that is missing is refused elsewhere.
        found.unwrap_or(usize::MAX)
    }

    /// Returns true if rows hold values that outlive a tuple's delete: copies of its attributes, or
    /// lists and counts of what refers to it. What refers to it is there again once it is made
    /// again.
    fn outlives(&self, id: FamilyId, family: &Family, relation: RelationId) -> bool {
        let keeps = |family: &Family| {
            let lists = |stored: &Stored| !matches!(stored, Stored::Path(_));
            family.source == relation && family.stored.iter().any(lists)
        };
        let copied = |family: &Family| {
            let mut paths = all_key_paths(self.model, family);
            paths.extend(available(self.model, family).iter().cloned());
            paths.extend(family.when.iter().map(|one| one.path.clone()));
            paths.iter().any(|path| {
                let path = canonical(self.model, family.source, path);
                (1..path.len()).any(|at| {
                    let through =
                        path.get(..=at).map(|head| self.model.path_owner(family.source, head));
                    through == Some(relation)
                })
            })
        };
        keeps(family) || copied(family) || self.schema.entries(id).any(|(_, entry)| copied(entry))
    }

    /// Returns how one effect may interfere with itself: by its loop, or through a reference to its
    /// own relation.
    fn alone(&self, id: FamilyId, family: &Family, asked: &Asked<'_>) -> Option<String> {
        let effect = asked.effect;
        if asked.own == Some(Need::Put)
            && asked.parent
            && self.place(id, effect, WriteStepKind::is_put)
                > self.place(id, effect, WriteStepKind::is_patch)
        {
            return Some("its list or count is changed before the row is put".to_owned());
        }
        if let Some(why) = self.own_and_copies(asked, asked) {
            return Some(why.to_owned());
        }
        if effect.each.is_none() || self.loops_apart(effect) {
            return None;
        }
        let harmless = match asked.own {
            Some(Need::Put) => effect.existing == Existing::Fresh,
            Some(Need::Rekey) => effect.kind != EffectKind::Increment && !told_by(&effect.set),
            Some(Need::Patch) => effect.kind == EffectKind::Increment || !told_by(&effect.set),
            _ => true,
        };
        let counted = asked.parent && effect.kind != EffectKind::Insert;
        let relation = &self.model.relation(effect.relation).name.text;
        (!harmless || counted)
            .then(|| format!("the loop may come to one {relation} of {} twice", family.name.text))
    }

    /// Proves that two effects do not interfere in one family.
    fn pair(
        &self,
        id: FamilyId,
        family: &Family,
        first: &Asked<'_>,
        second: &Asked<'_>,
    ) -> Option<String> {
        let relation = &self.model.relation(family.source).name.text;
        let twice = || format!("two parts of the write may concern one {relation}");
        if let (Some(a), Some(b)) = (&first.effect.each, &second.effect.each)
            && (a.relation, &a.predicates) != (b.relation, &b.predicates)
        {
            return Some("two loops of the write go through other rows".to_owned());
        }
        if first.effect.kind == EffectKind::Delete
            && second.effect.kind == EffectKind::Insert
            && first.effect.relation == second.effect.relation
            && !self.apart(first.effect, second.effect)
            && self.outlives(id, family, second.effect.relation)
        {
            return Some("what is deleted and made again is kept in other rows too".to_owned());
        }
        if let (Some(a), Some(b)) = (&first.own, &second.own)
            && !self.own_rows(id, family, (first.effect, a), (second.effect, b))
        {
            return Some(twice());
        }
        for (own, copied) in [(first, second), (second, first)] {
            if let Some(why) = self.own_and_copies(own, copied) {
                return Some(why.to_owned());
            }
            if own.own == Some(Need::Put)
                && copied.parent
                && self.place(id, own.effect, WriteStepKind::is_put)
                    > self.place(id, copied.effect, WriteStepKind::is_patch)
            {
                return Some("its list or count is changed before the row is put".to_owned());
            }
        }
        let copies = |asked: &Asked<'_>| !asked.copies.is_empty();
        let moved = |asked: &Asked<'_>| !asked.moved_copies.is_empty();
        if moved(first) && (copies(second) || moved(second)) || copies(first) && moved(second) {
            return Some(format!("one {relation} may hold copies of both that change"));
        }
        let taken = second.effect.kind != EffectKind::Insert;
        // What a sum or a count of some depends on may have been changed before.
        let rich = || {
            let relation = first.effect.relation;
            relation == second.effect.relation
                && tallies(family).any(|one| one.relation == relation && one.is_rich())
        };
        if (first.parent || rich())
            && second.parent
            && taken
            && !self.apart(first.effect, second.effect)
        {
            return Some("what is kept of a tuple may be taken away twice".to_owned());
        }
        None
    }

    /// Returns true if the steps are right also where both effects concern one tuple.
    fn own_rows(
        &self,
        id: FamilyId,
        family: &Family,
        (first, a): (&Effect, &Need),
        (second, b): (&Effect, &Need),
    ) -> bool {
        let apart = self.apart(first, second);
        // Rows of two tuples never have one key, one before and one after the write.
        let key = self.model.relation(family.source).key();
        let paths = all_key_paths(self.model, family);
        let told_apart = key.iter().all(|column| paths.contains(&vec![*column]));
        let place = |effect: &Effect, wanted| self.place(id, effect, wanted);
        // What is put unless it is there was looked for before the other effect.
        let looked = |effect: &Effect| effect.existing == Existing::Unless;
        let loops = first.each.is_some() || second.each.is_some();
        match (a, b) {
            (Need::Put, Need::Put) => apart || !looked(second),
            (Need::Delete, Need::Delete | Need::Patch) | (Need::Patch, Need::Delete) => true,
            (Need::Patch, Need::Patch) => {
                apart
                    || place(first, WriteStepKind::is_patch)
                        <= place(second, WriteStepKind::is_patch)
            }
            (Need::Delete, Need::Put) => {
                place(first, WriteStepKind::is_delete) < place(second, WriteStepKind::is_put)
                    && (apart || !looked(second))
            }
            // What is replaced is looked for, and found as it was or not at all.
            (Need::Delete, Need::Rekey) if replaces(second) => {
                !loops
                    && place(first, WriteStepKind::is_delete) < place(second, WriteStepKind::is_put)
            }
            (Need::Patch, Need::Put) => {
                apart
                    || place(first, WriteStepKind::is_patch) < place(second, WriteStepKind::is_put)
            }
            (Need::Rekey, Need::Put) => !loops && (apart || second.existing == Existing::Fresh),
            // One tuple that is changed twice to the same is changed once.
            (Need::Rekey, Need::Rekey) => !loops && (apart || same_change(first, second)),
            (Need::Put, Need::Patch) => {
                apart
                    || self.unread_before(
                        second,
                        (
                            place(first, WriteStepKind::is_put),
                            place(second, WriteStepKind::is_patch),
                        ),
                    )
            }
            (Need::Put, Need::Delete) => {
                let places =
                    (place(first, WriteStepKind::is_put), place(second, WriteStepKind::is_delete));
                match told_apart {
                    true => apart || self.unread_before(second, places),
                    false => apart && places.1 < places.0,
                }
            }
            _ => apart && !loops,
        }
    }

    /// Returns true if the put of an earlier step is visible to the later step, and no earlier read
    /// says otherwise.
    fn unread_before(&self, effect: &Effect, (put, later): (usize, usize)) -> bool {
        let reads = self.plan.steps.iter().take(later).any(|step| {
            let mut families = step.families.iter().filter_map(|id| self.schema.families.get(*id));
            step.kind.is_read() && families.any(|family| family.source == effect.relation)
        });
        put < later && !reads
    }

    /// Returns the problem of a row that is put from what was read before, while copies in it
    /// change.
    fn own_and_copies(&self, own: &Asked<'_>, copied: &Asked<'_>) -> Option<&'static str> {
        let vias = || copied.copies.iter().chain(&copied.moved_copies);
        let bad = match own.own {
            None => false,
            Some(Need::Put) => vias().any(|via| !self.refers_elsewhere(own.effect, *via, copied)),
            Some(Need::Rekey) => vias().next().is_some(),
            _ => !copied.moved_copies.is_empty(),
        };
        bad.then_some("a row that is put may hold a copy of what the write changes too")
    }

    /// Returns true if a new tuple surely refers to another tuple than the changed one.
    fn refers_elsewhere(&self, made: &Effect, via: usize, changed: &Asked<'_>) -> bool {
        let given = made.key.iter().find(|(column, _)| *column == via);
        let [key] = self.model.relation(changed.effect.relation).key() else { return false };
        let own = changed.effect.key.iter().find(|(column, _)| column == key);
        match (given, own) {
            (Some((_, Term::Const(a))), Some((_, Term::Const(b)))) => a != b,
            // An optional reference that an insert leaves out is absent.
            (None, _) => made.kind == EffectKind::Insert,
            _ => false,
        }
    }

    /// Returns true if a later effect selects by what an earlier one changes, perhaps of one tuple:
    /// reads before both show it wrongly.
    fn selects_anew(&self, first: &Effect, second: &Effect) -> bool {
        self.selects_by_change(first, second) && !self.apart(first, second)
    }

    fn selects_by_change(&self, first: &Effect, second: &Effect) -> bool {
        let changed = changes(self.model, first);
        first.relation == second.relation
            && first.kind != EffectKind::Delete
            && second.kind != EffectKind::Insert
            && second.key.iter().any(|(column, _)| changed.contains(column))
    }

    /// Returns true if two effects on one relation surely concern two tuples.
    fn apart(&self, first: &Effect, second: &Effect) -> bool {
        apart_in(self.model, self.write, (first, second), |_| true)
    }

    /// Returns true if two rounds of an effect's loop surely concern two tuples.
    fn loops_apart(&self, effect: &Effect) -> bool {
        let Some(each) = &effect.each else { return true };
        let fixed = each.predicates.iter().filter(|one| one.op == CondOp::Eq);
        let mut told: std::collections::BTreeSet<ColumnPath> =
            fixed.map(|one| canonical(self.model, each.relation, &one.path)).collect();
        let key = self.model.relation(effect.relation).key();
        for (_, term) in effect.key.iter().filter(|(column, _)| key.contains(column)) {
            if let Term::Prior(path) = term {
                told.insert(canonical(self.model, each.relation, path));
            }
        }
        determines_tuple(self.model, each.relation, &told)
    }
}

/// Returns true if the tuples of two effects on a relation surely differ in attributes of its key that
/// `shown` lets pass: by constants, or by inputs that the write says to differ.
pub(super) fn apart_in(
    model: &Model,
    write: &Write,
    (first, second): (&Effect, &Effect),
    shown: impl Fn(usize) -> bool,
) -> bool {
    let value = |effect: &'_ Effect, column: usize| {
        let set = effect.set.iter().any(|(at, _)| *at == column);
        effect.key.iter().find(|(at, _)| *at == column && !set).map(|(_, term)| term.clone())
    };
    let key = model.relation(first.relation).key().iter().filter(|column| shown(**column));
    let pairs = key.filter_map(|at| Some((value(first, *at)?, value(second, *at)?)));
    let pairs: Vec<(Term, Term)> = pairs.collect();
    pairs.iter().any(|pair| matches!(pair, (Term::Const(a), Term::Const(b)) if a != b))
        || write.says_apart(&pairs)
}

fn told_by(terms: &[(usize, Term)]) -> bool {
    terms.iter().any(|(_, term)| has_prior(term))
}

/// Returns true if two updates set the same attributes to the same values.
fn same_change(first: &Effect, second: &Effect) -> bool {
    let updates = |effect: &Effect| effect.kind == EffectKind::Update;
    updates(first) && updates(second) && first.set == second.set && !told_by(&first.set)
}

/// Returns true if a term has values of a loop.
pub(super) fn has_prior(term: &Term) -> bool {
    match term {
        Term::Prior(_) => true,
        Term::Call(_, args) => args.iter().any(has_prior),
        _ => false,
    }
}
