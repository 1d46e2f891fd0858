//! Takes the texts of keys apart: delimiters, words that are tags, and kinds of values.
//!
//! A key such as `USER#7#ORDER` is read as tags and values in turn. A word is a tag where it leads,
//! where it follows a value, or where it is one that people write for a constant part.
//!
//! What it is not: it sees one text at a time; what several rows say together is decided in
//! `groups`.

use std::collections::BTreeSet;

/// Strong delimiters: wherever one occurs in a key, it parts.
const STRONG: [char; 3] = ['#', '|', '~'];

/// Weak delimiters: these also occur within values, so they part only behind a leading word.
const WEAK: [char; 4] = [':', '/', '_', '-'];

/// Words that stand for a constant part of a key.
///
/// Ours: what published single-table designs write there.
const CONSTANTS: [&str; 36] = [
    "a",
    "account",
    "base",
    "config",
    "configuration",
    "count",
    "counter",
    "counts",
    "current",
    "data",
    "default",
    "description",
    "detail",
    "details",
    "header",
    "info",
    "item",
    "latest",
    "main",
    "meta",
    "metadata",
    "order",
    "product",
    "profile",
    "properties",
    "record",
    "root",
    "self",
    "settings",
    "state",
    "stats",
    "status",
    "summary",
    "total",
    "user",
    "version",
];

/// Longest tag, in bytes.
const TAG_BYTES_MAX: usize = 40;

/// Most pieces of one key cell.
///
/// Ours: published keys have up to nine.
const PIECES_MAX: usize = 32;

/// A piece of a key's text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bit {
    Tag(String),
    /// A value, and what it begins with where that tells its kind: letters before digits, or `T`
    /// for a time.
    Value(String),
}

/// Facts about a key column that all its texts tell together.
#[derive(Debug, Default)]
pub(super) struct Column {
    pub(super) delimiter: Option<char>,
    /// True if the column's name says nothing, so that texts of several types stand in it.
    pub(super) generic: bool,
    /// Words without a delimiter that are constants here.
    pub(super) constants: BTreeSet<String>,
    /// Letters before digits, where the column has several such.
    pub(super) prefixes: BTreeSet<String>,
}

/// Returns the delimiter of a column's texts.
pub(super) fn delimiter(texts: &[&str]) -> Option<char> {
    let strong = STRONG.into_iter().find(|c| texts.iter().any(|text| text.contains(*c)));
    strong.or_else(|| WEAK.into_iter().find(|c| parts(texts, *c)))
}

/// Returns true if a weak delimiter parts a tag from a value in the texts of a column.
fn parts(texts: &[&str], c: char) -> bool {
    let plain = |text: &str| text.contains("//") || text.contains('@') || is_time(text);
    let mut heads = BTreeSet::new();
    let mut tails = BTreeSet::new();
    let mut numbered = true;
    for text in texts {
        let Some((head, tail)) = text.split_once(c).filter(|_| !plain(text)) else {
            if is_word(text) {
                continue;
            }
            return false;
        };
        if !is_word(head) || tail.is_empty() {
            return false;
        }
        heads.insert(head);
        tails.insert(tail);
        numbered &= tail.chars().any(|c| c.is_ascii_digit());
    }
    !heads.is_empty() && (numbered || heads.len() < tails.len())
}

/// Returns the text in segments. A weak delimiter does not part a time or an address, and `-` and
/// `_` part once.
pub(super) fn split(text: &str, delimiter: Option<char>) -> Vec<&str> {
    let Some(c) = delimiter else { return vec![text] };
    if STRONG.contains(&c) {
        return text.splitn(PIECES_MAX, c).collect();
    }
    let most = if matches!(c, '-' | '_') { 2 } else { PIECES_MAX };
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() + 1 < most && !is_time(rest) && !rest.contains("//") {
        let Some((head, tail)) = rest.split_once(c) else { break };
        found.push(head);
        rest = tail;
    }
    found.push(rest);
    found
}

