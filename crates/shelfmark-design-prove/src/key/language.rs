//! The texts of a hole, as small deterministic automata.
//!
//! Invariant: every text of the domain is accepted. Length limits that are not fixed are left out,
//! which only adds texts.

use shelfmark_design_language::codec::ESCAPED_MAX;
use shelfmark_design_language::model::schema::{Codec, Part};
use shelfmark_design_language::model::types::{ByteSet, TextDomain, Type};

/// Longest text that is unrolled into a chain of states.
const CHAIN_MAX: u64 = 64;

/// Most whole numbers of a range that are listed one by one; ours.
const NUMBERS_MAX: i64 = 256;

/// A state of an automaton.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// True if a text may end here.
    pub accepts: bool,
    /// The target states of its bytes.
    pub edges: Vec<(ByteSet, usize)>,
}

/// An automaton whose state 0 is the start.
#[derive(Debug, Clone, Default)]
pub struct Language {
    /// The states, the first one first.
    pub states: Vec<State>,
}

impl Language {
    /// Returns the texts of one part; the end of a column is the empty text.
    pub fn of(part: &Part) -> Self {
        match part {
            Part::Literal(text) => Self::word(text.as_bytes()),
            Part::Hole { ty, codec, .. } => hole(ty, *codec),
            Part::End => Self::word(b""),
        }
    }

    fn word(bytes: &[u8]) -> Self {
        Self::chain(bytes.iter().map(|byte| ByteSet::range(*byte, *byte)).collect())
    }

    /// Returns the texts of exactly one byte of each set.
    fn chain(sets: Vec<ByteSet>) -> Self {
        let last = sets.len();
        let mut states: Vec<State> = sets
            .into_iter()
            .enumerate()
            .map(|(index, set)| State { accepts: false, edges: vec![(set, index + 1)] })
            .collect();
        states.push(State { accepts: true, edges: Vec::new() });
        debug_assert_eq!(states.len(), last + 1, "a chain has one state more than bytes");
        Self { states }
    }

    /// Returns at least `min` bytes, and any number more.
    fn loop_of(set: ByteSet, min: u64) -> Self {
        let min = usize::try_from(min.min(CHAIN_MAX)).unwrap_or(0);
        let mut language = Self::chain(vec![set; min]);
        if let Some(state) = language.states.get_mut(min) {
            state.edges.push((set, min));
        }
        language
    }

