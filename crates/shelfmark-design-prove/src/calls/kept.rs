//! Requests for lists, counts, sums, and largest and smallest values that rows keep of the tuples that
//! refer to theirs.
//!
//! What it is not: no request for the row of the tuple itself.
//!
//! Invariant: what is added is added where the tuple is counted, and only there: the rest is guarded.

use std::collections::BTreeSet;

use super::expr::Expr;
use super::request::{Change, ChangeKind, Guard, Refusal};
use super::write::{Case, Known, Writer};
use crate::tally::{Tally, Turn, constants};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Fold, Stored};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{ColumnPath, RelationId, Value};
use shelfmark_design_language::syntax::tree::CondOp;

/// A change of one attribute that a row keeps.
enum Turned {
    Added(Expr),
    Pushed(Expr),
    /// It takes the place of a smaller one, if true, or of a greater one.
    Extended(Expr, bool),
}

impl Writer<'_> {
    /// Returns the changes of lists, counts and sums of a row by the tuples that refer to it.
    pub(super) fn kept(&self, family: &Family, each: Option<&str>) -> Result<Vec<Change>, Refusal> {
        let mut found = Vec::new();
        for stored in &family.stored {
            match stored {
                Stored::Path(_) => {}
                Stored::Collect { relation, via, path, name } => {
                    let list = (*relation, *via, path.as_slice(), name.as_str());
                    found.extend(self.collected(family, list, each)?);
                }
                Stored::Tally { .. } => {
                    if let Some(tally) = Tally::of(stored) {
                        found.extend(self.tallied(family, tally, each)?);
                    }
                }
            }
        }
        Ok(found)
    }

    fn collected(
        &self,
        family: &Family,
        (relation, via, path, name): (RelationId, usize, &[usize], &str),
        each: Option<&str>,
    ) -> Result<Vec<Change>, Refusal> {
        let touches = |effect: &&Effect| {
            effect.relation == relation
                && matches!(effect.kind, EffectKind::Insert | EffectKind::Delete)
        };
        let mut found = Vec::new();
        for case in self.cases(self.write.effects.iter().filter(touches), each)? {
            let (known, guards) = self.of_tuple(&case, &BTreeSet::new())?;
            let item = self.kept_value(family, relation, &known, path)?;
            if case.effect.kind == EffectKind::Delete {
                let write = &self.write.name.text;
                let why = format!("{write} takes an element out of {name} by its value");
                return Err(self.calls.refuse("list_element", why));
            }
            let parent = self.kept_value(family, relation, &known, &[via])?;
            let turned = (name, Turned::Pushed(item));
            found.extend(self.of_parent(family, &case, parent, turned, guards)?);
        }
        Ok(found)
    }

    fn tallied(
        &self,
        family: &Family,
        tally: Tally<'_>,
        each: Option<&str>,
    ) -> Result<Vec<Change>, Refusal> {
        let model = self.calls.model;
        let turn = |effect: &Effect| tally.turn(model, effect);
        let touches = |effect: &&Effect| !matches!(turn(effect), Turn::Same | Turn::Unplanned(_));
        let mut found = Vec::new();
        for case in self.cases(self.write.effects.iter().filter(touches), each)? {
            let (known, mut guards) = self.of_tuple(&case, &BTreeSet::new())?;
            let value = |path: &[usize]| self.kept_value(family, tally.relation, &known, path);
            let moves = turn(case.effect) == Turn::Moves;
            // An update says by itself that what it sets is counted, or no longer.
            if case.effect.kind != EffectKind::Update || moves {
                match self.counted(family, tally, &known)? {
                    Some(more) => guards.extend(more),
                    None => continue,
                }
            }
            let worth = match tally.fold.column() {
                None => Expr::Const(Value::Int(1), Type::Int(None)),
                Some(at) => value(&[at])?,
            };
            if tally.fold.is_extreme() {
                let largest = matches!(tally.fold, Fold::Max(_));
                let turned = (tally.name, Turned::Extended(worth, largest));
                found.extend(self.of_parent(
                    family,
                    &case,
                    value(&[tally.via])?,
                    turned,
                    guards,
                )?);
                continue;
            }
            let by = match turn(case.effect) {
                Turn::Comes => worth.clone(),
                Turn::Goes | Turn::Moves => minus(worth.clone()),
                _ => {
                    let set =
                        case.effect.set.iter().find(|(at, _)| Some(*at) == tally.fold.column());
                    let by = set.and_then(|(at, term)| self.term(&case, *at, term));
                    by.ok_or_else(|| self.unknown(&format!("what {} adds", family.name.text)))?
                }
            };
            let parent = value(&[tally.via])?;
            let turned = (tally.name, Turned::Added(by));
            if moves {
                let to = case.effect.set.iter().find(|(at, _)| *at == tally.via);
                let to = to.and_then(|(at, term)| self.term(&case, *at, term));
                let to = to.ok_or_else(|| self.unknown(&format!("where {} moves", tally.name)))?;
                let came = (tally.name, Turned::Added(worth));
                let from = self.of_parent(family, &case, parent, turned, guards.clone())?;
                let to = self.of_parent(family, &case, to, came, guards)?;
                found.extend(moved(from, to));
                continue;
            }
            found.extend(self.of_parent(family, &case, parent, turned, guards)?);
        }
        Ok(found)
    }

    /// Returns the guards on what is asked of a counted tuple; `None` where it is surely not counted.
    fn counted(
        &self,
        family: &Family,
        tally: Tally<'_>,
        known: &Known,
    ) -> Result<Option<Vec<Guard>>, Refusal> {
        let mut guards = Vec::new();
        for one in tally.when {
            let left = self.kept_value(family, tally.relation, known, &one.path)?;
            let values = constants(one);
            if let Expr::Const(value, _) = &left {
                if !crate::eval::state::compare(one.op, value, &values) {
                    return Ok(None);
                }
                continue;
            }
            let ty = self.calls.model.path_type(tally.relation, &one.path);
            let right = values.into_iter().map(|value| Expr::Const(value, ty.clone())).collect();
            guards.push(Guard { left, op: one.op, right });
        }
        Ok(Some(guards))
    }

    /// Returns what is known of a tuple that comes, goes or changes, and the guards that it is one.
    fn of_tuple(
        &self,
        case: &Case<'_>,
        in_key: &BTreeSet<ColumnPath>,
    ) -> Result<(Known, Vec<Guard>), Refusal> {
        let given = self.given(case);
        // What is there already is counted, what is not there is not.
        let mut guards: Vec<Guard> = self.looked(case.effect, &given).into_iter().collect();
        let key = self.calls.model.relation(case.effect.relation).key();
        let selects = case.effect.key.iter().any(|(column, _)| !key.contains(column));
        let known = self.with_reads(case.effect, given.clone());
        if selects {
            for one in self.selected(case, in_key, &given)? {
                if !guards.contains(&one) {
                    guards.push(one);
                }
            }
        }
        Ok((known, guards))
    }

    fn kept_value(
        &self,
        family: &Family,
        relation: RelationId,
        known: &Known,
        path: &[usize],
    ) -> Result<Expr, Refusal> {
        let found = self.find(relation, known, path);
        found.ok_or_else(|| self.unknown(&format!("what {} keeps", family.name.text)))
    }

    /// Returns the change of the row that keeps it; none where the reference is absent.
    fn of_parent(
        &self,
        family: &Family,
        case: &Case<'_>,
        parent: Expr,
        (name, turned): (&str, Turned),
        guards: Vec<Guard>,
    ) -> Result<Option<Change>, Refusal> {
        let own = self.calls.model.relation(family.source).key().to_vec();
        let Some(key) = self.key(family, &Known::from([(own, parent)]))? else { return Ok(None) };
        let name = name.to_owned();
        let update = |add, push| ChangeKind::Update { set: Vec::new(), add, push, there: true };
        let kind = match turned {
            Turned::Added(by) => update(vec![(name, by)], Vec::new()),
            Turned::Pushed(item) => update(Vec::new(), vec![(name, item)]),
            Turned::Extended(value, largest) => ChangeKind::Extend { name, value, largest },
        };
        let each = case.each.and_then(|at| self.told.get(at)).map(|told| told.step);
        let conditions = Vec::new();
        let (table, marks) = (family.table, Vec::new());
        Ok(Some(Change { table, key, kind, each, guards, conditions, marks }))
    }
}

/// Returns the changes of two rows between which a tuple moves: none where they are one row.
fn moved(from: Option<Change>, to: Option<Change>) -> Vec<Change> {
    let (Some(from), Some(to)) = (&from, &to) else { return from.into_iter().chain(to).collect() };
    let differing = from.key.iter().zip(&to.key).filter(|(old, new)| old != new);
    let (old, new): (Vec<Expr>, Vec<Expr>) =
        differing.map(|(old, new)| (old.clone(), new.clone())).unzip();
    if old.is_empty() {
        return Vec::new();
    }
    let apart = Guard { left: Expr::Tuple(old), op: CondOp::Near, right: vec![Expr::Tuple(new)] };
    let guarded = |one: &Change| {
        let mut one = one.clone();
        one.guards.push(apart.clone());
        one
    };
    vec![guarded(from), guarded(to)]
}

/// Returns what taking a number away adds.
fn minus(one: Expr) -> Expr {
    match one {
        Expr::Const(Value::Int(n), ty) => Expr::Const(Value::Int(n.saturating_neg()), ty),
        other => Expr::Minus(Box::new(other)),
    }
}
