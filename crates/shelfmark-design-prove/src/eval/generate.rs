//! Generates small states and inputs that look for trouble: few values, delimiters in texts, equal
//! times.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::focus::Focus;
use super::random::Random;
use super::state::{State, Tuple};
use shelfmark_design_language::model::pattern::{EffectKind, Param};
use shelfmark_design_language::model::schema::{Part, Schema};
use shelfmark_design_language::model::types::{Sizes, TextDomain};
use shelfmark_design_language::model::{
    Function, Model, Read, RelationId, Term, Type, Value, Write,
};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};

/// A pool of values that states are drawn from.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    texts: Vec<String>,
    /// Number of identifiers, times and the like.
    width: usize,
    /// The relations to draw tuples of; all when none are given.
    only: Option<Vec<RelationId>>,
    /// The delimiters of the keys' texts.
    glue: Vec<String>,
    /// Identifiers of every bucket of the schema's keys.
    spread: Vec<u128>,
    /// Numbers, days and times that pattern and plan name, with their neighbours.
    named: Vec<i64>,
    /// Cached texts of a domain.
    fitting: RefCell<Vec<(TextDomain, Vec<usize>)>>,
}

impl Pool {
    /// Returns texts that contain the delimiters of the schema's keys.
    pub fn of(schema: Option<&Schema>) -> Self {
        Self::with(schema, None)
    }

    /// Returns the same, for states of a few relations.
    pub fn about(schema: &Schema, focus: &Focus) -> Self {
        Self::with(Some(schema), Some(focus))
    }

