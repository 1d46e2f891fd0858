//! Derives the plan of a write where a schema names none: all changes that the write requires of
//! each row family, with the reads that their keys need.
//!
//! What it is not: no proof. What it puts together is proven like a written plan.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::canon::canonical;
use super::claims::{claims, unique_values};
use super::conditions::may_check;
use super::copied::only_for_copies;
use super::defined::{is_below, is_counter, is_own_row, tells_first};
use super::exact::{Wanted, exact_read};
use super::lasting::lasting;
use super::must_be::{MustBe, new_of, takes};
use super::needs::{Need, fails, loses_key, needs, stays};
use super::own_key::{bindings_of, keys_named, own_bindings, settled_key};
use super::paths::all_key_paths;
use super::tally::tallies;
use super::together::has_prior;
use super::unique::{available, key_paths, tells_only_its_own};
use super::write::made_paths;
use super::write_case::WriteCase;
use shelfmark_design_language::model::pattern::{Effect, EffectKind, Predicate};
use shelfmark_design_language::model::schema::{
    Family, FamilyId, Part, Schema, WritePlan, WriteStep, WriteStepKind,
};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term, Value, Write};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};
use shelfmark_design_language::target::Target;

/// The requests of a derived plan whose transaction cannot have its reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// One transaction of all changes, behind the reads.
    Changes,
    /// A request for each step.
    Single,
}

/// Returns a plan of all required changes, with the reads that their keys need.
pub(super) fn derive(case: WriteCase<'_>, grouping: Grouping) -> WritePlan {
    let WriteCase { model, schema, target, index, write } = case;
    let tried = RefCell::default();
    let mut deriver =
        Deriver { model, schema, target, write, reads: Vec::new(), changes: Vec::new(), tried };
    for effect in &write.effects {
        for (id, family) in schema.concerned(effect.relation) {
            for need in needs(model, schema, id, effect) {
                deriver.need(effect, id, family, &need);
            }
        }
    }
    // One step may change several tuples.
    let tuples =
        write.effects.len() > 1 && (target.reading_transactions || grouping == Grouping::Changes);
    let several = deriver.reads.len() + deriver.changes.len() > 1 || tuples;
    let reading = deriver.reads.is_empty() || target.reading_transactions;
    // The condition of a largest value would cancel what happens together with it.
    let cancels = target.one_operation_per_item
        && deriver.changes.iter().any(|(id, kind)| kind.is_patch() && extends(schema, write, *id));
    let whole = several && target.transactions && !cancels;
    let together = whole && reading;
    let grouped = whole && grouping == Grouping::Changes;
    if !together && !grouped && deriver.changes.len() > 1 {
        deriver.look_for_values();
    }
    // First what finds out whether the write is defined; what may be passed over comes behind all that
    // may end the plan.
    // A unique value is taken before all else, and the old one given up at the end.
    deriver.changes.sort_by_key(|(id, kind)| {
        let extending =
            target.one_operation_per_item && kind.is_patch() && extends(schema, write, *id);
        let rank = match kind {
            _ if together || grouped => 0,
            WriteStepKind::Put { .. } if moves_claim(model, schema, write, *id) => 0,
            WriteStepKind::Put { .. } if takes_perhaps(model, schema, write, *id) => 0,
            WriteStepKind::Patch { .. } | WriteStepKind::Delete { .. }
                if compares(model, schema, write, *id) =>
            {
                0
            }
            WriteStepKind::Delete { .. } if moves_claim(model, schema, write, *id) => 3,
            _ if finds_out(model, schema, write, *id) => 1,
            _ => 2,
        };
        (extending, rank)
    });
    if !together && !grouped {
        deriver.look_for_others();
    }
    let mut steps: Vec<WriteStep> = Vec::new();
    for (id, kind) in deriver.reads.into_iter().chain(deriver.changes) {
        let transaction = (together || grouped && !kind.is_read()).then_some(1);
        steps.push(WriteStep { kind, families: vec![id], transaction });
    }
    WritePlan { write: index, steps, span: write.span, derived: true }
}

