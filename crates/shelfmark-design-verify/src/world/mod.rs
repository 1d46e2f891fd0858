//! States of the verifier's own: drawn, parsed from witnesses, checked against declarations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use shelfmark_design_language::model::pattern::{Param, Predicate};
use shelfmark_design_language::model::schema::{Part, Schema, Step};
use shelfmark_design_language::model::types::TextDomain;
use shelfmark_design_language::model::{Model, RelationId, Term, Type, Value};
use shelfmark_design_language::syntax::tree::CondOp;

pub(super) type Tuple = Vec<Value>;

/// A random generator seeded by a certificate (xorshift).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(model: &str, schema: &str, pattern: &str) -> Self {
        let bytes = model.bytes().chain(schema.bytes()).chain(pattern.bytes());
        let fold =
            |state: u64, byte| state.rotate_left(7) ^ (u64::from(byte).wrapping_mul(0x9E37_79B9));
        Self(bytes.fold(0x2545_F491_4F6C_DD1D, fold) | 1)
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % (count.max(1) as u64)).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let at = self.below(items.len());
        items.get(at)
    }
}

/// A state.
#[derive(Clone)]
pub(super) struct World<'m> {
    pub(super) model: &'m Model,
    pub(super) tuples: Vec<Vec<Tuple>>,
}

/// Texts and numbers to draw from: simple ones, and boundary ones.
pub(super) struct Words {
    /// Texts, with those at which keys are cut among them.
    texts: Vec<String>,
    /// The numbers that patterns, plans and sparse rows compare with, and their neighbours.
    numbers: Vec<i64>,
}

/// Most numbers of a model that are used, neighbours not counted.
const NUMBERS_MAX: usize = 16;

pub(super) fn words(model: &Model, schema: &Schema) -> Words {
    let mut texts: BTreeSet<String> =
        ["a", "b", "ab", "", "a!", "A", "é", "~", "#"].map(str::to_owned).into();
    let parts = schema.families.iter().flat_map(|family| &family.key).flat_map(|one| &one.parts);
    for part in parts {
        if let (Part::Literal(text), true) = (part, texts.len() < 40) {
            texts.extend([text.clone(), format!("a{text}"), format!("a{text}b")]);
        }
    }
    let mut numbers = BTreeSet::new();
    let mut take = |term: &Term| {
        if let (Term::Const(Value::Int(n)), true) = (term, numbers.len() < NUMBERS_MAX) {
            numbers.insert(*n);
        }
    };
    let steps = schema.serves.iter().flat_map(|serve| &serve.steps);
    for step in steps.filter_map(Step::read) {
        for part in step.bounds.iter().flat_map(|(_, parts)| parts) {
            if let Part::Hole { term, .. } = part {
                take(term);
            }
        }
    }
    let sources = model.reads.iter().flat_map(|read| &read.sources);
    let asked = sources.flat_map(|source| &source.predicates);
    let sparse = schema.families.iter().flat_map(|family| &family.when);
    let effects = || model.writes.iter().flat_map(|write| &write.effects);
    let loops = effects().filter_map(|effect| effect.each.as_ref());
    let changed = effects().flat_map(|effect| &effect.conditions);
    let changed = changed.chain(loops.flat_map(|each| &each.predicates));
    for predicate in asked.chain(sparse).chain(changed) {
        predicate.values.iter().for_each(&mut take);
    }
    effects()
        .flat_map(|effect| effect.key.iter().chain(&effect.set))
        .for_each(|(_, term)| take(term));
    let near = numbers.into_iter().flat_map(|n| [n.saturating_sub(1), n, n.saturating_add(1)]);
    Words { texts: texts.into_iter().collect(), numbers: near.collect() }
}