    /// Returns few texts, cut at the delimiters of the keys of some relations: `a`, `a#`, `#`,
    /// nothing.
    pub fn glued(schema: &Schema, focus: &Focus) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for made in glue(schema, focus).into_iter().flat_map(cut_at) {
            if !texts.contains(&made) && texts.len() < 12 {
                texts.push(made);
            }
        }
        Self { texts, ..Self::about(schema, focus) }
    }

    fn with(schema: Option<&Schema>, focus: Option<&Focus>) -> Self {
        let mut texts: Vec<String> =
            ["a", "b", "ab", "", "a#b", "a#", "#", "~", "a~", "é", "a b", "b!", "a!", "A"]
                .map(str::to_owned)
                .to_vec();
        let parts = schema
            .into_iter()
            .flat_map(|schema| &schema.families)
            .filter(|family| focus.is_none_or(|focus| focus.relations().contains(&family.source)))
            .flat_map(|family| family.key.iter().flat_map(|column| &column.parts));
        let mut glue: Vec<String> = Vec::new();
        for part in parts {
            if let Part::Literal(text) = part
                && texts.len() < 60
            {
                if !glue.contains(text) {
                    glue.push(text.clone());
                }
                for made in
                    [format!("a{text}b"), text.clone(), format!("a{text}"), format!("{text}b")]
                {
                    if !texts.contains(&made) {
                        texts.push(made);
                    }
                }
            }
        }
        // Texts that look like the identifiers of other rows.
        for id in 1..=2_u128 {
            let value = Value::Id((id << 112) | id);
            texts.extend([value.text(&Type::Uuid), value.text(&Type::Ulid)]);
        }
        let only = focus.map(|focus| focus.relations().to_vec());
        let spread = spread(schema);
        let all = schema.filter(|_| focus.is_none()).map(Focus::of_plans);
        let constants = focus.or(all.as_ref()).map(Focus::constants);
        let named = neighbours(constants.into_iter().flatten());
        for value in constants.into_iter().flatten() {
            if let Value::Text(text) = value
                && !texts.contains(text)
            {
                texts.push(text.clone());
            }
        }
        Self { texts, width: 4, only, glue, spread, named, fitting: RefCell::default() }
    }

    /// Returns the same, of a few relations and for many of their tuples.
    pub(super) fn of_many(schema: &Schema, focus: &Focus, size: usize) -> Self {
        let mut pool = Self::about(schema, focus);
        pool.width = size.max(17) * 2;
        pool.texts.extend((0..pool.width).map(|n| format!("w{n}")));
        pool
    }

    /// Returns the same, for states of some size: as many values as tuples.
    pub fn wide(schema: &Schema, size: usize) -> Self {
        let mut pool = Self::of(Some(schema));
        pool.width = size.max(4);
        if size > 16 {
            pool.texts.extend((0..size).map(|n| format!("w{n}")));
        }
        pool
    }

    /// Returns the positions of the texts of a domain.
    fn fitting(&self, domain: &TextDomain) -> Vec<usize> {
        let mut known = self.fitting.borrow_mut();
        if let Some((_, places)) = known.iter().find(|(other, _)| other == domain) {
            return places.clone();
        }
        let texts = self.texts.iter().enumerate();
        let places: Vec<usize> =
            texts.filter(|(_, text)| domain.holds(text)).map(|(at, _)| at).collect();
        known.push((domain.clone(), places.clone()));
        places
    }

    /// Returns a text that others may begin with: shorter at times, at times continued as keys are.
    fn beginning(&self, text: &str, ty: &Type, random: &mut Random) -> String {
        let least = match ty {
            Type::Text(domain) => usize::try_from(domain.min).unwrap_or(0),
            _ => 0,
        };
        match (random.below(4), random.pick(&self.glue)) {
            (0, Some(glue)) => format!("{text}{glue}"),
            (1, _) => text.chars().take(least + random.below(3)).collect(),
            _ => text.to_owned(),
        }
    }

    /// Returns a text that is at times continued as keys are behind it.
    fn longer(&self, text: &str, random: &mut Random) -> String {
        match (random.below(2), random.pick(&self.glue)) {
            (0, Some(glue)) => {
                let count = 1 + random.below(glue.chars().count());
                text.chars().chain(glue.chars().take(count)).collect()
            }
            _ => text.to_owned(),
        }
    }

    /// Returns some of the given values, in any order: at times others, or one of them twice.
    fn list(
        &self,
        element: &Type,
        max: Option<u64>,
        mut known: Vec<Value>,
        random: &mut Random,
    ) -> Value {
        known.sort();
        known.dedup();
        let most = usize::try_from(max.unwrap_or(4).min(4)).unwrap_or(4);
        let left_out = random.below(4);
        let mut items: Vec<Value> = Vec::new();
        for value in known {
            if random.below(4) >= left_out {
                items.insert(random.below(items.len() + 1), value);
            }
        }
        let more = match random.below(4) {
            0 => Some(self.value(element, random)),
            1 => random.pick(&items).cloned(),
            _ => None,
        };
        if let Some(value) = more {
            items.insert(random.below(items.len() + 1), value);
        }
        items.truncate(most);
        Value::List(items)
    }

    fn id(&self, ty: &Type, random: &mut Random) -> Value {
        if let (Some(id), 0) = (random.pick(&self.spread), random.below(3)) {
            return Value::Id(*id);
        }
        let id = random.below(self.width) as u128 + 1;
        // Some ulids come within one moment, one day, one month.
        let later = match (ty, random.below(6)) {
            (Type::Ulid, 0) => 1,
            (Type::Ulid, 1) => 5_000_000 << 80,
            (Type::Ulid, 2) => 400_000_000 << 80,
            _ => 0,
        };
        Value::Id(((id << 112) | id) + later)
    }

    /// Returns at times the last value of a type, or one beside a constant of a plan.
    fn telling(&self, ty: &Type, random: &mut Random) -> Option<Value> {
        if random.below(SELDOM) == 0
            && let Some(last) = last_of(ty, random)
        {
            return Some(last);
        }
        let numbers = matches!(ty, Type::Int(_) | Type::Decimal(_) | Type::Timestamp | Type::Date);
        if self.named.is_empty() || !numbers || random.below(3) > 0 {
            return None;
        }
        let value = Value::Int(random.pick(&self.named).copied()?);
        ty.holds(&value).then_some(value)
    }

    /// Draws a value of a type.
    pub fn value(&self, ty: &Type, random: &mut Random) -> Value {
        if let Some(value) = self.telling(ty, random) {
            return value;
        }
        match ty {
            Type::Bool => Value::Bool(random.below(2) == 1),
            Type::Uuid | Type::Ulid => self.id(ty, random),
            Type::Int(range) | Type::Decimal(range) => {
                let (low, high) = range.unwrap_or((-1_000, 1_000_000));
                // Numbers around which a text gains a digit.
                let known = [
                    0, 1, 2, 5, 9, 10, 20, 307, -1, 99, 100, 999, 1_000, 9_999, 10_000, 99_999,
                    100_000,
                ];
                let declared = if range.is_some() { known.len() } else { 9 };
                let known = known.get(..declared).unwrap_or(&known);
                let mut fitting: Vec<i64> =
                    known.iter().copied().filter(|n| low <= *n && *n <= high).collect();
                fitting.extend([low, high]);
                // Below zero the longer text is the lesser number.
                if declared > 9 && low < -1 {
                    let below = [-2, -5, -9, -10, -99, -100];
                    fitting.extend(below.into_iter().filter(|n| low <= *n && *n <= high));
                }
                if self.width > 16 {
                    let more = low.max(0).saturating_add(random.below(self.width) as i64);
                    fitting.extend([more.min(high); 8]);
                }
                Value::Int(random.pick(&fitting).copied().unwrap_or(low))
            }
            Type::Timestamp => {
                let known = [
                    5,
                    20,
                    307,
                    999,
                    1_000,
                    700_000_000,
                    1_329_836_819_859,
                    // In the same hour, on the same day, in the same month.
                    1_329_836_819_860,
                    1_329_840_000_000,
                    1_329_900_000_000,
                ];
                if self.width > 16 && random.below(2) == 0 {
                    return Value::Int(
                        1_329_836_819_859 + random.below(self.width) as i64 * 61_000,
                    );
                }
                Value::Int(random.pick(&known).copied().unwrap_or(0))
            }
            Type::Date => Value::Int(10_000 + random.below(self.width) as i64),
            Type::Enum(variants) => Value::Text(random.pick(variants).cloned().unwrap_or_default()),
            Type::Bytes(sizes) => binary(*sizes, random),
            Type::Text(domain) => {
                let fitting = self.fitting(domain);
                // A few simple ones often, so that keys meet.
                let count = if random.below(2) == 0 { fitting.len().min(4) } else { fitting.len() };
                // A narrow domain has few of them: make some more.
                let narrow = fitting.len() < 4 && random.below(2) == 0;
                let found = fitting.get(random.below(count)).filter(|_| !narrow);
                match found.and_then(|at| self.texts.get(*at)) {
                    Some(text) => Value::Text(text.clone()),
                    None => Value::Text(made(domain, random)),
                }
            }
            Type::List(element, max) => {
                let most = usize::try_from(max.unwrap_or(3).min(3)).unwrap_or(3);
                let count = random.below(most + 1);
                let mut items: Vec<Value> =
                    (0..count).map(|_| self.value(element, random)).collect();
                items.sort();
                items.dedup();
                Value::List(items)
            }
        }
    }
}