/// Returns true if the change of a row of this family shows whether a tuple that the write names is there.
fn finds_out(model: &Model, schema: &Schema, write: &Write, id: FamilyId) -> bool {
    let Some(family) = schema.families.get(id) else { return false };
    let own = is_own_row(model, family) && !is_counter(schema, family);
    own && write.effects.iter().any(|effect| effect.relation == family.source)
}

/// Returns true if a write moves rows of some family from one unique value to another.
pub(super) fn moves_claims(case: WriteCase<'_>) -> bool {
    let families = 0..case.schema.families.len();
    families.into_iter().any(|id| moves_claim(case.model, case.schema, case.write, id))
}

/// Returns true if a write moves rows of this family from one unique value to another.
fn moves_claim(model: &Model, schema: &Schema, write: &Write, id: FamilyId) -> bool {
    let Some(family) = schema.families.get(id) else { return false };
    write.effects.iter().any(|effect| {
        claims(model, family, effect) && needs(model, schema, id, effect).contains(&Need::Rekey)
    })
}

/// Returns true if the change of a row of this family can check the conditions of a write.
fn compares(model: &Model, schema: &Schema, write: &Write, id: FamilyId) -> bool {
    let mut asking = write.effects.iter().filter(|effect| !effect.conditions.is_empty());
    asking.any(|effect| may_check(model, schema, id, effect))
}

/// Returns true if one of several parts of a write puts a row under a unique value only if its tuple is not
/// there: no look before may end the plan, but the put finds out that another has the value.
fn takes_perhaps(model: &Model, schema: &Schema, write: &Write, id: FamilyId) -> bool {
    let Some(family) = schema.families.get(id) else { return false };
    let mut several = write.effects.iter().filter(|_| write.effects.len() > 1);
    several.any(|effect| {
        effect.existing == Existing::Unless
            && effect.each.is_none()
            && !unique_values(model, family, effect).is_empty()
    })
}

/// Returns true if rows of a family keep a largest or smallest value that a write may replace.
fn extends(schema: &Schema, write: &Write, id: FamilyId) -> bool {
    let mut kept = schema.families.get(id).into_iter().flat_map(tallies);
    kept.any(|one| {
        one.fold.is_extreme() && write.effects.iter().any(|effect| effect.relation == one.relation)
    })
}

struct Deriver<'a> {
    model: &'a Model,
    schema: &'a Schema,
    target: &'a Target,
    write: &'a Write,
    reads: Vec<(FamilyId, WriteStepKind)>,
    changes: Vec<(FamilyId, WriteStepKind)>,
    /// Cached results of [`Self::finds`]: many families ask for the same reads.
    tried: RefCell<BTreeMap<(FamilyId, Wanted, Bindings), bool>>,
}

/// Attributes and the terms that they equal.
type Bindings = Vec<(ColumnPath, Term)>;

