//! Generates a small state that is pleasant to look at, for the rows of pictures.
//!
//! What it is not: no search for trouble (`eval::generate` does that) and no claim about real
//! data. Names are made up.
//!
//! Invariant: the state obeys the model; the same model gives the same state.

use std::collections::{BTreeMap, BTreeSet};

use shelfmark_design_language::limits::DRAWN_TUPLES_MAX;
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::relation::{Column, Relation};
use shelfmark_design_language::model::schema::{Part, Step};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::value::iso_text;
use shelfmark_design_language::model::{Model, RelationId, Term, Value};
use shelfmark_design_language::syntax::tree::BoundKind;
use shelfmark_design_prove::eval::rows::KeyValue;
use shelfmark_design_prove::eval::state::{State, Tuple};

/// 2026-03-02T09:00:00Z in milliseconds: where sample times begin.
const MORNING: i64 = 1_772_442_000_000;

/// 2026-03-02 in days.
const DAY: i64 = 20_514;

const PEOPLE: [&str; 6] = ["Ada", "Bo", "Cleo", "Dara", "Emil", "Fay"];
const NAMES: [[&str; 6]; 5] = [
    ["Tea", "Maps", "Rain", "Bread", "Chess", "Kites"],
    ["Heron", "Otter", "Lynx", "Wren", "Carp", "Mole"],
    ["Amber", "Blue", "Coral", "Grey", "Lime", "Rose"],
    ["Oak", "Fern", "Pine", "Reed", "Birch", "Moss"],
    ["Flute", "Harp", "Drum", "Viola", "Horn", "Lute"],
];
const PLACES: [&str; 6] = ["Bergen", "Kyoto", "Lagos", "Lima", "Oslo", "Quito"];
const WORDS: [&str; 6] = ["hello", "so it is", "yes", "at noon", "thanks", "see you"];

/// A word that sorts behind every ASCII letter, and so behind usual sentinels of ranges.
const BEHIND: &str = "Älg";

/// Builds the state; cost: some tuples for each relation, each checked against all.
pub(super) fn state(model: &Model) -> State {
    let mut state = State::empty(model);
    let ended = ended_by_sentinels(model);
    for id in in_order(model) {
        let relation = model.relation(id);
        let composite = relation.key().len() > 1;
        let refers = relation.columns.iter().filter(|column| column.refers.is_some()).count();
        let wanted = match (composite, refers) {
            (false, 0) => 3,
            (false, _) => 5,
            (true, _) => DRAWN_TUPLES_MAX,
        };
        let mut tried = 0;
        while state.tuples(id).len() < wanted && tried < wanted * 8 {
            if let Some(mut tuple) = tuple(model, &state, id, tried) {
                if tried == 1 {
                    put_behind(model, &ended, id, &mut tuple);
                }
                add(model, &mut state, id, tuple);
            }
            tried += 1;
        }
    }
    state
}

/// Returns the attributes whose ranges end at a sentinel: the picture shows what the sentinel
/// misses.
fn ended_by_sentinels(model: &Model) -> BTreeSet<(RelationId, usize)> {
    let mut found = BTreeSet::new();
    for schema in &model.schemas {
        for (read, serve) in schema
            .serves
            .iter()
            .filter_map(|serve| model.reads.get(serve.read).map(|read| (read, serve)))
        {
            let reads = serve.steps.iter().filter_map(Step::read);
            let ended = reads
                .filter_map(|step| step.bounds.iter().any(ends_at_sentinel).then_some(step.table));
            for family in ended.flat_map(|table| schema.of_table(table)).map(|(_, family)| family) {
                let asked = |relation| read.sources.iter().any(|one| one.relation == relation);
                if !asked(family.source) {
                    continue;
                }
                let holes = family.key.iter().flat_map(|column| &column.parts);
                found.extend(holes.filter_map(|part| match part {
                    Part::Hole { term: Term::Column(path), ty: Type::Text(_), .. } => {
                        let path = canonical(model, family.source, path);
                        let mut at = (model.path_owner(family.source, &path), *path.last()?);
                        // What a reference holds is another's key.
                        for _ in 0..path.len() + model.relations.len() {
                            let column = model.relation(at.0).columns.get(at.1)?;
                            let Some(target) = column.refers else { break };
                            at = (target, *model.relation(target).key().first()?);
                        }
                        Some(at)
                    }
                    _ => None,
                }));
            }
        }
    }
    found
}

fn ends_at_sentinel((kind, parts): &(BoundKind, Vec<Part>)) -> bool {
    let last = parts.iter().rev().find(|part| **part != Part::End);
    let text = match last {
        Some(Part::Literal(text)) => text,
        _ => return false,
    };
    matches!(kind, BoundKind::To | BoundKind::Before) && text.ends_with(['~', '\u{7f}'])
}

/// Gives one tuple a text that no sentinel reaches, where its domain has one.
fn put_behind(
    model: &Model,
    ended: &BTreeSet<(RelationId, usize)>,
    id: RelationId,
    tuple: &mut Tuple,
) {
    for (at, column) in model.relation(id).columns.iter().enumerate() {
        let behind = Value::Text(BEHIND.to_owned());
        if ended.contains(&(id, at))
            && column.ty.holds(&behind)
            && let Some(place) = tuple.get_mut(at)
        {
            *place = behind;
        }
    }
}

