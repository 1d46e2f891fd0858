//! The server's page: charts of its metrics, which the browser draws as they come, and what it is now.
//!
//! What it is not: a second set of numbers. The page asks `/metrics` like any other reader.

use maud::{Markup, html};
use shelfmark_engine::BackgroundStatus;

use crate::Console;
use crate::fault::Result;
use crate::figures::{bytes, count, length};
use crate::layout::Page;
use crate::response::Response;

/// The charts: an id for the script, a title, and the unit of the axis.
const CHARTS: [(&str, &str, &str); 8] = [
    ("requests", "Requests", "a second, by face"),
    ("latency", "Latency", "milliseconds, p50 and p99 of all requests"),
    ("commits", "Commits and syncs", "a second"),
    ("refused", "Refused and failed", "a second"),
    ("memory", "Memory of clients", "bytes, taken and at most"),
    ("tables", "Memory tables", "bytes"),
    ("disk", "On disk", "bytes, table files and commit log"),
    ("work", "Background work", "flushes and compactions a minute"),
];

/// Answers `/server`.
pub(crate) fn page(console: &Console) -> Result<Response> {
    let store = console.engine.store();
    let stats = store.stats();
    let caps = store.caps();
    let background = console.engine.background();
    let refusal = store.refusal().map(|why| why.to_string());
    let facts = [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("durability", format!("{:?}", caps.durability)),
        ("commits since it was created", count(stats.published)),
        ("open snapshots", count(stats.snapshots_open)),
        ("free on the disk", stats.disk_free_bytes.map_or_else(|| "unknown".to_owned(), bytes)),
        ("largest commit", bytes(length(caps.commit_size_bytes_max))),
        ("records set aside", count(length(background.set_aside.len()))),
    ];
    let content = html! {
        h1 { "Server" }
        @match refusal {
            Some(why) => { p class="fault" role="alert" { "Writes are refused: " (why) } }
            None => { p class="good" { "Healthy: writes are taken." } }
        }
        div id="charts" class="charts" data-every="2000" {
            @for (id, title, unit) in CHARTS {
                figure class="chart" data-chart=(id) {
                    figcaption { strong { (title) } " " span class="soft" { (unit) } }
                    svg viewBox="0 0 400 120" role="img" aria-label=(format!("{title}, {unit}")) {}
                    p class="legend" {}
                }
            }
        }
        section aria-labelledby="operations-title" {
            h2 id="operations-title" { "Operations" }
            div class="scroll" tabindex="0" role="region" aria-label="Requests by operation" {
                table {
                    thead { tr {
                        th scope="col" { "face" } th scope="col" { "operation" }
                        th scope="col" class="number" { "requests" } th scope="col" class="number" { "a second" }
                        th scope="col" class="number" { "p50" } th scope="col" class="number" { "p99" }
                    } }
                    tbody id="operations" { tr { td colspan="6" class="soft" { "No requests yet." } } }
                }
            }
        }
        (work(&background))
        section aria-labelledby="facts-title" {
            h2 id="facts-title" { "What it is" }
            dl class="facts" { @for (name, text) in &facts { div { dt { (name) } dd { (text) } } } }
        }
        section aria-labelledby="told-title" data-told="" {
            h2 id="told-title" { "Connections, slow requests and settings" }
            div id="told-parts" { p class="soft" { "Asked of the server…" } }
        }
    };
    Ok(Page { title: "Server", part: "/server", script: Some("server.js") }.around(content))
}

/// Lists what is done in the background, and what of it fails.
fn work(background: &BackgroundStatus) -> Markup {
    html! {
        section aria-labelledby="work-title" {
            h2 id="work-title" { "Background work" }
            div class="scroll" tabindex="0" { table {
                thead { tr {
                    th scope="col" { "work" } th scope="col" class="number" { "runs" } th scope="col" class="number" { "done" }
                    th scope="col" class="number" { "failed" } th scope="col" { "last error" }
                } }
                tbody {
                    @for own in &background.works {
                        tr {
                            th scope="row" { (own.work.name()) }
                            td class="number" { (count(own.runs)) }
                            td class="number" { (count(own.done)) }
                            td class="number" { (count(own.failures)) }
                            td { (own.last_error.as_ref().map_or("", |error| error.message.as_str())) }
                        }
                    }
                }
            } }
        }
    }
}
