//! The meaning of reads and writes, by the verifier's own reading.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::shelf::is_number;
use super::world::{Tuple, World};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::{OrderKey, Read, RelationId, Term, Value, Write};
use shelfmark_design_language::syntax::tree::{Aggregate, Existing};

/// A caller's view of one row: its type and the attributes asked for.
pub(super) type Item = (RelationId, Vec<Value>);

pub(super) struct Answer {
    /// Items with their sort keys.
    items: Vec<(Vec<Value>, Item)>,
    limit: Option<usize>,
    /// Row types with limits of their own, each with the number of its items that are asked for.
    own: BTreeMap<RelationId, usize>,
}

fn input(inputs: &[Value]) -> impl Fn(&Term) -> Option<Value> {
    move |term| match term {
        Term::Param(index) => inputs.get(*index).cloned(),
        _ => None,
    }
}

pub(super) fn answer(world: &World<'_>, read: &Read, inputs: &[Value]) -> Answer {
    let leaf = input(inputs);
    let mut items: Vec<(Vec<Value>, Item)> = Vec::new();
    let mut sum: i64 = 0;
    for (number, source) in read.sources.iter().enumerate() {
        let of = source.relation;
        for tuple in world.of(of) {
            if !source.predicates.iter().all(|one| world.meets(of, tuple, one, &leaf)) {
                continue;
            }
            if let Some((Aggregate::Sum, Some(path))) = &read.aggregate
                && let Value::Int(n) = world.at(of, tuple, path)
            {
                sum = sum.saturating_add(n);
            }
            let by = read.order.iter().map(|(key, _)| match key {
                OrderKey::Kind => Value::Int(i64::try_from(number).unwrap_or(i64::MAX)),
                OrderKey::Columns(paths) => {
                    let path = paths.get(number).and_then(Option::as_ref);
                    path.map_or(Value::Null, |path| world.at(of, tuple, path))
                }
            });
            let shown = source
                .outputs
                .iter()
                .map(|path| path.as_ref().map_or(Value::Null, |path| world.at(of, tuple, path)));
            items.push((by.collect(), (of, shown.collect())));
        }
    }
    if is_number(read) {
        let count = match &read.aggregate {
            Some((Aggregate::Sum, _)) => Value::Int(sum),
            _ => Value::Int(i64::try_from(items.len()).unwrap_or(i64::MAX)),
        };
        let of = read.sources.first().map_or(0, |source| source.relation);
        return Answer {
            items: vec![(Vec::new(), (of, vec![count]))],
            limit: None,
            own: BTreeMap::new(),
        };
    }
    items.sort_by(|(a, _), (b, _)| {
        let mut keys = a.iter().zip(b).zip(&read.order);
        keys.find_map(|((x, y), (_, desc))| {
            let order = if *desc { y.cmp(x) } else { x.cmp(y) };
            order.is_ne().then_some(order)
        })
        .unwrap_or(Ordering::Equal)
    });
    if read.distinct {
        let mut seen: Vec<Item> = Vec::new();
        items.retain(|(_, item)| {
            let new = !seen.contains(item);
            if new {
                seen.push(item.clone());
            }
            new
        });
    }
    let limit = read.limit.as_ref().and_then(|limit| limit.compute(&leaf));
    let limit = match limit {
        Some(Value::Int(n)) => usize::try_from(n).ok(),
        _ => None,
    };
    let own = own_limits(read, &items, inputs);
    Answer { items, limit, own }
}

/// Returns the number of items that are asked for of each row type with a limit of its own.
fn own_limits(
    read: &Read,
    items: &[(Vec<Value>, Item)],
    inputs: &[Value],
) -> BTreeMap<RelationId, usize> {
    let limited = read.sources.iter().filter_map(|source| Some((source, source.limit.as_ref()?)));
    let own = limited.map(|(source, limit)| {
        let most = match limit.compute(&input(inputs)) {
            Some(Value::Int(n)) => usize::try_from(n).unwrap_or(0),
            _ => 0,
        };
        let there = items.iter().filter(|(_, (of, _))| *of == source.relation).count();
        (source.relation, there.min(most))
    });
    own.collect()
}

