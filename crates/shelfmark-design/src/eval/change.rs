//! What a write means, and what a plan of it does to rows.

use std::collections::BTreeMap;

use super::items::Items;
use super::rows::{Row, Rows, key_of};
use super::shelf::{Holder, Key};
use super::state::{State, Tuple, compare, meets};
use crate::model::pattern::{Effect, EffectKind};
use crate::model::schema::{
    Family, FamilyId, Schema, Stored, TableId, WritePlan, WriteStep, WriteStepKind,
};
use crate::model::{ColumnPath, Model, RelationId, Term, Value, Write};
use crate::prove::canon::canonical;
use crate::prove::needs::{Need, needs, replaces};
use crate::prove::own_key::{keys_of, own_bindings};
use crate::prove::unique::available;
use crate::syntax::tree::Existing;

/// Applies a write to a state; `None` where it is not defined.
pub(crate) fn apply(
    model: &Model,
    write: &Write,
    state: &State,
    inputs: &[Value],
) -> Option<State> {
    let mut new = state.clone();
    for effect in &write.effects {
        for tuple in loop_tuples(model, state, effect, inputs) {
            let leaf = |term: &Term| match term {
                Term::Param(index) => inputs.get(*index).cloned(),
                Term::Prior(path) => {
                    let each = effect.each.as_ref()?;
                    Some(state.value(model, each.relation, tuple?, path))
                }
                _ => None,
            };
            apply_one(model, effect, &mut new, &leaf)?;
        }
    }
    new.is_valid(model).then_some(new)
}

fn loop_tuples<'a>(
    model: &Model,
    state: &'a State,
    effect: &Effect,
    inputs: &[Value],
) -> Vec<Option<&'a Tuple>> {
    let Some(each) = &effect.each else { return vec![None] };
    let leaf = |term: &Term| match term {
        Term::Param(index) => inputs.get(*index).cloned(),
        _ => None,
    };
    let fits = |tuple: &Tuple| {
        each.predicates.iter().all(|one| meets(state, model, each.relation, tuple, one, &leaf))
    };
    state.tuples(each.relation).iter().filter(|tuple| fits(tuple)).map(Some).collect()
}

fn apply_one(
    model: &Model,
    effect: &Effect,
    state: &mut State,
    leaf: &impl Fn(&Term) -> Option<Value>,
) -> Option<()> {
    let relation = model.relation(effect.relation);
    let mut given = BTreeMap::new();
    for (column, term) in effect.key.iter() {
        given.insert(*column, term.compute(leaf)?);
    }
    let tuples = state.relations.get_mut(effect.relation)?;
    let selects =
        |tuple: &Tuple| given.iter().all(|(column, value)| tuple.get(*column) == Some(value));
    match effect.kind {
        EffectKind::Insert => {
            let tuple: Tuple = (0..relation.columns.len())
                .map(|column| given.get(&column).cloned().unwrap_or(Value::Null))
                .collect();
            let same =
                |other: &Tuple| relation.key().iter().all(|at| other.get(*at) == tuple.get(*at));
            match (tuples.iter().position(same), effect.existing) {
                (None, _) => tuples.push(tuple),
                (Some(_), Existing::Unless) => {}
                (Some(at), Existing::Replace) => {
                    if let Some(old) = tuples.get_mut(at) {
                        *old = tuple;
                    }
                }
                (Some(_), Existing::Fresh) => return None,
            }
        }
        EffectKind::Delete => tuples.retain(|tuple| !selects(tuple)),
        EffectKind::Update | EffectKind::Increment => {
            for tuple in tuples.iter_mut().filter(|tuple| selects(tuple)) {
                for (column, term) in &effect.set {
                    let value = term.compute(leaf)?;
                    let Some(old) = tuple.get_mut(*column) else { continue };
                    *old = match (effect.kind, &*old, &value) {
                        (EffectKind::Increment, Value::Int(a), Value::Int(b)) => {
                            Value::Int(a.saturating_add(*b))
                        }
                        _ => value,
                    };
                }
            }
        }
    }
    Some(())
}