/// The pools of one search.
pub struct Pools {
    about: Pool,
    /// One for each delimiter of texts.
    glued: Vec<Pool>,
}

impl Pools {
    /// Collects the values that plans and keys of a schema name.
    pub fn of(schema: &Schema, focus: &Focus) -> Self {
        let about = Pool::about(schema, focus);
        let glue = glue(schema, focus);
        let glued = glue.into_iter().take(GLUED_MAX).map(|text| {
            let texts = cut_at(text).into_iter().collect();
            Pool { texts, fitting: RefCell::default(), ..about.clone() }
        });
        Self { glued: glued.collect(), about }
    }

    /// Returns the pool of texts of all kinds first; at last those that run into one another at
    /// delimiters.
    pub fn at(&self, attempt: usize, of: usize) -> &Pool {
        let glued = self.glued.get(attempt % self.glued.len().max(1));
        glued.filter(|_| attempt >= of - of / 4).unwrap_or(&self.about)
    }
}

/// Draws a binary value.
fn binary(sizes: Sizes, random: &mut Random) -> Value {
    let fitting: Vec<&str> = BINARY.into_iter().filter(|hex| sizes.holds(hex)).collect();
    if let Some(hex) = random.pick(&fitting) {
        return Value::Text((*hex).to_owned());
    }
    let longer = sizes.min.saturating_add(random.below(3) as u64);
    let most = sizes.max.unwrap_or(longer).min(longer).min(BINARY_MAX);
    let mut byte = |_| random.pick(&["00", "7f", "80", "ff"]).copied().unwrap_or("00");
    Value::Text((0..most).map(&mut byte).collect())
}

