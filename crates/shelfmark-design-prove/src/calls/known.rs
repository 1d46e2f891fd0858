//! Tracks what a write's plan knows, step by step: inputs, and the values of rows read before.
//!
//! Invariant: an expression of a row names a column that the row has.

use std::collections::BTreeSet;

use super::expr::{Expr, Piece};
use super::read::type_of;
use super::request::{Ask, End, Guard, Refusal, Request};
use crate::must_be::{MustBe, must_miss, shows_all, takes};
use crate::needs::{Need, needs};
use crate::own_key::{keys_of, own_bindings};
use crate::unique::available;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Codec, Family, FamilyId, Part};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{ColumnPath, RelationId, Term, Value, canonical};
use shelfmark_design_language::syntax::tree::Existing;
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp};

use super::write::{BoundRead, Case, Known, Writer};

impl<'a> Writer<'a> {
    pub(super) fn read(
        &mut self,
        id: FamilyId,
        family: &Family,
        bindings: &[(ColumnPath, Term)],
        alias: &Option<String>,
    ) -> Result<(), Refusal> {
        let mut asked: Vec<Vec<(ColumnPath, Expr)>> = Vec::new();
        if bindings.is_empty() {
            let own = self.write.effects.iter().filter(|effect| effect.relation == family.source);
            for effect in own {
                let given = own_bindings(self.calls.model, effect);
                let wanted = given
                    .into_iter()
                    .filter_map(|(path, term)| {
                        Some((path.clone(), self.input(family.source, &path, &term)?))
                    })
                    .collect();
                if !asked.contains(&wanted) {
                    asked.push(wanted);
                }
            }
        }
        if asked.is_empty() {
            let mut wanted = Vec::new();
            for (path, term) in bindings {
                let path = canonical(self.calls.model, family.source, path);
                let value = self.own_term(family.source, &path, term)?;
                wanted.push((path, value));
            }
            asked.push(wanted);
        }
        for wanted in asked {
            let (ask, rest) = self.look_up(family, &wanted)?;
            self.steps += 1;
            let then: Vec<serde_json::Value> = rest
                .iter()
                .map(|(path, value)| {
                    let name = self.calls.model.path_text(family.source, path);
                    serde_json::json!({ "filter": [[name, "eq", [value.json()]]] })
                })
                .collect();
            let guards = Vec::new();
            self.found.push(Request::Read {
                step: self.steps,
                ask: Box::new(ask),
                each: None,
                guards,
                then,
            });
            self.told.push(BoundRead {
                step: self.steps,
                family: id,
                alias: alias.clone(),
                wanted,
            });
        }
        Ok(())
    }

    /// Returns an input or a constant, of the type of an attribute.
    pub(super) fn input(&self, relation: RelationId, path: &[usize], term: &Term) -> Option<Expr> {
        let ty = self.calls.model.path_type(relation, path);
        match term {
            Term::Param(at) => {
                let param = self.write.params.get(*at)?;
                Some(Expr::input(param))
            }
            Term::Const(value) => Some(Expr::Const(value.clone(), ty)),
            Term::Call(function, args) => {
                let of: Option<Vec<Expr>> = args
                    .iter()
                    .map(|arg| match arg {
                        Term::Const(value) => Some(Expr::Const(value.clone(), type_of(value))),
                        other => self.input(relation, path, other),
                    })
                    .collect();
                Some(Expr::call(*function, of?, ty))
            }
            _ => None,
        }
    }

    /// Returns a value that a read is bound to: an input, or an attribute of the write's own tuple.
    pub(super) fn own_term(
        &self,
        relation: RelationId,
        path: &[usize],
        term: &Term,
    ) -> Result<Expr, Refusal> {
        if let ([effect], Term::Prior(from)) = (self.write.effects.as_slice(), term) {
            let known = self.with_reads(effect, self.given(&Case { effect, each: None }));
            let from = canonical(self.calls.model, effect.relation, from);
            if let Some(found) = known.get(&from) {
                return Ok(found.clone());
            }
        }
        self.input(relation, path, term).ok_or_else(|| self.unknown("what a read is asked by"))
    }