/// Returns a handful of values of a type.
fn values(ty: &Type, words: &Words, dice: &mut Dice) -> Vec<Value> {
    let numbers = |low: i64, high: i64| -> Vec<Value> {
        let known = [-7, 0, 1, 2, 9, 10, 11, 99, 100, 307, 4_096, 86_400_000, low, high];
        let simple = known.into_iter().filter(|n| low <= *n && *n <= high).map(Value::Int);
        let decisive = words.numbers.iter().map(|n| Value::Int(*n)).filter(|n| ty.holds(n));
        simple.chain(decisive).collect()
    };
    match ty {
        Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Type::Uuid | Type::Ulid => (1..5_u128).map(|n| Value::Id((n << 100) | n)).collect(),
        Type::Int(range) | Type::Decimal(range) => {
            let (low, high) = range.unwrap_or((-10_000, 10_000_000));
            numbers(low, high)
        }
        Type::Timestamp => numbers(1, 1_600_000_000_000),
        Type::Date => numbers(9, 10),
        Type::Bytes(sizes) => {
            let short = ["", "00", "23", "7f", "80", "ff", "2300", "ffff"].map(str::to_owned);
            let longer = (0..4).map(|n| {
                let count = usize::try_from(sizes.min.max(1)).unwrap_or(1).min(64);
                ["00", "01", "fe", "ff"].iter().cycle().skip(n).take(count).copied().collect()
            });
            let all = short.into_iter().chain(longer).map(Value::Text);
            all.filter(|value| ty.holds(value)).collect()
        }
        Type::Enum(variants) => variants.iter().cloned().map(Value::Text).collect(),
        Type::Text(domain) => {
            let mut fitting: Vec<Value> = words
                .texts
                .iter()
                .filter(|word| domain.holds(word))
                .map(|word| Value::Text(word.clone()))
                .collect();
            if fitting.len() < 4 {
                fitting.extend((0..4).map(|_| Value::Text(spelled(domain, dice))));
            }
            fitting.retain(|value| ty.holds(value));
            fitting
        }
        Type::List(element, max) => {
            let most = usize::try_from(max.unwrap_or(2).min(2)).unwrap_or(0);
            let items = values(element, words, dice).into_iter().take(most).collect();
            vec![Value::List(Vec::new()), Value::List(items)]
        }
    }
}

/// Returns some text of a domain.
fn spelled(domain: &TextDomain, dice: &mut Dice) -> String {
    let allowed: Vec<char> =
        ('0'..='z').chain(' '..='/').filter(|c| domain.allows(*c)).step_by(7).take(5).collect();
    let longer = domain.min.saturating_add(u64::try_from(dice.below(3)).unwrap_or(0));
    let most = domain.max.unwrap_or(longer).min(longer);
    let length = usize::try_from(most.clamp(1, 64)).unwrap_or(1);
    (0..length).filter_map(|_| dice.pick(&allowed).copied()).collect()
}

impl<'m> World<'m> {
    pub(super) fn of(&self, relation: RelationId) -> &[Tuple] {
        self.tuples.get(relation).map_or(&[], Vec::as_slice)
    }

    /// Returns the value at the end of a path.
    pub(super) fn at(&self, relation: RelationId, tuple: &Tuple, path: &[usize]) -> Value {
        let Some((first, rest)) = path.split_first() else { return Value::Null };
        let value = tuple.get(*first).cloned().unwrap_or(Value::Null);
        if rest.is_empty() {
            return value;
        }
        match self.referred(relation, *first, &value) {
            Some((target, found)) => self.at(target, found, rest),
            None => Value::Null,
        }
    }

    fn referred(
        &self,
        of: RelationId,
        column: usize,
        value: &Value,
    ) -> Option<(RelationId, &Tuple)> {
        let target = self.model.relation(of).columns.get(column)?.refers?;
        let key = *self.model.relation(target).key().first()?;
        self.of(target).iter().find(|one| one.get(key) == Some(value)).map(|one| (target, one))
    }

    /// Returns true if types, keys, dependencies, references and fan-outs are obeyed, and what comes
    /// together does.
    pub(super) fn is_state(&self) -> bool {
        self.model.relations.iter().enumerate().all(|(id, relation)| {
            let part = |tuple: &Tuple, columns: &[usize]| -> Vec<Value> {
                columns.iter().map(|at| tuple.get(*at).cloned().unwrap_or(Value::Null)).collect()
            };
            let mut fine = relation.keys.iter().all(|key| {
                let whole = self.of(id).iter().map(|one| part(one, key));
                let whole: Vec<_> = whole.filter(|part| !part.contains(&Value::Null)).collect();
                whole.iter().collect::<BTreeSet<_>>().len() == whole.len()
            });
            for (from, to) in &relation.dependencies {
                let mut known = BTreeMap::new();
                for one in self.of(id) {
                    let value = part(one, to);
                    fine &= *known.entry(part(one, from)).or_insert_with(|| value.clone()) == value;
                }
            }
            for fanout in &relation.fanouts {
                let mut counts: BTreeMap<_, u32> = BTreeMap::new();
                for one in self.of(id) {
                    *counts.entry(part(one, &fanout.from)).or_default() += 1;
                }
                let most = fanout.max().unwrap_or(f64::INFINITY);
                fine &= counts.values().all(|count| f64::from(*count) <= most);
            }
            for group in &relation.together {
                let there = |tuple: &Tuple| {
                    part(tuple, group).iter().filter(|one| **one != Value::Null).count()
                };
                fine &=
                    self.of(id).iter().map(there).all(|count| count == 0 || count == group.len());
            }
            fine && self.of(id).iter().all(|tuple| {
                tuple.len() == relation.columns.len()
                    && relation.columns.iter().zip(tuple).enumerate().all(
                        |(at, (column, value))| match (value, column.refers) {
                            (Value::Null, _) => column.optional,
                            (_, Some(_)) => self.referred(id, at, value).is_some(),
                            _ => column.ty.holds(value),
                        },
                    )
            })
        })
    }