/// Most bytes of a binary value that is made up; ours.
const BINARY_MAX: u64 = 64;

/// Binary values to try: none, least and largest bytes, one before the longer one that it begins.
const BINARY: [&str; 9] = ["00", "61", "6123", "ff", "", "00ff", "0000", "ff00", "ffff"];

/// Delimiters that get states of their own; ours.
const GLUED_MAX: usize = 4;

/// Returns the delimiters of the keys of some relations: texts between two values, not before the
/// first.
fn glue<'s>(schema: &'s Schema, focus: &Focus) -> Vec<&'s str> {
    let families = schema.families.iter();
    let own = families.filter(|family| focus.relations().contains(&family.source));
    let mut found: Vec<&str> = Vec::new();
    for part in own.flat_map(|family| &family.key).flat_map(|column| column.parts.iter().skip(1)) {
        if let Part::Literal(text) = part
            && !found.contains(&text.as_str())
        {
            found.push(text);
        }
    }
    found
}

/// Returns texts that run into one another at a delimiter, with and without the empty text: `a` and `#a`,
/// or `a#` and `a`, are one text.
fn cut_at(glue: &str) -> [String; 5] {
    [format!("a{glue}"), "a".to_owned(), format!("{glue}a"), glue.to_owned(), String::new()]
}

/// Buckets of one key that are filled one by one; ours.
const BUCKETS_MAX: i64 = 32;

/// Identifiers that lie in every bucket that some key has.
fn spread(schema: Option<&Schema>) -> Vec<u128> {
    let mut counts: BTreeSet<i64> = BTreeSet::new();
    let families = schema.into_iter().flat_map(|schema| &schema.families);
    for part in families.flat_map(|family| &family.key).flat_map(|column| &column.parts) {
        if let Part::Hole { term: Term::Call(Function::Bucket, args), .. } = part
            && let Some(Term::Const(Value::Int(count))) = args.get(1)
            && *count <= BUCKETS_MAX
        {
            counts.insert(*count);
        }
    }
    let mut found = Vec::new();
    for count in counts {
        let mut open: BTreeSet<i64> = (0..count).collect();
        for id in (1..4_000_u128).map(|n| (n << 112) | n) {
            let hash = Function::Hash.apply(&[Value::Id(id)]);
            if let Value::Int(bucket) = Function::Bucket.apply(&[hash, Value::Int(count)])
                && open.remove(&bucket)
            {
                found.push(id);
            }
            if open.is_empty() {
                break;
            }
        }
    }
    found
}

/// Returns numbers, each with its neighbours.
fn neighbours<'v>(values: impl Iterator<Item = &'v Value>) -> Vec<i64> {
    let mut found = BTreeSet::new();
    for value in values {
        if let Value::Int(n) = value {
            found.extend([n.saturating_sub(1), *n, n.saturating_add(1)]);
        }
    }
    found.into_iter().collect()
}

/// One value in so many is the last of its type, to find ends that are set too low; ours.
const SELDOM: usize = 24;

/// The last day of a year of four digits, counted from 1970.
const LAST_DAY: i64 = 2_932_896;

const DAY_MS: i64 = 86_400_000;

