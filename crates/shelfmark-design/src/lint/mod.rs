//! Runs all lints over a model: each warns of one kind of defect and shows its harm.
//!
//! The files are kinds of lints; `size` is none and counts bytes for them. Allowances that allow
//! nothing (M4) and unused types (M5) are found here.
//!
//! Invariant: an error always has a reproducer; one without is lowered to a warning.

mod heat;
mod keys;
mod lifetime;
mod load;
mod merges;
mod proofs;
mod sample_keys;
mod samples;
mod shape;
pub(crate) mod size;
mod writes;

use serde_json::Value as Json;

use crate::document::{Document, Finding};
use shelfmark_design_language::catalogue::{self, Severity};
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::schema::Schema;
use shelfmark_design_language::syntax::span::Span;
use shelfmark_design_language::target::{Target, profile};
use shelfmark_design_prove::{Proof, prove};

/// The context of a lint.
pub(crate) struct Context<'a> {
    pub(crate) model: &'a Model,
    pub(crate) proofs: &'a [Proof],
}

/// A finding before its place is turned into a line.
pub(crate) struct Found {
    pub(crate) id: &'static str,
    pub(crate) severity: Severity,
    pub(crate) schema: Option<usize>,
    /// The pattern, table or row that it is about; suppressions name it.
    pub(crate) on: String,
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) reproducer: Option<Json>,
}

impl Found {
    /// Returns a finding with the lint's own severity.
    pub(crate) fn new(
        id: &'static str,
        schema: usize,
        on: &str,
        span: Span,
        message: String,
    ) -> Self {
        let severity = catalogue::find(id).map_or(Severity::Warning, |lint| lint.severity);
        Self {
            id,
            severity,
            schema: Some(schema),
            on: on.to_owned(),
            span,
            message,
            reproducer: None,
        }
    }

    pub(crate) fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    pub(crate) fn reproducer(mut self, reproducer: Option<Json>) -> Self {
        self.reproducer = reproducer;
        self
    }
}

/// Returns a setting of the target, or the model's override.
pub(crate) fn setting(model: &Model, schema: &Schema, name: &str, of: fn(&Target) -> f64) -> f64 {
    let own = model.settings.get(&schema.target).and_then(|settings| settings.get(name));
    own.copied().unwrap_or_else(|| profile(&schema.target).map_or(f64::INFINITY, of))
}

/// Returns a threshold of a lint, or the model's override.
pub(crate) fn threshold(model: &Model, schema: &Schema, name: &str, default: f64) -> f64 {
    let own = model.settings.get(&schema.target).and_then(|settings| settings.get(name));
    own.copied().unwrap_or(default)
}

pub(crate) fn check(document: &Document) -> Vec<Finding> {
    let model = &document.model;
    let proofs = prove(model, &document.hash());
    let context = Context { model, proofs: &proofs };
    let mut found = Vec::new();
    proofs::check(&context, &mut found);
    keys::check(&context, &mut found);
    shape::check(&context, &mut found);
    writes::check(&context, &mut found);
    load::check(&context, &mut found);
    heat::check(&context, &mut found);
    merges::check(&context, &mut found);
    lifetime::check(&context, &mut found);
    samples::check(&context, &mut found);
    let mut used = vec![false; model.allows.len()];
    let mut findings: Vec<Finding> =
        found.into_iter().map(|one| finish(document, one, &mut used)).collect();
    for (allow, used) in model.allows.iter().zip(used) {
        if !used {
            let names: Vec<&str> = allow.lints.iter().map(|name| name.text.as_str()).collect();
            let mut found = Found::new(
                "M4",
                0,
                "",
                allow.span,
                format!("nothing of {} is found here", names.join(", ")),
            );
            found.schema = None;
            findings.push(finish(document, found, &mut []));
        }
    }
    for ty in &model.unused_types {
        let message = format!("nothing is of the type {}", ty.text);
        let mut found = Found::new("M5", 0, &ty.text, ty.span, message);
        found.schema = None;
        findings.push(finish(document, found, &mut []));
    }
    findings.sort_by(|a, b| (a.line, &a.id, &a.message).cmp(&(b.line, &b.id, &b.message)));
    findings.dedup_by(|a, b| {
        a.id == b.id && a.line == b.line && a.message == b.message && a.schema == b.schema
    });
    findings
}

fn finish(document: &Document, found: Found, used: &mut [bool]) -> Finding {
    let model = &document.model;
    let schema = found.schema.and_then(|schema| model.schemas.get(schema));
    let schema = schema.map_or_else(String::new, |schema| schema.name.text.clone());
    let mut allowed = None;
    for (allow, used) in model.allows.iter().zip(used) {
        let fits = allow.lints.iter().any(|name| name.text == found.id)
            && allow.schema.as_ref().is_none_or(|name| name.text == schema)
            && allow.on.as_ref().is_none_or(|name| name.text == found.on);
        if fits {
            *used = true;
            allowed = Some(allow.reason.clone());
        }
    }
    // An error that nothing reproduces is a risk, not a proof of harm.
    let severity = match (&found.reproducer, found.severity) {
        (None, Severity::Error) => Severity::Warning,
        (_, severity) => severity,
    };
    Finding {
        id: found.id.to_owned(),
        severity,
        schema,
        file: document.name().to_owned(),
        line: document.line(found.span.start),
        message: found.message,
        reproducer: found.reproducer,
        fix: catalogue::find(found.id).map_or_else(String::new, |lint| lint.fix.to_owned()),
        allowed,
        start: found.span.start,
        end: found.span.end,
    }
}