    /// Returns the request that finds the rows of a family by equalities, and the comparisons that
    /// remain.
    pub(super) fn look_up(
        &self,
        family: &Family,
        wanted: &[(ColumnPath, Expr)],
    ) -> Result<(Ask, Vec<(ColumnPath, Expr)>), Refusal> {
        let known: Known = wanted.iter().cloned().collect();
        let table = self.calls.schema.tables.get(family.table);
        let mut equal = Vec::new();
        let mut ends = Vec::new();
        // Of an index its own columns take conditions, not those of its row's key behind them.
        let asked = self.calls.schema.columns_asked(family.table);
        for column in family.key.iter().take(asked) {
            if let Some(value) = self.column(family.source, &known, &column.parts) {
                equal.push(value);
                continue;
            }
            let mut head = Vec::new();
            for part in &column.parts {
                let one = self.column(family.source, &known, std::slice::from_ref(part));
                let (Some(value), Part::Literal(_) | Part::Hole { .. }) = (one, part) else {
                    break;
                };
                match (part, value) {
                    (Part::Hole { codec: Codec::Native, .. }, _) => break,
                    (_, value) => head.push(Piece::Hole(value, Codec::Plain)),
                }
            }
            let head = Expr::text(head);
            if !matches!(&head, Expr::Const(Value::Text(text), _) if text.is_empty()) {
                ends.push(End { kind: BoundKind::Begins, value: head, whole: false, number: None });
            }
            break;
        }
        let (partition, columns, is_index) = table
            .map_or((0, 0, false), |table| (table.partition, table.kinds.len(), table.is_index));
        if equal.len() < partition {
            return Err(self.unknown("the partition of a read"));
        }
        let point = !is_index && ends.is_empty() && equal.len() == columns;
        let mut held: BTreeSet<ColumnPath> = BTreeSet::new();
        for part in family.key.iter().take(asked).flat_map(|column| &column.parts) {
            if let Part::Hole { term, .. } = part {
                term.columns(&mut |path| {
                    held.insert(canonical(self.calls.model, family.source, path));
                });
            }
        }
        let guarded = |path: &ColumnPath| {
            family.when.iter().any(|one| {
                one.op == CondOp::Eq
                    && canonical(self.calls.model, family.source, &one.path) == *path
            })
        };
        let rest = wanted.iter().filter(|(path, _)| !held.contains(path) && !guarded(path));
        let rest = rest.cloned().collect();
        let table = family.table;
        let ask = Ask {
            table,
            equal,
            ends,
            desc: false,
            limit: None,
            fresh: !is_index,
            by_uuid: false,
            point,
        };
        Ok((ask, rest))
    }