/// Values by path: what is known of one tuple.
type Known = BTreeMap<ColumnPath, Value>;

/// Runs the plan of a write on rows in a map; `Err` says which call cannot be formed.
pub(crate) fn run(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    rows: &Rows,
    inputs: &[Value],
) -> Result<Rows, String> {
    let mut rows = rows.clone();
    run_on(model, schema, write, plan, &mut rows, inputs)?;
    Ok(rows)
}

/// Runs the plan of a write wherever the rows lie.
pub(crate) fn run_on(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    shelf: &mut dyn Holder,
    inputs: &[Value],
) -> Result<(), String> {
    let mut runner = Runner {
        model,
        schema,
        write,
        inputs,
        shelf,
        reads: Vec::new(),
        looked: Vec::new(),
        changed: Vec::new(),
    };
    let mut items = Items::of(schema);
    for step in &plan.steps {
        runner.step(step)?;
        items.step(step, std::mem::take(&mut runner.changed))?;
    }
    Ok(())
}

struct Runner<'a> {
    model: &'a Model,
    schema: &'a Schema,
    write: &'a Write,
    inputs: &'a [Value],
    shelf: &'a mut dyn Holder,
    reads: Vec<(Option<String>, FamilyId, Vec<Row>)>,
    /// What was looked for, as attributes and their values.
    looked: Vec<(RelationId, Vec<(ColumnPath, Value)>)>,
    /// The keys that the step at hand has changed something under.
    changed: Vec<(TableId, Key)>,
}

/// One effect with the tuple of its loop.
struct Case<'a> {
    effect: &'a Effect,
    prior: Option<Known>,
}

impl<'a> Runner<'a> {
    fn step(&mut self, step: &WriteStep) -> Result<(), String> {
        for id in &step.families {
            let Some(family) = self.schema.families.get(*id) else { continue };
            let family = family.clone();
            match &step.kind {
                WriteStepKind::Read { bindings, alias } => {
                    self.read(*id, &family, bindings, alias)?;
                }
                WriteStepKind::Put { each } => self.put(*id, &family, each.as_deref())?,
                WriteStepKind::Delete { each } => self.delete(*id, &family, each.as_deref())?,
                WriteStepKind::Patch { each } => self.patch(*id, &family, each.as_deref())?,
            }
        }
        Ok(())
    }

    fn param(&self, term: &Term) -> Option<Value> {
        term.compute(&|leaf| match leaf {
            Term::Param(index) => self.inputs.get(*index).cloned(),
            _ => None,
        })
    }

    /// A value that a read is asked by: an input, or an attribute of the write's own tuple.
    fn told(&self, term: &Term) -> Option<Value> {
        let ([effect], Term::Prior(path)) = (self.write.effects.as_slice(), term) else {
            return Some(self.param(term).unwrap_or(Value::Null));
        };
        let given = self.given(&Case { effect, prior: None });
        let path = canonical(self.model, effect.relation, path);
        let value = self.with_reads(effect, &given).get(&path).cloned();
        value.filter(|value| *value != Value::Null)
    }

    fn read(
        &mut self,
        id: FamilyId,
        family: &Family,
        bindings: &[(ColumnPath, Term)],
        alias: &Option<String>,
    ) -> Result<(), String> {
        let named = |(path, term): &(ColumnPath, Term)| {
            let value = self.told(term).unwrap_or(Value::Null);
            (canonical(self.model, family.source, path), value)
        };
        let mut asked: Vec<Vec<(ColumnPath, Value)>> = Vec::new();
        if bindings.is_empty() {
            // What names nothing looks for the tuple of each effect.
            let own = self.write.effects.iter().filter(|effect| effect.relation == family.source);
            for effect in own {
                let given = own_bindings(self.model, effect);
                let wanted = given
                    .into_iter()
                    .filter_map(|(path, term)| Some((path, self.param(&term)?)))
                    .collect();
                if !asked.contains(&wanted) {
                    asked.push(wanted);
                }
            }
        }
        if asked.is_empty() {
            asked.push(bindings.iter().map(named).collect());
        }
        // Of a tuple that is not there nothing leads on.
        if bindings.iter().any(|(_, term)| self.told(term).is_none()) {
            self.reads.push((alias.clone(), id, Vec::new()));
            return Ok(());
        }
        for wanted in asked {
            let found = self.shelf.matching(id, &wanted)?;
            self.looked.push((family.source, wanted));
            let found = found.into_iter().map(|(_, row)| row).collect();
            self.reads.push((alias.clone(), id, found));
        }
        Ok(())
    }