    /// Returns one of the texts.
    fn choice<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut language = Self { states: vec![State::default()] };
        for text in texts {
            let mut at = 0;
            for byte in text.bytes() {
                at = language.follow(at, byte);
            }
            if let Some(state) = language.states.get_mut(at) {
                state.accepts = true;
            }
        }
        language
    }

    /// Returns whole numbers of as many digits as those of a range have, without leading zeros.
    fn numbers(low: i64, high: i64) -> Self {
        let mut language = Self { states: vec![State::default()] };
        if low <= 0 && high >= 0 {
            let zero = language.add(Vec::new());
            language.accept(zero);
            language.edge(0, ByteSet::range(b'0', b'0'), zero);
        }
        if high > 0 {
            language.digits(0, low.max(1).unsigned_abs(), high.unsigned_abs());
        }
        if low < 0 {
            let minus = language.add(Vec::new());
            language.edge(0, ByteSet::range(b'-', b'-'), minus);
            language.digits(minus, high.min(-1).unsigned_abs(), low.unsigned_abs());
        }
        language
    }

    /// Adds numbers of as many digits as lie between two, from one state on.
    fn digits(&mut self, from: usize, least: u64, most: u64) {
        let count = |number: u64| number.to_string().len();
        let mut at = from;
        for place in 1..=count(most) {
            let next = self.add(Vec::new());
            let lowest = if place == 1 { b'1' } else { b'0' };
            self.edge(at, ByteSet::range(lowest, b'9'), next);
            if place >= count(least) {
                self.accept(next);
            }
            at = next;
        }
    }

    fn edge(&mut self, from: usize, set: ByteSet, to: usize) {
        if let Some(state) = self.states.get_mut(from) {
            state.edges.push((set, to));
        }
    }

    fn accept(&mut self, at: usize) {
        if let Some(state) = self.states.get_mut(at) {
            state.accepts = true;
        }
    }

    fn follow(&mut self, at: usize, byte: u8) -> usize {
        let next = self.states.len();
        let Some(state) = self.states.get_mut(at) else { return at };
        if let Some((_, to)) = state.edges.iter().find(|(set, _)| set.contains(byte)) {
            return *to;
        }
        state.edges.push((ByteSet::range(byte, byte), next));
        self.states.push(State::default());
        next
    }

    /// Returns a year of four digits, a month of 01 to 12, a day of 01 to 31.
    fn day() -> Self {
        let mut language = Self::chain(pattern("dddd-"));
        let digit = |low, high| ByteSet::range(low, high);
        let end = language.add(Vec::new());
        let below = language.add(vec![(digit(b'1', b'9'), end)]);
        let tens = language.add(vec![(digits(), end)]);
        let last = language.add(vec![(digit(b'0', b'1'), end)]);
        let days =
            vec![(digit(b'0', b'0'), below), (digit(b'1', b'2'), tens), (digit(b'3', b'3'), last)];
        let day = language.add(days);
        let dash = language.add(vec![(digit(b'-', b'-'), day)]);
        let months = language.add(vec![(digit(b'1', b'9'), dash)]);
        let last = language.add(vec![(digit(b'0', b'2'), dash)]);
        if let Some(month) = language.states.get_mut(5) {
            *month = State {
                accepts: false,
                edges: vec![(digit(b'0', b'0'), months), (digit(b'1', b'1'), last)],
            };
        }
        if let Some(state) = language.states.get_mut(end) {
            state.accepts = true;
        }
        language
    }

    /// Returns the same texts, each with one byte of each set behind it.
    fn then(mut self, sets: Vec<ByteSet>) -> Self {
        for set in sets {
            let end = self.add(Vec::new());
            for (at, state) in self.states.iter_mut().enumerate() {
                if at != end && std::mem::take(&mut state.accepts) {
                    state.edges.push((set, end));
                }
            }
            if let Some(state) = self.states.get_mut(end) {
                state.accepts = true;
            }
        }
        self
    }

    /// Returns true if all texts have one length.
    pub fn is_fixed_length(&self) -> bool {
        let mut lengths: Vec<Option<usize>> = vec![None; self.states.len()];
        let mut open = vec![(0, 0)];
        let mut whole = None;
        while let Some((at, length)) = open.pop() {
            let (Some(known), Some(state)) = (lengths.get_mut(at), self.states.get(at)) else {
                return false;
            };
            match known {
                Some(known) if *known == length => continue,
                Some(_) => return false,
                None => *known = Some(length),
            }
            if state.accepts && *whole.get_or_insert(length) != length {
                return false;
            }
            let edges = state.edges.iter().filter(|(set, _)| !set.is_empty());
            open.extend(edges.map(|(_, to)| (*to, length + 1)));
        }
        true
    }

    /// Returns true if the empty text is one.
    pub fn has_empty(&self) -> bool {
        self.states.first().is_some_and(|state| state.accepts)
    }

    /// Returns the bytes with which a text can begin.
    pub fn first(&self) -> ByteSet {
        self.states.first().map_or(ByteSet::EMPTY, State::out)
    }

    /// Returns the bytes that occur in some text.
    pub fn bytes(&self) -> ByteSet {
        self.states.iter().fold(ByteSet::EMPTY, |set, state| set.or(state.out()))
    }

    /// Returns the bytes with which a whole text can continue and still be one.
    ///
    /// Empty exactly when no text is the beginning of another.
    pub fn continuing(&self) -> ByteSet {
        self.states
            .iter()
            .filter(|state| state.accepts)
            .fold(ByteSet::EMPTY, |set, state| set.or(state.out()))
    }

    /// Returns the bytes with which a text of one can continue behind a whole text of the other, or
    /// of its own.
    ///
    /// Empty exactly when no text of both begins another. Cost: at most the product of their states.
    pub fn going_past(&self, other: &Self) -> ByteSet {
        let mut past = self.continuing().or(other.continuing());
        let mut seen = std::collections::HashSet::new();
        let mut open = vec![(0, 0)];
        while let Some(pair) = open.pop() {
            let (Some(a), Some(b)) = (self.states.get(pair.0), other.states.get(pair.1)) else {
                continue;
            };
            if !seen.insert(pair) {
                continue;
            }
            for (one, beside) in [(a, b), (b, a)] {
                if one.accepts {
                    past = past.or(beside.out());
                }
            }
            for (set, to) in &a.edges {
                let met = b.edges.iter().filter(|(other, _)| !set.and(*other).is_empty());
                open.extend(met.map(|(_, there)| (*to, *there)));
            }
        }
        past
    }
}