impl Answer {
    pub(super) fn length(&self) -> usize {
        self.wanted().count()
    }

    /// Returns the items in one of their orders.
    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        self.wanted().map(|(_, item)| item)
    }

    /// Returns the items in one of their orders, of each row type the first, with their sort keys.
    fn wanted(&self) -> impl Iterator<Item = &(Vec<Value>, Item)> {
        let mut left = self.own.clone();
        let first = self.items.iter().filter(move |(_, (of, _))| match left.get_mut(of) {
            None => true,
            Some(0) => false,
            Some(count) => {
                *count -= 1;
                true
            }
        });
        first.take(self.limit.unwrap_or(usize::MAX))
    }

    /// Returns true if a list is a right answer: of the same length, its items in their groups,
    /// ties in any order, and of each row type as many as are asked for.
    pub(super) fn accepts(&self, found: &[Item]) -> bool {
        let of = |relation: RelationId| found.iter().filter(|(of, _)| *of == relation).count();
        if found.len() != self.length() || self.own.iter().any(|(own, most)| of(*own) != *most) {
            return false;
        }
        let mut free: Vec<bool> = vec![true; self.items.len()];
        found.iter().zip(self.wanted()).all(|(item, (by, _))| {
            let place =
                self.items.iter().zip(&free).position(|((other, candidate), free)| {
                    *free && other == by && candidate == item
                });
            place.and_then(|at| free.get_mut(at)).map(|free| *free = false).is_some()
        })
    }
}

/// Returns the state after a write; `None` where the write is not defined.
pub(super) fn after<'m>(world: &World<'m>, write: &Write, inputs: &[Value]) -> Option<World<'m>> {
    one_by_one(world, write, inputs)?.pop()
}

/// Returns true if the tuple of an effect is as its conditions ask.
fn satisfied(world: &World<'_>, effect: &Effect, inputs: &[Value]) -> bool {
    let leaf = input(inputs);
    let own = |tuple: &&Tuple| {
        let mut key = effect.key.iter();
        key.all(|(at, term)| term.compute(&leaf).is_some_and(|one| tuple.get(*at) == Some(&one)))
    };
    let asks = |tuple: &Tuple| {
        let mut asked = effect.conditions.iter();
        asked.all(|one| world.meets(effect.relation, tuple, one, &leaf))
    };
    effect.conditions.is_empty() || world.of(effect.relation).iter().find(own).is_some_and(asks)
}

/// Returns the states after each effect of a write; `None` where the write is not defined. Where a
/// condition does not hold nothing is changed.
pub(super) fn one_by_one<'m>(
    world: &World<'m>,
    write: &Write,
    inputs: &[Value],
) -> Option<Vec<World<'m>>> {
    if write.inputs_differ(inputs)
        && write.effects.iter().all(|effect| satisfied(world, effect, inputs))
    {
        return after_each(world, write, inputs);
    }
    Some(vec![world.clone()])
}

/// Returns true if none of these worlds has the tuple that an effect changes or takes away.
fn names_nobody(
    effect: &Effect,
    worlds: &[&World<'_>],
    leaf: &impl Fn(&Term) -> Option<Value>,
) -> bool {
    let own = |tuple: &Tuple| {
        let mut key = effect.key.iter();
        key.all(|(at, term)| term.compute(leaf).is_some_and(|one| tuple.get(*at) == Some(&one)))
    };
    let has = |world: &&World<'_>| world.of(effect.relation).iter().any(own);
    let made = effect.kind == EffectKind::Insert || effect.begins();
    effect.each.is_none() && !made && !worlds.iter().any(has)
}

/// Returns the tuples that the loop of an effect goes through, each with its relation; one that is none
/// where there is no loop.
fn gone_through<'w>(
    world: &'w World<'_>,
    effect: &Effect,
    inputs: &[Value],
) -> Vec<Option<(RelationId, &'w Tuple)>> {
    let Some(each) = &effect.each else { return vec![None] };
    let leaf = input(inputs);
    let asked =
        |one: &&Tuple| each.predicates.iter().all(|p| world.meets(each.relation, one, p, &leaf));
    world.of(each.relation).iter().filter(asked).map(|one| Some((each.relation, one))).collect()
}