    /// What was read under a name, as tuples of a relation.
    fn loop_rows(&self, alias: &str, relation: RelationId) -> Vec<Known> {
        let mut found = Vec::new();
        for (name, id, rows) in &self.reads {
            if name.as_deref() != Some(alias) {
                continue;
            }
            let Some(family) = self.schema.families.get(*id) else { continue };
            for row in rows {
                if family.source == relation {
                    found.push(row.values.clone());
                    continue;
                }
                for stored in &family.stored {
                    if let Stored::Collect { relation: of, via, path, name } = stored
                        && *of == relation
                        && let Some(Value::List(items)) = row.kept.get(name)
                    {
                        let key = self.model.relation(family.source).key().to_vec();
                        let parent = row.values.get(&key).cloned().unwrap_or(Value::Null);
                        found.extend(items.iter().map(|item| {
                            Known::from([
                                (path.clone(), item.clone()),
                                (vec![*via], parent.clone()),
                            ])
                        }));
                    }
                }
            }
        }
        found
    }

    /// The effects that a step is for: those that ask it of the family, or all where none does.
    fn meant(&self, id: FamilyId, asks: fn(&Need) -> bool) -> Vec<&'a Effect> {
        let all: Vec<&Effect> = self.write.effects.iter().collect();
        if all.len() < 2 {
            return all;
        }
        let asked = |effect: &&&Effect| needs(self.model, self.schema, id, effect).iter().any(asks);
        let some: Vec<&Effect> = all.iter().filter(asked).copied().collect();
        if some.is_empty() { all } else { some }
    }

    /// Effects, once per tuple of their loops.
    fn cases(
        &self,
        effects: impl Iterator<Item = &'a Effect>,
        each: Option<&str>,
    ) -> Vec<Case<'a>> {
        let mut cases = Vec::new();
        for effect in effects {
            match (&effect.each, each) {
                (None, None) => cases.push(Case { effect, prior: None }),
                // A step that goes through a loop does the effects that do.
                (None, Some(_)) | (Some(_), None) => {}
                (Some(of), Some(alias)) => {
                    let rows = self.loop_rows(alias, of.relation);
                    cases.extend(rows.into_iter().map(|row| Case { effect, prior: Some(row) }));
                }
            }
        }
        cases
    }

    /// The values that the effect itself gives; for an insert all, else what selects.
    fn given(&self, case: &Case<'_>) -> Known {
        let leaf = |term: &Term| match term {
            Term::Param(index) => self.inputs.get(*index).cloned(),
            Term::Prior(path) => {
                let relation = case.effect.each.as_ref()?.relation;
                case.prior.as_ref()?.get(&canonical(self.model, relation, path)).cloned()
            }
            _ => None,
        };
        let terms = case.effect.key.iter();
        let mut known: Known = terms
            .filter_map(|(column, term)| Some((vec![*column], term.compute(&leaf)?)))
            .collect();
        if case.effect.kind == EffectKind::Insert {
            for (column, found) in
                self.model.relation(case.effect.relation).columns.iter().enumerate()
            {
                let given = case.effect.key.iter().any(|(other, _)| *other == column);
                if found.optional && !given {
                    known.insert(vec![column], Value::Null);
                }
            }
        }
        known
    }

    fn changed(&self, case: &Case<'_>, old: &Known) -> Known {
        let leaf = |term: &Term| match term {
            Term::Param(index) => self.inputs.get(*index).cloned(),
            Term::Prior(path) => {
                let relation = case.effect.each.as_ref()?.relation;
                case.prior.as_ref()?.get(&canonical(self.model, relation, path)).cloned()
            }
            _ => None,
        };
        let mut changed = Known::new();
        for (column, term) in &case.effect.set {
            let Some(value) = term.compute(&leaf) else { continue };
            let value = match (case.effect.kind, old.get(&vec![*column]), &value) {
                (EffectKind::Increment, Some(Value::Int(a)), Value::Int(b)) => {
                    Value::Int(a.saturating_add(*b))
                }
                // Without what was there the sum is not known.
                (EffectKind::Increment, None, _) => continue,
                _ => value,
            };
            changed.insert(vec![*column], value);
        }
        changed
    }

    /// A path's value from what is known and what was read.
    fn find(&self, relation: RelationId, known: &Known, path: &[usize]) -> Option<Value> {
        let path = canonical(self.model, relation, path);
        if let Some(value) = known.get(&path) {
            return Some(value.clone());
        }
        // A row of what is referred to on the way tells the rest of it; the nearest is asked first.
        for split in (1..path.len()).rev() {
            let (head, rest) = path.split_at(split);
            let owner = self.model.path_owner(relation, path.get(..=split)?);
            let Some(reference) = self.find(relation, known, head) else { continue };
            if reference == Value::Null {
                return Some(Value::Null);
            }
            let key = self.model.relation(owner).key().to_vec();
            if let ([last], Some(only)) = (rest, key.first())
                && let Some(value) = self.made_here(owner, &[*only], &reference, *last)
            {
                return Some(value);
            }
            let told = self.reads.iter().find_map(|(_, id, rows)| {
                let source = self.schema.families.get(*id)?.source;
                let row = rows.iter().find(|row| row.values.get(&key) == Some(&reference))?;
                (source == owner).then(|| row.values.get(rest).cloned()).flatten()
            });
            if told.is_some() {
                return told;
            }
        }
        None
    }

    /// An attribute of what the same write makes.
    fn made_here(
        &self,
        owner: RelationId,
        key: &[usize],
        reference: &Value,
        column: usize,
    ) -> Option<Value> {
        self.write.effects.iter().find_map(|effect| {
            if effect.kind != EffectKind::Insert
                || effect.relation != owner
                || effect.each.is_some()
            {
                return None;
            }
            let made = self.given(&Case { effect, prior: None });
            (made.get(key) == Some(reference)).then(|| made.get(&vec![column]).cloned()).flatten()
        })
    }

    /// Adds what reads of the effect's tuple tell.
    fn with_reads(&self, effect: &Effect, known: &Known) -> Known {
        let mut all = known.clone();
        let keys = keys_of(self.model, effect);
        for (_, id, rows) in &self.reads {
            let Some(family) = self.schema.families.get(*id) else { continue };
            if family.source != effect.relation {
                continue;
            }
            for row in rows.iter().filter(|row| is_of(row, keys, known)) {
                for (path, value) in &row.values {
                    all.entry(path.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        all
    }

    /// What was looked for and is not there has nothing to change.
    fn looked_in_vain(&self, effect: &Effect, given: &Known) -> bool {
        let relation = effect.relation;
        // A read that finds nothing says so only of what it looked for.
        let looked = self.looked.iter().any(|(of, wanted)| {
            *of == relation && wanted.iter().all(|(path, value)| given.get(path) == Some(value))
        });
        looked && !self.was_read(relation, keys_of(self.model, effect), given)
    }

    /// What refers to an entity that was looked for and is not there cannot be there either.
    fn dangles(&self, relation: RelationId, given: &Known) -> bool {
        self.model.relation(relation).columns.iter().enumerate().any(|(column, found)| {
            let (Some(target), Some(value)) = (found.refers, given.get(&vec![column])) else {
                return false;
            };
            let read = self.reads.iter().any(|(_, id, _)| {
                self.schema.families.get(*id).is_some_and(|other| other.source == target)
            });
            let key = self.model.relation(target).key().first().copied().unwrap_or(0);
            let known = Known::from([(vec![key], value.clone())]);
            // A read that finds nothing says so only when it looked for this very key.
            read && target != relation
                && self.looked_for(target, value)
                && !self.was_read(target, std::slice::from_ref(&vec![key]), &known)
        })
    }

    fn looked_for(&self, target: RelationId, value: &Value) -> bool {
        let key = self.model.relation(target).key();
        self.looked.iter().any(|(relation, wanted)| {
            *relation == target
                && matches!(wanted.as_slice(), [(path, found)] if path == key && found == value)
        })
    }

    /// Whether a row was read of the tuple that has the known values in one of the keys.
    fn was_read(&self, relation: RelationId, keys: &[Vec<usize>], known: &Known) -> bool {
        self.reads.iter().any(|(_, id, rows)| {
            self.schema.families.get(*id).is_some_and(|family| family.source == relation)
                && rows.iter().any(|row| is_of(row, keys, known))
        })
    }

    fn is_read(&self, effect: &Effect, known: &Known) -> bool {
        self.was_read(effect.relation, keys_of(self.model, effect), known)
    }

    fn key(&self, family: &Family, known: &Known) -> Option<Vec<super::rows::KeyValue>> {
        key_of(&family.key, &|term| match term {
            Term::Column(path) => self.find(family.source, known, path),
            _ => None,
        })
    }

    /// Whether every attribute in the key is known (a known absence makes no row).
    fn can_key(&self, family: &Family, known: &Known) -> Result<(), String> {
        for path in crate::prove::read::all_key_paths(self.model, family) {
            if self.find(family.source, known, &path).is_none() {
                let name = self.model.path_text(family.source, &path);
                return Err(format!(
                    "the key of {} needs {name}, which is not known",
                    family.name.text
                ));
            }
        }
        Ok(())
    }

    fn row(&self, id: FamilyId, family: &Family, known: &Known) -> Result<Option<Row>, String> {
        for predicate in &family.when {
            let found = self
                .find(family.source, known, &predicate.path)
                .ok_or_else(|| format!("whether {} has the row is not known", family.name.text))?;
            let values: Vec<Value> =
                predicate.values.iter().filter_map(|value| self.param(value)).collect();
            if !compare(predicate.op, &found, &values) {
                return Ok(None);
            }
        }
        let mut values = Known::new();
        for path in available(self.model, family) {
            let value = self.find(family.source, known, &path).ok_or_else(|| {
                let name = self.model.path_text(family.source, &path);
                format!("{} stores {name}, which is not known", family.name.text)
            })?;
            values.insert(path, value);
        }
        let mut kept = BTreeMap::new();
        for stored in &family.stored {
            match stored {
                Stored::Path(_) => {}
                Stored::Collect { name, .. } => {
                    kept.insert(name.clone(), Value::List(Vec::new()));
                }
                Stored::Count { name, .. } => {
                    kept.insert(name.clone(), Value::Int(0));
                }
            }
        }
        let count = self.model.relation(family.source).columns.len();
        let origin = (0..count)
            .map(|column| self.find(family.source, known, &[column]).unwrap_or(Value::Null))
            .collect();
        Ok(Some(Row { family: id, values, kept, origin }))
    }

    fn put(&mut self, id: FamilyId, family: &Family, each: Option<&str>) -> Result<(), String> {
        let mut rows = Vec::new();
        let meant = self.meant(id, |need| matches!(need, Need::Put | Need::Rekey));
        let own = meant
            .into_iter()
            .filter(|effect| effect.relation == family.source && effect.kind != EffectKind::Delete);
        for case in self.cases(own, each) {
            let given = self.given(&case);
            let old = self.with_reads(case.effect, &given);
            let exists = self.is_read(case.effect, &given);
            let mut new = if case.effect.kind == EffectKind::Insert { given } else { old.clone() };
            let changed = self.changed(&case, &old);
            // What a changed reference brought along is not what it refers to now.
            new.retain(|path, _| {
                path.len() == 1 || !path.first().is_some_and(|at| changed.contains_key(&vec![*at]))
            });
            new.extend(changed);
            if case.effect.existing == Existing::Unless && exists {
                continue;
            }
            if case.effect.kind != EffectKind::Insert && !exists {
                continue;
            }
            self.can_key(family, &new)?;
            if let (Some(key), Some(row)) = (self.key(family, &new), self.row(id, family, &new)?) {
                let taken = self.shelf.get(family.table, &key)?.is_some();
                if !(case.effect.existing == Existing::Unless && taken) {
                    rows.push((key, row));
                }
            }
        }
        for (mut known, change) in self.dependents(family, each) {
            known.extend(change);
            self.can_key(family, &known)?;
            if let (Some(key), Some(row)) =
                (self.key(family, &known), self.row(id, family, &known)?)
            {
                rows.push((key, row));
            }
        }
        for (key, row) in rows {
            self.changed.push((family.table, key.clone()));
            self.shelf.put(family.table, key, row)?;
        }
        Ok(())
    }

    /// What is known of the tuple as it was: of one that is replaced only its key.
    fn given_before(&self, case: &Case<'_>) -> Known {
        let mut given = self.given(case);
        if case.effect.kind == EffectKind::Insert {
            let key = self.model.relation(case.effect.relation).key();
            given.retain(|path, _| matches!(path.as_slice(), [only] if key.contains(only)));
        }
        given
    }

    fn delete(&mut self, id: FamilyId, family: &Family, each: Option<&str>) -> Result<(), String> {
        let mut keys = Vec::new();
        let meant = self.meant(id, |need| matches!(need, Need::Delete | Need::Rekey));
        let own = meant
            .into_iter()
            .filter(|effect| effect.relation == family.source)
            .filter(|effect| effect.kind != EffectKind::Insert || replaces(effect));
        for case in self.cases(own, each) {
            let given = self.given_before(&case);
            let old = self.with_reads(case.effect, &given);
            if self.looked_in_vain(case.effect, &given) || self.dangles(family.source, &given) {
                continue;
            }
            self.can_key(family, &old)?;
            keys.extend(self.key(family, &old));
        }
        for (known, _) in self.dependents(family, each) {
            self.can_key(family, &known)?;
            keys.extend(self.key(family, &known));
        }
        for key in keys {
            self.shelf.remove(family.table, &key)?;
            self.changed.push((family.table, key));
        }
        Ok(())
    }

    /// Rows read for the loop whose copies of another relation's attributes change.
    fn dependents(&self, family: &Family, each: Option<&str>) -> Vec<(Known, Known)> {
        let Some(alias) = each else { return Vec::new() };
        let mut found = Vec::new();
        for effect in self
            .write
            .effects
            .iter()
            .filter(|effect| effect.kind == EffectKind::Update && effect.each.is_none())
        {
            let case = Case { effect, prior: None };
            let given = self.given(&case);
            let changed = self.changed(&case, &given);
            let key = self.model.relation(effect.relation).key().first().copied().unwrap_or(0);
            let Some(value) = given.get(&vec![key]) else { continue };
            for row in self.loop_rows(alias, family.source) {
                // A row may refer to the changed tuple more than once.
                let mut change = Known::new();
                for (column, reference) in
                    self.model.relation(family.source).columns.iter().enumerate()
                {
                    if reference.refers != Some(effect.relation)
                        || row.get(&vec![column]) != Some(value)
                    {
                        continue;
                    }
                    for (path, value) in &changed {
                        let whole: ColumnPath =
                            std::iter::once(column).chain(path.iter().copied()).collect();
                        change.insert(canonical(self.model, family.source, &whole), value.clone());
                    }
                }
                if !change.is_empty() {
                    found.push((row, change));
                }
            }
        }
        found
    }

    fn patch(&mut self, id: FamilyId, family: &Family, each: Option<&str>) -> Result<(), String> {
        let meant = self.meant(id, |need| matches!(need, Need::Patch));
        let updates = meant.into_iter().filter(|effect| {
            effect.relation == family.source
                && matches!(effect.kind, EffectKind::Update | EffectKind::Increment)
        });
        let kept = self.kept_changes(family, each)?;
        for case in self.cases(updates, each) {
            let given = self.given(&case);
            let old = self.with_reads(case.effect, &given);
            if self.looked_in_vain(case.effect, &given) || self.dangles(family.source, &given) {
                continue;
            }
            self.can_key(family, &old)?;
            let Some(key) = self.key(family, &old) else { continue };
            // One after the other: the next may change the same row.
            let Some(stored) = self.shelf.get(family.table, &key)? else { continue };
            let change = self.changed(&case, &stored.values);
            self.change_row(family, key, stored, change)?;
        }
        for (known, change) in self.dependents(family, each) {
            self.can_key(family, &known)?;
            let Some(key) = self.key(family, &known) else { continue };
            let Some(stored) = self.shelf.get(family.table, &key)? else { continue };
            self.change_row(family, key, stored, change)?;
        }
        for (parent, name, item, added) in kept {
            let own = self.model.relation(family.source).key().to_vec();
            for (key, mut row) in self.shelf.matching(id, &[(own.clone(), parent.clone())])? {
                change_kept(&mut row, &name, &item, added);
                self.changed.push((family.table, key.clone()));
                self.shelf.put(family.table, key, row)?;
            }
        }
        Ok(())
    }

    fn change_row(
        &mut self,
        family: &Family,
        key: Key,
        mut row: Row,
        change: Known,
    ) -> Result<(), String> {
        for (path, value) in change {
            if let [column] = path.as_slice()
                && let Some(old) = row.origin.get_mut(*column)
            {
                *old = value.clone();
            }
            if let Some(old) = row.values.get_mut(&path) {
                *old = value;
            }
        }
        self.changed.push((family.table, key.clone()));
        self.shelf.put(family.table, key, row)
    }

    /// What lists and counts of the row's children gain or lose.
    fn kept_changes(
        &self,
        family: &Family,
        each: Option<&str>,
    ) -> Result<Vec<(Value, String, Value, bool)>, String> {
        let mut found = Vec::new();
        for stored in &family.stored {
            let (relation, via, path, name) = match stored {
                Stored::Path(_) => continue,
                Stored::Collect { relation, via, path, name } => {
                    (*relation, *via, path.clone(), name)
                }
                Stored::Count { relation, via, name } => (*relation, *via, vec![*via], name),
            };
            let touches = |effect: &&Effect| {
                effect.relation == relation
                    && matches!(effect.kind, EffectKind::Insert | EffectKind::Delete)
            };
            for case in self.cases(self.write.effects.iter().filter(touches), each) {
                let given = self.given(&case);
                let known = self.with_reads(case.effect, &given);
                let value = |path: &[usize]| {
                    self.find(relation, &known, path)
                        .ok_or_else(|| format!("what {} keeps is not known", family.name.text))
                };
                let added = case.effect.kind == EffectKind::Insert;
                // What is there already was counted when it came.
                let unless = case.effect.existing == Existing::Unless;
                if added && unless && self.is_read(case.effect, &given) {
                    continue;
                }
                // A delete of what is not there takes nothing away; without a read nobody knows.
                if !added && !self.is_read(case.effect, &given) {
                    continue;
                }
                found.push((value(&[via])?, name.clone(), value(&path)?, added));
            }
        }
        Ok(found)
    }
}

fn change_kept(row: &mut Row, name: &str, item: &Value, added: bool) {
    match row.kept.get_mut(name) {
        Some(Value::List(items)) if added => {
            items.push(item.clone());
            items.sort();
        }
        Some(Value::List(items)) => {
            if let Some(at) = items.iter().position(|other| other == item) {
                items.remove(at);
            }
        }
        Some(Value::Int(count)) => *count += if added { 1 } else { -1 },
        _ => {}
    }
}

/// Whether a row shows the known values in all attributes of one of the keys.
fn is_of(row: &Row, keys: &[Vec<usize>], known: &Known) -> bool {
    keys.iter().any(|key| {
        !key.is_empty()
            && key.iter().all(|column| {
                let path = vec![*column];
                let value = known.get(&path).filter(|value| **value != Value::Null);
                value.is_some() && row.values.get(&path) == value
            })
    })
}