    /// Returns a key column computed from what is known; `None` where something is missing.
    pub(super) fn column(
        &self,
        relation: RelationId,
        known: &Known,
        parts: &[Part],
    ) -> Option<Expr> {
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                Part::Literal(text) => pieces.push(Piece::Literal(text.clone())),
                Part::Hole { term, ty, codec } => {
                    let value = self.value(relation, known, term, ty)?;
                    if *codec == Codec::Native {
                        return Some(value);
                    }
                    if value.is_null() {
                        return Some(value);
                    }
                    pieces.push(Piece::Hole(value, *codec));
                }
                Part::End => {}
            }
        }
        Some(Expr::text(pieces))
    }

    pub(super) fn value(
        &self,
        relation: RelationId,
        known: &Known,
        term: &Term,
        ty: &Type,
    ) -> Option<Expr> {
        match term {
            Term::Column(path) => self.find(relation, known, path),
            Term::Const(value) => Some(Expr::Const(value.clone(), ty.clone())),
            Term::Call(function, args) => {
                let of: Option<Vec<Expr>> = args
                    .iter()
                    .map(|arg| match arg {
                        Term::Const(value) => Some(Expr::Const(value.clone(), type_of(value))),
                        other => self.value(relation, known, other, ty),
                    })
                    .collect();
                Some(Expr::call(*function, of?, ty.clone()))
            }
            _ => None,
        }
    }

    /// Returns the expression of a path's value, from what is known and what was read.
    pub(super) fn find(&self, relation: RelationId, known: &Known, path: &[usize]) -> Option<Expr> {
        let model = self.calls.model;
        let path = canonical(model, relation, path);
        if let Some(found) = known.get(&path) {
            return Some(found.clone());
        }
        for split in (1..path.len()).rev() {
            let (head, rest) = path.split_at(split);
            let owner = model.path_owner(relation, path.get(..=split)?);
            let Some(reference) = self.find(relation, known, head) else { continue };
            if reference.is_null() {
                return Some(reference);
            }
            let key = model.relation(owner).key().to_vec();
            let makes = self.write.effects.iter().find_map(|effect| {
                if effect.kind != EffectKind::Insert
                    || effect.relation != owner
                    || effect.each.is_some()
                {
                    return None;
                }
                let made = self.given(&Case { effect, each: None });
                let own = key.first().and_then(|only| made.get(&vec![*only]));
                (own == Some(&reference)).then_some((effect.existing, made))
            });
            // A loop may make it or not, and may find it there: nobody knows whose values it has.
            let in_loop = |effect: &Effect| {
                let mut terms = effect.key.iter();
                let own = terms.find(|(column, _)| key.first() == Some(column));
                let made = own.and_then(|(column, term)| self.input(owner, &[*column], term));
                effect.each.is_some()
                    && effect.kind == EffectKind::Insert
                    && effect.relation == owner
                    && made.as_ref() == Some(&reference)
            };
            if self.write.effects.iter().any(in_loop) {
                return None;
            }
            // What may have been there already is as it was, or as it is made: nobody knows which; the
            // tuple itself is put only if it was not there.
            let itself = relation == owner && key.len() == 1 && known.get(&key) == Some(&reference);
            if !itself && matches!(makes, Some((Existing::Unless, _))) {
                return None;
            }
            let made = makes.and_then(|(_, made)| made.get(rest).cloned());
            let told = || {
                self.told.iter().find_map(|told| {
                    let source = self.calls.schema.families.get(told.family)?.source;
                    let by =
                        told.wanted.iter().any(|(path, value)| *path == key && *value == reference);
                    (source == owner && by).then(|| self.shown(told, rest)).flatten()
                })
            };
            if let Some(found) = made.or_else(told) {
                return Some(found);
            }
        }
        None
    }

    /// Returns the value of a path that a row that was read shows.
    pub(super) fn shown(&self, told: &BoundRead, path: &[usize]) -> Option<Expr> {
        let schema = self.calls.schema;
        let family = schema.families.get(told.family)?;
        if let Some((_, value)) = told.wanted.iter().find(|(other, _)| other.as_slice() == path) {
            return Some(value.clone());
        }
        if !available(self.calls.model, family).contains(path) {
            return None;
        }
        let base = self.calls.base_of(family.table);
        let name = self.calls.columns.attribute(base, family.source, path)?;
        let ty = self.calls.model.path_type(family.source, path);
        Some(Expr::Row { name: name.to_owned(), step: told.step, ty })
    }

    /// Returns the values that the effect itself gives; for an insert all of the tuple, else what
    /// selects it.
    pub(super) fn given(&self, case: &Case<'_>) -> Known {
        let effect = case.effect;
        let mut known = Known::new();
        for (column, term) in &effect.key {
            if let Some(value) = self.term(case, *column, term) {
                known.insert(vec![*column], value);
            }
        }
        if effect.kind == EffectKind::Insert {
            let relation = self.calls.model.relation(effect.relation);
            for (column, found) in relation.columns.iter().enumerate() {
                let given = effect.key.iter().any(|(other, _)| *other == column);
                if found.optional && !given {
                    known.insert(vec![column], Expr::Const(Value::Null, found.ty.clone()));
                }
            }
        }
        known
    }

    /// Returns the expression of a term of an effect: an input, or an attribute of its loop's row.
    pub(super) fn term(&self, case: &Case<'_>, column: usize, term: &Term) -> Option<Expr> {
        match term {
            Term::Prior(path) => {
                let relation = case.effect.each.as_ref()?.relation;
                let told = self.told.get(case.each?)?;
                self.shown(told, &canonical(self.calls.model, relation, path))
            }
            other => self.input(case.effect.relation, &[column], other),
        }
    }

    /// Adds the values that reads of the effect's own tuple show.
    pub(super) fn with_reads(&self, effect: &Effect, known: Known) -> Known {
        let keys = keys_of(self.calls.model, effect);
        let mut all = known.clone();
        for told in &self.told {
            let Some(family) = self.calls.schema.families.get(told.family) else { continue };
            if family.source != effect.relation {
                continue;
            }
            if !self.finds(told, keys, &known) {
                continue;
            }
            for path in available(self.calls.model, family) {
                if let Some(value) = self.shown(told, path) {
                    all.entry(path.clone()).or_insert(value);
                }
            }
        }
        all
    }

    /// Returns true if a read finds the tuple that has what is known, by one of its keys.
    ///
    /// A read that asks for more than is known finds the tuple or nothing, so it tells nothing of a
    /// tuple that it may have missed; one whose rows gave the key has found it.
    pub(super) fn finds(&self, told: &BoundRead, keys: &[Vec<usize>], known: &Known) -> bool {
        let asks_more = told.wanted.iter().any(|(path, value)| known.get(path) != Some(value));
        keys.iter().any(|key| {
            let mut of_rows = false;
            !key.is_empty()
                && key.iter().all(|column| {
                    let path = vec![*column];
                    let (own, shown) = (known.get(&path), self.shown(told, &path));
                    of_rows |= matches!(&shown, Some(Expr::Row { step, .. }) if *step == told.step);
                    own.is_some() && shown.as_ref() == own
                })
                && (of_rows || !asks_more)
        })
    }

    /// Returns the guard on a read of the effect's own tuple for a put of it: an inserted tuple
    /// must not exist, a changed one must.
    pub(super) fn looked(&self, effect: &Effect, known: &Known) -> Option<Guard> {
        let op = match (effect.kind, effect.existing) {
            (EffectKind::Insert, Existing::Unless) => CondOp::Absent,
            (EffectKind::Insert, _) => return None,
            _ => CondOp::Present,
        };
        let keys = keys_of(self.calls.model, effect);
        let told = self.told.iter().find(|told| {
            let family = self.calls.schema.families.get(told.family);
            family.is_some_and(|family| family.source == effect.relation)
                && self.finds(told, keys, known)
        })?;
        let family = self.calls.schema.families.get(told.family)?;
        let column = self.calls.columns.key(self.calls.base_of(family.table)).first()?;
        let name = column.name.clone();
        let left = Expr::Row { name, step: told.step, ty: column.ty.clone() };
        Some(Guard { left, op, right: Vec::new() })
    }

    /// Returns the guards of all that a write changes: what it takes for granted, and has looked for.
    pub(super) fn granted(&self) -> Vec<Guard> {
        let mut found: Vec<Guard> = Vec::new();
        for effect in &self.write.effects {
            for told in &self.told {
                let Some(op) = self.granted_of(effect, told) else { continue };
                for guard in self.was_found(told, op).into_iter().chain(self.fits(effect, told)) {
                    if !found.contains(&guard) {
                        found.push(guard);
                    }
                }
            }
        }
        found
    }

    /// Returns the comparisons of the row that was read of an effect's own tuple with what else selects it.
    fn fits(&self, effect: &Effect, told: &BoundRead) -> Vec<Guard> {
        let family = self.calls.schema.families.get(told.family);
        let own = family.is_some_and(|family| family.source == effect.relation);
        if !own || effect.kind == EffectKind::Insert {
            return Vec::new();
        }
        let given = self.given(&Case { effect, each: None });
        let shown = |(column, _): &(usize, Term)| {
            let path = vec![*column];
            let (left, right) = (self.shown(told, &path)?, given.get(&path)?);
            let differs = left != *right;
            differs.then(|| Guard { left, op: CondOp::Eq, right: vec![right.clone()] })
        };
        effect.key.iter().filter_map(shown).collect()
    }

    /// Returns what must be of the row that a read looks for, if an effect takes anything for granted of
    /// it.
    fn granted_of(&self, effect: &Effect, told: &BoundRead) -> Option<CondOp> {
        let model = self.calls.model;
        let family = self.calls.schema.families.get(told.family)?;
        let own = family.source == effect.relation;
        let given = self.given(&Case { effect, each: None });
        let is = |what| takes(self.write, effect, what);
        let asked: Vec<ColumnPath> = told.wanted.iter().map(|(path, _)| path.clone()).collect();
        if own && is(MustBe::There) && shows_all(model, family) {
            let keys = keys_of(model, effect);
            return self.finds(told, keys, &given).then_some(CondOp::Present);
        }
        if is(MustBe::Referred) && self.is_referred(effect, told, family.source) {
            return Some(CondOp::Present);
        }
        let new = own
            && must_miss(model, self.write, effect, &asked)
            && told.wanted.iter().all(|(path, value)| given.get(path) == Some(value));
        new.then_some(CondOp::Absent)
    }

    /// Returns true if a read looks for what an effect makes its tuple refer to.
    fn is_referred(&self, effect: &Effect, told: &BoundRead, target: RelationId) -> bool {
        let relation = self.calls.model.relation(effect.relation);
        let key = self.calls.model.relation(target).key();
        let [(path, asked)] = told.wanted.as_slice() else { return false };
        let mut given = effect.key.iter().chain(&effect.set);
        target != effect.relation
            && path == key
            && given.any(|(at, term)| {
                let refers = relation.columns.get(*at).and_then(|column| column.refers);
                refers == Some(target)
                    && self.input(effect.relation, &[*at], term).as_ref() == Some(asked)
            })
    }

    /// Returns the guard that a read has found a row, or none.
    pub(super) fn was_found(&self, told: &BoundRead, op: CondOp) -> Option<Guard> {
        let family = self.calls.schema.families.get(told.family)?;
        let column = self.calls.columns.key(self.calls.base_of(family.table)).first()?;
        let left = Expr::Row { name: column.name.clone(), step: told.step, ty: column.ty.clone() };
        Some(Guard { left, op, right: Vec::new() })
    }

    /// Returns the comparisons of a row that was read with the terms that an effect selects its
    /// tuple by beside what the key of the changed row says already.
    pub(super) fn selected(
        &self,
        case: &Case<'_>,
        in_key: &BTreeSet<ColumnPath>,
        known: &Known,
    ) -> Result<Vec<Guard>, Refusal> {
        let (model, effect) = (self.calls.model, case.effect);
        if effect.kind == EffectKind::Insert {
            return Ok(Vec::new());
        }
        let keys = keys_of(model, effect);
        let mut guards = Vec::new();
        let selects = || effect.key.iter().map(|(column, _)| vec![*column]);
        // A key that says all of it names the tuple's own row, or none.
        if selects().all(|path| in_key.contains(&path)) {
            return Ok(guards);
        }
        for path in selects() {
            let shown = self.told.iter().enumerate().find_map(|(at, told)| {
                let read = self.calls.schema.families.get(told.family)?;
                // The row of a loop over the tuples themselves is the tuple.
                let looped =
                    case.each == Some(at) && crate::write::loops_over_itself(model, effect);
                let own = looped || self.finds(told, keys, known);
                let one = || Some((at, self.shown(told, &path)?));
                (read.source == effect.relation && own).then(one).flatten()
            });
            let (Some((at, left)), Some(right)) = (shown, known.get(&path)) else {
                return Err(self.unknown("what else it selects by"));
            };
            if left != *right {
                guards.push(Guard { left, op: CondOp::Eq, right: vec![right.clone()] });
            } else if case.each != Some(at) {
                let looked = self.looked(effect, known);
                guards.extend(looked.filter(|one| !guards.contains(one)));
            }
        }
        Ok(guards)
    }

    /// Returns the new values that an update sets.
    pub(super) fn changed(&self, case: &Case<'_>) -> Known {
        let set = case.effect.set.iter();
        set.filter_map(|(column, term)| Some((vec![*column], self.term(case, *column, term)?)))
            .collect()
    }

    /// Returns the effects that a step is for: those that require it of the family, or all where
    /// none does.
    pub(super) fn meant(&self, id: FamilyId, asks: fn(&Need) -> bool) -> Vec<&'a Effect> {
        let all: Vec<&Effect> = self.write.effects.iter().collect();
        if all.len() < 2 {
            return all;
        }
        let (model, schema) = (self.calls.model, self.calls.schema);
        let asked = |effect: &&Effect| needs(model, schema, id, effect).iter().any(asks);
        let some: Vec<&Effect> = all.iter().copied().filter(|effect| asked(effect)).collect();
        if some.is_empty() { all } else { some }
    }

    /// Returns the effects, each with the read whose rows it is repeated for.
    pub(super) fn cases(
        &self,
        effects: impl Iterator<Item = &'a Effect>,
        each: Option<&str>,
    ) -> Result<Vec<Case<'a>>, Refusal> {
        let mut cases = Vec::new();
        for effect in effects {
            match (&effect.each, each) {
                (None, None) => cases.push(Case { effect, each: None }),
                (None, Some(_)) | (Some(_), None) => {}
                (Some(of), Some(alias)) => {
                    cases.push(Case { effect, each: Some(self.rows_of(alias, of.relation)?) });
                }
            }
        }
        Ok(cases)
    }

    /// Returns the read whose rows have a name.
    pub(super) fn rows_of(&self, alias: &str, relation: RelationId) -> Result<usize, Refusal> {
        let found = self.all_rows_of(alias, relation).first().copied();
        found.ok_or_else(|| self.unknown("the rows of a loop"))
    }

    /// Returns every read whose rows have a name.
    pub(super) fn all_rows_of(&self, alias: &str, relation: RelationId) -> Vec<usize> {
        let named = |told: &BoundRead| {
            let family = self.calls.schema.families.get(told.family);
            told.alias.as_deref() == Some(alias)
                && family.is_some_and(|family| family.source == relation)
        };
        (0..self.told.len()).filter(|at| self.told.get(*at).is_some_and(named)).collect()
    }

    pub(super) fn unknown(&self, what: &str) -> Refusal {
        self.calls.refuse(
            "known",
            format!("{} needs what it does not know: {what}", self.write.name.text),
        )
    }
}
