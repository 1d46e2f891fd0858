//! Runs the steps of a write's plan on rows, one after another.

use std::collections::BTreeMap;

use super::super::items::Items;
use super::super::rows::{Row, Rows};
use super::super::shelf::{Holder, Key};
use super::super::state::compare;
use super::known::{Case, Known};
use super::undo::Undoing;
use crate::canon::canonical;
use crate::claims::claims;
use crate::conditions::checked_by;
use crate::must_be::shows_all;
use crate::needs::{Need, needs, replaces};
use crate::own_key::own_bindings;
use crate::paths::all_key_paths;
use crate::tally::{Tally, Turn, constants};
use crate::unique::available;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{
    Family, FamilyId, Fold, Schema, Stored, TableId, WritePlan, WriteStep, WriteStepKind,
};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term, Value, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// Runs the plan of a write on rows in a map; `Err` says which call cannot be formed.
///
/// # Errors
///
/// Which call cannot be formed, as a message. The plan does not fit the model.
pub fn run(
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

/// Runs the plan of a write on rows behind any holder.
///
/// # Errors
///
/// Which call cannot be formed, as a message. The plan does not fit the model.
pub fn run_on(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    shelf: &mut dyn Holder,
    inputs: &[Value],
) -> Result<(), String> {
    if !write.inputs_differ(inputs) {
        return Ok(());
    }
    let mut runner = Runner {
        model,
        schema,
        write,
        inputs,
        shelf: Undoing::new(shelf),
        ended: false,
        reads: Vec::new(),
        looked: Vec::new(),
        put: Vec::new(),
        changed: Vec::new(),
    };
    let mut items = Items::of(schema);
    for effect in write.effects.iter().filter(|effect| !effect.conditions.is_empty()) {
        if !runner.holds(plan, effect)? {
            return Ok(());
        }
    }
    for step in &plan.steps {
        runner.shelf.enter(step.transaction);
        runner.step(step)?;
        if runner.ended {
            return Ok(());
        }
        items.step(step, std::mem::take(&mut runner.changed))?;
    }
    Ok(())
}

/// A read that a plan has made, with its binding.
pub(super) struct Looked {
    pub(super) of: RelationId,
    /// The attributes that it was bound to, with their values.
    pub(super) wanted: Vec<(ColumnPath, Value)>,
    /// Its position among the reads.
    pub(super) at: usize,
}

pub(super) struct Runner<'a> {
    pub(super) model: &'a Model,
    pub(super) schema: &'a Schema,
    pub(super) write: &'a Write,
    pub(super) inputs: &'a [Value],
    pub(super) shelf: Undoing<'a>,
    /// True once the condition of a request has failed: no more is sent.
    ended: bool,
    pub(super) reads: Vec<(Option<String>, FamilyId, Vec<Row>)>,
    pub(super) looked: Vec<Looked>,
    /// The keys under which the plan has put rows so far.
    pub(super) put: Vec<(FamilyId, Key)>,
    /// The keys that the current step has changed.
    pub(super) changed: Vec<(TableId, Key)>,
}

