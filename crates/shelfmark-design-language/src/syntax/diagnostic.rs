//! Diagnostics about a source, with snippet, cause and suggestion.
//!
//! Invariant: rendering never fails, whatever the spans.

use std::fmt::Write as _;

use super::span::{Span, line_and_column};

/// Longest piece of a source's line that is shown, in characters, around the marked text.
///
/// Ours: what a terminal shows on one or two lines.
const SNIPPET_CHARACTERS_MAX: usize = 160;

/// Characters before the marked text that are shown of a long line.
const BEFORE_CHARACTERS: usize = 60;

/// Longest sentence of a message in characters, since names may be as long as a file.
const SENTENCE_CHARACTERS_MAX: usize = 600;

/// Longest text for which a suggestion is searched.
const NAME_CHARACTERS_MAX: usize = 64;

/// A diagnostic message.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The place in the text.
    pub span: Span,
    /// The message.
    pub message: String,
    /// A label under the snippet's marked text.
    pub label: Option<String>,
    /// The suggestion.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates an error message.
    pub fn error(span: Span, message: String) -> Self {
        Self { span, message, label: None, help: None }
    }

    /// Adds a label under the marked text.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds a suggestion.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Formats `head`, then the line of `span` with a mark under it, then the suggestion.
pub fn render(
    file: &str,
    source: &str,
    span: Span,
    head: &str,
    label: Option<&str>,
    help: Option<&str>,
) -> String {
    let (line, column) = line_and_column(source, span.start);
    let text = source.lines().nth(line - 1).unwrap_or("");
    let marked = source.get(span.start..span.end).unwrap_or("");
    render_at(file, (line, column), text, marked, head, (label, help))
}

/// Formats a message whose place is known: the line's text, and its marked part.
pub fn render_at(
    file: &str,
    (line, column): (usize, usize),
    text: &str,
    marked: &str,
    head: &str,
    (label, help): (Option<&str>, Option<&str>),
) -> String {
    let width = line.to_string().len();
    let marked = marked.lines().next().unwrap_or("").chars().count().max(1);
    let (text, before) = window(text, column - 1);
    let marks = "^".repeat(marked.min(text.chars().count().saturating_sub(before)).max(1));
    let mut out = String::new();
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "{}", shortened(head, SENTENCE_CHARACTERS_MAX));
    let _ = writeln!(out, "{:width$}--> {file}:{line}:{column}", "");
    let _ = writeln!(out, "{:width$} |", "");
    let _ = writeln!(out, "{line} | {}", text.replace('\t', " "));
    let _ = writeln!(
        out,
        "{:width$} | {:pad$}{marks} {}",
        "",
        "",
        shortened(label.unwrap_or(""), SENTENCE_CHARACTERS_MAX),
        pad = before
    );
    let trimmed = out.trim_end().len();
    out.truncate(trimmed);
    out.push('\n');
    if let Some(help) = help {
        let help = shortened(help, SENTENCE_CHARACTERS_MAX);
        let _ = writeln!(out, "{:width$} = help: {help}", "");
    }
    out
}

/// Returns the piece of a line around the marked text, and how many characters stand before that.
fn window(line: &str, before: usize) -> (String, usize) {
    let count = line.chars().count();
    if count <= SNIPPET_CHARACTERS_MAX {
        return (line.to_owned(), before);
    }
    let from = before.saturating_sub(BEFORE_CHARACTERS);
    let mut out = String::new();
    if from > 0 {
        out.push('…');
    }
    let shown = before - from + out.chars().count();
    out.extend(line.chars().skip(from).take(SNIPPET_CHARACTERS_MAX));
    if from + SNIPPET_CHARACTERS_MAX < count {
        out.push('…');
    }
    (out, shown)
}

/// Returns at most so many characters of a text.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or("")),
    }
}

/// Returns the candidate that is nearest to a text, if one is near.
pub fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(same) = candidates.iter().find(|one| one.eq_ignore_ascii_case(written)) {
        return Some(same);
    }
    let length = written.chars().count();
    let allowed = (length / 3).max(1);
    candidates
        .into_iter()
        .filter(|_| length <= NAME_CHARACTERS_MAX)
        .filter(|candidate| candidate.len() <= 4 * NAME_CHARACTERS_MAX)
        .map(|candidate| (distance(written, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the edit distance of two texts: a letter more, a letter less, another letter, two
/// letters swapped.
pub fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut older: Vec<usize> = Vec::new();
    let mut old: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.iter().enumerate() {
        let mut new = vec![row + 1];
        for (column, b) in right.iter().enumerate() {
            let cost =
                |costs: &[usize], at: usize| costs.get(at).copied().unwrap_or(usize::MAX / 2);
            let changed = cost(&old, column) + usize::from(a != b);
            let mut least = changed.min(cost(&new, column) + 1).min(cost(&old, column + 1) + 1);
            let before = |texts: &[char], at: usize| texts.get(at.wrapping_sub(1)).copied();
            if before(&left, row) == Some(*b) && before(&right, column) == Some(*a) {
                least = least.min(cost(&older, column.wrapping_sub(1)) + 1);
            }
            new.push(least);
        }
        older = std::mem::replace(&mut old, new);
    }
    old.last().copied().unwrap_or(0)
}
