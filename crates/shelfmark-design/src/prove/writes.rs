//! Certificates of writes: the plan named or derived, its proof, and a witness when it fails.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::canon::canonical;
use super::copied::only_for_copies;
use super::exact::{Wanted, exact_read};
use super::needs::{Need, needs};
use super::own_key::own_bindings;
use super::read::{Analysis, all_key_paths};
use super::together::has_prior;
use super::unique::{available, key_paths, tells_only_its_own};
use super::write::{made_paths, prove_write};
use super::{SEED, decisive, obligations};
use crate::certificate::{Certificate, Range, Status, text};
use crate::eval::change::{apply, run};
use crate::eval::focus::Focus;
use crate::eval::generate::{Pool, state, write_inputs};
use crate::eval::random::Random;
use crate::eval::rows::{Rows, present, rows};
use crate::eval::state::State;
use crate::eval::witness::{inputs_json, shrink, state_json};
use crate::limits::WITNESS_TRIES_MAX;
use crate::model::pattern::{Effect, EffectKind};
use crate::model::schema::{Family, FamilyId, Schema, WritePlan, WriteStep, WriteStepKind};
use crate::model::{ColumnPath, Model, Term, Value, Write};
use crate::syntax::tree::Existing;
use crate::target::Target;

/// The plan that a schema names for a write, or one that is derived.
pub(crate) fn plan(
    model: &Model,
    schema: &Schema,
    target: &Target,
    index: usize,
    write: &Write,
) -> WritePlan {
    let named = schema.writes.iter().find(|plan| plan.write == index);
    named.cloned().unwrap_or_else(|| derive(model, schema, target, index, write))
}

pub(crate) fn certificate(
    model: &Model,
    schema: &Schema,
    target: &Target,
    index: usize,
    write: &Write,
    hash: &str,
) -> (Certificate, Analysis, WritePlan) {
    let plan = plan(model, schema, target, index, write);
    let analysis = prove_write(model, schema, target, write, &plan);
    let failure = decisive(&analysis);
    let status = if failure.is_none() { Status::Certified } else { Status::Refused };
    let witness = failure.map(|failure| {
        if failure.call {
            return call(write, &failure.reason);
        }
        if !model.may_search(schema, write.effects.iter().map(|effect| effect.relation)) {
            return super::unseen(0);
        }
        find(model, schema, write, &plan).unwrap_or_else(|| super::unseen(WITNESS_TRIES_MAX))
    });
    let certificate = Certificate {
        schema: schema.name.text.clone(),
        pattern: write.name.text.clone(),
        write: true,
        status,
        obligation: failure.map(|failure| format!("O{}", failure.obligation)),
        obligations: obligations(&analysis),
        ranges: ranges(model, schema, write, &analysis),
        steps: text::write_steps(schema, &plan),
        rows_max: analysis.rows_max.clone(),
        reason: failure.map(|failure| failure.reason.clone()).unwrap_or_default(),
        witness,
        plan: serde_json::to_value(&plan.steps).unwrap_or(Json::Null),
        model: hash.to_owned(),
        seal: String::new(),
    }
    .sealed();
    (certificate, analysis, plan)
}

fn call(write: &Write, missing: &str) -> Json {
    let names: Vec<&str> = write.params.iter().map(|param| param.name.as_str()).collect();
    let call = format!("{}({})", write.name.text, names.join(", "));
    json!({ "kind": "call", "call": call, "missing": missing })
}

/// The keys that the write touches.
fn ranges(model: &Model, schema: &Schema, write: &Write, analysis: &Analysis) -> Vec<Range> {
    let _ = write;
    analysis
        .families
        .iter()
        .filter_map(|id| {
            let family = schema.families.get(*id)?;
            let table = schema.tables.get(family.table)?;
            let hole = |term: &Term| super::order::term_text(model, family.source, term);
            let texts: Vec<String> =
                family.key.iter().map(|column| text::parts(&column.parts, &hole)).collect();
            let (partition, sort) = texts.split_at(table.partition.min(texts.len()));
            Some(Range {
                table: table.name.text.clone(),
                partition: partition.to_vec(),
                from: sort.to_vec(),
                to: sort.to_vec(),
                prefix: false,
                descending: false,
                limit: None,
                equal: sort.to_vec(),
                ends: Vec::new(),
            })
        })
        .collect()
}