/// Returns the relations, those that others refer to first.
fn in_order(model: &Model) -> Vec<RelationId> {
    let mut order: Vec<RelationId> = Vec::new();
    let mut done: BTreeSet<RelationId> = BTreeSet::new();
    loop {
        let before = order.len();
        for (id, relation) in model.relations.iter().enumerate() {
            let ready = relation.columns.iter().all(|column| {
                column.optional
                    || column.refers.is_none_or(|target| target == id || done.contains(&target))
            });
            if ready && done.insert(id) {
                order.push(id);
            }
        }
        if order.len() == before {
            return order;
        }
    }
}

fn add(model: &Model, state: &mut State, id: RelationId, mut tuple: Tuple) {
    // What is determined by what is there already is taken from there.
    for (from, to) in &model.relation(id).dependencies {
        let same = state
            .tuples(id)
            .iter()
            .find(|other| from.iter().all(|column| other.get(*column) == tuple.get(*column)));
        let known: Vec<(usize, Value)> = same
            .into_iter()
            .flat_map(|other| to.iter().filter_map(|at| Some((*at, other.get(*at)?.clone()))))
            .collect();
        for (at, value) in known {
            if let Some(place) = tuple.get_mut(at) {
                *place = value;
            }
        }
    }
    if let Some(tuples) = state.relations.get_mut(id) {
        tuples.push(tuple);
    }
    if !state.is_valid_in(model, id)
        && let Some(tuples) = state.relations.get_mut(id)
    {
        tuples.pop();
    }
}

/// Returns the `number`th tuple: the leading attributes of the key change slowly, so that
/// partitions have several rows.
fn tuple(model: &Model, state: &State, id: RelationId, number: usize) -> Option<Tuple> {
    let relation = model.relation(id);
    let key = relation.key();
    relation
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let slow = key.len() > 1 && key.first() == Some(&at);
            let turn = match (slow, key.contains(&at) && key.len() > 1) {
                (true, _) => number / 3,
                (false, true) => number,
                (false, false) if shares(relation, at) => number / 2,
                (false, false) => number + at,
            };
            // Not all of them in one tuple: what needs two of them is to be seen with one.
            if column.optional && (number + at) % 3 == 2 {
                return Some(Value::Null);
            }
            if let Some(target) = column.refers.filter(|target| *target != id) {
                let tuples = state.tuples(target);
                let owner = model.relation(target).key().first().copied().unwrap_or(0);
                let spread = if key.contains(&at) { turn } else { number / 2 };
                let found = tuples.get(spread % tuples.len().max(1));
                return match found.and_then(|tuple| tuple.get(owner)) {
                    Some(value) => Some(value.clone()),
                    None if column.optional => Some(Value::Null),
                    None => None,
                };
            }
            let whole_key = key == [at];
            let turn = if whole_key { number } else { turn };
            // Words repeat where nothing has to be unique.
            let unique = relation.keys.iter().any(|key| key.contains(&at));
            let turn = if unique || !column.ty.is_text() { turn } else { turn % PEOPLE.len() };
            Some(value(&relation.name.text, column, &column.ty, turn, id))
        })
        .collect()
}

/// Returns true if several tuples are declared to share a value of the column.
fn shares(relation: &Relation, column: usize) -> bool {
    relation.fanouts.iter().any(|fanout| fanout.from.contains(&column))
}

fn value(relation: &str, column: &Column, ty: &Type, turn: usize, id: RelationId) -> Value {
    let number = i64::try_from(turn).unwrap_or(0);
    match ty {
        Type::Uuid | Type::Ulid => {
            // Names in front of the number keep entities apart; see `shown`.
            Value::Id(((id as u128 + 1) << 64) | (turn as u128 + 1))
        }
        Type::Bool => Value::Bool(turn.is_multiple_of(2)),
        Type::Int(range) | Type::Decimal(range) => {
            const SMALL: [i64; 6] = [3, 12, 7, 40, 5, 18];
            let pick = SMALL.get(turn % SMALL.len()).copied().unwrap_or(1) + number / 6;
            let (low, high) = range.unwrap_or((0, i64::MAX));
            Value::Int(pick.clamp(low, high))
        }
        Type::Timestamp => Value::Int(MORNING + number * 5_400_000),
        Type::Date => Value::Int(DAY + number),
        Type::Enum(variants) => {
            Value::Text(variants.get(turn % variants.len().max(1)).cloned().unwrap_or_default())
        }
        Type::Bytes(sizes) => {
            let count = sizes.max.unwrap_or(2).min(2).max(sizes.min);
            let byte = |at| format!("{:02x}", (number + i64::try_from(at).unwrap_or(0)) % 256);
            Value::Text((0..count.min(64)).map(byte).collect())
        }
        Type::Text(_) => text(relation, &column.name, ty, turn, id),
        Type::List(element, max) => {
            let count = usize::try_from(max.unwrap_or(2).min(2)).unwrap_or(2);
            let mut items: Vec<Value> =
                (0..count).map(|at| value(relation, column, element, turn + at, id)).collect();
            items.sort();
            items.dedup();
            Value::List(items)
        }
    }
}

