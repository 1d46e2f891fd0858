//! An answer as it is shown: rows or a document, what was read for it, and how long it took.

use std::time::Duration;

use maud::{Markup, html};
use shelfmark_engine::AccessReport;

use super::picture;
use crate::Console;
use crate::fault::Result;
use crate::figures::{count, length, time};

/// The refusal of a face.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    /// Its name of the error.
    pub(super) kind: String,
    /// Its words.
    pub(super) message: String,
    /// The line and column, both from 1, if the words say so.
    pub(super) place: Option<(usize, usize)>,
}

/// An answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The names of the columns, if the answer is rows.
    pub(super) columns: Vec<String>,
    /// The rows.
    pub(super) rows: Vec<Vec<String>>,
    /// Rows that are not shown.
    pub(super) left_out: usize,
    /// The answer as text, if it is no rows.
    pub(super) document: Option<String>,
    /// Sentences beside it.
    pub(super) notes: Vec<String>,
    /// The refusal.
    pub(super) refusal: Option<Refusal>,
    /// The position at which the next page begins.
    pub(super) page: Option<String>,
    /// The access report of all that was read.
    pub(super) report: AccessReport,
}

impl Answer {
    pub(super) fn refused(kind: impl Into<String>, message: impl Into<String>) -> Self {
        let refusal = Refusal { kind: kind.into(), message: message.into(), place: None };
        Self { refusal: Some(refusal), ..Self::default() }
    }

    /// Shows the answer with its picture.
    pub(super) fn markup(&self, console: &Console, took: Duration) -> Result<Markup> {
        Ok(html! {
            @if let Some(refusal) = &self.refusal {
                div class="fault" role="alert" {
                    strong { (refusal.kind) }
                    @if let Some((line, column)) = refusal.place { " at line " (line) ", column " (column) }
                    p { (refusal.message) }
                }
            }
            (self.cost(took))
            (picture::shown(console, &self.report)?)
            @for note in &self.notes { p class="note" { (note) } }
            @if !self.columns.is_empty() { (self.table()) }
            @if let Some(document) = &self.document {
                pre class="code" tabindex="0" aria-label="Answer" { (document) }
            }
            @if self.left_out > 0 { p class="soft" { (count(length(self.left_out))) " more rows are not shown; ask for fewer, or by pages." } }
            @if self.page.is_some() {
                div class="buttons" { button type="button" data-next-page="" { "Next page" } }
            }
        })
    }

    fn cost(&self, took: Duration) -> Markup {
        let (read, returned) = (self.report.rows_read(), self.report.rows_returned());
        let ranges: usize = self.report.steps.iter().map(|step| step.ranges.len()).sum();
        html! {
            p class="figures" {
                strong { (count(read)) } " rows read, "
                strong { (count(returned)) } " kept, "
                strong { (count(length(ranges))) } (if ranges == 1 { " range, " } else { " ranges, " })
                strong { (crate::figures::bytes(self.report.bytes_read())) } ", "
                (time(took))
                @if read > returned {
                    " " span class="warn" {
                        "– " (count(read - returned)) " rows were read for nothing: a filter threw them away"
                    }
                }
            }
        }
    }

    fn table(&self) -> Markup {
        html! {
            div class="scroll" tabindex="0" role="region" aria-label="Rows of the answer" {
                table class="list" {
                    thead { tr { @for name in &self.columns { th scope="col" { (name) } } } }
                    tbody {
                        @for row in &self.rows { tr { @for cell in row { td { (cell) } } } }
                    }
                }
            }
            p class="soft" { (count(length(self.rows.len()))) " rows" }
        }
    }
}