/// A plan of all that the write asks, with the reads that its keys need.
fn derive(
    model: &Model,
    schema: &Schema,
    target: &Target,
    index: usize,
    write: &Write,
) -> WritePlan {
    let mut deriver =
        Deriver { model, schema, target, write, reads: Vec::new(), changes: Vec::new() };
    for effect in &write.effects {
        for (id, family) in schema.concerned(effect.relation) {
            for need in needs(model, schema, id, effect) {
                deriver.need(effect, id, family, &need);
            }
        }
    }
    let several = deriver.reads.len() + deriver.changes.len() > 1;
    let reading = deriver.reads.is_empty() || target.reading_transactions;
    let transaction = (several && target.transactions && reading).then_some(1);
    let mut steps: Vec<WriteStep> = Vec::new();
    for (id, kind) in deriver.reads.into_iter().chain(deriver.changes) {
        steps.push(WriteStep { kind, families: vec![id], transaction });
    }
    WritePlan { write: index, steps, span: write.span, derived: true }
}

struct Deriver<'a> {
    model: &'a Model,
    schema: &'a Schema,
    target: &'a Target,
    write: &'a Write,
    reads: Vec<(FamilyId, WriteStepKind)>,
    changes: Vec<(FamilyId, WriteStepKind)>,
}

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
                    self.read_own(effect, &all_key_paths(self.model, family));
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
                self.read_own(effect, &wanted);
                self.look_up(effect, family, true);
                self.add(id, delete);
                self.add(id, put);
            }
            Need::RekeyCopies { .. } => {
                self.add(id, delete);
                self.add(id, put);
            }
            Need::Patch | Need::PatchCopies { .. } => {
                if *need == Need::Patch {
                    self.look_up(effect, family, false);
                }
                self.add(id, patch);
            }
            Need::PatchParent { .. } => {
                if effect.kind == EffectKind::Delete || effect.existing == Existing::Unless {
                    self.read_own(effect, available(self.model, family));
                }
                self.add(id, patch);
            }
            Need::Unplanned(_) => {}
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

    /// Adds a read, and returns under which name its rows go: one read serves several loops.
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

    /// Reads what the key (and, for a put, the row) needs beyond what the effect gives.
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
        let terms: Vec<(usize, Term)> = effect.set.iter().chain(&effect.key).cloned().collect();
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

    /// Reads the tuple where a row's key does not hold all that the write selects by.
    fn tell_apart(&mut self, effect: &Effect, family: &Family) {
        if effect.kind == EffectKind::Insert || family.source != effect.relation {
            return;
        }
        let selected = effect.key.iter().map(|(column, _)| vec![*column]).collect::<BTreeSet<_>>();
        if !selected.is_subset(&key_paths(self.model, family)) {
            self.read_own(effect, &selected);
        }
    }

    /// Reads what an attribute of the effect's tuple refers to.
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
            available(self.model, other).contains(&inner)
                && exact_read(
                    self.model,
                    self.schema,
                    self.target,
                    self.write,
                    (*id, Wanted::All),
                    &bindings,
                )
                .is_ok()
        });
        if let Some((id, _)) = found {
            self.add_read(id, bindings, None);
        }
    }

    /// What reads of the effect's own tuple show by now.
    fn own_shown(&self, effect: &Effect) -> BTreeSet<ColumnPath> {
        if effect.kind == EffectKind::Insert {
            return BTreeSet::new();
        }
        let own = own_bindings(self.model, effect);
        let reads = self.reads.iter().filter(
            |(_, kind)| matches!(kind, WriteStepKind::Read { bindings, .. } if *bindings == own),
        );
        reads
            .filter_map(|(id, _)| self.schema.families.get(*id))
            .filter(|family| family.source == effect.relation)
            .flat_map(|family| available(self.model, family))
            .cloned()
            .collect()
    }

    /// Reads the effect's own tuple from a family that its key finds.
    fn read_own(&mut self, effect: &Effect, wanted: &BTreeSet<ColumnPath>) -> Option<FamilyId> {
        let bindings = own_bindings(self.model, effect);
        // Tuples of a loop are known once the loop is read, and not before.
        if bindings.iter().any(|(_, term)| has_prior(term)) {
            return None;
        }
        let mut best: Option<(usize, FamilyId)> = None;
        for (id, other) in self.schema.of_source(effect.relation) {
            if exact_read(
                self.model,
                self.schema,
                self.target,
                self.write,
                (id, Wanted::All),
                &bindings,
            )
            .is_err()
            {
                continue;
            }
            let missing = wanted.difference(available(self.model, other)).count();
            if best.is_none_or(|(old, _)| missing < old) {
                best = Some((missing, id));
            }
        }
        let (_, id) = best?;
        self.add_read(id, bindings, None);
        Some(id)
    }

    /// Reads the rows that hold copies of what changes.
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
        if only_for_copies(self.model, self.write, family)
            && exact_read(self.model, self.schema, self.target, self.write, own, &bindings).is_ok()
        {
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
        let exact = self.schema.of_source(relation).filter(|(id, _)| {
            exact_read(
                self.model,
                self.schema,
                self.target,
                self.write,
                (*id, Wanted::All),
                &bindings,
            )
            .is_ok()
        });
        let found = exact.min_by_key(|(_, other)| {
            let shown = available(self.model, other);
            wanted.iter().filter(|path| !shown.contains(*path)).count()
        });
        let (id, _) = found?;
        self.add_read(id, bindings, Some(alias))
    }
}