impl State {
    fn out(&self) -> ByteSet {
        self.edges.iter().fold(ByteSet::EMPTY, |set, (edge, _)| set.or(*edge))
    }
}

fn digits() -> ByteSet {
    ByteSet::range(b'0', b'9')
}

fn hole(ty: &Type, codec: Codec) -> Language {
    let hex = || digits().or(ByteSet::range(b'a', b'f'));
    let dash = ByteSet::range(b'-', b'-');
    match (codec, ty) {
        (Codec::Pad(width), Type::Int(Some((low, high)))) if fits_width(*low, *high, width) => {
            Language::chain(vec![digits(); usize::from(width)])
        }
        // No number is short enough to be filled up.
        (Codec::Pad(_), Type::Int(Some((low, high)))) if same_width(*low, *high).is_some() => {
            Language::chain(vec![digits(); same_width(*low, *high).unwrap_or(1)])
        }
        (Codec::Pad(width), _) => Language::loop_of(digits().or(dash), u64::from(width)),
        (Codec::Lexint, _) => lexint(hex()),
        (Codec::Iso, _) => Language::day().then(pattern("Tdd:dd:dd.dddZ")),
        (Codec::Esc, Type::Text(domain)) => escaped(domain.bytes(), domain.min),
        (Codec::Esc, Type::Enum(variants)) => {
            let texts: Vec<String> = variants
                .iter()
                .map(|text| shelfmark_design_language::codec::escape(text))
                .collect();
            Language::choice(texts.iter().map(String::as_str))
        }
        (_, Type::Uuid) => Language::chain(
            (0..36).map(|at| if [8, 13, 18, 23].contains(&at) { dash } else { hex() }).collect(),
        ),
        (_, Type::Ulid) => {
            let letters = digits().or(ByteSet::range(b'A', b'Z'));
            let mut sets = vec![letters; 26];
            if let Some(first) = sets.first_mut() {
                *first = ByteSet::range(b'0', b'7');
            }
            Language::chain(sets)
        }
        (_, Type::Bool) => Language::choice(["false", "true"]),
        (_, Type::Date) => Language::day(),
        (_, Type::Enum(variants)) => Language::choice(variants.iter().map(String::as_str)),
        (_, Type::Int(Some((low, high)))) if same_width(*low, *high).is_some() => {
            Language::chain(vec![digits(); same_width(*low, *high).unwrap_or(1)])
        }
        (Codec::Plain, Type::Int(Some((low, high))))
            if high.checked_sub(*low).is_some_and(|count| count < NUMBERS_MAX) =>
        {
            let texts: Vec<String> = (*low..=*high).map(|number| number.to_string()).collect();
            Language::choice(texts.iter().map(String::as_str))
        }
        (_, Type::Int(Some((low, high)))) => Language::numbers(*low, *high),
        (_, Type::Int(_) | Type::Timestamp) => Language::loop_of(digits().or(dash), 1),
        (_, Type::Decimal(_)) => {
            Language::loop_of(digits().or(dash).or(ByteSet::range(b'.', b'.')), 1)
        }
        (_, Type::Text(domain)) => text(domain),
        (_, Type::Bytes(sizes)) => {
            let digit = ByteSet::range(b'0', b'9').or(ByteSet::range(b'a', b'f'));
            match sizes.max.filter(|max| *max == sizes.min && 2 * max <= CHAIN_MAX) {
                Some(max) => Language::chain(vec![digit; usize::try_from(2 * max).unwrap_or(0)]),
                None => Language::loop_of(digit, 2 * sizes.min),
            }
        }
        (_, Type::List(..)) => Language::loop_of(ByteSet::range(0, u8::MAX), 0),
    }
}

