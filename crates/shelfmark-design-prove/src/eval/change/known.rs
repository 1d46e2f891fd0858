//! Tracks what a plan knows of the tuples that its write changes: from its inputs, and from what it
//! has read so far.

use std::collections::BTreeMap;

use super::super::rows::{Row, key_of};
use super::super::state::compare;
use super::steps::{Looked, Runner};
use crate::canon::canonical;
use crate::lasting::{is_as_read, lasting};
use crate::must_be::{MustBe, must_miss, shows_all, takes};
use crate::needs::{Need, needs};
use crate::own_key::keys_of;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, FamilyId, Stored};
use shelfmark_design_language::model::{ColumnPath, RelationId, Term, Value};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};

/// The known values of one tuple, by path.
pub(super) type Known = BTreeMap<ColumnPath, Value>;

/// One effect with the tuple of its loop.
pub(super) struct Case<'a> {
    pub(super) effect: &'a Effect,
    pub(super) prior: Option<Known>,
}

impl<'a> Runner<'a> {
    pub(super) fn param(&self, term: &Term) -> Option<Value> {
        term.compute(&|leaf| match leaf {
            Term::Param(index) => self.inputs.get(*index).cloned(),
            _ => None,
        })
    }

    /// Returns a value that a read is bound to: an input, or an attribute of the write's own tuple.
    pub(super) fn bound_value(&self, term: &Term) -> Option<Value> {
        let ([effect], Term::Prior(path)) = (self.write.effects.as_slice(), term) else {
            return Some(self.param(term).unwrap_or(Value::Null));
        };
        let given = self.given(&Case { effect, prior: None });
        let path = canonical(self.model, effect.relation, path);
        let value = self.with_reads(effect, &given).get(&path).cloned();
        value.filter(|value| *value != Value::Null)
    }

    /// Returns the rows that were read under a name, as tuples of a relation.
    pub(super) fn loop_rows(&self, alias: &str, relation: RelationId) -> Vec<Known> {
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

    /// Returns the effects that a step is for: those that require it of the family, or all where
    /// none does.
    pub(super) fn meant(&self, id: FamilyId, asks: fn(&Need) -> bool) -> Vec<&'a Effect> {
        let all: Vec<&Effect> = self.write.effects.iter().collect();
        if all.len() < 2 {
            return all;
        }
        let asked = |effect: &&&Effect| needs(self.model, self.schema, id, effect).iter().any(asks);
        let some: Vec<&Effect> = all.iter().filter(asked).copied().collect();
        if some.is_empty() { all } else { some }
    }