/// Returns a value with few or none above it.
fn last_of(ty: &Type, random: &mut Random) -> Option<Value> {
    Some(match ty {
        Type::Uuid => Value::Id(u128::MAX),
        Type::Date => Value::Int(LAST_DAY),
        Type::Timestamp => Value::Int((LAST_DAY + 1) * DAY_MS - 1),
        Type::Text(domain) => {
            let last = match &domain.only {
                Some(ranges) => ranges.iter().map(|(_, high)| *high).max()?,
                // Above all that two bytes of UTF-16 can say.
                None => '\u{1F642}',
            };
            let count = (1 + random.below(3) as u64).max(domain.min);
            let count = usize::try_from(count.min(domain.max.unwrap_or(count)).min(64)).ok()?;
            let text: String = std::iter::repeat_n(last, count).collect();
            domain.holds(&text).then_some(Value::Text(text))?
        }
        _ => return None,
    })
}

/// Returns a text of the domain when none of the pool is one.
fn made(domain: &TextDomain, random: &mut Random) -> String {
    let allowed: Vec<char> = ('a'..='z')
        .chain('A'..='Z')
        .chain('0'..='9')
        .chain(' '..='~')
        .filter(|c| domain.allows(*c))
        .take(4)
        .collect();
    // Some go on behind others, as prefixes want it.
    let longer = domain.min.saturating_add(random.below(4) as u64);
    let most = domain.max.unwrap_or(longer).min(longer);
    let length = usize::try_from(most.min(64)).unwrap_or(1);
    (0..length).filter_map(|_| random.pick(&allowed)).collect()
}

/// Returns a small state: relations that others refer to come first.
pub fn state(model: &Model, pool: &Pool, random: &mut Random, size: usize) -> State {
    let mut state = State::empty(model);
    for id in in_order(model, pool.only.as_deref()) {
        // Large states are as large as asked; small ones of all sizes.
        let wanted =
            if pool.width > 16 { size - random.below(size / 4) } else { 1 + random.below(size) };
        for _ in 0..wanted * 2 {
            if state.tuples(id).len() >= wanted {
                break;
            }
            let tuple = tuple(model, &state, pool, random, id);
            add(model, &mut state, id, tuple);
        }
    }
    state
}

/// Returns relations, those that others refer to first.
fn in_order(model: &Model, only: Option<&[RelationId]>) -> Vec<RelationId> {
    let mut wanted: Vec<RelationId> = match only {
        Some(only) => only.to_vec(),
        None => (0..model.relations.len()).collect(),
    };
    wanted.sort_unstable();
    let mut order: Vec<RelationId> = Vec::new();
    let mut done: BTreeSet<RelationId> = BTreeSet::new();
    loop {
        let before = order.len();
        for id in &wanted {
            let ready = model.relation(*id).columns.iter().all(|column| {
                column.optional
                    || column.refers.is_none_or(|target| target == *id || done.contains(&target))
            });
            if ready && done.insert(*id) {
                order.push(*id);
            }
        }
        if order.len() == before {
            return order;
        }
    }
}

pub(super) fn add(model: &Model, state: &mut State, id: RelationId, tuple: Option<Tuple>) {
    let (Some(tuple), Some(tuples)) = (tuple, state.relations.get_mut(id)) else { return };
    tuples.push(tuple);
    // What others refer to is still there.
    if !state.is_valid_in(model, id)
        && let Some(tuples) = state.relations.get_mut(id)
    {
        tuples.pop();
    }
}

fn tuple(
    model: &Model,
    state: &State,
    pool: &Pool,
    random: &mut Random,
    id: RelationId,
) -> Option<Tuple> {
    // Near copies of what is there: equal in all but a few attributes, as clashes need it.
    if let (Some(tuple), 0) = (random.pick(state.tuples(id)).cloned(), random.below(2)) {
        let fresh = new_tuple(model, state, pool, random, id)?;
        let change = random.below(tuple.len());
        let mixed =
            tuple.into_iter().zip(fresh).enumerate().map(|(at, (old, new))| {
                if at == change || random.below(4) == 0 { new } else { old }
            });
        return Some(whole(model, id, mixed.collect()));
    }
    new_tuple(model, state, pool, random, id).map(|tuple| whole(model, id, tuple))
}

