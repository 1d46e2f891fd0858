//! Completion for a prompt: the words that may come next.
//!
//! No second grammar: a word may come next when the statement so far and the word parse as far as
//! their end.

use crate::lexer::{Class, Kind, WORDS, tokens};
use crate::parser::parse;

/// The completions at the end of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// The byte where the word begins that is to be completed; the text's length when none does.
    pub start: usize,
    /// The keywords that may stand there, in upper case, in alphabetical order. Words that could
    /// only be a name are left out.
    pub keywords: Vec<String>,
    /// True if the name of a table, a column or the like may stand there.
    pub name: bool,
}

/// The tokens that may follow a keyword somewhere, and no name in its place.
const PROBES: [&str; 15] = [
    "x",
    "(",
    "( *",
    "<",
    "*",
    "KEY",
    "BY",
    "ORDER",
    "STORAGE",
    "FILTERING",
    "PARTITION",
    "OF",
    "'x'",
    "WITH DEFAULT",
    "ALL",
];

/// Returns what may stand at the end of a text that is one statement, perhaps not finished. Inside
/// of quotes and comments nothing may.
///
/// Cost: it parses the text for each keyword and where names may stand a few times more; about a
/// millisecond for a short statement.
///
/// # Examples
///
/// ```
/// let completions = shelfmark_cql_syntax::complete("SELECT * FROM t wh");
/// assert_eq!((completions.start, completions.keywords), (16, vec!["WHERE".to_owned()]));
/// ```
#[must_use]
pub fn complete(text: &str) -> Completions {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let start = text.trim_end_matches(is_word).len();
    let (head, begun) = text.split_at(start);
    let mut completions = Completions { start, ..Completions::default() };
    if tokens(text).1.is_some() {
        return completions;
    }
    let with = |word: &str| format!("{head} {word}");
    completions.name = viable(&with("some_name"));
    for (word, kind) in WORDS {
        let fits = word.len() >= begun.len()
            && word.get(..begun.len()).is_some_and(|part| part.eq_ignore_ascii_case(begun));
        if fits && viable(&with(word)) && (!completions.name || is_special(&with, word, *kind)) {
            completions.keywords.push(word.to_ascii_uppercase());
        }
    }
    completions.keywords.sort_unstable();
    completions
}

/// Tells whether a word means something else than a name would in its place.
fn is_special(with: &impl Fn(&str) -> String, word: &str, kind: Kind) -> bool {
    let class = kind.class();
    if class == Some(Class::Reserved) {
        return true;
    }
    if matches!(class, Some(Class::Type(_))) {
        return viable(&with("frozen<"));
    }
    // These are no names of functions, so with a parenthesis they are what they say.
    if matches!(class, Some(Class::NotFunction | Class::Token))
        && viable(&with(&format!("{word} (")))
    {
        return true;
    }
    PROBES.iter().any(|probe| {
        viable(&with(&format!("{word} {probe}"))) && !viable(&with(&format!("some_name {probe}")))
    })
}

/// Tells whether a text is a statement or the beginning of one.
fn viable(text: &str) -> bool {
    match parse(text) {
        Ok(_) => true,
        Err(error) => error.offset() >= text.len(),
    }
}