/// The attributes that a sparse family looks at.
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

/// Searches a state and inputs where the plan leaves other rows than the changed state has.
pub(crate) fn find(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
) -> Option<Json> {
    let pool = Pool::about(schema, &Focus::of_write(model, schema, write, plan));
    let mut random = Random::new(SEED);
    for attempt in 0..WITNESS_TRIES_MAX {
        let mut found = state(model, &pool, &mut random, 2 + attempt % 4);
        let inputs = write_inputs(model, &found, write, &pool, &mut random);
        if !differs(model, schema, write, plan, &found, &inputs) {
            continue;
        }
        shrink(model, &mut found, |smaller| differs(model, schema, write, plan, smaller, &inputs));
        return Some(describe(model, schema, write, plan, &found, &inputs));
    }
    None
}

/// Whether plan and definition leave different rows.
pub(crate) fn differs(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    state: &State,
    inputs: &[Value],
) -> bool {
    let Some(changed) = apply(model, write, state, inputs) else { return false };
    let right = rows(model, schema, &changed);
    if loses(model, schema, write, &changed, &right) {
        return true;
    }
    match run(model, schema, write, plan, &rows(model, schema, state), inputs) {
        Err(_) => true,
        Ok(found) => keyed(schema, &found) != keyed(schema, &right),
    }
}

/// Whether two sources of a family that the write concerns are one row: one of them is lost.
fn loses(model: &Model, schema: &Schema, write: &Write, state: &State, rows: &Rows) -> bool {
    present(schema, state).into_iter().any(|(id, family)| {
        let concerned = family.base.is_none()
            && write.effects.iter().any(|effect| !needs(model, schema, id, effect).is_empty());
        if !concerned {
            return false;
        }
        let tuples = state.tuples(family.source).iter();
        let made = tuples
            .filter(|tuple| crate::eval::rows::row_of(model, state, id, family, tuple).is_some())
            .count();
        let there = rows.tables.get(&family.table);
        let kept = there.map_or(0, |rows| rows.values().filter(|row| row.family == id).count());
        kept < made
    })
}

/// Base rows as comparable things: table, key, values.
fn keyed(schema: &Schema, rows: &Rows) -> Vec<String> {
    let mut out = Vec::new();
    for (table, rows) in &rows.tables {
        if schema.tables.get(*table).is_some_and(|table| table.is_index) {
            continue;
        }
        for (key, row) in rows {
            out.push(format!("{table} {key:?} {} {:?} {:?}", row.family, row.values, row.kept));
        }
    }
    out
}

fn describe(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    state: &State,
    inputs: &[Value],
) -> Json {
    let before = rows(model, schema, state);
    let right = apply(model, write, state, inputs).map(|changed| rows(model, schema, &changed));
    let (found, error) = match run(model, schema, write, plan, &before, inputs) {
        Ok(found) => (found, None),
        Err(error) => (before.clone(), Some(error)),
    };
    let mut out = json!({
        "kind": "state",
        "state": state_json(model, state),
        "call": inputs_json(&write.params, inputs),
        "right": right.map(|rows| rows_json(model, schema, &rows)),
        "plan": rows_json(model, schema, &found),
    });
    if let (Some(error), Some(fields)) = (error, out.as_object_mut()) {
        fields.insert("error".to_owned(), Json::from(error));
    }
    out
}

fn rows_json(model: &Model, schema: &Schema, rows: &Rows) -> Json {
    let mut out = Vec::new();
    for (table, rows) in &rows.tables {
        let Some(table) = schema.tables.get(*table).filter(|table| !table.is_index) else {
            continue;
        };
        for (key, row) in rows {
            let key = key.iter().map(|value| value.text(&crate::model::Type::Int(None)));
            let source = schema.families.get(row.family).map_or(0, |family| family.source);
            let values =
                row.values.iter().map(|(path, value)| (model.path_text(source, path), value));
            let kept = row.kept.iter().map(|(name, value)| (name.clone(), value));
            out.push(text::row(&table.name.text, key, values.chain(kept)));
        }
    }
    Json::Array(out)
}
