//! Writes names and lines of the imported model.

use std::collections::BTreeMap;

use shelfmark_design_language::syntax::print::quote;

/// Longest text of a comment or a sample that is imported.
const TEXT_CHARS_MAX: usize = 160;

/// Converts foreign names to names of models, each once.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: BTreeMap<String, String>,
    taken: std::collections::BTreeSet<String>,
}

impl Names {
    /// Returns the name for a foreign one: the same at every call.
    pub(crate) fn of(&mut self, foreign: &str) -> String {
        if let Some(name) = self.given.get(foreign) {
            return name.clone();
        }
        let name = self.fresh(foreign);
        self.given.insert(foreign.to_owned(), name.clone());
        name
    }

    /// Returns the name that a foreign one has, or the one that it would get.
    pub(crate) fn known(&self, foreign: &str) -> String {
        self.given.get(foreign).cloned().unwrap_or_else(|| plain(foreign))
    }

    /// Returns true if no other name stands in the way of a foreign one.
    pub(crate) fn is_free(&self, foreign: &str) -> bool {
        !self.taken.contains(&plain(foreign))
    }

    /// Returns a name that is not taken yet.
    pub(crate) fn fresh(&mut self, wanted: &str) -> String {
        let plain = plain(wanted);
        let mut name = plain.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{plain}_{number}");
            number += 1;
        }
        name
    }
}

/// Returns a plain name: letters, digits and `_`, beginning with a letter, and no word that means a
/// value.
fn plain(foreign: &str) -> String {
    let mut out: String = foreign
        .chars()
        .take(100)
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert_str(0, "x_");
    }
    if matches!(out.as_str(), "true" | "false" | "kind" | "row" | "now") {
        out.push('_');
    }
    out
}

/// Converts `hotels_by_poi` to `HotelsByPoi`.
pub(crate) fn camel(foreign: &str) -> String {
    let plain = plain(foreign);
    let mut out = String::new();
    for word in plain.split('_').filter(|word| !word.is_empty()) {
        let mut chars = word.chars();
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.extend(chars);
    }
    out
}

/// Returns one line that is safe in a comment.
pub(crate) fn comment(text: &str) -> String {
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = flat.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= TEXT_CHARS_MAX {
        return line;
    }
    let cut: String = line.chars().take(TEXT_CHARS_MAX).collect();
    format!("{cut} …")
}

/// Returns a short plain text between quotes; `None` for a text that a model need not repeat.
pub(crate) fn sample_text(text: &str) -> Option<String> {
    let short = text.chars().count() <= TEXT_CHARS_MAX && !text.chars().any(char::is_control);
    short.then(|| quote(text))
}