/// Returns the sets of a pattern in which `d` stands for a digit, everything else for itself.
fn pattern(text: &str) -> Vec<ByteSet> {
    text.bytes()
        .map(|byte| if byte == b'd' { digits() } else { ByteSet::range(byte, byte) })
        .collect()
}

/// Returns true if every number of the range has at most `width` digits and no sign.
pub fn fits_width(low: i64, high: i64, width: u8) -> bool {
    low >= 0 && high.to_string().len() <= usize::from(width)
}

/// Returns the number of digits that every number of the range has.
pub fn same_width(low: i64, high: i64) -> Option<usize> {
    let width = low.to_string().len();
    (low >= 0 && high.to_string().len() == width).then_some(width)
}

/// Returns valid UTF-8 of so many characters.
fn text(domain: &TextDomain) -> Language {
    let bytes = domain.bytes();
    let bounded = domain.max.filter(|max| *max <= CHAIN_MAX);
    let length = usize::try_from(bounded.unwrap_or(domain.min.min(CHAIN_MAX))).unwrap_or(0);
    let mut language = Language { states: vec![State::default(); length + 1] };
    for at in 0..length {
        language.character(bytes, at, at + 1);
    }
    if bounded.is_none() {
        language.character(bytes, length, length);
    }
    for (count, state) in language.states.iter_mut().enumerate().take(length + 1) {
        state.accepts = count as u64 >= domain.min.min(CHAIN_MAX);
    }
    language
}

/// Returns text in which every character up to `$` is `$` and one of `0` to `T`.
fn escaped(bytes: ByteSet, min: u64) -> Language {
    let plain = bytes.and(ByteSet::range(ESCAPED_MAX + 1, 0xFF));
    let low = bytes.and(ByteSet::range(0, ESCAPED_MAX));
    let mut start = State { accepts: min == 0, edges: vec![(plain, 1)] };
    let mut more = State { accepts: true, edges: vec![(plain, 1)] };
    if !low.is_empty() {
        let escape = ByteSet::range(ESCAPED_MAX, ESCAPED_MAX);
        start.edges.push((escape, 2));
        more.edges.push((escape, 2));
    }
    let second = ByteSet::range(b'0', b'0' + ESCAPED_MAX);
    let middle = State { accepts: false, edges: vec![(second, 1)] };
    Language { states: vec![start, more, middle] }
}

/// Returns one byte up to `fa`, or `fb` and one more byte, `fc` and two, and so on; behind `ff`, an exponent
/// and six bytes, or `f6` to `f8` and as many bytes as that says; each byte as two digits.
fn lexint(hex: ByteSet) -> Language {
    let mut language = Language { states: vec![State::default(), State::default()] };
    let end = 1;
    if let Some(state) = language.states.get_mut(end) {
        state.accepts = true;
    }
    let letter = ByteSet::range(b'f', b'f');
    let mut below = hex;
    below.remove(b'f');
    let single = language.add(vec![(hex, end)]);
    let mut edges = Vec::new();
    for (index, second) in (b'b'..=b'f').enumerate() {
        let mut next = end;
        let bytes = if second == b'f' { 6 } else { index + 1 };
        for _ in 0..2 * bytes {
            next = language.add(vec![(hex, next)]);
        }
        if second == b'f' {
            next = behind_ff(&mut language, hex, next);
        }
        edges.push((ByteSet::range(second, second), next));
    }
    edges.push((digits().or(ByteSet::range(b'a', b'a')), end));
    let long = language.add(edges);
    if let Some(start) = language.states.first_mut() {
        start.edges = vec![(below, single), (letter, long)];
    }
    language
}