/// Adds tuples to a relation until it has `count`, equal in some columns to a tuple that it has; of what
/// the other columns refer to as many are added first.
pub(super) fn grow(
    model: &Model,
    state: &mut State,
    pool: &Pool,
    random: &mut Random,
    (id, same): (RelationId, &BTreeSet<usize>),
    count: usize,
) {
    for (at, column) in model.relation(id).columns.iter().enumerate() {
        if let Some(target) = column.refers.filter(|target| *target != id && !same.contains(&at)) {
            grow(model, state, pool, random, (target, &BTreeSet::new()), count);
        }
    }
    let Some(base) = random.pick(state.tuples(id)).cloned() else { return };
    for _ in 0..count * 3 {
        if state.tuples(id).len() >= count {
            return;
        }
        let Some(fresh) = new_tuple(model, state, pool, random, id) else { return };
        let pairs = base.iter().cloned().zip(fresh).enumerate();
        let mixed = pairs.map(|(at, (old, new))| if same.contains(&at) { old } else { new });
        let tuple = whole(model, id, mixed.collect());
        add(model, state, id, Some(tuple));
    }
}

/// Takes away what has lost a part of the group that it comes with.
fn whole(model: &Model, id: RelationId, mut tuple: Tuple) -> Tuple {
    for group in &model.relation(id).together {
        if group.iter().any(|at| tuple.get(*at) == Some(&Value::Null)) {
            for at in group {
                if let Some(value) = tuple.get_mut(*at) {
                    *value = Value::Null;
                }
            }
        }
    }
    tuple
}

fn new_tuple(
    model: &Model,
    state: &State,
    pool: &Pool,
    random: &mut Random,
    id: RelationId,
) -> Option<Tuple> {
    model
        .relation(id)
        .columns
        .iter()
        .map(|column| {
            if column.optional && random.below(3) == 0 {
                return Some(Value::Null);
            }
            let Some(target) = column.refers else { return Some(pool.value(&column.ty, random)) };
            let key = model.relation(target).key().first().copied().unwrap_or(0);
            match random.pick(state.tuples(target)) {
                Some(tuple) => tuple.get(key).cloned(),
                None if column.optional => Some(Value::Null),
                None => None,
            }
        })
        .collect()
}

/// Returns inputs of a read: mostly values that the state holds where they are compared.
pub fn inputs(
    model: &Model,
    state: &State,
    read: &Read,
    pool: &Pool,
    random: &mut Random,
) -> Vec<Value> {
    let mut uses: Vec<(usize, RelationId, Vec<usize>)> = Vec::new();
    for source in &read.sources {
        for predicate in &source.predicates {
            for value in &predicate.values {
                if let Term::Param(index) = value {
                    uses.push((*index, source.relation, predicate.path.clone()));
                }
            }
        }
    }
    let own = |index| read.sources.iter().any(|one| one.limit == Some(Term::Param(index)));
    let anchor = random.below(64);
    read.params
        .iter()
        .enumerate()
        .map(|(index, param)| {
            if own(index) || read.limit == Some(Term::Param(index)) {
                // Few rows, and sometimes as many as there are and one more; of a row type perhaps none.
                let most = if random.below(3) == 0 { state.size() + 1 } else { 3 };
                let drawn = 1 + random.below(most.max(pool.width / 4)) as i64;
                return Value::Int(if own(index) { drawn - 1 } else { drawn });
            }
            let value = input(anchor, model, state, param, index, &uses, pool, random);
            match (value, param.ty.is_text() && begins(read, index)) {
                (Value::Text(text), true) => {
                    let other = Value::Text(pool.beginning(&text, &param.ty, random));
                    if param.ty.holds(&other) { other } else { Value::Text(text) }
                }
                (Value::Text(text), false) if is_wider(model, read, index) => {
                    let other = Value::Text(pool.longer(&text, random));
                    if param.ty.holds(&other) { other } else { Value::Text(text) }
                }
                (value, _) => value,
            }
        })
        .collect()
}

/// Returns true if some attribute is asked to begin with an input.
fn begins(read: &Read, input: usize) -> bool {
    let mut predicates = read.sources.iter().flat_map(|source| &source.predicates);
    predicates
        .any(|one| one.op == CondOp::Begins && one.values.first() == Some(&Term::Param(input)))
}

