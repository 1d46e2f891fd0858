//! The report as tables: patterns, requests that none covers, findings, data.

use maud::{Markup, html};
use shelfmark_admin::{
    Declared, PatternEntry, Spread, TableChecks, UncoveredEntry, WatchFinding, WatchReport,
    rate_text,
};

use crate::figures::{count, counted};

/// Shows a report.
pub(super) fn shown(report: &WatchReport) -> Markup {
    html! {
        p class="figures" {
            strong { (report.model) } ", schema " strong { (report.schema) } " for " (report.target)
            ": " (count(report.watched_ms / 1_000)) " s, " (counted(report.requests, "request"))
            @for (number, what) in beside(report) { ", " (count(number)) " " (what) }
        }
        (patterns(report))
        (uncovered(&report.uncovered, report.uncovered_more))
        (findings(&report.findings))
        (tables(&report.tables))
    }
}

fn beside(report: &WatchReport) -> impl Iterator<Item = (u64, &'static str)> {
    let all = [
        (report.refused, "refused or failed"),
        (report.dropped, "let go, too fast to compare"),
        (report.unread, "of a form that is not compared"),
    ];
    all.into_iter().filter(|(number, _)| *number > 0)
}

fn patterns(report: &WatchReport) -> Markup {
    html! {
        section aria-labelledby="watch-patterns" {
            h2 id="watch-patterns" { "Patterns" }
            div class="scroll" tabindex="0" role="region" aria-label="Patterns of the model" { table {
                thead { tr {
                    th scope="col" { "pattern" } th scope="col" { "request" } th scope="col" { "status" }
                    th scope="col" class="number" { "calls" }
                    th scope="col" class="number" { "rate" } th scope="col" class="number" { "busiest" }
                    th scope="col" class="number" { "declared" }
                    th scope="col" class="number" { "rows p50, p99, max" }
                    th scope="col" class="number" { "declared" }
                    th scope="col" class="number" { "read" }
                    th scope="col" class="number" { "µs p50, p99, max" }
                } }
                tbody { @for own in &report.patterns { (pattern(own)) } }
            } }
            @if !report.left_out.is_empty() {
                details {
                    summary { (count(report.left_out.len() as u64)) " not compared" }
                    ul { @for (name, why) in &report.left_out { li { strong { (name) } ": " (why) } } }
                }
            }
        }
    }
}

fn pattern(own: &PatternEntry) -> Markup {
    let class = match own.status.as_str() {
        "covered" => "tag good",
        "not seen" => "tag",
        _ => "tag warn",
    };
    html! {
        tr {
            th scope="row" { (own.patterns.join(", ")) }
            td { code { (own.request) } }
            td { span class=(class) { (own.status) } }
            td class="number" {
                (count(own.calls))
                @if own.further > 0 { " + " (count(own.further)) " of further steps" }
            }
            td class="number" { (rate_text(own.rate)) }
            td class="number" { (rate_text(own.busiest_rate)) }
            td class="number" { (own.declared_rate.map_or_else(|| "–".to_owned(), rate_text)) }
            td class="number" { @if own.reads { (seen(own, &own.rows_returned)) } @else { "–" } }
            td class="number" { @if own.reads { (declared(&own.declared_rows)) } @else { "–" } }
            td class="number" { @if own.reads { (seen(own, &own.rows_read)) } @else { "–" } }
            td class="number" { (seen(own, &own.took_us)) }
        }
    }
}

/// Returns the figures of a pattern's calls; without a call there are none.
fn seen(own: &PatternEntry, spread: &Spread) -> String {
    if own.calls == 0 {
        return "–".to_owned();
    }
    format!("{}, {}, {}", count(spread.p50), count(spread.p99), count(spread.max))
}

fn declared(declared: &Declared) -> String {
    declared.text()
}

fn uncovered(all: &[UncoveredEntry], more: u64) -> Markup {
    html! {
        section aria-labelledby="watch-uncovered" {
            h2 id="watch-uncovered" { "Requests that no pattern covers" }
            @if all.is_empty() { p class="good" { "None." } }
            @for own in all {
                article class="finding" {
                    h3 { code { (own.request) } }
                    p {
                        (counted(own.calls, "call")) ", " (rate_text(own.rate)) "; rows "
                        (own.rows_returned.text()) ", read " (own.rows_read.text()) ": " (own.why) "."
                    }
                    @if !own.proposed.is_empty() {
                        p { "The model would cover it with:" }
                        pre class="code" tabindex="0" { (own.proposed.join("\n")) }
                    }
                }
            }
            @if more > 0 { p class="soft" { "And " (counted(more, "request")) " of further forms." } }
        }
    }
}

fn findings(all: &[WatchFinding]) -> Markup {
    html! {
        section aria-labelledby="watch-findings" {
            h2 id="watch-findings" { "Findings" }
            @if all.is_empty() { p class="good" { "None." } }
            @else {
                div class="scroll" tabindex="0" role="region" aria-label="Findings of the watch" { table {
                    thead { tr {
                        th scope="col" { "kind" } th scope="col" { "about" } th scope="col" { "seen" }
                        th scope="col" class="number" { "times" }
                    } }
                    tbody { @for own in all { tr {
                        td { span class="tag warn" { (own.kind) } }
                        th scope="row" { (own.about) }
                        td { (own.message) }
                        td class="number" { (count(own.count)) }
                    } } }
                } }
            }
        }
    }
}

fn tables(all: &[TableChecks]) -> Markup {
    html! {
        section aria-labelledby="watch-data" {
            h2 id="watch-data" { "Data looked at" }
            @if all.is_empty() { p class="soft" { "None yet." } }
            ul {
                @for own in all { li {
                    strong { (own.table) } ": " (count(own.sampled)) " rows sampled, " (count(own.written))
                    " seen as they were put, the whole table " (count(own.rounds)) " times"
                    @if let Some(why) = &own.unreadable { "; cannot be read: " (why) }
                } }
            }
        }
    }
}