    /// Returns the effects, once per tuple of their loops.
    pub(super) fn cases(
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

    /// Returns the value of a term of an effect: an input, or an attribute of its loop's tuple.
    pub(super) fn value_in(&self, case: &Case<'_>, term: &Term) -> Option<Value> {
        term.compute(&|leaf| match leaf {
            Term::Param(index) => self.inputs.get(*index).cloned(),
            Term::Prior(path) => {
                let relation = case.effect.each.as_ref()?.relation;
                case.prior.as_ref()?.get(&canonical(self.model, relation, path)).cloned()
            }
            _ => None,
        })
    }

    /// Returns the values that the effect itself gives; for an insert all, else what selects.
    pub(super) fn given(&self, case: &Case<'_>) -> Known {
        let terms = case.effect.key.iter();
        let mut known: Known = terms
            .filter_map(|(column, term)| Some((vec![*column], self.value_in(case, term)?)))
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

    pub(super) fn changed(&self, case: &Case<'_>, old: &Known) -> Known {
        let mut changed = Known::new();
        for (column, term) in &case.effect.set {
            let Some(value) = self.value_in(case, term) else { continue };
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

    /// Returns a path's value from what is known and what was read.
    pub(super) fn find(
        &self,
        relation: RelationId,
        known: &Known,
        path: &[usize],
    ) -> Option<Value> {
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
            let made = match (rest, key.first()) {
                ([last], Some(only)) => self.made_here(owner, &[*only], &reference, *last),
                _ => None,
            };
            let told = || {
                self.reads.iter().find_map(|(_, id, rows)| {
                    let source = self.schema.families.get(*id)?.source;
                    let row = rows.iter().find(|row| row.values.get(&key) == Some(&reference))?;
                    (source == owner).then(|| row.values.get(rest).cloned()).flatten()
                })
            };
            // What is made unless it is there is as it was, where it was: only who looked knows.
            let found = match made {
                Some((value, Existing::Unless)) => {
                    told().or_else(|| self.looked_for(owner, &reference).then_some(value))
                }
                Some((value, _)) => Some(value),
                None => told(),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Returns an attribute of a tuple that the same write inserts, and whether it may have
    /// existed.
    fn made_here(
        &self,
        owner: RelationId,
        key: &[usize],
        reference: &Value,
        column: usize,
    ) -> Option<(Value, Existing)> {
        self.write.effects.iter().find_map(|effect| {
            if effect.kind != EffectKind::Insert
                || effect.relation != owner
                || effect.each.is_some()
            {
                return None;
            }
            let made = self.given(&Case { effect, prior: None });
            let value = made.get(&vec![column]).filter(|_| made.get(key) == Some(reference))?;
            Some((value.clone(), effect.existing))
        })
    }

    /// Adds the values that reads of the effect's tuple show.
    pub(super) fn with_reads(&self, effect: &Effect, known: &Known) -> Known {
        let mut all = known.clone();
        let keys = keys_of(self.model, effect);
        for (_, id, rows) in &self.reads {
            let Some(family) = self.schema.families.get(*id) else { continue };
            if family.source != effect.relation {
                continue;
            }
            for row in rows.iter().filter(|row| is_of(row, keys, known, selects(effect))) {
                for (path, value) in &row.values {
                    all.entry(path.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        all
    }

    /// Returns true if the effect's tuple was looked for and does not exist: it has nothing to
    /// change.
    pub(super) fn looked_in_vain(&self, effect: &Effect, given: &Known) -> bool {
        let keys = keys_of(self.model, effect);
        let mut seen: Vec<(&Vec<(ColumnPath, Value)>, &Row)> = Vec::new();
        for Looked { of, wanted, at } in &self.looked {
            // A read that finds nothing says so only of what it looked for.
            let meant = *of == effect.relation
                && wanted.iter().all(|(path, value)| given.get(path) == Some(value));
            if !meant {
                continue;
            }
            let rows = self.reads.get(*at).map_or(&[][..], |(_, _, rows)| rows);
            let own = |row: &&Row| is_of(row, keys, given, selects(effect));
            if let Some(row) = rows.iter().find(own) {
                seen.push((wanted, row));
                continue;
            }
            let before = seen.iter().filter(|(looked, _)| *looked == wanted);
            let before: Vec<&Row> = before.map(|(_, row)| *row).collect();
            // What an earlier read showed may have been changed since; what none showed is news.
            let is_news =
                |path: &ColumnPath| before.iter().all(|row| !row.values.contains_key(path));
            let others = rows.iter().flat_map(|row| &row.values);
            let other = |(path, value): (&ColumnPath, &Value)| {
                given.get(path).is_some_and(|given| given != value)
            };
            let mut others = others.filter(|one| other(*one));
            if before.is_empty() || selects(effect) && others.any(|(path, _)| is_news(path)) {
                return true;
            }
        }
        false
    }

    /// Returns true if a referenced entity was looked for and does not exist: what refers to it
    /// cannot exist either.
    pub(super) fn dangles(&self, relation: RelationId, given: &Known) -> bool {
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
                && self.made_here(target, &[key], value, key).is_none()
                && self.looked_for(target, value)
                && !self.was_read(target, std::slice::from_ref(&vec![key]), &known, false)
        })
    }

    /// Returns true if what was read is otherwise than the write takes for granted.
    pub(super) fn is_refuted(&self) -> bool {
        self.write.effects.iter().any(|effect| {
            let case = Case { effect, prior: None };
            let given = self.given(&case);
            let is = |what| takes(self.write, effect, what);
            let mut new = given.clone();
            new.extend(self.changed(&case, &Known::new()));
            is(MustBe::There) && self.misses_itself(effect, &given)
                || is(MustBe::Referred) && self.dangles(effect.relation, &new)
                || self.meets(effect, &given)
                || self.alters(effect, &given)
        })
    }

    /// Returns true if a row that was read shows another value of what never changes than an effect puts in
    /// its place.
    fn alters(&self, effect: &Effect, given: &Known) -> bool {
        let lasting = lasting(self.model, self.schema, effect);
        let keys = keys_of(self.model, effect);
        let is_other = |row: &Row| {
            lasting.iter().any(|path| {
                let shown = row.values.get(path);
                shown.is_some_and(|shown| given.get(path) != Some(shown))
            })
        };
        !lasting.is_empty()
            && is_as_read(self.write, effect)
            && self.reads.iter().any(|(_, id, rows)| {
                self.schema.families.get(*id).is_some_and(|one| one.source == effect.relation)
                    && rows.iter().any(|row| is_of(row, keys, given, false) && is_other(row))
            })
    }

    /// Returns true if a read by a whole key has found another tuple than the one that is inserted.
    fn meets(&self, effect: &Effect, given: &Known) -> bool {
        self.looked.iter().filter(|looked| looked.of == effect.relation).any(|looked| {
            let asked: Vec<ColumnPath> =
                looked.wanted.iter().map(|(path, _)| path.clone()).collect();
            let rows = self.reads.get(looked.at).map_or(&[][..], |(_, _, rows)| rows);
            must_miss(self.model, self.write, effect, &asked)
                && looked.wanted.iter().all(|(path, value)| given.get(path) == Some(value))
                && !rows.is_empty()
        })
    }

    /// Returns true if a read of rows that every tuple has found none of the effect's own tuple.
    fn misses_itself(&self, effect: &Effect, given: &Known) -> bool {
        let keys = keys_of(self.model, effect);
        self.looked.iter().filter(|looked| looked.of == effect.relation).any(|looked| {
            let Some((_, id, rows)) = self.reads.get(looked.at) else { return false };
            let meant = looked.wanted.iter().all(|(path, value)| given.get(path) == Some(value));
            let whole = self.schema.families.get(*id).is_some_and(|one| shows_all(self.model, one));
            meant && whole && !rows.iter().any(|row| is_of(row, keys, given, selects(effect)))
        })
    }

    pub(super) fn looked_for(&self, target: RelationId, value: &Value) -> bool {
        let key = self.model.relation(target).key();
        self.looked.iter().any(|looked| {
            looked.of == target
                && matches!(looked.wanted.as_slice(), [(path, found)] if path == key && found == value)
        })
    }

    /// Returns true if a row was read of the tuple that has the known values in one of the keys.
    pub(super) fn was_read(
        &self,
        relation: RelationId,
        keys: &[Vec<usize>],
        known: &Known,
        selects: bool,
    ) -> bool {
        self.reads.iter().any(|(_, id, rows)| {
            self.schema.families.get(*id).is_some_and(|family| family.source == relation)
                && rows.iter().any(|row| is_of(row, keys, known, selects))
        })
    }

    pub(super) fn is_read(&self, effect: &Effect, known: &Known) -> bool {
        self.was_read(effect.relation, keys_of(self.model, effect), known, selects(effect))
    }

    pub(super) fn key(
        &self,
        family: &Family,
        known: &Known,
    ) -> Option<Vec<super::super::rows::KeyValue>> {
        key_of(&family.key, &|term| match term {
            Term::Column(path) => self.find(family.source, known, path),
            _ => None,
        })
    }

    /// Returns true if every attribute in the key is known (a known absence makes no row).
    pub(super) fn can_key(&self, family: &Family, known: &Known) -> Result<(), String> {
        for path in crate::paths::all_key_paths(self.model, family) {
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

    /// Returns the conditions on a sparse family's rows beside those that all of them satisfy,
    /// which they need not show; `None` where none of them satisfies them.
    pub(super) fn beside_guards(
        &self,
        family: &Family,
        wanted: &[(ColumnPath, Value)],
    ) -> Option<Vec<(ColumnPath, Value)>> {
        let mut rest = Vec::new();
        for (path, value) in wanted {
            let mut same = family.when.iter().filter(|guard| {
                guard.op == CondOp::Eq && canonical(self.model, family.source, &guard.path) == *path
            });
            match same.next().and_then(|guard| self.param(guard.values.first()?)) {
                Some(all) if all != *value => return None,
                Some(_) => {}
                None => rest.push((path.clone(), value.clone())),
            }
        }
        Some(rest)
    }

    /// Returns true if a sparse family surely has no row of the tuple: a row under its key is
    /// another's.
    pub(super) fn is_elsewhere(&self, family: &Family, known: &Known) -> bool {
        family.when.iter().any(|guard| {
            let values: Option<Vec<Value>> =
                guard.values.iter().map(|value| self.param(value)).collect();
            let found = self.find(family.source, known, &guard.path);
            found.zip(values).is_some_and(|(found, values)| !compare(guard.op, &found, &values))
        })
    }

    /// Returns true if a family surely has no row of a case's tuple: it was looked for and does not
    /// exist, a loop has shown another one under its key, or the family does not hold it.
    pub(super) fn finds_no_row(
        &self,
        family: &Family,
        case: &Case<'_>,
        given: &Known,
        old: &Known,
    ) -> bool {
        self.looked_in_vain(case.effect, given)
            || self.is_passed_over(case, given)
            || self.dangles(family.source, given)
            || self.is_elsewhere(family, old)
    }

    /// Returns true if rows of a loop show the case's tuple otherwise than it is selected.
    fn is_passed_over(&self, case: &Case<'_>, given: &Known) -> bool {
        let effect = case.effect;
        if case.prior.is_none() || !selects(effect) || self.is_read(effect, given) {
            return false;
        }
        self.was_read(effect.relation, keys_of(self.model, effect), given, false)
    }

    /// Returns what is known of the tuple before the write: of a replaced one only its key.
    pub(super) fn given_before(&self, case: &Case<'_>) -> Known {
        let mut given = self.given(case);
        if case.effect.kind == EffectKind::Insert {
            let key = self.model.relation(case.effect.relation).key();
            given.retain(|path, _| matches!(path.as_slice(), [only] if key.contains(only)));
        }
        given
    }
}

/// Returns true if the given values of an effect's tuple are exactly those that select it.
fn selects(effect: &Effect) -> bool {
    effect.kind != EffectKind::Insert
}

/// Returns true if a row shows the known values in all attributes of one of the keys, and
/// contradicts none of the other values that select its tuple.
fn is_of(row: &Row, keys: &[Vec<usize>], known: &Known, selects: bool) -> bool {
    let other = |(path, value): (&ColumnPath, &Value)| {
        row.values.get(path).is_some_and(|found| found != value)
    };
    if selects && known.iter().any(other) {
        return false;
    }
    keys.iter().any(|key| {
        !key.is_empty()
            && key.iter().all(|column| {
                let path = vec![*column];
                let value = known.get(&path).filter(|value| **value != Value::Null);
                value.is_some() && row.values.get(&path) == value
            })
    })
}