fn after_each<'m>(world: &World<'m>, write: &Write, inputs: &[Value]) -> Option<Vec<World<'m>>> {
    let mut new = world.clone();
    let mut all = vec![world.clone()];
    for effect in &write.effects {
        let leaf = input(inputs);
        if write.effects.len() > 1 && names_nobody(effect, &[world, &new], &leaf) {
            return None;
        }
        for prior in gone_through(world, effect, inputs) {
            let leaf = |term: &Term| match (term, prior) {
                (Term::Param(index), _) => inputs.get(*index).cloned(),
                (Term::Prior(path), Some((of, tuple))) => Some(world.at(of, tuple, path)),
                _ => None,
            };
            let value = |(at, term): &(usize, Term)| Some((*at, term.compute(&leaf)?));
            let given: Vec<(usize, Value)> = effect.key.iter().map(value).collect::<Option<_>>()?;
            let set: Vec<(usize, Value)> = effect.set.iter().map(value).collect::<Option<_>>()?;
            let relation = world.model.relation(effect.relation);
            let tuples = new.tuples.get_mut(effect.relation)?;
            let hit = |tuple: &Tuple| given.iter().all(|(at, value)| tuple.get(*at) == Some(value));
            match effect.kind {
                EffectKind::Delete => tuples.retain(|tuple| !hit(tuple)),
                EffectKind::Insert => {
                    let mut tuple = vec![Value::Null; relation.columns.len()];
                    for (at, value) in given {
                        *tuple.get_mut(at)? = value;
                    }
                    let twin = tuples.iter_mut().find(|other| {
                        relation.key().iter().all(|at| other.get(*at) == tuple.get(*at))
                    });
                    match (twin, effect.existing) {
                        (None, _) => tuples.push(tuple),
                        (Some(_), Existing::Unless) => {}
                        (Some(twin), Existing::Replace) => {
                            let lasting = relation.columns.iter().enumerate();
                            let mut lasting = lasting.filter(|(_, column)| column.lasts());
                            if !lasting.all(|(at, _)| twin.get(at) == tuple.get(at)) {
                                return None;
                            }
                            *twin = tuple;
                        }
                        (Some(_), Existing::Fresh | Existing::Insert) => return None,
                    }
                }
                EffectKind::Update | EffectKind::Increment => {
                    if effect.begins() && !tuples.iter().any(hit) {
                        let mut tuple = vec![Value::Null; relation.columns.len()];
                        let zeros = set.iter().map(|(at, _)| (*at, Value::Int(0)));
                        for (at, value) in given.iter().cloned().chain(zeros) {
                            *tuple.get_mut(at)? = value;
                        }
                        tuples.push(tuple);
                    }
                    for tuple in tuples.iter_mut().filter(|tuple| hit(tuple)) {
                        for (at, value) in &set {
                            let Some(old) = tuple.get_mut(*at) else { continue };
                            *old = match (effect.kind, &*old, value) {
                                (EffectKind::Increment, Value::Int(a), Value::Int(b)) => {
                                    Value::Int(a.saturating_add(*b))
                                }
                                _ => value.clone(),
                            };
                        }
                    }
                }
            }
        }
        all.push(new.clone());
    }
    new.is_state().then_some(all)
}

#[cfg(test)]
mod tests;
