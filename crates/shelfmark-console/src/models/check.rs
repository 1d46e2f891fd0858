//! Findings of a model, and the certificate or the witness of each pattern.

use maud::{Markup, html};
use serde_json::json;
use shelfmark_design::{Document, Finding, Report, Severity, shown};

use crate::response::Response;

/// Findings that are shown; a model with more has one that explains most of them.
const SHOWN_MAX: usize = 200;
/// Lines of a finding's reproducer.
const REPRODUCER_LINES: usize = 8;

/// Answers with the errors of a text that is no model.
pub(super) fn unreadable(report: &Report) -> Response {
    let line = place(&report.text);
    let markup = html! {
        div class="fault" role="alert" {
            strong { (shown::counted(report.count, "error")) }
            @if let Some(line) = line {
                " " button type="button" data-line=(line) { "Line " (line) }
            }
            pre { (report.text) }
        }
    };
    let state = format!("no model yet: {}", shown::counted(report.count, "error"));
    Response::json(200, &json!({ "html": markup.0, "state": state, "ok": false, "line": line }))
}

/// Reads the line of the first message: `model:12:3`.
fn place(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once(&format!("{}:", super::NAME))?;
    rest.split(':').next()?.parse().ok()
}

/// Answers with all findings, and with the names of the schemas.
pub(super) fn findings(document: &Document, schema: Option<&str>) -> Response {
    let wanted =
        |one: &Finding| one.schema.is_empty() || schema.is_none_or(|name| one.schema == name);
    let (allowed, live): (Vec<Finding>, Vec<Finding>) =
        document.check().into_iter().filter(wanted).partition(|one| one.allowed.is_some());
    let markup = html! {
        @if live.is_empty() {
            p class="good" { "Nothing is found." }
        }
        @for one in live.iter().take(SHOWN_MAX) { (finding(document, one)) }
        @if live.len() > SHOWN_MAX {
            p class="soft" { (live.len() - SHOWN_MAX) " more findings are not shown." }
        }
        @if document.schemas().is_empty() {
            p class="note" { "The model has no schema yet; derive one under Plan." }
        }
    };
    let count = |severity: Severity| live.iter().filter(|one| one.severity == severity).count();
    let state = format!(
        "{}, {}, {}, {} allowed",
        shown::counted(count(Severity::Error), "error"),
        shown::counted(count(Severity::Warning), "warning"),
        shown::counted(count(Severity::Note), "note"),
        allowed.len()
    );
    let schemas = document.schemas();
    Response::json(
        200,
        &json!({ "html": markup.0, "state": state, "ok": true, "schemas": schemas }),
    )
}

fn finding(document: &Document, one: &Finding) -> Markup {
    let class = match one.severity {
        Severity::Error => "tag bad",
        Severity::Warning => "tag warn",
        Severity::Note => "tag",
    };
    let shown_by = one.reproducer.as_ref();
    let shown_by = shown_by.map(|one_by| shown::text(one_by, &one.message, REPRODUCER_LINES));
    html! {
        article class="finding" {
            h3 {
                span class=(class) { (one.severity.word()) " " (one.id) }
                " " (one.message)
            }
            button type="button" data-line=(one.line) { "Line " (one.line) }
            details {
                summary { "Where, and what to do" }
                pre class="code" tabindex="0" { (document.render(one)) }
                @if let Some(lines) = shown_by.filter(|lines| !lines.is_empty()) {
                    p { "Shown by:" }
                    pre class="code" tabindex="0" { (lines) }
                }
                @if let Some(text) = shelfmark_design::explain(&one.id) {
                    pre class="code" tabindex="0" { (text) }
                }
            }
        }
    }
}

/// Shows the certificate of each pattern in each schema; a refusal shows its witness.
pub(super) fn proofs(document: &Document, schema: Option<&str>) -> Markup {
    let all = document.prove();
    let certificates: Vec<_> =
        all.iter().filter(|one| schema.is_none_or(|name| one.schema == name)).collect();
    html! {
        @if certificates.is_empty() {
            p class="empty" { "There is no schema to prove a pattern in." }
        }
        @for one in certificates {
            @let class = match one.status.word() {
                "certified" => "tag good",
                "multi" => "tag",
                _ => "tag bad",
            };
            details class="proof" {
                summary {
                    span class=(class) { (one.status.word()) } " " (one.pattern) " "
                    span class="soft" { "in " (one.schema) }
                    @if let Some(obligation) = &one.obligation { " " span class="soft" { (obligation) } }
                }
                pre class="code" tabindex="0" { (one.text()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn an_error_tells_its_line() {
        let text = "error: x\n  --> model:12:3\n";
        assert_eq!(place(text), Some(12));
        assert_eq!(place("error: x"), None);
    }
}
