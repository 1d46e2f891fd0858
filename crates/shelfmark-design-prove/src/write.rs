//! Proves one write: its plan turns the rows of a state into the rows of the changed state.
//!
//! Claimed for a plan executed alone. Whether it may run beside others is said by lints.
//!
//! Invariant: no failure is returned only when every row family that the write concerns is
//! changed as it must be, from values that are known, and nothing else is.

use std::collections::BTreeSet;

use super::analysis::Analysis;
use super::calls::Calls;
use super::canon::canonical;
use super::conditions::conditions;
use super::exact::{Wanted, exact_read};
use super::needs::{Need, loses_key, needs, replaces};
use super::once::once_each;
use super::own_key::own_bindings;
use super::paths::all_key_paths;
use super::room::fits;
use super::sizes;
use super::stated;
use super::tally::{Tally, Turn, tallies};
use super::together::{has_prior, together};
use super::unique::{available, clash, key_paths};
use super::write_case::WriteCase;
use shelfmark_design_language::certificate::RowsMax;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{
    Family, FamilyId, Schema, Stored, WritePlan, WriteStep, WriteStepKind,
};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term, Value, Write};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};
use shelfmark_design_language::target::Target;

/// Deepest chain of references that is followed through the tuples that one write inserts.
const MADE_DEPTH_MAX: usize = 4;

/// Returns the attributes behind references that a write knows because it also inserts their
/// targets.
pub fn made_paths(
    model: &Model,
    write: &Write,
    relation: RelationId,
    terms: &[(usize, Term)],
) -> BTreeSet<ColumnPath> {
    let mut found = BTreeSet::new();
    made_below(model, write, relation, terms, &ColumnPath::new(), &mut found);
    found
}

fn made_below(
    model: &Model,
    write: &Write,
    relation: RelationId,
    terms: &[(usize, Term)],
    prefix: &ColumnPath,
    found: &mut BTreeSet<ColumnPath>,
) {
    if prefix.len() >= MADE_DEPTH_MAX {
        return;
    }
    for (column, term) in terms {
        let reference = model.relation(relation).columns.get(*column);
        let Some(target) = reference.and_then(|column| column.refers) else { continue };
        let key = model.relation(target).key();
        let made = write.effects.iter().find(|other| {
            other.kind == EffectKind::Insert
                && other.relation == target
                && other.existing == Existing::Fresh
                && other.each.is_none()
                && matches!(key, [only] if other.key.iter().any(|(at, value)| at == only && value == term))
        });
        let Some(made) = made else { continue };
        let mut inner = prefix.clone();
        inner.push(*column);
        for column in 0..model.relation(target).columns.len() {
            let mut path = inner.clone();
            path.push(column);
            found.insert(path);
        }
        made_below(model, write, target, &made.key, &inner, found);
    }
}

/// Returns true if the effect's tuple is the loop's own: the rows of the loop show it, or the loop asks for
/// what names it.
pub(super) fn loops_over_itself(model: &Model, effect: &Effect) -> bool {
    let asked = |column: usize, term: &Term| {
        effect.each.iter().flat_map(|each| &each.predicates).any(|one| {
            one.op == CondOp::Eq
                && canonical(model, effect.relation, &one.path) == [column]
                && one.values.first() == Some(term)
        })
    };
    let own = |column: &usize| {
        effect.key.iter().any(|(at, term)| {
            at == column && (*term == Term::Prior(vec![*column]) || asked(*column, term))
        })
    };
    effect.kind != EffectKind::Insert
        && effect.each.as_ref().is_some_and(|each| each.relation == effect.relation)
        && model.relation(effect.relation).key().iter().all(own)
}

/// Returns the attributes of an effect's tuple that lists, counts and sums of a family depend on.
pub(super) fn kept_paths(model: &Model, family: &Family, effect: &Effect) -> BTreeSet<ColumnPath> {
    let mut found = BTreeSet::new();
    for stored in &family.stored {
        match stored {
            Stored::Collect { relation, path, .. } if *relation == effect.relation => {
                found.insert(canonical(model, *relation, path));
            }
            Stored::Tally { .. } => {
                let tally =
                    Tally::of(stored).filter(|one| !matches!(one.turn(model, effect), Turn::Same));
                found.extend(tally.into_iter().flat_map(|one| one.columns()));
            }
            _ => {}
        }
    }
    found
}

