//! Converts the JSON form of models to text and back.
//!
//! What it is not: it knows no names and no types; what it makes is text, which is parsed and
//! resolved like any other.
//!
//! Invariant: the text says exactly what the JSON said, or there is an error with its place.

use std::borrow::Cow;

use crate::document::{Report, report};
use shelfmark_design_language::limits::SOURCE_BYTES_MAX;
use shelfmark_design_language::syntax::diagnostic::Diagnostic;
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_language::syntax::print::format;
use shelfmark_design_language::syntax::span::Span;
use shelfmark_design_language::syntax::tree::File;

/// Returns the model's text: as given, or converted from the JSON form.
pub(crate) fn text_of<'a>(name: &str, source: &'a str) -> Result<Cow<'a, str>, Report> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    if is_json(source) { text(name, source).map(Cow::Owned) } else { Ok(Cow::Borrowed(source)) }
}

/// Returns the JSON form, formatted as this crate writes it; `None` for model text.
pub(crate) fn formatted(name: &str, source: &str) -> Result<Option<String>, Report> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    if !is_json(source) {
        return Ok(None);
    }
    let (file, _) = read(name, source)?;
    let value = serde_json::to_value(&file).unwrap_or_default();
    Ok(Some(format!("{value:#}\n")))
}

/// Returns the text of a model in JSON.
pub(crate) fn text(name: &str, json: &str) -> Result<String, Report> {
    read(name, json).map(|(_, text)| text)
}

/// Returns true if the text is JSON: no model text begins with a brace.
fn is_json(source: &str) -> bool {
    source.trim_start().starts_with('{')
}

fn read(name: &str, json: &str) -> Result<(File, String), Report> {
    let wrong = |span, message, help: &str| {
        let diagnostic = Diagnostic::error(span, message).help(help);
        report(name, json, &[diagnostic])
    };
    if json.len() > SOURCE_BYTES_MAX {
        let message = format!("more than {SOURCE_BYTES_MAX} bytes");
        return Err(wrong(Span::default(), message, "split it into models"));
    }
    let file: File = serde_json::from_str(json).map_err(|error| {
        let at = offset(json, error.line(), error.column());
        let full = error.to_string();
        let said = full.rsplit_once(" at line ").map_or(full.as_str(), |(said, _)| said);
        let help = "`shelfmark design json` prints the JSON Schema of models";
        wrong(Span::new(at, at + 1), format!("this is no model in JSON: {said}"), help)
    })?;
    let text = format("", &file, &[]);
    // Quantities and the like are texts in JSON: what they say must be what is read from them.
    let parsed = parse(&text);
    if !parsed.diagnostics.is_empty() {
        return Err(report(&format!("{name} (as text)"), &text, &parsed.diagnostics));
    }
    let (given, made) = (serde_json::to_value(&file), serde_json::to_value(&parsed.file));
    let (given, made) = (given.unwrap_or_default(), made.unwrap_or_default());
    match difference(&given, &made) {
        None => Ok((file, text)),
        Some(at) => {
            let message = format!("no text says what stands at {at}");
            Err(wrong(Span::default(), message, "compare it with `shelfmark design json FILE`"))
        }
    }
}

/// Returns the byte at a line and a column, both counted from 1; columns are bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let begin: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut at = (begin + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the path at which two values first differ.
fn difference(left: &serde_json::Value, right: &serde_json::Value) -> Option<String> {
    use serde_json::Value;
    match (left, right) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.filter_map(|(at, (a, b))| Some(format!("/{at}{}", difference(a, b)?))).next()
        }
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => a
            .iter()
            .filter_map(|(name, one)| Some(format!("/{name}{}", difference(one, b.get(name)?)?)))
            .next(),
        (a, b) => (a != b).then(String::new),
    }
}
