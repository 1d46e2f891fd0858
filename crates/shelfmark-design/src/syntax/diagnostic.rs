//! Messages about a source, shown as a good compiler shows them: snippet, cause, suggestion.
//!
//! Invariant: rendering never fails, whatever the spans.

use std::fmt::Write as _;

use super::span::{Span, line_and_column};

/// One message.
#[derive(Debug, Clone)]
pub(crate) struct Diagnostic {
    pub(crate) span: Span,
    pub(crate) message: String,
    /// Said under the snippet's mark.
    pub(crate) label: Option<String>,
    /// What to do.
    pub(crate) help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn error(span: Span, message: String) -> Self {
        Self { span, message, label: None, help: None }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Writes `head`, then the line of `span` with a mark under it, then the help.
pub(crate) fn render(
    file: &str,
    source: &str,
    span: Span,
    head: &str,
    label: Option<&str>,
    help: Option<&str>,
) -> String {
    let (line, column) = line_and_column(source, span.start);
    let text = source.lines().nth(line - 1).unwrap_or("");
    let width = line.to_string().len();
    let marked = source.get(span.start..span.end).unwrap_or("");
    let marked = marked.lines().next().unwrap_or("").chars().count().max(1);
    let marks = "^".repeat(marked.min(200));
    let mut out = String::new();
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "{head}");
    let _ = writeln!(out, "{:width$}--> {file}:{line}:{column}", "");
    let _ = writeln!(out, "{:width$} |", "");
    let _ = writeln!(out, "{line} | {}", text.replace('\t', " "));
    let _ = writeln!(
        out,
        "{:width$} | {:pad$}{marks} {}",
        "",
        "",
        label.unwrap_or(""),
        pad = column - 1
    );
    let trimmed = out.trim_end().len();
    out.truncate(trimmed);
    out.push('\n');
    if let Some(help) = help {
        let _ = writeln!(out, "{:width$} = help: {help}", "");
    }
    out
}

/// Returns the candidate that is nearest to what was written, if one is near.
pub(crate) fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let allowed = (written.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(written, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns in how many steps one text becomes the other.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut costs: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.chars().enumerate() {
        let mut diagonal = row;
        let mut before = row + 1;
        for (cost, b) in costs.iter_mut().skip(1).zip(&right) {
            let changed = diagonal + usize::from(a != *b);
            diagonal = *cost;
            before = changed.min(before + 1).min(*cost + 1);
            *cost = before;
        }
        if let Some(first) = costs.first_mut() {
            *first = row + 1;
        }
    }
    costs.last().copied().unwrap_or(0)
}
