//! Converts steps of a write to changes of rows: puts, updates and deletes with their keys and
//! values.
//!
//! Invariant: a change has a whole key; what the row shows is known, or the plan is refused.

use std::collections::BTreeSet;

use super::expr::Expr;
use super::marks::add_marks;
use super::request::{Change, ChangeKind, Condition, Guard, Refusal};
use crate::claims::claims;
use crate::conditions::checked_by;
use crate::needs::{Need, needs, replaces};
use crate::paths::{all_key_paths, is_optional};
use crate::selecting::asked_again;
use crate::unique::{available, key_paths};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, FamilyId, Stored};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{ColumnPath, Term, Value, canonical};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};

use super::write::{Case, Known, Writer};

/// Attributes that a row may lack and that one update takes; each of them doubles its requests.
const LACKING_MAX: usize = 2;

/// A row with copies: the values known of it, its changes, the read that shows it, and guards.
type Dependent = (Known, Known, usize, Vec<Guard>);

impl Writer<'_> {
    pub(super) fn put(
        &self,
        id: FamilyId,
        family: &Family,
        each: Option<&str>,
    ) -> Result<Vec<Change>, Refusal> {
        let mut changes = Vec::new();
        let meant = self.meant(id, |need| matches!(need, Need::Put | Need::Rekey));
        let own = meant
            .into_iter()
            .filter(|effect| effect.relation == family.source && effect.kind != EffectKind::Delete);
        for case in self.cases(own, each)? {
            let given = self.given(&case);
            let inserts = case.effect.kind == EffectKind::Insert;
            // A put asks for nothing by its key: all that selects is compared before.
            let mut looked = self.selected(&case, &BTreeSet::new(), &given)?;
            let there = self.looked(case.effect, &given);
            if let Some(there) = there.filter(|one| !looked.contains(one)) {
                looked.push(there);
            }
            let mut new = if inserts { given } else { self.with_reads(case.effect, given) };
            if case.effect.kind == EffectKind::Increment {
                return Err(self.calls.refuse("sum", format!("{} puts a sum", family.name.text)));
            }
            let changed = self.changed(&case);
            new.retain(|path, _| {
                path.len() == 1 || !path.first().is_some_and(|at| changed.contains_key(&vec![*at]))
            });
            new.extend(changed);
            let fresh = inserts && case.effect.existing != Existing::Replace
                || claims(self.calls.model, family, case.effect);
            for (known, guards) in self.by_itself(id, family, &case, new)? {
                if let Some(mut row) = self.row(id, family, &known, case.each, fresh)? {
                    row.guards.extend(looked.iter().cloned());
                    row.guards.extend(guards);
                    self.referred_to(family, &mut row);
                    changes.push(row);
                }
            }
        }
        for (mut known, change, at, asked) in self.dependents(id, family, each, true)? {
            known.extend(change);
            changes.extend(self.row(id, family, &known, Some(at), false)?.map(|mut row| {
                row.guards.extend(asked);
                row
            }));
        }
        Ok(changes)
    }

    /// Splits what is known of a new tuple by whether a reference leads to the tuple itself, where its
    /// row shows what lies behind the reference: of itself no read before tells.
    fn by_itself(
        &self,
        id: FamilyId,
        family: &Family,
        case: &Case<'_>,
        known: Known,
    ) -> Result<Vec<(Known, Vec<Guard>)>, Refusal> {
        let (model, schema) = (self.calls.model, self.calls.schema);
        let relation = model.relation(family.source);
        let mut split = vec![(known, Vec::new())];
        let [key] = relation.key() else { return Ok(split) };
        if case.effect.kind != EffectKind::Insert {
            return Ok(split);
        }
        let mut paths = self.calls.carried(id);
        paths.extend(all_key_paths(model, family));
        paths.extend(schema.entries(id).flat_map(|(_, entry)| all_key_paths(model, entry)));
        for (column, reference) in relation.columns.iter().enumerate() {
            let behind = |path: &ColumnPath| path.len() > 1 && path.first() == Some(&column);
            if reference.refers != Some(family.source) || !paths.iter().any(behind) {
                continue;
            }
            if split.len() > LACKING_MAX {
                return Err(self.unknown("which of several references lead to the tuple itself"));
            }
            split = split
                .into_iter()
                .flat_map(|(known, guards)| {
                    let (own, to) = (known.get(&vec![*key]), known.get(&vec![column]));
                    let (Some(own), Some(to)) = (own.cloned(), to.cloned()) else {
                        return vec![(known, guards)];
                    };
                    if own == to || to.is_null() {
                        return vec![(known, guards)];
                    }
                    let guarded = |op| {
                        let one = Guard { left: to.clone(), op, right: vec![own.clone()] };
                        guards.iter().cloned().chain([one]).collect()
                    };
                    let mut itself = known.clone();
                    itself.insert(vec![column], own.clone());
                    vec![(known, guarded(CondOp::Near)), (itself, guarded(CondOp::Eq))]
                })
                .collect();
        }
        Ok(split)
    }

    /// Guards a put whose key is made of what a reference leads to, where the write may take the tuple
    /// away again: what refers to nothing has no key here.
    fn referred_to(&self, family: &Family, row: &mut Change) {
        let mut others = self.write.effects.iter();
        if !others.any(|one| one.kind == EffectKind::Delete && one.relation == family.source) {
            return;
        }
        let mut taken = Vec::new();
        for value in &row.key {
            value.rows(&mut |one, _| taken.push(one.clone()));
        }
        for left in taken {
            let there = Guard { left, op: CondOp::Present, right: Vec::new() };
            if !row.guards.contains(&there) {
                row.guards.push(there);
            }
        }
    }

    /// Returns the put of a row; `None` where the tuple has none here.
    pub(super) fn row(
        &self,
        id: FamilyId,
        family: &Family,
        known: &Known,
        each: Option<usize>,
        fresh: bool,
    ) -> Result<Option<Change>, Refusal> {
        let Some(guards) = self.guards(family, known)? else { return Ok(None) };
        self.row_there(id, family, known, (each, fresh), guards)
    }

    /// Returns the put of a row of which it is known, or guarded, that the tuple has it.
    pub(super) fn row_there(
        &self,
        id: FamilyId,
        family: &Family,
        known: &Known,
        (each, fresh): (Option<usize>, bool),
        mut guards: Vec<Guard>,
    ) -> Result<Option<Change>, Refusal> {
        let Some(key) = self.key(family, known)? else { return Ok(None) };
        guards.extend(self.keyed(family, known));
        let base = family.table;
        let mut values: Vec<(String, Expr)> = Vec::new();
        let paths = self.calls.carried(id);
        let keys: Vec<&str> =
            self.calls.columns.key(base).iter().map(|column| column.name.as_str()).collect();
        for path in paths {
            let Some(name) = self.calls.columns.attribute(base, family.source, &path) else {
                continue;
            };
            if keys.contains(&name) {
                continue;
            }
            let value = self
                .find(family.source, known, &path)
                .ok_or_else(|| self.unknown(&self.calls.model.path_text(family.source, &path)))?;
            if !value.is_null() {
                values.push((name.to_owned(), value));
            }
        }
        for stored in &family.stored {
            match stored {
                Stored::Path(_) => {}
                Stored::Collect { name, relation, path, .. } => {
                    let ty = self.calls.model.path_type(*relation, path);
                    let ty = Type::List(Box::new(ty), None);
                    values.push((name.clone(), Expr::Const(Value::List(Vec::new()), ty)));
                }
                // Nothing refers to a new row yet.
                Stored::Tally { fold, .. } if fold.is_extreme() => {}
                Stored::Tally { name, .. } => {
                    values.push((name.clone(), Expr::Const(Value::Int(0), Type::Int(None))));
                }
            }
        }
        if let Some(name) = self.calls.columns.row_type(base) {
            let text = Value::Text(family.name.text.clone());
            values.push((name.to_owned(), Expr::Const(text, super::expr::plain_text())));
        }
        let marks = add_marks(&mut values, self.index_keys(id, known, None)?);
        let kind = ChangeKind::Put { values, fresh, there: false };
        let each = each.and_then(|at| self.told.get(at)).map(|told| told.step);
        let conditions = Vec::new();
        Ok(Some(Change { table: base, key, kind, each, guards, conditions, marks }))
    }

    /// Returns the key of a family's row; `None` where an attribute of it is absent.
    pub(super) fn key(&self, family: &Family, known: &Known) -> Result<Option<Vec<Expr>>, Refusal> {
        let mut key = Vec::new();
        for column in &family.key {
            let value = self
                .column(family.source, known, &column.parts)
                .ok_or_else(|| self.unknown(&format!("the key of {}", family.name.text)))?;
            if value.is_null() {
                return Ok(None);
            }
            key.push(value);
        }
        Ok(Some(key))
    }

    /// Returns guards on what a row that was read may lack: without it a tuple has no key here.
    pub(super) fn keyed(&self, family: &Family, known: &Known) -> Vec<Guard> {
        let paths = all_key_paths(self.calls.model, family).into_iter();
        let optional = paths.filter(|path| is_optional(self.calls.model, family.source, path));
        let read = optional.filter_map(|path| self.find(family.source, known, &path));
        read.filter(|left| matches!(left, Expr::Row { .. }))
            .map(|left| Guard { left, op: CondOp::Present, right: Vec::new() })
            .collect()
    }

    /// Returns what a change of a row in place asks for: comparisons that the target makes, and guards on
    /// what was read.
    fn asked(
        &self,
        id: FamilyId,
        family: &Family,
        case: &Case<'_>,
        given: &Known,
    ) -> Result<(Vec<Condition>, Vec<Guard>), Refusal> {
        let conditions = self.conditions(id, family, case.effect)?;
        if !conditions.is_empty() {
            return Ok((conditions, Vec::new()));
        }
        let guards = self.selected(case, &key_paths(self.calls.model, family), given)?;
        Ok((self.again(id, family, case.effect), guards))
    }

    /// Returns the comparisons that a change of this family makes for an effect.
    fn conditions(
        &self,
        id: FamilyId,
        family: &Family,
        effect: &Effect,
    ) -> Result<Vec<Condition>, Refusal> {
        let (model, schema) = (self.calls.model, self.calls.schema);
        if checked_by(model, schema, self.write, self.plan, effect) != Some(id) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        // What selects beside the key is a condition too: a change that is not sent keeps nothing back.
        let in_key = key_paths(model, family);
        for (column, term) in &effect.key {
            let path = vec![*column];
            if in_key.contains(&path) {
                continue;
            }
            let name = self.calls.columns.attribute(family.table, family.source, &path);
            let value = self.input(effect.relation, &path, term);
            let (Some(name), Some(value)) = (name, value) else {
                return Err(self.unknown("what else it selects by"));
            };
            let ty = model.path_type(family.source, &path);
            let name = name.to_owned();
            found.push(Condition { name, op: CondOp::Eq, value: Some(value), ty, again: false });
        }
        for one in &effect.conditions {
            let name = self.calls.columns.attribute(family.table, family.source, &one.path);
            let value = match one.values.first() {
                None => None,
                Some(term) => Some(
                    self.input(effect.relation, &one.path, term)
                        .ok_or_else(|| self.unknown("what a condition compares with"))?,
                ),
            };
            let name = name.ok_or_else(|| self.unknown("what a condition compares"))?.to_owned();
            let ty = model.path_type(family.source, &one.path);
            found.push(Condition { name, op: one.op, value, ty, again: false });
        }
        Ok(found)
    }

    /// Returns the comparisons by which a change asks again for what has selected the tuple, which a
    /// read has shown before.
    fn again(&self, id: FamilyId, family: &Family, effect: &Effect) -> Vec<Condition> {
        let (model, schema) = (self.calls.model, self.calls.schema);
        let key = self.calls.columns.key(family.table);
        let columns = asked_again(model, schema, id, effect).into_iter();
        let one = |column: usize| {
            let (at, term) = effect.key.iter().find(|(at, _)| *at == column)?;
            let path = vec![*at];
            let name = self.calls.columns.attribute(family.table, family.source, &path)?.to_owned();
            let value = self.input(effect.relation, &path, term)?;
            let ty = model.path_type(family.source, &path);
            let beside = !key.iter().any(|other| other.name == name) && !value.is_null();
            let value = Some(value);
            beside.then_some(Condition { name, op: CondOp::Eq, value, ty, again: true })
        };
        columns.filter_map(one).collect()
    }

    /// Returns the condition of a sparse family; `None` where what is known never satisfies it.
    pub(super) fn guards(
        &self,
        family: &Family,
        known: &Known,
    ) -> Result<Option<Vec<Guard>>, Refusal> {
        let mut guards = Vec::new();
        for one in &family.when {
            let left = self.find(family.source, known, &one.path).ok_or_else(|| {
                self.unknown(&format!("whether {} has the row", family.name.text))
            })?;
            let ty = self.calls.model.path_type(family.source, &one.path);
            let right: Vec<Expr> = one
                .values
                .iter()
                .filter_map(|value| match value {
                    Term::Const(value) => Some(Expr::Const(value.clone(), ty.clone())),
                    _ => None,
                })
                .collect();
            if let Expr::Const(value, _) = &left {
                let values: Vec<Value> = right
                    .iter()
                    .filter_map(|one| match one {
                        Expr::Const(value, _) => Some(value.clone()),
                        _ => None,
                    })
                    .collect();
                if !crate::eval::state::compare(one.op, value, &values) {
                    return Ok(None);
                }
                continue;
            }
            guards.push(Guard { left, op: one.op, right });
        }
        Ok(Some(guards))
    }

    pub(super) fn delete(
        &self,
        id: FamilyId,
        family: &Family,
        each: Option<&str>,
    ) -> Result<Vec<Change>, Refusal> {
        let mut changes = Vec::new();
        let always = family.when.is_empty()
            && !all_key_paths(self.calls.model, family)
                .iter()
                .any(|path| is_optional(self.calls.model, family.source, path));
        let meant = self.meant(id, |need| matches!(need, Need::Delete | Need::Rekey));
        let own = meant
            .into_iter()
            .filter(|effect| effect.relation == family.source)
            .filter(|effect| effect.kind != EffectKind::Insert || replaces(effect));
        for case in self.cases(own, each)? {
            let mut given = self.given(&case);
            if case.effect.kind == EffectKind::Insert {
                let key = self.calls.model.relation(case.effect.relation).key();
                given.retain(|path, _| matches!(path.as_slice(), [only] if key.contains(only)));
            }
            let (conditions, mut guards) = self.asked(id, family, &case, &given)?;
            let old = self.with_reads(case.effect, given);
            let Some(key) = self.key(family, &old)? else { continue };
            guards.extend(self.keyed(family, &old));
            let there = always && case.effect.kind != EffectKind::Insert;
            let each = case.each.and_then(|at| self.told.get(at)).map(|told| told.step);
            changes.push(deletion(family, key, there, (each, guards, conditions)));
        }
        for (known, _, at, asked) in self.dependents(id, family, each, true)? {
            let Some(key) = self.key(family, &known)? else { continue };
            let each = self.told.get(at).map(|told| told.step);
            let mut guards = self.keyed(family, &known);
            guards.extend(asked);
            changes.push(deletion(family, key, always, (each, guards, Vec::new())));
        }
        Ok(changes)
    }

    /// Returns rows of a read whose copies of another relation's attributes change: what is known
    /// of one, what changes of it, which read, and what else must hold.
    pub(super) fn dependents(
        &self,
        id: FamilyId,
        family: &Family,
        each: Option<&str>,
        rekeys: bool,
    ) -> Result<Vec<Dependent>, Refusal> {
        let Some(alias) = each else { return Ok(Vec::new()) };
        let (model, schema) = (self.calls.model, self.calls.schema);
        let mut found = Vec::new();
        let own = |effect: &&Effect| effect.kind == EffectKind::Update && effect.each.is_none();
        for effect in self.write.effects.iter().filter(own) {
            let (mut through, mut others) = (Vec::new(), false);
            for need in needs(model, schema, id, effect) {
                match need {
                    Need::PatchCopies { via } if !rekeys => through.push(via),
                    Need::RekeyCopies { via } if rekeys => through.push(via),
                    Need::PatchCopies { .. } | Need::RekeyCopies { .. } => others = true,
                    _ => {}
                }
            }
            if through.is_empty() {
                continue;
            }
            if rekeys && (others || through.len() > 1) {
                return Err(self.unknown("whether a row refers to it twice"));
            }
            // Rows that refer to it by several attributes are read by each of them.
            self.rows_of(alias, family.source)?;
            for at in self.all_rows_of(alias, family.source) {
                found.extend(self.dependent(family, effect, &through, at)?);
            }
        }
        Ok(found)
    }

    /// Returns the rows of one read whose copies of what an effect changes change with it.
    fn dependent(
        &self,
        family: &Family,
        effect: &Effect,
        through: &[usize],
        at: usize,
    ) -> Result<Option<Dependent>, Refusal> {
        let (model, schema) = (self.calls.model, self.calls.schema);
        let Some(told) = self.told.get(at) else { return Ok(None) };
        let case = Case { effect, each: None };
        let given = self.given(&case);
        let key = model.relation(effect.relation).key().first().copied().unwrap_or(0);
        let Some(value) = given.get(&vec![key]) else { return Ok(None) };
        let selects: Vec<_> = effect.key.iter().map(|(column, _)| vec![*column]).collect();
        let asked = if selects == [vec![key]] {
            Vec::new()
        } else {
            self.selected(&case, &BTreeSet::new(), &given)?
        };
        let read = schema.families.get(told.family);
        let mut row = Known::new();
        for path in read.into_iter().flat_map(|read| available(model, read)) {
            row.extend(self.shown(told, path).map(|value| (path.clone(), value)));
        }
        row.extend(told.wanted.iter().cloned());
        let mut change = Known::new();
        for (column, reference) in model.relation(family.source).columns.iter().enumerate() {
            if !through.contains(&column)
                || reference.refers != Some(effect.relation)
                || row.get(&vec![column]) != Some(value)
            {
                continue;
            }
            for (path, value) in self.changed(&case) {
                let whole: ColumnPath =
                    std::iter::once(column).chain(path.iter().copied()).collect();
                change.insert(canonical(model, family.source, &whole), value);
            }
        }
        Ok((!change.is_empty()).then_some((row, change, at, asked)))
    }

    pub(super) fn patch(
        &self,
        id: FamilyId,
        family: &Family,
        each: Option<&str>,
    ) -> Result<Vec<Change>, Refusal> {
        let mut changes = Vec::new();
        let meant = self.meant(id, |need| matches!(need, Need::Patch));
        let updates = meant.into_iter().filter(|effect| {
            effect.relation == family.source
                && matches!(effect.kind, EffectKind::Update | EffectKind::Increment)
        });
        for case in self.cases(updates, each)? {
            let given = self.given(&case);
            let (conditions, guards) = self.asked(id, family, &case, &given)?;
            let old = self.with_reads(case.effect, given);
            let changed = self.changed(&case);
            let each = case.each.and_then(|at| self.told.get(at)).map(|told| told.step);
            let adds = case.effect.kind == EffectKind::Increment;
            let adds = adds.then_some(case.effect);
            for mut row in self.update(id, family, old, changed, adds, each)? {
                row.guards.extend(guards.iter().cloned());
                row.conditions.clone_from(&conditions);
                changes.push(row);
            }
        }
        for (known, change, at, asked) in self.dependents(id, family, each, false)? {
            let each = self.told.get(at).map(|told| told.step);
            for mut row in self.update(id, family, known, change, None, each)? {
                row.guards.extend(asked.iter().cloned());
                changes.push(row);
            }
        }
        changes.extend(self.kept(family, each)?);
        Ok(changes)
    }

    pub(super) fn update(
        &self,
        id: FamilyId,
        family: &Family,
        old: Known,
        changed: Known,
        adds: Option<&Effect>,
        each: Option<usize>,
    ) -> Result<Vec<Change>, Refusal> {
        let Some(mut guards) = self.guards(family, &old)? else { return Ok(Vec::new()) };
        let Some(key) = self.key(family, &old)? else { return Ok(Vec::new()) };
        guards.extend(self.keyed(family, &old));
        let mut set = Vec::new();
        // Another row type of the relation may have columns that this one has not.
        let carried = self.calls.carried(id);
        for (path, value) in changed.iter().filter(|(path, _)| carried.contains(*path)) {
            let name = self.calls.columns.attribute(family.table, family.source, path);
            set.extend(name.map(|name| (name.to_owned(), value.clone())));
        }
        let mut add = Vec::new();
        let mut marks = Vec::new();
        let begins = adds.is_some_and(Effect::begins);
        if let Some(effect) = adds {
            self.never_summed(id, effect, &changed)?;
            std::mem::swap(&mut set, &mut add);
            if begins {
                set = self.begun(id, family, &old, &changed)?;
                set.retain(|(name, _)| !add.iter().any(|(other, _)| other == name));
            }
        } else {
            let mut new = old;
            new.extend(changed.clone());
            marks = add_marks(&mut set, self.index_keys(id, &new, Some(&changed))?);
        }
        if set.is_empty() && add.is_empty() {
            return Ok(Vec::new());
        }
        let kind = ChangeKind::Update { set, add, push: Vec::new(), there: !begins };
        let table = family.table;
        let conditions = Vec::new();
        self.where_shown(Change { table, key, kind, each, guards, conditions, marks })
    }

    /// Returns what a row shows beside its key when it begins to be.
    fn begun(
        &self,
        id: FamilyId,
        family: &Family,
        old: &Known,
        changed: &Known,
    ) -> Result<Vec<(String, Expr)>, Refusal> {
        let mut known = old.clone();
        for column in 0..self.calls.model.relation(family.source).columns.len() {
            let path = vec![column];
            let ty = self.calls.model.path_type(family.source, &path);
            let none = if changed.contains_key(&path) { Value::Int(0) } else { Value::Null };
            known.entry(path).or_insert(Expr::Const(none, ty));
        }
        let row = self.row_there(id, family, &known, (None, false), Vec::new())?;
        Ok(match row.map(|row| row.kind) {
            Some(ChangeKind::Put { values, .. }) => values,
            _ => Vec::new(),
        })
    }

    /// Splits an update by what the rows that it takes values of may lack: without them an attribute
    /// is removed, and a request of DynamoDB says which.
    fn where_shown(&self, change: Change) -> Result<Vec<Change>, Refusal> {
        let ChangeKind::Update { set, .. } = &change.kind else { return Ok(vec![change]) };
        let mut lacking: Vec<Expr> = Vec::new();
        for (_, value) in set {
            value.rows(&mut |row, step| {
                let known = |guard: &Guard| guard.op == CondOp::Present && guard.left == *row;
                if self.may_lack(row, step)
                    && !lacking.contains(row)
                    && !change.guards.iter().any(known)
                {
                    lacking.push(row.clone());
                }
            });
        }
        if self.calls.target.name != "dynamodb" || lacking.is_empty() {
            return Ok(vec![change]);
        }
        if lacking.len() > LACKING_MAX {
            return Err(self.unknown("which of several attributes of a row are there"));
        }
        let mut split = vec![change];
        for row in lacking {
            let mut next = Vec::new();
            for one in split {
                let (mut with, mut without) = (one.clone(), one);
                let guard = |op| Guard { left: row.clone(), op, right: Vec::new() };
                with.guards.push(guard(CondOp::Present));
                without.guards.push(guard(CondOp::Absent));
                if let ChangeKind::Update { set, .. } = &mut without.kind {
                    for (_, value) in set.iter_mut() {
                        let mut takes = false;
                        value.rows(&mut |other, _| takes |= *other == row);
                        if takes {
                            *value = Expr::Const(Value::Null, value.ty());
                        }
                    }
                }
                next.extend([with, without]);
            }
            split = next;
        }
        Ok(split)
    }

    /// Returns true if some rows of a step lack this attribute.
    pub(super) fn may_lack(&self, row: &Expr, step: usize) -> bool {
        let (model, schema) = (self.calls.model, self.calls.schema);
        let mut told = self.told.iter().filter(|told| told.step == step);
        told.any(|told| {
            schema.families.get(told.family).is_some_and(|family| {
                available(model, family).iter().any(|path| {
                    is_optional(model, family.source, path)
                        && self.shown(told, path).as_ref() == Some(row)
                })
            })
        })
    }
}

/// Returns the change that takes an item away; `there` says that it surely is there.
fn deletion(
    family: &Family,
    key: Vec<Expr>,
    there: bool,
    (each, guards, conditions): (Option<usize>, Vec<Guard>, Vec<Condition>),
) -> Change {
    let (kind, marks) = (ChangeKind::Delete { there }, Vec::new());
    Change { table: family.table, key, kind, each, guards, conditions, marks }
}