/// Returns the tags and values of a text; `known` are values of other attributes of its row.
pub(super) fn bits(text: &str, column: &Column, known: &BTreeSet<&str>) -> Vec<Bit> {
    let segments = split(text, column.delimiter);
    if let [only] = segments.as_slice() {
        let constant = column.constants.contains(*only) || is_marked(only);
        return vec![if constant { tag(only) } else { value(only, column, None) }];
    }
    let leads = segments.first().is_some_and(|first| {
        first.is_empty() || (is_word(first) && (column.generic || of_one_case(first)))
    });
    if !column.generic && !leads {
        // An attribute with a name of its own holds one value, whatever stands in it.
        return vec![value(text, column, None)];
    }
    let mut found: Vec<Bit> = Vec::new();
    for (at, segment) in segments.iter().enumerate() {
        let last = at + 1 == segments.len();
        let next = segments.get(at + 1).copied().unwrap_or_default();
        let bit = match found.last() {
            _ if segment.is_empty() => tag(segment),
            None if is_word(segment) => tag(segment),
            Some(Bit::Tag(before)) if before.is_empty() && is_word(segment) => tag(segment),
            Some(Bit::Tag(_)) if last && is_constant(segment) => tag(segment),
            Some(Bit::Tag(before))
                if shouts(before) && shouts(segment) && !last && !is_word(next) =>
            {
                tag(segment)
            }
            Some(Bit::Value(_)) if is_word(segment) && (!last || !known.contains(segment)) => {
                tag(segment)
            }
            before => value(segment, column, before),
        };
        found.push(bit);
    }
    found
}

fn tag(text: &str) -> Bit {
    Bit::Tag(text.to_owned())
}

fn value(text: &str, column: &Column, before: Option<&Bit>) -> Bit {
    if is_time(text) {
        return Bit::Value("T".to_owned());
    }
    let tagged = matches!(before, Some(Bit::Tag(tag)) if !tag.is_empty());
    let head = prefix(text).filter(|head| !tagged && column.prefixes.contains(*head));
    Bit::Value(head.unwrap_or_default().to_owned())
}

/// Returns true if a text may be a tag: a word without digits.
pub(super) fn is_word(text: &str) -> bool {
    let inside =
        |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '"' | '$' | '@' | '!' | '.');
    !text.is_empty()
        && text.len() <= TAG_BYTES_MAX
        && text.chars().all(inside)
        && text.chars().any(|c| c.is_ascii_alphabetic())
}

/// Returns true for a word that people write for a constant part.
pub(super) fn is_constant(text: &str) -> bool {
    let word = text.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
    CONSTANTS.contains(&word.as_str()) || (word == "v0" || word == "v1")
}

/// Returns true if a text without delimiters is marked as a constant: by quotes, `$`, `@`, `_` …
fn is_marked(text: &str) -> bool {
    is_word(text) && text.starts_with(['"', '$', '@', '!', '_'])
}

/// Returns true for `user` and `USER`, which tags are, and not for `Anna`.
fn of_one_case(text: &str) -> bool {
    let capitals = text.chars().filter(char::is_ascii_uppercase).count();
    let letters = text.chars().filter(char::is_ascii_alphabetic).count();
    capitals == 0 || capitals == letters
}

fn shouts(text: &str) -> bool {
    text.len() > 1 && text.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// Returns the letters before the digits that a text ends with: `C` of `C17`.
pub(super) fn prefix(text: &str) -> Option<&str> {
    let head = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let letters = head.chars().all(|c| c.is_ascii_alphabetic());
    (letters && !head.is_empty() && head.len() < text.len()).then_some(head)
}

/// Returns true for dates and times in ISO form.
pub(super) fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| {
        bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let at = |index: usize, mark: u8| bytes.get(index) == Some(&mark);
    digits(0, 4)
        && at(4, b'-')
        && digits(5, 7)
        && (bytes.len() == 7 || (at(7, b'-') && digits(8, 10)))
}

/// Returns true for names that say only that an attribute is a key: `PK`, `gsi1sk`, `SK2`.
pub(super) fn is_generic(name: &str) -> bool {
    let plain: String =
        name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    let plain = ["gsi", "lsi", "index", "idx", "inverted"]
        .into_iter()
        .find_map(|head| plain.strip_prefix(head))
        .unwrap_or(&plain);
    [
        "pk",
        "sk",
        "hk",
        "rk",
        "hash",
        "range",
        "sort",
        "partition",
        "partitionkey",
        "sortkey",
        "hashkey",
        "rangekey",
        "primarykey",
        "p",
        "s",
    ]
    .contains(&plain)
}