impl Deriver<'_> {
    fn need(&mut self, effect: &Effect, id: FamilyId, family: &Family, need: &Need) {
        self.tell_apart(effect, family);
        let each = match (need, &effect.each) {
            (Need::PatchCopies { via } | Need::RekeyCopies { via }, _) => {
                self.copies(effect, (id, family), *via)
            }
            (_, Some(_)) => self.loop_read(effect),
            _ => None,
        };
        let put = WriteStepKind::Put { each: each.clone() };
        let delete = WriteStepKind::Delete { each: each.clone() };
        let patch = WriteStepKind::Patch { each };
        match need {
            Need::Put => {
                self.look_up(effect, family, true);
                if effect.existing != Existing::Fresh {
                    let mut wanted = all_key_paths(self.model, family);
                    wanted.extend(lasting(self.model, self.schema, effect));
                    self.read_own(effect, &wanted);
                }
                self.add(id, put);
            }
            Need::Delete => {
                self.look_up(effect, family, false);
                self.add(id, delete);
            }
            Need::Rekey => {
                let mut wanted = available(self.model, family).clone();
                wanted.extend(all_key_paths(self.model, family));
                wanted.extend(guards(self.model, family));
                wanted.extend(lasting(self.model, self.schema, effect));
                self.read_own(effect, &wanted);
                self.look_up(effect, family, true);
                self.add(id, delete);
                if !loses_key(self.model, family, effect) {
                    self.add(id, put);
                }
            }
            Need::RekeyCopies { .. } => {
                self.add(id, delete);
                self.add(id, put);
            }
            Need::Patch | Need::PatchCopies { .. } => {
                if *need == Need::Patch {
                    self.look_up(effect, family, false);
                    self.read_beside(effect, id);
                }
                self.add(id, patch);
            }
            Need::PatchParent { via } => {
                if effect.kind != EffectKind::Insert || effect.existing == Existing::Unless {
                    let mut wanted = super::write::kept_paths(self.model, family, effect);
                    wanted.insert(vec![*via]);
                    self.read_own(effect, &wanted);
                }
                self.add(id, patch);
            }
            Need::Unplanned(_) => {}
        }
    }

    /// Adds reads of rows under the unique values of what is inserted: by requests of its own each put
    /// would find out too late that another has one of them.
    fn look_for_values(&mut self) {
        for effect in self.write.effects.iter().filter(|one| takes(self.write, one, MustBe::New)) {
            let puts = self.changes.iter().filter(|(_, kind)| kind.is_put());
            let puts: Vec<FamilyId> = puts.map(|(id, _)| *id).collect();
            for id in puts {
                let Some(family) = self.schema.families.get(id) else { continue };
                let values = unique_values(self.model, family, effect);
                let keys = self.model.relation(effect.relation).keys.iter().skip(1);
                for key in keys.filter(|key| key.iter().all(|column| values.contains(column))) {
                    let own = effect.key.iter().filter(|(column, _)| key.contains(column));
                    let asked: Bindings =
                        own.map(|(column, term)| (vec![*column], term.clone())).collect();
                    let given = asked.iter().all(|(_, term)| *term != Term::Const(Value::Null));
                    if given && asked.len() == key.len() {
                        self.add_read(id, asked, None);
                    }
                }
            }
        }
    }

    /// Adds reads that show whether the write is defined for the tuples of all effects but one, which the
    /// first change shows: by requests of its own each other change would find out too late.
    fn look_for_others(&mut self) {
        let (model, schema, write) = (self.model, self.schema, self.write);
        let Some((first, ends)) = self.changes.first().map(|(id, kind)| (*id, kind.is_put()))
        else {
            return;
        };
        if write.effects.len() < 2 {
            return;
        }
        for effect in &write.effects {
            let new = new_of(model, effect);
            let asked = takes(write, effect, new) || takes(write, effect, MustBe::There);
            let told = ends && tells_first(model, schema, write, first, effect);
            if asked && !told && !is_below(model, write, effect) {
                let own = effect.key.iter().map(|(column, _)| vec![*column]).collect();
                self.read_own(effect, &own);
            }
        }
    }

    fn add(&mut self, id: FamilyId, kind: WriteStepKind) {
        let same = |(other, old): &(FamilyId, WriteStepKind)| {
            *other == id
                && std::mem::discriminant(old) == std::mem::discriminant(&kind)
                && each_of(old) == each_of(&kind)
        };
        if !self.changes.iter().any(same) {
            self.changes.push((id, kind));
        }
    }

    /// Adds a read, and returns the name of its rows; one read serves several loops.
    fn add_read(
        &mut self,
        id: FamilyId,
        bindings: Vec<(ColumnPath, Term)>,
        alias: Option<String>,
    ) -> Option<String> {
        let known = self.reads.iter_mut().find_map(|(other, kind)| match kind {
            WriteStepKind::Read { bindings: old, alias } if *other == id && *old == bindings => {
                Some(alias)
            }
            _ => None,
        });
        match known {
            Some(known) => {
                if known.is_none() {
                    *known = alias;
                }
                known.clone()
            }
            None => {
                self.reads.push((id, WriteStepKind::Read { bindings, alias: alias.clone() }));
                alias
            }
        }
    }

    /// Adds reads for what the key (and, for a put, the row) needs beyond what the effect gives.
    fn look_up(&mut self, effect: &Effect, family: &Family, put: bool) {
        let mut wanted = all_key_paths(self.model, family);
        if put {
            wanted.extend(available(self.model, family).iter().cloned());
        }
        if put || tells_only_its_own(self.model, family) {
            wanted.extend(guards(self.model, family));
        }
        wanted.retain(|path| !effect.key.iter().any(|(column, _)| path.as_slice() == [*column]));
        let (own, others): (Vec<ColumnPath>, Vec<ColumnPath>) =
            wanted.into_iter().partition(|path| path.len() == 1);
        let unknown =
            |path: &&ColumnPath| !effect.key.iter().any(|(column, _)| path.first() == Some(column));
        let mut shown = self.own_shown(effect);
        if effect.kind != EffectKind::Insert
            && (!own.is_empty() || others.iter().any(|path| unknown(&path)))
        {
            // What leads on to others is wanted too.
            let heads = others.iter().filter_map(|path| path.first().map(|first| vec![*first]));
            let wanted = own.iter().chain(&others).cloned().chain(heads).collect();
            let id = self.read_own(effect, &wanted);
            let read = id.and_then(|id| self.schema.families.get(id));
            shown.extend(read.into_iter().flat_map(|read| available(self.model, read)).cloned());
        }
        let key = settled_key(self.model, effect);
        let terms: Vec<(usize, Term)> = effect.set.iter().chain(&key).cloned().collect();
        let made = made_paths(self.model, self.write, effect.relation, &terms);
        let moves =
            |path: &ColumnPath| effect.set.iter().any(|(column, _)| path.first() == Some(column));
        for path in others
            .into_iter()
            .filter(|path| !made.contains(path) && (!shown.contains(path) || moves(path)))
        {
            let given = terms.iter().find(|(column, _)| path.first() == Some(column)).cloned();
            // What a read of the tuple tells leads on to what it refers to, as it was.
            let told = path.first().filter(|column| {
                let one = self.write.effects.len() == 1 && effect.each.is_none();
                let given = effect.key.iter().any(|(at, _)| at == *column);
                one && !given && !shown.contains(&path) && shown.contains(&vec![**column])
            });
            let told = told.map(|column| (*column, Term::Prior(vec![*column])));
            for (via, term) in given.into_iter().chain(told) {
                self.read_behind(effect, &path, via, term);
            }
        }
    }

    /// Adds a read of what stands beside a changed attribute in one text of an index's key, where the
    /// text is an attribute of the item, and of what tells whether a sparse index has the item: who
    /// changes a part of it writes it anew.
    fn read_beside(&mut self, effect: &Effect, id: FamilyId) {
        // Of several parts under a condition none is left out where the tuple is not there.
        let several = self.write.effects.len() > 1;
        let conditional = self.write.effects.iter().any(|one| !one.conditions.is_empty());
        if effect.each.is_some() || several && conditional {
            return;
        }
        let is_set =
            |path: &ColumnPath| effect.set.iter().any(|(column, _)| path.first() == Some(column));
        let is_named =
            |path: &ColumnPath| effect.key.iter().any(|(column, _)| path.as_slice() == [*column]);
        let mut wanted = BTreeSet::new();
        for entry in self.schema.families.iter().filter(|entry| entry.base == Some(id)) {
            let own = self.schema.own_conditions(entry);
            let mark = self.schema.mark_of(entry).filter(|_| !own.is_empty());
            for (at, column) in entry.key.iter().enumerate() {
                let mut beside = BTreeSet::new();
                if mark == Some(at) {
                    // What is given is not absent.
                    let given = |one: &Predicate| {
                        let set = effect.set.iter().find(|(column, _)| one.path == [*column]);
                        one.op == CondOp::Absent && matches!(set, Some((_, Term::Param(_))))
                    };
                    if fails(self.model, entry, own, effect) || own.iter().any(given) {
                        continue;
                    }
                    let changes = |one: &&Predicate| !stays(self.model, effect, one);
                    let asked = own.iter().filter(changes);
                    beside.extend(asked.map(|one| canonical(self.model, entry.source, &one.path)));
                } else if self.target.name != "dynamodb" {
                    continue;
                }
                for part in &column.parts {
                    if let Part::Hole { term, .. } = part {
                        term.columns(&mut |path| {
                            beside.insert(canonical(self.model, entry.source, path));
                        });
                    }
                }
                if beside.iter().any(is_set) {
                    wanted
                        .extend(beside.into_iter().filter(|path| !is_set(path) && !is_named(path)));
                }
            }
        }
        if !wanted.is_empty() {
            self.read_own(effect, &wanted);
        }
    }

    /// Adds a read of the tuple where a row's key does not hold all that the write selects by.
    fn tell_apart(&mut self, effect: &Effect, family: &Family) {
        if effect.kind == EffectKind::Insert || family.source != effect.relation {
            return;
        }
        let selected = effect.key.iter().map(|(column, _)| vec![*column]).collect::<BTreeSet<_>>();
        if !selected.is_subset(&key_paths(self.model, family)) {
            self.read_own(effect, &selected);
        }
    }

    /// Adds a read of the target of an attribute of the effect's tuple.
    fn read_behind(&mut self, effect: &Effect, path: &[usize], via: usize, term: Term) {
        // Behind a reference that is taken away there is nothing to be read.
        if term == Term::Const(Value::Null) {
            return;
        }
        let columns = &self.model.relation(effect.relation).columns;
        let Some(target) = columns.get(via).and_then(|column| column.refers) else { return };
        let key = self.model.relation(target).key().to_vec();
        let bindings = vec![(key, term)];
        let inner = path.get(1..).unwrap_or(&[]).to_vec();
        let found = self.schema.of_source(target).find(|(id, other)| {
            available(self.model, other).contains(&inner) && self.finds(*id, Wanted::All, &bindings)
        });
        if let Some((id, _)) = found {
            self.add_read(id, bindings, None);
        }
    }

    /// Returns the attributes that reads of the effect's own tuple show so far.
    fn own_shown(&self, effect: &Effect) -> BTreeSet<ColumnPath> {
        if effect.kind == EffectKind::Insert {
            return BTreeSet::new();
        }
        let own: Vec<Vec<(ColumnPath, Term)>> =
            keys_named(self.model, effect).map(|key| bindings_of(effect, key)).collect();
        let reads = self.reads.iter().filter(
            |(_, kind)| matches!(kind, WriteStepKind::Read { bindings, .. } if own.contains(bindings)),
        );
        reads
            .filter_map(|(id, _)| self.schema.families.get(*id))
            .filter(|family| family.source == effect.relation)
            .flat_map(|family| available(self.model, family))
            .cloned()
            .collect()
    }

    /// Returns true if a read of a family by equalities finds exactly what is wanted.
    fn finds(&self, id: FamilyId, wanted: Wanted, bindings: &[(ColumnPath, Term)]) -> bool {
        let mut tried = self.tried.borrow_mut();
        *tried.entry((id, wanted, bindings.to_vec())).or_insert_with(|| {
            let (model, schema) = (self.model, self.schema);
            exact_read(model, schema, self.target, self.write, (id, wanted), bindings).is_ok()
        })
    }

    /// Adds a read of the effect's own tuple from a family that one of its keys finds.
    fn read_own(&mut self, effect: &Effect, wanted: &BTreeSet<ColumnPath>) -> Option<FamilyId> {
        let bindings = own_bindings(self.model, effect);
        // Tuples of a loop are known once the loop is read, and not before.
        if bindings.iter().any(|(_, term)| has_prior(term)) {
            return None;
        }
        if let Some(id) = self.shows_most(effect.relation, &bindings, wanted) {
            self.add_read(id, bindings, None);
            return Some(id);
        }
        // By another key, where the rows show what else the write selects by.
        let others: Vec<Vec<(ColumnPath, Term)>> = keys_named(self.model, effect)
            .map(|key| bindings_of(effect, key))
            .filter(|other| *other != bindings)
            .collect();
        let selected: BTreeSet<ColumnPath> =
            effect.key.iter().map(|(column, _)| vec![*column]).collect();
        for other in others {
            let found = self.shows_most(effect.relation, &other, wanted).filter(|id| {
                let family = self.schema.families.get(*id);
                family.is_some_and(|family| selected.is_subset(available(self.model, family)))
            });
            if let Some(id) = found {
                self.add_read(id, other, None);
                return Some(id);
            }
        }
        None
    }

    /// Returns the family that a read by equalities finds, and that shows the most of what is
    /// wanted.
    fn shows_most(
        &self,
        relation: RelationId,
        bindings: &[(ColumnPath, Term)],
        wanted: &BTreeSet<ColumnPath>,
    ) -> Option<FamilyId> {
        let exact = self
            .schema
            .of_source(relation)
            .filter(|(id, _)| self.finds(*id, Wanted::All, bindings));
        let found = exact.min_by_key(|(_, other)| {
            let shown = available(self.model, other);
            wanted.iter().filter(|path| !shown.contains(*path)).count()
        });
        found.map(|(id, _)| id)
    }

    /// Adds reads of the rows that hold copies of what changes.
    fn copies(
        &mut self,
        effect: &Effect,
        (id, family): (FamilyId, &Family),
        via: usize,
    ) -> Option<String> {
        let key = self.model.relation(effect.relation).key();
        let term = effect.key.iter().find(|(column, _)| key == [*column])?.1.clone();
        // What is selected by more than its key may not be there.
        if effect.key.len() > 1 {
            let selected = effect.key.iter().map(|(column, _)| vec![*column]).collect();
            self.read_own(effect, &selected);
        }
        let alias = format!("copy_of_{}", family.name.text);
        let bindings = vec![(vec![via], term)];
        // Copies in a sparse family are found by that family itself.
        let own = (id, Wanted::OfFamily);
        if only_for_copies(self.model, self.write, family) && self.finds(own.0, own.1, &bindings) {
            return self.add_read(id, bindings, Some(alias));
        }
        self.read_loop(family.source, bindings, alias, available(self.model, family))
    }

    fn loop_read(&mut self, effect: &Effect) -> Option<String> {
        let each = effect.each.as_ref()?;
        let bindings: Vec<(ColumnPath, Term)> = each
            .predicates
            .iter()
            .filter_map(|one| Some((one.path.clone(), one.values.first()?.clone())))
            .collect();
        // Two loops do not share a name unless they go through the same rows.
        let mut alias = each.alias.clone();
        while self.reads.iter().any(|(_, kind)| {
            matches!(kind, WriteStepKind::Read { bindings: old, alias: Some(name) }
                if *name == alias && *old != bindings)
        }) {
            alias.push_str("_too");
        }
        let mut wanted = BTreeSet::new();
        for (_, term) in effect.key.iter().chain(&effect.set) {
            priors(term, &mut |path| {
                wanted.insert(canonical(self.model, each.relation, path));
            });
        }
        // Rows of tuples that are changed themselves are found by what the loop shows of them.
        if each.relation == effect.relation {
            for (_, family) in self.schema.concerned(effect.relation) {
                if family.source == effect.relation {
                    wanted.extend(all_key_paths(self.model, family));
                }
            }
            // What else selects them is compared with what the loop shows.
            wanted.extend(effect.key.iter().map(|(column, _)| vec![*column]));
        }
        self.read_loop(each.relation, bindings, alias, &wanted)
    }

    fn read_loop(
        &mut self,
        relation: usize,
        bindings: Vec<(ColumnPath, Term)>,
        alias: String,
        wanted: &BTreeSet<ColumnPath>,
    ) -> Option<String> {
        let id = self.shows_most(relation, &bindings, wanted)?;
        self.add_read(id, bindings, Some(alias))
    }
}

/// Returns the attributes in the condition of a sparse family.
fn guards(model: &Model, family: &Family) -> Vec<ColumnPath> {
    family.when.iter().map(|one| canonical(model, family.source, &one.path)).collect()
}

/// Calls `see` for each attribute of the loop's rows in a term.
fn priors<'t>(term: &'t Term, see: &mut impl FnMut(&'t ColumnPath)) {
    match term {
        Term::Prior(path) => see(path),
        Term::Call(_, args) => args.iter().for_each(|arg| priors(arg, see)),
        _ => {}
    }
}

fn each_of(kind: &WriteStepKind) -> &Option<String> {
    match kind {
        WriteStepKind::Put { each }
        | WriteStepKind::Delete { each }
        | WriteStepKind::Patch { each } => each,
        WriteStepKind::Read { alias, .. } => alias,
    }
}