pub(super) struct Prover<'a> {
    pub(super) model: &'a Model,
    pub(super) schema: &'a Schema,
    target: &'a Target,
    pub(super) write: &'a Write,
    pub(super) plan: &'a WritePlan,
}

/// Proves that a plan implements a write.
pub fn prove_write(case: WriteCase<'_>, plan: &WritePlan) -> Analysis {
    let WriteCase { model, schema, target, write, .. } = case;
    let mut analysis = Analysis::default();
    let prover = Prover::new(case, plan);
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut rows = 0;
    for effect in &write.effects {
        prover.has_home(effect, &mut analysis);
        for (id, family) in schema.concerned(effect.relation) {
            for need in needs(model, schema, id, effect) {
                analysis.families.insert(id);
                let moves = matches!(need, Need::PatchParent { .. })
                    && tallies(family).any(|one| one.turn(model, effect) == Turn::Moves);
                rows += if need == Need::Rekey || moves { 2 } else { 1 };
                if let Some(clash) = clash(model, schema, id) {
                    analysis.fail(4, "U1", clash.text());
                }
                prover.need(effect, id, family, &need, &mut used, &mut analysis);
            }
        }
    }
    for (index, step) in plan.steps.iter().enumerate() {
        let reads = step.kind.is_read();
        if !reads && !used.contains(&index) {
            let name = step.families.first().and_then(|id| schema.families.get(*id));
            let name = name.map_or("", |family| family.name.text.as_str());
            if prover.changes_nothing(step, index, &mut analysis) {
                analysis.note(4, format!("the step for {name} changes nothing that is there"));
            } else {
                analysis.fail(
                    4,
                    "W5",
                    format!("the plan also changes {name}, which the write does not"),
                );
            }
        }
        prover.read_is_exact(step, index, &mut analysis);
        prover.read_is_early(step, index, &mut analysis);
    }
    conditions(case, plan, &mut analysis);
    if target.one_operation_per_item {
        once_each(model, schema, write, plan, &mut analysis);
    }
    if analysis.failures.is_empty() {
        together(model, schema, write, plan, &mut analysis);
        prover.found_out_first(&mut analysis);
        prover.claimed_first(&mut analysis);
        prover.whole(&mut analysis);
        fits(case, plan, &mut analysis);
        sizes::written(model, schema, target, &mut analysis);
    }
    let loops = write.effects.iter().any(|effect| effect.each.is_some())
        || plan.steps.iter().any(|step| step.kind.each().is_some());
    if !loops {
        analysis.rows_max = RowsMax::number(rows as f64);
    }
    if analysis.failures.is_empty() {
        analysis.note(1, "every key is computed from inputs and from rows read before");
        analysis.note(4, "every row family that the write concerns is changed, and no other");
        analysis.note(9, format!("rows written by one call: {}", analysis.rows_max));
        prover.assumes(&mut analysis);
    }
    let calls = super::askable(target, &mut analysis, || {
        Some(Calls::new(model, schema)?.write(case.index, plan))
    });
    stated::asked_to_the_end(target, &calls.unwrap_or_default(), &mut analysis);
    analysis
}

impl<'a> Prover<'a> {
    pub(super) fn new(case: WriteCase<'a>, plan: &'a WritePlan) -> Self {
        let WriteCase { model, schema, target, write, .. } = case;
        Prover { model, schema, target, write, plan }
    }
}