impl<'a> Runner<'a> {
    /// Returns true if the row that checks an effect's conditions satisfies them; what nothing checks
    /// keeps nothing back.
    fn holds(&self, plan: &WritePlan, effect: &Effect) -> Result<bool, String> {
        let Some(id) = checked_by(self.model, self.schema, self.write, plan, effect) else {
            return Ok(true);
        };
        let Some(family) = self.schema.families.get(id) else { return Ok(true) };
        let in_key = all_key_paths(self.model, family);
        let own = effect.key.iter().filter(|(column, _)| in_key.contains(&vec![*column]));
        let own: Vec<(ColumnPath, Value)> =
            own.filter_map(|(column, term)| Some((vec![*column], self.param(term)?))).collect();
        let found = self.shelf.matching(id, &own)?;
        let Some((_, row)) = found.first() else { return Ok(false) };
        let selects = |(column, term): &(usize, Term)| {
            let path = vec![*column];
            in_key.contains(&path) || row.values.get(&path) == self.param(term).as_ref()
        };
        if !effect.key.iter().all(selects) {
            return Ok(false);
        }
        Ok(effect.conditions.iter().all(|one| {
            let values: Option<Vec<Value>> =
                one.values.iter().map(|value| self.param(value)).collect();
            let found = row.values.get(&one.path);
            found.zip(values).is_some_and(|(found, values)| compare(one.op, found, &values))
        }))
    }

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
            if self.ended {
                break;
            }
        }
        Ok(())
    }

    /// Ends the plan, because a condition of the current request does not hold.
    fn end(&mut self) -> Result<(), String> {
        self.ended = true;
        self.shelf.undo()
    }

    /// Returns true if what happens together with the change of a row hangs on whether the row is there: it
    /// is one that every tuple has, and the write is one of several tuples.
    fn asks(&self, family: &Family, effect: &Effect) -> bool {
        self.shelf.is_together()
            && self.write.effects.len() > 1
            && effect.kind != EffectKind::Insert
            && effect.each.is_none()
            && shows_all(self.model, family)
    }

    /// Returns true if no row lies under a key, and none did when the request began.
    fn is_missing(&self, family: &Family, key: &Key) -> Result<bool, String> {
        let gone = self.shelf.get(family.table, key)?.is_none();
        Ok(gone && !self.shelf.has_changed(family.table, key))
    }

    /// Returns true if the row of a key is another tuple's than the one that is to lie there.
    fn is_anothers(&self, id: FamilyId, family: &Family, key: &Key, row: &Row) -> bool {
        let Ok(Some(taken)) = self.shelf.get(family.table, key) else { return false };
        let own = self.model.relation(family.source).key().iter();
        let mut shown =
            own.filter_map(|column| taken.values.get(&vec![*column]).map(|one| (*column, one)));
        taken.family != id || shown.any(|(column, value)| row.origin.get(column) != Some(value))
    }

    fn read(
        &mut self,
        id: FamilyId,
        family: &Family,
        bindings: &[(ColumnPath, Term)],
        alias: &Option<String>,
    ) -> Result<(), String> {
        let named = |(path, term): &(ColumnPath, Term)| {
            let value = self.bound_value(term).unwrap_or(Value::Null);
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
        if bindings.iter().any(|(_, term)| self.bound_value(term).is_none()) {
            self.reads.push((alias.clone(), id, Vec::new()));
            return Ok(());
        }
        for wanted in asked {
            let found = match self.beside_guards(family, &wanted) {
                Some(rest) => self.shelf.matching(id, &rest)?,
                None => Vec::new(),
            };
            let mut found: Vec<Row> = found.into_iter().map(|(_, row)| row).collect();
            // What was asked for by its value is known of what is found.
            for row in &mut found {
                for (path, value) in &wanted {
                    row.values.entry(path.clone()).or_insert_with(|| value.clone());
                }
            }
            self.looked.push(Looked { of: family.source, wanted, at: self.reads.len() });
            self.reads.push((alias.clone(), id, found));
        }
        self.ended |= self.is_refuted();
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
            let value = self.find(family.source, known, path).ok_or_else(|| {
                let name = self.model.path_text(family.source, path);
                format!("{} stores {name}, which is not known", family.name.text)
            })?;
            values.insert(path.clone(), value);
        }
        let mut kept = BTreeMap::new();
        for stored in &family.stored {
            match stored {
                Stored::Path(_) => {}
                Stored::Collect { name, .. } => {
                    kept.insert(name.clone(), Value::List(Vec::new()));
                }
                Stored::Tally { name, fold, .. } => {
                    kept.insert(name.clone(), fold.of_none());
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
            let there = exists && !self.looked_in_vain(case.effect, &given);
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
            // What refers to nothing is gone again when the write is done, or the write is none.
            if self.dangles(family.source, &new) {
                continue;
            }
            if case.effect.kind != EffectKind::Insert && !there {
                continue;
            }
            self.can_key(family, &new)?;
            if let (Some(key), Some(row)) = (self.key(family, &new), self.row(id, family, &new)?) {
                let taken = self.shelf.get(family.table, &key)?.is_some();
                if case.effect.existing == Existing::Unless && taken {
                    // A put that meets another's unique value ends the plan; what is there itself is passed
                    // over.
                    if self.is_anothers(id, family, &key, &row) {
                        return self.end();
                    }
                    continue;
                }
                let inserts = case.effect.kind == EffectKind::Insert;
                let fresh = match inserts && case.effect.existing == Existing::Fresh {
                    true => Fresh::Free,
                    false if claims(self.model, family, case.effect) => Fresh::FreeOrOwn,
                    false => Fresh::Never,
                };
                rows.push((key, row, fresh));
            }
        }
        for (mut known, change) in self.dependents(id, family, each) {
            known.extend(change);
            self.can_key(family, &known)?;
            if let (Some(key), Some(row)) =
                (self.key(family, &known), self.row(id, family, &known)?)
            {
                rows.push((key, row, Fresh::Never));
            }
        }
        for (key, row, fresh) in rows {
            let meets = match fresh {
                Fresh::Never => false,
                Fresh::Free => self.shelf.get(family.table, &key)?.is_some(),
                Fresh::FreeOrOwn => self.is_anothers(id, family, &key, &row),
            };
            match meets {
                true if each.is_some() && !self.shelf.is_together() => continue,
                true => return self.end(),
                false => {}
            }
            self.changed.push((family.table, key.clone()));
            self.put.push((id, key.clone()));
            self.shelf.put(family.table, key, row)?;
        }
        Ok(())
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
            if self.finds_no_row(family, &case, &given, &old) {
                continue;
            }
            self.can_key(family, &old)?;
            // A row that was put under the same unique value has taken the place of the old one.
            let claims = claims(self.model, family, case.effect);
            let key = self.key(family, &old);
            let key = key.filter(|key| !claims || !self.put.contains(&(id, key.clone())));
            let Some(key) = key else { continue };
            if self.asks(family, case.effect) && self.is_missing(family, &key)? {
                return self.end();
            }
            keys.push(key);
        }
        for (known, _) in self.dependents(id, family, each) {
            if self.is_elsewhere(family, &known) {
                continue;
            }
            self.can_key(family, &known)?;
            keys.extend(self.key(family, &known));
        }
        for key in keys {
            self.shelf.remove(family.table, &key)?;
            self.changed.push((family.table, key));
        }
        Ok(())
    }

    /// Returns rows read for the loop whose copies of another relation's attributes change.
    fn dependents(&self, id: FamilyId, family: &Family, each: Option<&str>) -> Vec<(Known, Known)> {
        let Some(alias) = each else { return Vec::new() };
        let mut found = Vec::new();
        // A loop that is there for something else changes no copies.
        let copied = |effect: &&Effect| {
            let of_copies =
                |need: &Need| matches!(need, Need::PatchCopies { .. } | Need::RekeyCopies { .. });
            effect.kind == EffectKind::Update
                && effect.each.is_none()
                && needs(self.model, self.schema, id, effect).iter().any(of_copies)
        };
        for effect in self.write.effects.iter().filter(copied) {
            let case = Case { effect, prior: None };
            let given = self.given(&case);
            if self.looked_in_vain(effect, &given) {
                continue;
            }
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
            if self.finds_no_row(family, &case, &given, &old) {
                continue;
            }
            self.can_key(family, &old)?;
            let Some(key) = self.key(family, &old) else { continue };
            if case.effect.begins() {
                self.begin(id, family, &case, (key.clone(), old))?;
            } else if self.asks(family, case.effect) && self.is_missing(family, &key)? {
                return self.end();
            }
            // One after the other: the next may change the same row.
            let Some(stored) = self.shelf.get(family.table, &key)? else { continue };
            let change = self.changed(&case, &stored.values);
            self.change_row(family, key, stored, change)?;
        }
        for (known, change) in self.dependents(id, family, each) {
            if self.is_elsewhere(family, &known) {
                continue;
            }
            self.can_key(family, &known)?;
            let Some(key) = self.key(family, &known) else { continue };
            let Some(stored) = self.shelf.get(family.table, &key)? else { continue };
            self.change_row(family, key, stored, change)?;
        }
        // What refers to nothing is counted nowhere.
        for (parent, name, turn) in kept.into_iter().filter(|(to, ..)| *to != Value::Null) {
            let own = self.model.relation(family.source).key().to_vec();
            for (key, mut row) in self.shelf.matching(id, &[(own.clone(), parent.clone())])? {
                change_kept(&mut row, &name, &turn);
                self.changed.push((family.table, key.clone()));
                self.shelf.put(family.table, key, row)?;
            }
        }
        Ok(())
    }

    /// Puts the row of a tuple that an increment makes, before it adds, where there is none.
    fn begin(
        &mut self,
        id: FamilyId,
        family: &Family,
        case: &Case<'_>,
        (key, mut known): (Key, Known),
    ) -> Result<(), String> {
        if self.shelf.get(family.table, &key)?.is_some() {
            return Ok(());
        }
        for (column, _) in &case.effect.set {
            known.insert(vec![*column], Value::Int(0));
        }
        for column in 0..self.model.relation(family.source).columns.len() {
            known.entry(vec![column]).or_insert(Value::Null);
        }
        match self.row(id, family, &known)? {
            Some(row) => self.shelf.put(family.table, key, row),
            None => Ok(()),
        }
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

    /// Returns the changes of lists, counts and sums in rows of the tuple's parents.
    fn kept_changes(
        &self,
        family: &Family,
        each: Option<&str>,
    ) -> Result<Vec<(Value, String, KeptTurn)>, String> {
        let mut found = Vec::new();
        for stored in &family.stored {
            match stored {
                Stored::Path(_) => {}
                Stored::Collect { relation, via, path, name } => {
                    let list = (*relation, *via, path.as_slice());
                    for (parent, turn) in self.collected(family, list, each)? {
                        found.push((parent, name.clone(), turn));
                    }
                }
                Stored::Tally { name, .. } => {
                    if let Some(one) = Tally::of(stored) {
                        for (parent, turn) in self.tallied(family, one, each)? {
                            found.push((parent, name.clone(), turn));
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    fn collected(
        &self,
        family: &Family,
        (relation, via, path): (RelationId, usize, &[usize]),
        each: Option<&str>,
    ) -> Result<Vec<(Value, KeptTurn)>, String> {
        let touches = |effect: &&Effect| {
            effect.relation == relation
                && matches!(effect.kind, EffectKind::Insert | EffectKind::Delete)
        };
        let mut found = Vec::new();
        for case in self.cases(self.write.effects.iter().filter(touches), each) {
            let added = case.effect.kind == EffectKind::Insert;
            let Some(known) = self.kept_of(&case) else { continue };
            let value = |path: &[usize]| self.kept_value(family, relation, &known, path);
            let item = value(path)?;
            let turn = if added { KeptTurn::With(item) } else { KeptTurn::Without(item) };
            found.push((value(&[via])?, turn));
        }
        Ok(found)
    }

    /// Returns what is known of a tuple that comes, goes or changes, unless it is there already, or not
    /// there.
    fn kept_of(&self, case: &Case<'_>) -> Option<Known> {
        let given = self.given(case);
        let known = self.with_reads(case.effect, &given);
        let there = self.is_read(case.effect, &given);
        let counted = match (case.effect.kind, case.effect.existing) {
            // What is there already was counted when it came.
            (EffectKind::Insert, existing) => !(existing == Existing::Unless && there),
            // A change of what is not there changes nothing; without a read nobody knows.
            _ => there,
        };
        counted.then_some(known)
    }

    fn kept_value(
        &self,
        family: &Family,
        relation: RelationId,
        known: &Known,
        path: &[usize],
    ) -> Result<Value, String> {
        let found = self.find(relation, known, path);
        found.ok_or_else(|| format!("what {} keeps is not known", family.name.text))
    }

    /// Returns how a tally of which rows changes.
    fn tallied(
        &self,
        family: &Family,
        tally: Tally<'_>,
        each: Option<&str>,
    ) -> Result<Vec<(Value, KeptTurn)>, String> {
        let turn = |effect: &Effect| tally.turn(self.model, effect);
        let touches = |effect: &&Effect| !matches!(turn(effect), Turn::Same | Turn::Unplanned(_));
        let mut found = Vec::new();
        for case in self.cases(self.write.effects.iter().filter(touches), each) {
            let Some(known) = self.kept_of(&case) else { continue };
            let value = |path: &[usize]| self.kept_value(family, tally.relation, &known, path);
            // An update says by itself that what it sets is counted, or no longer.
            let moves = turn(case.effect) == Turn::Moves;
            let updates = matches!(case.effect.kind, EffectKind::Update) && !moves;
            let mut counted = true;
            for one in tally.when.iter().filter(|_| !updates) {
                counted &= compare(one.op, &value(&one.path)?, &constants(one));
            }
            if !counted {
                continue;
            }
            if let Fold::Max(at) | Fold::Min(at) = tally.fold {
                let turn = KeptTurn::Beyond(value(&[at])?, matches!(tally.fold, Fold::Max(_)));
                found.push((value(&[tally.via])?, turn));
                continue;
            }
            let number = |value: Value| if let Value::Int(n) = value { n } else { 0 };
            let worth = match tally.fold.column() {
                None => 1,
                Some(at) => number(value(&[at])?),
            };
            let by = match turn(case.effect) {
                Turn::Comes => worth,
                Turn::Goes | Turn::Moves => worth.saturating_neg(),
                _ => {
                    let set =
                        case.effect.set.iter().find(|(at, _)| Some(*at) == tally.fold.column());
                    let term = set.and_then(|(_, term)| self.value_in(&case, term));
                    number(
                        term.ok_or_else(|| format!("what {} adds is not known", family.name.text))?,
                    )
                }
            };
            found.push((value(&[tally.via])?, KeptTurn::By(by)));
            if moves {
                let mut set = case.effect.set.iter().filter(|(at, _)| *at == tally.via);
                let to = set.next().and_then(|(_, term)| self.value_in(&case, term));
                let unknown = || format!("where {} moves is not known", family.name.text);
                found.push((to.ok_or_else(unknown)?, KeptTurn::By(worth)));
            }
        }
        Ok(found)
    }
}

/// The condition of a put on what lies under its key.
#[derive(Clone, Copy)]
enum Fresh {
    Never,
    /// Nothing.
    Free,
    /// Nothing, or the tuple's own row.
    FreeOrOwn,
}

/// The change of a list, a count or a sum, or of a largest (true) or smallest value.
enum KeptTurn {
    With(Value),
    Without(Value),
    By(i64),
    Beyond(Value, bool),
}

fn change_kept(row: &mut Row, name: &str, turn: &KeptTurn) {
    match (row.kept.get_mut(name), turn) {
        (Some(Value::List(items)), KeptTurn::With(item)) => {
            items.push(item.clone());
            items.sort();
        }
        (Some(Value::List(items)), KeptTurn::Without(item)) => {
            if let Some(at) = items.iter().position(|other| other == item) {
                items.remove(at);
            }
        }
        (Some(Value::Int(count)), KeptTurn::By(by)) => *count = count.saturating_add(*by),
        (Some(old), KeptTurn::Beyond(new, largest)) => {
            let beyond = if *largest { *new > *old } else { *new < *old };
            if *old == Value::Null || beyond {
                old.clone_from(new);
            }
        }
        _ => {}
    }
}