/// Returns true if an input may hold values that the compared attribute cannot.
fn is_wider(model: &Model, read: &Read, input: usize) -> bool {
    let is = |term: &Term| *term == Term::Param(input);
    read.sources.iter().any(|source| {
        let mut asked = source.predicates.iter().filter(|one| one.values.iter().any(is));
        let ty = |path: &[usize]| model.path_type(source.relation, path);
        asked.any(|one| read.params.get(input).is_some_and(|param| param.ty != ty(&one.path)))
    })
}

/// Returns inputs of a write: existing keys for what it changes, new ones for what it inserts.
pub fn write_inputs(
    model: &Model,
    state: &State,
    write: &Write,
    pool: &Pool,
    random: &mut Random,
) -> Vec<Value> {
    let mut uses: Vec<(usize, RelationId, Vec<usize>)> = Vec::new();
    let mut note = |term: &Term, relation: RelationId, path: Vec<usize>| {
        if let Term::Param(index) = term {
            uses.push((*index, relation, path));
        }
    };
    for effect in &write.effects {
        let relation = model.relation(effect.relation);
        for (column, term) in effect.key.iter().chain(&effect.set) {
            // What is made has a new key, more often than not.
            let new = effect.kind == EffectKind::Insert
                && effect.existing == Existing::Fresh
                && relation.key().contains(column)
                && relation.columns.get(*column).is_some_and(|column| column.refers.is_none());
            if !new || random.below(4) == 0 {
                note(term, effect.relation, vec![*column]);
            }
        }
        for one in &effect.conditions {
            one.values.iter().for_each(|term| note(term, effect.relation, one.path.clone()));
        }
        for predicate in effect.each.iter().flat_map(|each| &each.predicates) {
            if let (Some(term), Some(each)) = (predicate.values.first(), &effect.each) {
                note(term, each.relation, predicate.path.clone());
            }
        }
    }
    let anchor = random.below(64);
    write
        .params
        .iter()
        .enumerate()
        .map(|(index, param)| input(anchor, model, state, param, index, &uses, pool, random))
        .collect()
}

#[expect(clippy::too_many_arguments, reason = "what an input may come from")]
fn input(
    anchor: usize,
    model: &Model,
    state: &State,
    param: &Param,
    index: usize,
    uses: &[(usize, RelationId, Vec<usize>)],
    pool: &Pool,
    random: &mut Random,
) -> Value {
    let mut known: Vec<Value> = Vec::new();
    for (used, relation, path) in uses {
        if *used != index {
            continue;
        }
        known.extend(
            state.tuples(*relation).iter().map(|tuple| state.value(model, *relation, tuple, path)),
        );
        let owner = model.path_owner(*relation, path);
        let column = path.last().and_then(|column| model.relation(owner).columns.get(*column));
        if let Some(target) = column.and_then(|column| column.refers) {
            let key = model.relation(target).key().first().copied().unwrap_or(0);
            known.extend(state.tuples(target).iter().filter_map(|tuple| tuple.get(key).cloned()));
        }
    }
    known.retain(|value| *value != Value::Null);
    if let Type::List(element, max) = &param.ty {
        known.retain(|value| element.holds(value));
        return pool.list(element, *max, known, random);
    }
    // What is too long for an input may be begun by it.
    if let Type::Text(TextDomain { max: Some(max), .. }) = &param.ty {
        let most = usize::try_from(*max).unwrap_or(usize::MAX);
        for value in &mut known {
            if let Value::Text(text) = value {
                *text = text.chars().take(most).collect();
            }
        }
    }
    known.retain(|value| param.ty.holds(value));
    // Inputs of one tuple belong together more often than not.
    if random.below(3) > 0
        && let Some(value) = known.get(anchor % known.len().max(1))
    {
        return value.clone();
    }
    if random.below(5) > 0
        && let Some(value) = random.pick(&known)
    {
        return value.clone();
    }
    pool.value(&param.ty, random)
}