/// Returns a text of the domain: a word that suits the attribute's name, or letters.
fn text(relation: &str, name: &str, ty: &Type, turn: usize, id: RelationId) -> Value {
    let lower = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let person = ["user", "author", "player", "person", "member", "guest"];
    let about_person = person.iter().any(|word| relation.to_lowercase().contains(word));
    let list: &[&str] = if has(&["city", "place", "address", "building", "location"]) {
        &PLACES
    } else if has(&["body", "text", "content", "message", "description", "remark"]) {
        &WORDS
    } else if has(&["user", "nick", "first", "last", "handle", "from"])
        || about_person && has(&["name", "id"])
    {
        &PEOPLE
    } else {
        // Another list for each entity, so that its names are not taken for another's.
        NAMES.get(id % NAMES.len()).unwrap_or(&PLACES)
    };
    let word = list.get(turn % list.len()).copied().unwrap_or("a");
    let round = turn / list.len();
    let plain = if round == 0 { word.to_owned() } else { format!("{word}{}", round + 1) };
    let letter = char::from(b'a' + u8::try_from(turn % 26).unwrap_or(0));
    let candidates = [
        if has(&["mail", "from"]) {
            format!("{}@x.org", word.to_lowercase())
        } else {
            plain.clone()
        },
        plain.replace(' ', ""),
        plain.to_lowercase().replace(' ', ""),
        letter.to_string(),
        letter.to_string().repeat(3),
        letter.to_uppercase().to_string(),
        char::from(b'0' + u8::try_from(turn % 10).unwrap_or(0)).to_string(),
    ];
    let found = candidates.into_iter().map(Value::Text).find(|value| ty.holds(value));
    // A domain that none of these is in: the tuple is then refused and the picture has fewer rows.
    found.unwrap_or(Value::Text(plain))
}

/// Formats a value for pictures: identifiers get the first letters of their entity and a number.
pub(super) fn shown(model: &Model, value: &Value, ty: &Type) -> String {
    match (value, ty) {
        (Value::Null, _) => "–".to_owned(),
        (Value::Id(id), _) => identifier(model, *id),
        (Value::Int(at), Type::Timestamp) => {
            let text = iso_text(*at);
            text.get(5..16).map_or(text.clone(), |short| short.replace('T', " "))
        }
        (Value::List(items), Type::List(element, _)) => {
            let texts: Vec<String> = items.iter().map(|item| shown(model, item, element)).collect();
            format!("[{}]", texts.join(", "))
        }
        (Value::List(items), element) => {
            let texts: Vec<String> = items.iter().map(|item| shown(model, item, element)).collect();
            format!("[{}]", texts.join(", "))
        }
        (value, ty) => value.text(ty),
    }
}

fn identifier(model: &Model, id: u128) -> String {
    let relation = usize::try_from((id >> 64).wrapping_sub(1)).unwrap_or(usize::MAX);
    let number = id & u128::from(u64::MAX);
    let Some(relation) = model.relations.get(relation) else { return format!("{number}") };
    let name: String = relation.name.text.chars().take(4).collect::<String>().to_lowercase();
    format!("{name}{number}")
}

/// Formats one column of a key for pictures; texts get the short form of identifiers too.
pub(super) fn shown_key(model: &Model, value: &KeyValue, ty: Option<&Type>) -> String {
    match (value, ty) {
        (KeyValue::Native(value), Some(ty)) => shown(model, value, ty),
        (KeyValue::Native(value), None) => shown(model, value, &Type::Int(None)),
        (KeyValue::Text(text), _) => text.clone(),
    }
}

/// Replaces the identifiers of the state inside texts by their short forms.
pub(super) struct Short {
    forms: BTreeMap<String, String>,
    /// The lengths of the identifiers in bytes, the longest first.
    lengths: BTreeSet<std::cmp::Reverse<usize>>,
}

impl Short {
    pub(super) fn of(model: &Model, state: &State) -> Self {
        let mut forms = BTreeMap::new();
        for (id, relation) in model.relations.iter().enumerate() {
            for tuple in state.tuples(id) {
                for (value, column) in tuple.iter().zip(&relation.columns) {
                    if let Value::Id(number) = value {
                        forms.insert(value.text(&column.ty), identifier(model, *number));
                    }
                }
            }
        }
        let lengths = forms.keys().map(|long| std::cmp::Reverse(long.len())).collect();
        Self { forms, lengths }
    }

    /// Replaces the identifiers in a text; cost: a look-up for each place of the text and each
    /// length of identifiers.
    pub(super) fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        while let Some(next) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let found = self.lengths.iter().find_map(|length| {
                let piece = text.get(at..at + length.0)?;
                Some((length.0, self.forms.get(piece)?))
            });
            match found {
                Some((length, short)) => {
                    out.push_str(short);
                    at += length;
                }
                None => {
                    out.push(next);
                    at += next.len_utf8();
                }
            }
        }
        out
    }
}