/// Adds what follows `ff` before six bytes that lead to the end from `six`; returns its state.
fn behind_ff(language: &mut Language, hex: ByteSet, six: usize) -> usize {
    let exponent = language.add(vec![(hex, six)]);
    let mut longer = vec![(ByteSet::range(b'6', b'6'), six)];
    let mut next = six;
    for count in [b'7', b'8'] {
        for _ in 0..2 {
            next = language.add(vec![(hex, next)]);
        }
        longer.push((ByteSet::range(count, count), next));
    }
    let count = language.add(longer);
    let (zero, tag) = (ByteSet::range(b'0', b'0'), ByteSet::range(b'f', b'f'));
    language.add(vec![(zero, exponent), (tag, count)])
}

impl Language {
    /// Adds one character of UTF-8 from one state to another.
    fn character(&mut self, bytes: ByteSet, from: usize, to: usize) {
        let ascii = bytes.and(ByteSet::range(0x00, 0x7F));
        let mut edges = vec![(ascii, to)];
        if !bytes.and(ByteSet::range(0x80, 0xFF)).is_empty() {
            let more = ByteSet::range(0x80, 0xBF);
            let last = self.add(vec![(more, to)]);
            let middle = self.add(vec![(more, last)]);
            let first = self.add(vec![(more, middle)]);
            edges.push((ByteSet::range(0xC2, 0xDF), last));
            edges.push((ByteSet::range(0xE0, 0xEF), middle));
            edges.push((ByteSet::range(0xF0, 0xF4), first));
        }
        if let Some(state) = self.states.get_mut(from) {
            state.edges.extend(edges);
        }
    }

    fn add(&mut self, edges: Vec<(ByteSet, usize)>) -> usize {
        self.states.push(State { accepts: false, edges });
        self.states.len() - 1
    }
}

/// Returns true if some text of `left` is one of `right`, or, when `prefix`, begins one of `right`.
///
/// Exact on the languages of the parts; cost: at most the product of their states.
pub fn may_meet(left: &[Part], right: &[Part], prefix: bool) -> bool {
    let left: Vec<Language> = left.iter().map(Language::of).collect();
    let right: Vec<Language> = right.iter().map(Language::of).collect();
    let mut seen = std::collections::HashSet::new();
    let mut open = vec![((0_usize, 0_usize), (0_usize, 0_usize))];
    while let Some(pair) = open.pop() {
        if !seen.insert(pair) {
            continue;
        }
        let ((a, s), (b, t)) = pair;
        let (done_left, done_right) = (a >= left.len(), b >= right.len());
        if done_left && (prefix || done_right) {
            return true;
        }
        let from_left = left.get(a).and_then(|language| language.states.get(s));
        let from_right = right.get(b).and_then(|language| language.states.get(t));
        if from_left.is_some_and(|state| state.accepts) {
            open.push(((a + 1, 0), (b, t)));
        }
        if from_right.is_some_and(|state| state.accepts) {
            open.push(((a, s), (b + 1, 0)));
        }
        let (Some(from_left), Some(from_right)) = (from_left, from_right) else { continue };
        for (set, to) in &from_left.edges {
            for (other, there) in &from_right.edges {
                if !set.and(*other).is_empty() {
                    open.push(((a, *to), (b, *there)));
                }
            }
        }
    }
    false
}