impl Prover<'_> {
    /// Proves that what an effect changes is kept: in rows of the tuple itself, in what rows keep of
    /// several, or, of an update, in copies.
    fn has_home(&self, effect: &Effect, analysis: &mut Analysis) {
        let (model, schema) = (self.model, self.schema);
        let updates = matches!(effect.kind, EffectKind::Update | EffectKind::Increment);
        let kept = schema.concerned(effect.relation).any(|(id, family)| {
            family.source == effect.relation
                || !kept_paths(model, family, effect).is_empty()
                || tallies(family).any(|one| one.relation == effect.relation)
                || updates && !needs(model, schema, id, effect).is_empty()
        });
        let relation = model.relation(effect.relation);
        let name = &relation.name.text;
        if !kept {
            analysis.fail_call("M2", format!("no row keeps {name}: what this changes is lost"));
            return;
        }
        // Each attribute by itself: beside others a change of one would be lost unseen.
        let lost = effect.set.iter().filter(|_| updates).find(|one| {
            let alone = Effect { set: vec![(*one).clone()], ..effect.clone() };
            schema
                .concerned(effect.relation)
                .all(|(id, _)| needs(model, schema, id, &alone).is_empty())
        });
        if let Some((column, _)) = lost {
            let column = relation.column_name(*column);
            let why = format!("no row keeps {column} of {name}: what this changes is lost");
            analysis.fail_call("M2", why);
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each need; they share the step lookup")]
    fn need(
        &self,
        effect: &Effect,
        id: FamilyId,
        family: &Family,
        need: &Need,
        used: &mut BTreeSet<usize>,
        analysis: &mut Analysis,
    ) {
        let name = &family.name.text;
        let loops = effect.each.is_some()
            || matches!(need, Need::PatchCopies { .. } | Need::RekeyCopies { .. });
        match need {
            Need::Unplanned(why) => analysis.fail(4, "W5", format!("{name}: {why}")),
            Need::Put => {
                if let Some(at) = self.find_step(id, used, loops, WriteStepKind::is_put) {
                    self.put(effect, family, at, analysis);
                    self.existing(effect, family, at, analysis);
                } else {
                    self.missing(name, "put", analysis);
                }
            }
            Need::Delete => {
                if let Some(at) = self.find_step(id, used, loops, WriteStepKind::is_delete) {
                    self.keyed(effect, family, at, analysis);
                    self.only_own(effect, family, at, analysis);
                } else {
                    self.missing(name, "delete", analysis);
                }
            }
            Need::Rekey => {
                let delete = self.find_step(id, used, loops, WriteStepKind::is_delete);
                let put = self.find_step(id, used, loops, WriteStepKind::is_put);
                match (delete, put) {
                    // What was not read is known neither to the delete nor to the put.
                    (Some(delete), Some(put))
                        if delete < put || self.is_put_first(effect, family, [delete, put]) =>
                    {
                        if !self.was_read(effect, family, delete.min(put), analysis) {
                            return;
                        }
                        if replaces(effect) {
                            self.replaced(effect, family, delete, analysis);
                            self.existing(effect, family, put, analysis);
                        } else {
                            self.keyed(effect, family, delete, analysis);
                            self.only_own(effect, family, delete, analysis);
                        }
                        self.put(effect, family, put, analysis);
                    }
                    // Under no new key: there is nothing to put.
                    (Some(delete), None) if loses_key(self.model, family, effect) => {
                        self.keyed(effect, family, delete, analysis);
                        self.only_own(effect, family, delete, analysis);
                    }
                    _ => self.missing(
                        name,
                        "delete under the old key, then put under the new",
                        analysis,
                    ),
                }
            }
            Need::Patch => {
                if let Some(at) = self.find_step(id, used, loops, WriteStepKind::is_patch) {
                    self.keyed(effect, family, at, analysis);
                    self.only_own(effect, family, at, analysis);
                } else if !self.patched_by_put(effect, id, family, used, analysis) {
                    self.missing(name, "patch", analysis);
                }
            }
            Need::PatchParent { via } => {
                if let Some(at) = self.find_step(id, used, loops, WriteStepKind::is_patch) {
                    self.parent(effect, family, *via, at, analysis);
                } else {
                    self.missing(name, "patch", analysis);
                }
            }
            Need::PatchCopies { via } => {
                if let Some(at) = self.find_step(id, used, loops, WriteStepKind::is_patch) {
                    self.copies(effect, family, *via, at, false, analysis);
                } else {
                    self.missing(name, "patch, for each row that holds a copy", analysis);
                }
            }
            Need::RekeyCopies { via } => {
                let delete = self.find_step(id, used, loops, WriteStepKind::is_delete);
                let put = self.find_step(id, used, loops, WriteStepKind::is_put);
                match (delete, put) {
                    (Some(delete), Some(put)) if delete < put => {
                        self.copies(effect, family, *via, delete, false, analysis);
                        self.copies(effect, family, *via, put, true, analysis);
                    }
                    _ => self.missing(
                        name,
                        "delete and put, for each row whose key holds a copy",
                        analysis,
                    ),
                }
            }
        }
    }

    /// Proves that all that a write selects by is in the row's key, or the tuple was looked up:
    /// else a row that is found without it is changed although it does not fit.
    fn selected(&self, effect: &Effect, family: &Family, at: usize, analysis: &mut Analysis) {
        if effect.kind == EffectKind::Insert || family.source != effect.relation {
            return;
        }
        // Where two of them are one row, that is what is wrong.
        let lost = self.schema.of_table(family.table).any(|(id, one)| {
            std::ptr::eq(one, family) && clash(self.model, self.schema, id).is_some()
        });
        if lost {
            return;
        }
        let shown = self.loop_shows(effect, at).unwrap_or_default();
        // What a loop over the tuples goes by, and what its rows show, is known of each.
        let looped = |column: usize, term: &Term| {
            let asked = effect.each.iter().flat_map(|each| &each.predicates).any(|one| {
                let path = canonical(self.model, effect.relation, &one.path);
                one.op == CondOp::Eq && path == [column] && one.values.first() == Some(term)
            });
            let own = asked || shown.contains(&vec![column]);
            loops_over_itself(self.model, effect) && (own || *term == Term::Prior(vec![column]))
        };
        let paths = key_paths(self.model, family);
        let missing = effect
            .key
            .iter()
            .find(|(column, term)| !paths.contains(&vec![*column]) && !looped(*column, term));
        if let Some((column, _)) = missing
            && self.reads_before(effect, at).next().is_none()
        {
            let name = self.model.path_text(effect.relation, &[*column]);
            let why =
                format!("{} is found without {name}, by which the write selects", family.name.text);
            analysis.fail(4, "A4", why);
        }
    }

    fn missing(&self, family: &str, what: &str, analysis: &mut Analysis) {
        analysis.fail(
            4,
            "W5",
            format!("the plan does not {what} {family}, so old rows stay or new ones are missing"),
        );
    }

    /// Returns the step that changes the family; several effects may share it.
    pub(super) fn find_step(
        &self,
        id: FamilyId,
        used: &mut BTreeSet<usize>,
        loops: bool,
        wanted: impl Fn(&WriteStepKind) -> bool,
    ) -> Option<usize> {
        let fits = |step: &WriteStep| {
            !step.kind.is_read()
                && step.kind.each().is_some() == loops
                && step.families.contains(&id)
                && wanted(&step.kind)
        };
        let at = self.plan.steps.iter().position(fits)?;
        used.insert(at);
        Some(at)
    }

    /// Proves that a read of the plan finds exactly the rows that satisfy its bindings.
    fn read_is_exact(&self, step: &WriteStep, at: usize, analysis: &mut Analysis) {
        let WriteStepKind::Read { bindings, alias } = &step.kind else { return };
        for id in &step.families {
            let Some(family) = self.schema.families.get(*id) else { continue };
            let wanted = match self.named_for(*id, family, alias.as_ref()) {
                true => Wanted::OfFamily,
                false => Wanted::All,
            };
            for bindings in self.asked(family, bindings) {
                // What the loop goes through is not there when its own tuples are looked for.
                let nothing = |term: &Term| *term == Term::Const(Value::Null);
                let missing = |term: &Term| has_prior(term) && !self.told_of_row(term, at);
                if bindings.iter().any(|(_, term)| missing(term) || nothing(term)) {
                    let why = format!(
                        "the read of {} is made of what is not there before it",
                        family.name.text
                    );
                    analysis.fail_call("W1", why);
                    continue;
                }
                if let Err(why) = exact_read(
                    self.model,
                    self.schema,
                    self.target,
                    self.write,
                    (*id, wanted),
                    &bindings,
                ) {
                    let why = format!("the read of {} is not exact: {why}", family.name.text);
                    analysis.fail_call("W1", why);
                }
            }
        }
    }

    /// Returns what a read looks for; one that names nothing looks for the tuple of each effect.
    fn asked(
        &self,
        family: &Family,
        bindings: &[(ColumnPath, Term)],
    ) -> Vec<Vec<(ColumnPath, Term)>> {
        if !bindings.is_empty() {
            return vec![bindings.to_vec()];
        }
        let own = self.write.effects.iter().filter(|effect| effect.relation == family.source);
        let mut asked: Vec<Vec<(ColumnPath, Term)>> =
            own.map(|effect| own_bindings(self.model, effect)).collect();
        if asked.is_empty() {
            asked.push(Vec::new());
        }
        asked
    }

    pub(super) fn keyed(
        &self,
        effect: &Effect,
        family: &Family,
        at: usize,
        analysis: &mut Analysis,
    ) {
        let known = self.known(effect, at);
        self.loops(effect, at, analysis);
        self.sets(effect, family, at, analysis);
        let missing: Vec<String> = all_key_paths(self.model, family)
            .iter()
            .filter(|path| !known.contains(*path) && !self.is_absent(effect, path, false))
            .map(|path| self.model.path_text(family.source, path))
            .collect();
        if !missing.is_empty() {
            analysis.fail_call(
                "W1",
                format!(
                    "the key of {} needs {}, which the caller of {} does not know",
                    family.name.text,
                    missing.join(", "),
                    self.write.name.text
                ),
            );
        } else {
            self.selected(effect, family, at, analysis);
        }
    }

    /// Proves that the values that a loop sets are known: the family, or an index of it, shows
    /// them.
    fn sets(&self, effect: &Effect, family: &Family, at: usize, analysis: &mut Analysis) {
        let unknown = |term: &Term| has_prior(term) && !self.term_known(effect, term, at);
        for (column, _) in effect.set.iter().filter(|(_, term)| unknown(term)) {
            let path = vec![*column];
            let shows = |family: &Family| {
                available(self.model, family).contains(&path)
                    || all_key_paths(self.model, family).contains(&path)
                    || family.when.iter().any(|one| one.path == path)
            };
            let mut entries = self.schema.families.iter().filter(|entry| {
                entry.base.and_then(|base| self.schema.families.get(base)).is_some_and(|base| {
                    base.table == family.table && base.name.text == family.name.text
                })
            });
            if shows(family) || entries.any(shows) {
                let name = self.model.path_text(effect.relation, &path);
                analysis.fail_call("W1", format!("{name} of the loop is not known to the plan"));
            }
        }
    }

    pub(super) fn put(&self, effect: &Effect, family: &Family, at: usize, analysis: &mut Analysis) {
        self.keyed(effect, family, at, analysis);
        let mut known = self.known(effect, at);
        // What the key lacks was told with the key.
        let mut told = all_key_paths(self.model, family);
        told.retain(|path| !known.contains(path));
        self.moved(effect, at, &mut known);
        // A sum needs what was there: it is known only where that was read.
        let adds = effect.kind == EffectKind::Increment;
        known.extend(effect.set.iter().filter(|_| !adds).map(|(column, _)| vec![*column]));
        let guards = family.when.iter().map(|one| canonical(self.model, family.source, &one.path));
        let unknown: BTreeSet<String> = available(self.model, family)
            .iter()
            .cloned()
            .chain(guards)
            .filter(|path| !told.contains(path) && !known.contains(path))
            .filter(|path| !self.is_absent(effect, path, true))
            .map(|path| self.model.path_text(family.source, &path))
            .collect();
        if !unknown.is_empty() {
            let names = unknown.into_iter().collect::<Vec<_>>().join(", ");
            analysis.fail_call(
                "W5",
                format!(
                    "{} stores {names}, which the caller of {} does not know",
                    family.name.text, self.write.name.text
                ),
            );
        }
        if effect.kind != EffectKind::Insert
            && family.stored.iter().any(|stored| !matches!(stored, Stored::Path(_)))
        {
            analysis.fail(
                4,
                "W5",
                format!("{} keeps lists or counts that a new key would lose", family.name.text),
            );
        }
    }

    /// Returns true if a path leads behind a reference that the effect leaves out or, where a row
    /// is `put`, removes: what lies there is absent.
    pub(super) fn is_absent(&self, effect: &Effect, path: &[usize], put: bool) -> bool {
        let Some((first, [_, ..])) = path.split_first() else { return false };
        let given = |terms: &[(usize, Term)]| {
            let term = terms.iter().find(|(column, _)| column == first);
            term.map(|(_, term)| *term == Term::Const(Value::Null))
        };
        let columns = &self.model.relation(effect.relation).columns;
        let left_out = || columns.get(*first).is_some_and(|column| column.optional);
        put && given(&effect.set) == Some(true)
            || effect.kind == EffectKind::Insert && given(&effect.key).unwrap_or_else(left_out)
    }

    /// Proves that a loop in the pattern is a loop in the step.
    fn loops(&self, effect: &Effect, at: usize, analysis: &mut Analysis) {
        if effect.each.is_some() && self.loop_shows(effect, at).is_none() {
            analysis.fail(4, "W5", "the plan does not go through what the write goes through");
        }
        let step_loops = self.plan.steps.get(at).is_some_and(|step| step.kind.each().is_some());
        if effect.each.is_none() && step_loops {
            analysis.fail(4, "W5", "the plan goes through a loop, the write does not");
        }
    }

    pub(super) fn reads_before<'a>(
        &'a self,
        effect: &'a Effect,
        at: usize,
    ) -> impl Iterator<Item = &'a Family> {
        self.plan.steps.iter().take(at).filter_map(move |step| match &step.kind {
            WriteStepKind::Read { bindings, .. } => step
                .families
                .iter()
                .filter_map(|id| self.schema.families.get(*id))
                .find(|family| family.source == effect.relation)
                .filter(|family| self.reads_this(effect, family, bindings)),
            _ => None,
        })
    }

    /// Proves that a put after an update inserts no row for a missing tuple: it is looked up
    /// before.
    pub(super) fn was_read(
        &self,
        effect: &Effect,
        family: &Family,
        at: usize,
        analysis: &mut Analysis,
    ) -> bool {
        // The rows of a loop over the tuples themselves are what was there.
        let looped = loops_over_itself(self.model, effect) && self.loop_shows(effect, at).is_some();
        let was_read = looped || self.reads_before(effect, at).any(|other| other.when.is_empty());
        if !was_read {
            let known = self.known(effect, at);
            let mut needed = all_key_paths(self.model, family);
            needed.extend(available(self.model, family).iter().cloned());
            needed.retain(|path| !known.contains(path) && !self.is_absent(effect, path, true));
            let names: Vec<String> =
                needed.iter().map(|path| self.model.path_text(family.source, path)).collect();
            let (name, write) = (&family.name.text, &self.write.name.text);
            let mut why = format!("what {name} holds is not read before its key changes");
            if !names.is_empty() {
                why += &format!(": the caller of {write} does not know {}", names.join(", "));
            }
            analysis.fail_call("W1", why);
        }
        was_read
    }

    fn parent(
        &self,
        effect: &Effect,
        family: &Family,
        via: usize,
        at: usize,
        analysis: &mut Analysis,
    ) {
        let known = self.known(effect, at);
        self.loops(effect, at, analysis);
        let key = self.model.relation(family.source).key().to_vec();
        let by_key = all_key_paths(self.model, family).iter().all(|path| *path == key);
        let mut wanted = vec![vec![via]];
        wanted.extend(kept_paths(self.model, family, effect));
        if !by_key || !wanted.iter().all(|path| known.contains(path)) {
            analysis.fail_call(
                "W1",
                format!("which row of {} keeps it is not known", family.name.text),
            );
        }
        // Taking away what is not there must take nothing away.
        let looked = loops_over_itself(self.model, effect)
            || self.reads_before(effect, at).any(|other| other.when.is_empty());
        if effect.kind != EffectKind::Insert && !looked {
            let what = match effect.kind {
                EffectKind::Delete => "something to delete",
                _ => "what it follows",
            };
            let name = &family.name.text;
            let why = format!("{name} is changed without looking whether there is {what}");
            analysis.fail(4, "W2", why);
        }
        let seen = effect.existing == Existing::Unless && looked && effect.each.is_none();
        if effect.existing != Existing::Fresh && !seen {
            analysis.fail(
                4,
                "W2",
                format!("{} counts what may have been there already", family.name.text),
            );
        }
    }
}
