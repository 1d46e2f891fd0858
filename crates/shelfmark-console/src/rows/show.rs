//! Shows a page of rows, whole or as the part that changes while a key is typed.

use maud::{Markup, html};
use shelfmark_admin::http::Request;

use super::key_form::KeyForm;
use super::read::{RowsPage, Wanted, read};

use crate::Console;
use crate::fault::{Fault, Result};
use crate::fields::Fields;
use crate::figures::{count, time};
use crate::key_line::{Effort, Picture, Touched, measure};
use crate::layout::Page;
use crate::request::fields_of;
use crate::response::Response;
use crate::tables::{Found, table_head};

/// Columns of the list beside those of the key.
const COLUMNS_MAX: usize = 10;
/// Names among which they are chosen.
const NAMES_MAX: usize = 200;

/// Answers `/tables/NAMESPACE/NAME/rows`.
pub(crate) fn page(console: &Console, name: (&str, &str), request: &Request) -> Result<Response> {
    let found = Found::of(console, name)?;
    let fields = fields_of(request)?;
    let form = KeyForm::read(&found, &fields)?;
    let address = format!("{}/rows", found.address());
    let rows = rows(console, &found, &form, &fields, request);
    let content = html! {
        (table_head(&found, "rows"))
        (form.markup(&found, &address, "Show"))
        @if super::row::is_writable(&found) {
            p { button type="button" data-add="" { "Add a row" } }
        } @else {
            p class="soft" { "Rows of this table are read only here: what writes it is a program of its own." }
        }
        div id="rows" data-part=(format!("{address}/part")) data-act=(format!("{}/row", found.address())) {
            @match rows {
                Ok(rows) => (rows),
                Err(fault) => (refusal(&fault)),
            }
        }
        (dialog())
    };
    let title = format!("Rows of {}", found.table.schema.name);
    Ok(Page { title: &title, part: "/tables", script: Some("rows.js") }.around(content))
}

/// Answers with the rows alone, for a key that is being typed.
pub(crate) fn part(console: &Console, name: (&str, &str), request: &Request) -> Result<Response> {
    let found = Found::of(console, name)?;
    let fields = fields_of(request)?;
    let form = KeyForm::read(&found, &fields)?;
    let shown = rows(console, &found, &form, &fields, request);
    Ok(Response::html(200, shown.unwrap_or_else(|fault| refusal(&fault))))
}

fn refusal(fault: &Fault) -> Markup {
    html! { p class="fault" role="alert" { (fault.message) } }
}

fn rows(
    console: &Console,
    found: &Found,
    form: &KeyForm,
    fields: &Fields,
    request: &Request,
) -> Result<Markup> {
    let wanted = Wanted {
        form,
        descending: fields.get("order") == "desc",
        cursor: fields.get("at"),
        back: fields.get("way") == "back",
    };
    let page = read(console, found, &wanted, request)?;
    Ok(html! {
        (summary(&page))
        @if !form.is_empty() { (line(console, found, &page)?) }
        @if page.rows.is_empty() {
            p class="empty" { "No rows " (if form.is_empty() { "here." } else { "have such a key." }) }
        } @else {
            (table(found, &page))
        }
        (pager(found, form, fields, &page))
    })
}

fn summary(page: &RowsPage) -> Markup {
    let read = page.report.rows_read();
    html! {
        p class="figures" {
            strong { (count(crate::figures::length(page.rows.len()))) } " rows shown, "
            strong { (count(read)) } " read " span class="soft" { "in " (time(page.took)) }
        }
    }
}

/// Draws the range that was read on the table's key line.
fn line(console: &Console, found: &Found, page: &RowsPage) -> Result<Markup> {
    let keys = found.keys();
    let line = measure(&**console.engine.store(), &keys, &keys.whole(), Effort::BESIDE)?;
    let ranges: Vec<_> =
        page.report.steps.iter().flat_map(|step| step.ranges.iter().cloned()).collect();
    let picture = Picture {
        label: format!("Where these rows lie among all keys of {}", found.table.schema.name),
        line: &line,
        keys: &keys,
        zoom: None,
        touched: Touched { ranges: &ranges },
    };
    Ok(picture.svg())
}