    /// Draws a state; tuples that are referred to come first.
    pub(super) fn draw(model: &'m Model, words: &Words, dice: &mut Dice, size: usize) -> Self {
        let count = model.relations.len();
        let mut world = World { model, tuples: vec![Vec::new(); count] };
        let mut done: Vec<RelationId> = Vec::new();
        for _ in 0..count {
            for id in 0..count {
                let ready = model.relation(id).columns.iter().all(|column| {
                    column.optional
                        || column.refers.is_none_or(|other| other == id || done.contains(&other))
                });
                if ready && !done.contains(&id) {
                    done.push(id);
                }
            }
        }
        for id in done {
            for _ in 0..=dice.below(size) + size {
                let Some(tuple) = world.one(id, words, dice) else { break };
                let Some(tuples) = world.tuples.get_mut(id) else { break };
                tuples.push(tuple);
                if !world.is_state()
                    && let Some(tuples) = world.tuples.get_mut(id)
                {
                    tuples.pop();
                }
            }
        }
        world
    }

    /// Draws a tuple: new, or an existing one with an attribute or two changed.
    fn one(&self, id: RelationId, words: &Words, dice: &mut Dice) -> Option<Tuple> {
        let old = if dice.below(2) == 0 { dice.pick(self.of(id)).cloned() } else { None };
        let columns = &self.model.relation(id).columns;
        let changed = dice.below(columns.len());
        let mut tuple = Tuple::new();
        for (at, column) in columns.iter().enumerate() {
            if let Some(value) = old.as_ref().and_then(|old| old.get(at))
                && at != changed
                && dice.below(5) > 0
            {
                tuple.push(value.clone());
                continue;
            }
            if column.optional && dice.below(3) == 0 {
                tuple.push(Value::Null);
                continue;
            }
            let choice: Vec<Value> = match column.refers {
                None => values(&column.ty, words, dice),
                Some(target) => {
                    let key = self.model.relation(target).key().first().copied().unwrap_or(0);
                    self.of(target).iter().filter_map(|one| one.get(key).cloned()).collect()
                }
            };
            match dice.pick(&choice) {
                Some(value) => tuple.push(value.clone()),
                None if column.optional => tuple.push(Value::Null),
                None => return None,
            }
        }
        // All of a group or nothing: what lacks a part loses the rest.
        for group in &self.model.relation(id).together {
            let lacks = group.iter().any(|at| tuple.get(*at) == Some(&Value::Null));
            for at in group.iter().filter(|_| lacks) {
                tuple.get_mut(*at).into_iter().for_each(|value| *value = Value::Null);
            }
        }
        Some(tuple)
    }

    /// Parses the state of a witness.
    pub(super) fn of_json(model: &'m Model, json: &Json) -> Result<Self, String> {
        let mut world = World { model, tuples: vec![Vec::new(); model.relations.len()] };
        for (name, list) in json.as_object().ok_or("the witness has no state")? {
            let id = model.relations.iter().position(|relation| relation.name.text == *name);
            let id =
                id.ok_or_else(|| format!("the witness speaks of {name}, the model does not"))?;
            for one in list.as_array().into_iter().flatten() {
                let columns = &model.relation(id).columns;
                let tuple: Option<Tuple> = columns
                    .iter()
                    .map(|c| Value::of_json(one.get(&c.name).unwrap_or(&Json::Null), &c.ty))
                    .collect();
                let tuple = tuple.ok_or_else(|| format!("the witness has a damaged {name}"))?;
                if let Some(tuples) = world.tuples.get_mut(id) {
                    tuples.push(tuple);
                }
            }
        }
        if world.is_state() { Ok(world) } else { Err("the witness is no state".to_owned()) }
    }

    /// Returns true if a tuple satisfies a predicate; what is absent satisfies nothing but `is
    /// absent`.
    pub(super) fn meets(
        &self,
        relation: RelationId,
        tuple: &Tuple,
        predicate: &Predicate,
        leaf: &impl Fn(&Term) -> Option<Value>,
    ) -> bool {
        let found = self.at(relation, tuple, &predicate.path);
        let wanted: Option<Vec<Value>> =
            predicate.values.iter().map(|term| term.compute(leaf)).collect();
        wanted.is_some_and(|wanted| holds(predicate.op, &found, &wanted))
    }
}

