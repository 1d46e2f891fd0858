//! The model that schemas are derived for, and its text without any schema.
//!
//! What it is not: no plan and no judgement.
//!
//! Invariant: a model that [`Basis::with`] returns has exactly the schema that was given.

use std::collections::BTreeSet;

use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::diagnostic::{Diagnostic, render};
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_language::syntax::print;
use shelfmark_design_language::syntax::tree::{File, Item};

/// A model with its text.
#[derive(Debug)]
pub struct Basis<'a> {
    /// The model; its schemas are ignored.
    pub model: &'a Model,
    text: String,
}

impl<'a> Basis<'a> {
    /// Creates the basis of a model from its source.
    #[must_use]
    pub fn new(model: &'a Model, source: &str) -> Self {
        Self { model, text: without_schemas(source) }
    }

    /// Returns the model's text without its schemas and their settings, followed by `schema`.
    #[must_use]
    pub fn text_with(&self, schema: &str) -> String {
        let mut text = self.text.clone();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(schema);
        text
    }

    /// Returns the model's text with these patterns only, and without schemas.
    #[must_use]
    pub fn only(&self, patterns: &BTreeSet<String>) -> String {
        let parsed = parse(&self.text);
        let mut gone = Vec::new();
        let mut kept = File::default();
        for item in parsed.file.items {
            let name = match &item {
                Item::Read(read) => Some((&read.name.text, read.span)),
                Item::Write(write) => Some((&write.name.text, write.span)),
                _ => None,
            };
            match name {
                Some((name, span)) if !patterns.contains(name) => gone.push(span),
                _ => kept.items.push(item),
            }
        }
        let inside = |at: usize| gone.iter().any(|span| span.start <= at && at < span.end);
        let comments: Vec<_> =
            parsed.comments.into_iter().filter(|one| !inside(one.span.start)).collect();
        print::format(&self.text, &kept, &comments)
    }

    /// Returns the model with one schema.
    ///
    /// # Errors
    ///
    /// The messages of a text that is no schema of the model.
    pub fn with(&self, schema: &str) -> Result<Model, String> {
        model_of(&self.text_with(schema))
    }
}

/// Returns the model of a text.
pub(crate) fn model_of(text: &str) -> Result<Model, String> {
    let parsed = parse(text);
    if !parsed.diagnostics.is_empty() {
        return Err(told(text, &parsed.diagnostics));
    }
    let (model, diagnostics) = resolve(&parsed.file);
    if diagnostics.is_empty() { Ok(model) } else { Err(told(text, &diagnostics)) }
}

fn told(text: &str, diagnostics: &[Diagnostic]) -> String {
    let shown = diagnostics.iter().map(|one| {
        let message = format!("error: {}", one.message);
        render("plan", text, one.span, &message, one.label.as_deref(), one.help.as_deref())
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Formats the text of a schema.
pub(crate) fn formatted(text: &str) -> Result<String, String> {
    let parsed = parse(text);
    if parsed.diagnostics.is_empty() {
        return Ok(print::format(text, &parsed.file, &parsed.comments));
    }
    Err(told(text, &parsed.diagnostics))
}

/// Returns a model's text without its schemas and their settings.
#[must_use]
pub fn without_schemas(source: &str) -> String {
    let parsed = parse(source);
    let mut gone = Vec::new();
    let mut kept = File::default();
    for item in parsed.file.items {
        match &item {
            Item::Schema(schema) => gone.push(schema.span),
            Item::Allow(allow) if allow.schema.is_some() => gone.push(allow.span),
            _ => kept.items.push(item),
        }
    }
    let inside = |at: usize| gone.iter().any(|span| span.start <= at && at < span.end);
    let comments: Vec<_> =
        parsed.comments.into_iter().filter(|comment| !inside(comment.span.start)).collect();
    print::format(source, &kept, &comments)
}