fn pager(found: &Found, form: &KeyForm, fields: &Fields, page: &RowsPage) -> Markup {
    let address = format!("{}/rows", found.address());
    let link = |fields: &Fields| format!("{address}?{}", fields.query());
    let start = fields.with("at", "").with("way", "");
    let turned = match fields.get("order") {
        "desc" => start.with("order", ""),
        _ => start.with("order", "desc"),
    };
    // CQL reads partitions both ways, a whole table forwards.
    let can_turn = found.cql.is_none() || !form.is_empty() && !found.table.schema.sort.is_empty();
    html! {
        nav class="pager" aria-label="Pages of rows" {
            @if !fields.get("at").is_empty() { a data-page="first" href=(link(&start)) { "First page" } }
            @if let Some(previous) = &page.previous {
                a rel="prev" data-page="previous" href=(link(&fields.with("at", previous).with("way", "back"))) {
                    "Previous page"
                }
            }
            @if let Some(next) = &page.next {
                a rel="next" data-page="next" href=(link(&fields.with("at", next).with("way", ""))) { "Next page" }
            }
            @if can_turn {
                a data-page="turn" href=(link(&turned)) {
                    (if fields.get("order") == "desc" { "From the first key" } else { "From the last key" })
                }
            }
        }
    }
}

fn table(found: &Found, page: &RowsPage) -> Markup {
    let columns = columns(found, page);
    let keys = found.table.schema.key_names().count();
    html! {
        div class="scroll" tabindex="0" {
            table class="list rows" data-list="" {
                thead { tr {
                    th scope="col" { span class="hidden" { "open" } }
                    @for (at, name) in columns.iter().enumerate() {
                        th scope="col" class=[(at < keys).then_some("key")] { (name) }
                    }
                } }
                tbody {
                    @for row in &page.rows {
                        tr data-row=(row.key) {
                            td { button type="button" class="open" aria-label=(format!("Open row {}", name_of(row, keys))) { "⋯" } }
                            @for name in &columns {
                                td { (row.cells.iter().find(|(own, _)| own == name).map_or("", |(_, text)| text)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn name_of(row: &super::read::ListedRow, keys: usize) -> String {
    let texts: Vec<&str> = row.cells.iter().take(keys).map(|(_, text)| text.as_str()).collect();
    texts.join(", ")
}

/// Returns the columns of the key, and then the names that most rows have.
fn columns(found: &Found, page: &RowsPage) -> Vec<String> {
    let mut names: Vec<String> = found.table.schema.key_names().map(str::to_owned).collect();
    let keys = names.len();
    let mut others: Vec<(String, usize)> = Vec::new();
    for (name, _) in page.rows.iter().flat_map(|row| &row.cells) {
        if names.contains(name) {
            continue;
        }
        if let Some((_, times)) = others.iter_mut().find(|(own, _)| own == name) {
            *times += 1;
        } else if others.len() < NAMES_MAX {
            others.push((name.clone(), 1));
        }
    }
    others.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    names.extend(others.into_iter().map(|(name, _)| name).take(COLUMNS_MAX));
    debug_assert!(names.len() <= keys + COLUMNS_MAX, "the columns are bounded");
    names
}

/// Returns the dialog in which a row is opened, written and deleted; a script fills it.
fn dialog() -> Markup {
    html! {
        dialog id="row" aria-labelledby="row-title" {
            h2 id="row-title" { "Row" }
            div class="tabs" role="tablist" aria-label="Forms of the row" {
                @for (id, text) in [("document", "Document"), ("dynamodb", "DynamoDB JSON"), ("insert", "INSERT"), ("rust", "Rust")] {
                    button type="button" role="tab" id=(format!("tab-{id}")) data-form=(id)
                        aria-controls="row-form" aria-selected=(if id == "document" { "true" } else { "false" }) { (text) }
                }
            }
            div id="row-form" role="tabpanel" aria-labelledby="tab-document" tabindex="0" { pre class="code" {} }
            div id="row-edit" hidden {
                label for="row-text" id="row-text-label" { "The row as JSON" }
                textarea id="row-text" spellcheck="false" rows="14" {}
            }
            div id="row-effects" role="status" aria-live="polite" {}
            div class="buttons" {
                button type="button" data-do="copy" { "Copy" }
                button type="button" data-do="edit" { "Edit" }
                button type="button" data-do="duplicate" { "Duplicate" }
                button type="button" data-do="delete" class="danger" { "Delete" }
                button type="button" data-do="save" hidden { "Save" }
                button type="button" data-do="close" { "Close" }
            }
        }
    }
}