/// Returns true if `found op wanted` holds.
pub(super) fn holds(op: CondOp, found: &Value, wanted: &[Value]) -> bool {
    let first = wanted.first();
    match op {
        CondOp::Absent => return *found == Value::Null,
        CondOp::Present => return *found != Value::Null,
        _ if *found == Value::Null || first.is_none_or(|one| *one == Value::Null) => return false,
        _ => {}
    }
    let Some(first) = first else { return false };
    let both = |test: fn(&str, &str) -> bool| match (found, first) {
        (Value::Text(found), Value::Text(wanted)) => test(found, wanted),
        _ => false,
    };
    match op {
        CondOp::Eq => found == first,
        CondOp::Lt => found < first,
        CondOp::Le => found <= first,
        CondOp::Gt => found > first,
        CondOp::Ge => found >= first,
        CondOp::Between => found >= first && wanted.get(1).is_some_and(|last| found <= last),
        CondOp::In => matches!(first, Value::List(items) if items.contains(found)),
        CondOp::Begins => both(|found, wanted| found.starts_with(wanted)),
        CondOp::Ends => both(|found, wanted| found.ends_with(wanted)),
        CondOp::Matches => both(|found, wanted| found.contains(wanted)),
        CondOp::Contains => match found {
            Value::List(items) => items.contains(first),
            _ => both(|found, wanted| found.contains(wanted)),
        },
        _ => false,
    }
}

/// Draws inputs: mostly values of the state where they are compared.
pub(super) fn draw_inputs(
    world: &World<'_>,
    params: &[Param],
    uses: &[(RelationId, &Vec<Predicate>)],
    limits: &[(&Term, i64)],
    words: &Words,
    dice: &mut Dice,
) -> Vec<Value> {
    let anchor = dice.below(32);
    let mut inputs = Vec::new();
    for (index, param) in params.iter().enumerate() {
        let limit = limits.iter().find(|(limit, _)| **limit == Term::Param(index));
        if let Some((_, least)) = limit {
            inputs.push(Value::Int(least + i64::try_from(dice.below(7)).unwrap_or(0)));
            continue;
        }
        let element = if let Type::List(element, _) = &param.ty { element } else { &param.ty };
        let mut known: Vec<Value> = Vec::new();
        for (relation, predicates) in uses {
            for one in predicates.iter().filter(|one| one.values.contains(&Term::Param(index))) {
                let tuples = world.of(*relation).iter();
                known.extend(tuples.map(|tuple| world.at(*relation, tuple, &one.path)));
                if one.op == CondOp::Begins {
                    let shorter: Vec<Value> =
                        known.iter().filter_map(|value| beginning(value, dice)).collect();
                    known.extend(shorter);
                }
                let owner = world.model.path_owner(*relation, &one.path);
                let column =
                    one.path.last().and_then(|at| world.model.relation(owner).columns.get(*at));
                if let Some(target) = column.and_then(|column| column.refers) {
                    let key = world.model.relation(target).key().first().copied().unwrap_or(0);
                    known.extend(world.of(target).iter().filter_map(|one| one.get(key).cloned()));
                }
            }
        }
        known.retain(|value| *value != Value::Null && element.holds(value));
        if let Type::List(_, max) = &param.ty {
            inputs.push(Value::List(draw_list(known, &values(element, words, dice), *max, dice)));
            continue;
        }
        // Two inputs are at times one value.
        let same = params.iter().zip(&inputs).filter(|(other, _)| other.ty == param.ty);
        let same: Vec<Value> = same.map(|(_, value)| value.clone()).collect();
        if let (Some(value), 0) = (dice.pick(&same), dice.below(6)) {
            inputs.push(value.clone());
            continue;
        }
        let fresh = values(&param.ty, words, dice);
        let found = match dice.below(8) {
            0..5 => known.get(anchor % known.len().max(1)),
            5 | 6 => dice.pick(&known),
            _ => None,
        };
        let found = found.cloned().or_else(|| dice.pick(&fresh).cloned());
        inputs.push(found.unwrap_or(Value::Null));
    }
    inputs
}

/// Returns the beginning of a text, of any length.
fn beginning(value: &Value, dice: &mut Dice) -> Option<Value> {
    let Value::Text(text) = value else { return None };
    let length = dice.below(text.chars().count() + 1);
    Some(Value::Text(text.chars().take(length).collect()))
}

/// Draws a list: values of the state or part of them, and at times others.
fn draw_list(
    mut known: Vec<Value>,
    fresh: &[Value],
    max: Option<u64>,
    dice: &mut Dice,
) -> Vec<Value> {
    known.sort();
    known.dedup();
    let keeps = 1 + dice.below(4);
    known.retain(|_| dice.below(4) < keeps);
    known.extend(dice.pick(fresh).filter(|_| dice.below(3) == 0).cloned());
    if dice.below(2) == 0 {
        known.reverse();
    }
    known.truncate(usize::try_from(max.unwrap_or(3).min(3)).unwrap_or(3));
    known
}

#[cfg(test)]
mod tests;
