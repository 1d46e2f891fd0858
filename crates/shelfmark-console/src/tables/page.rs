//! The page of a table: keys, indexes, options, and its key line, which zooms.

use bytes::Bytes;
use maud::{Markup, html};
use shelfmark_admin::http::Request;
use shelfmark_engine::{Owner, Table};
use shelfmark_model::{IndexKind, IndexSchema, IndexState, Placement, Projected};
use shelfmark_store::KeyRange;

use super::found::{Found, key_type_text};
use super::list::marks;

use crate::Console;
use crate::fault::{Fault, Result};
use crate::fields::Fields;
use crate::figures::{bytes, count, time};
use crate::key_line::{Effort, Line, LineKeys, Picture, Touched, measure};
use crate::layout::Page;
use crate::request::fields_of;
use crate::response::Response;
use crate::rows::{KeyForm, key_range};

/// Answers `/tables/NAMESPACE/NAME`.
pub(crate) fn page(console: &Console, name: (&str, &str), request: &Request) -> Result<Response> {
    let found = Found::of(console, name)?;
    let fields = fields_of(request)?;
    let index = Some(fields.get("index")).filter(|name| !name.is_empty());
    let keys = match index {
        None => found.keys(),
        Some(name) => {
            let index = found.table.index(name);
            let index = index.ok_or_else(|| Fault::absent(format!("there is no index {name}")))?;
            LineKeys::of_index(&found.table, index.id, &index.schema)
        }
    };
    let range = zoomed(&keys, &fields)?;
    let content = html! {
        (table_head(&found, "table"))
        (key_line(console, &found, index, &keys, &range)?)
        (shape(&found.table))
        (definition(console, &found))
    };
    let title = found.table.schema.name.to_string();
    Ok(Page { title: &title, part: "/tables", script: Some("rows.js") }.around(content))
}

/// Returns the range of stored keys that the query names, within the table's.
fn zoomed(keys: &LineKeys, fields: &Fields) -> Result<KeyRange> {
    let whole = keys.whole();
    let key = |name: &str| -> Result<Option<Bytes>> {
        let wrong = |_| Fault::bad(format!("`{name}` is no key in hexadecimal digits"));
        let text = fields.get(name);
        if text.is_empty() {
            return Ok(None);
        }
        let key = Bytes::from(hex::decode(text).map_err(wrong)?);
        match key >= whole.start && whole.end.as_ref().is_none_or(|end| key <= *end) {
            true => Ok(Some(key)),
            false => Err(Fault::bad(format!("`{name}` is no key of this table"))),
        }
    };
    Ok(KeyRange {
        start: key("from")?.unwrap_or_else(|| whole.start.clone()),
        end: key("to")?.or_else(|| whole.end.clone()),
    })
}

/// Answers `/tables/NAMESPACE/NAME/key`: shows the stretch that a typed key names.
pub(crate) fn find_key(
    console: &Console,
    name: (&str, &str),
    request: &Request,
) -> Result<Response> {
    let found = Found::of(console, name)?;
    let form = KeyForm::read(&found, &fields_of(request)?)?;
    let target = match key_range(console, &found, &form)? {
        Some(range) => {
            let end = range.end.as_ref().map(hex::encode).unwrap_or_default();
            format!("{}?from={}&to={end}", found.address(), hex::encode(&range.start))
        }
        None => found.address(),
    };
    Ok(Response::to(&target))
}

/// Returns the heading of a table's pages, with the way between them.
pub(crate) fn table_head(found: &Found, here: &str) -> Markup {
    let name = &found.table.schema.name;
    let address = found.address();
    let here = |word: &str| (word == here).then_some("page");
    html! {
        p class="path" { a href="/tables" { "Tables" } " / " (name.namespace) }
        h1 { (name.name) " " span class="tag" { (found.owner.word()) } }
        nav class="tabs" aria-label="Pages of the table" {
            a href=(address) aria-current=[here("table")] { "Key line" }
            a href=(format!("{address}/rows")) aria-current=[here("rows")] { "Rows" }
        }
    }
}

fn key_line(
    console: &Console,
    found: &Found,
    index: Option<&str>,
    keys: &LineKeys,
    range: &KeyRange,
) -> Result<Markup> {
    let begun = console.now();
    let line = measure(&**console.engine.store(), keys, range, Effort::PICTURE)?;
    let took = console.now().saturating_sub(begun);
    let address = found.address();
    let is_zoomed = *range != keys.whole();
    let place = index.map_or_else(|| "the table".to_owned(), |name| format!("index {name}"));
    let picture = Picture {
        label: format!("Keys of {place} in their order, by size"),
        line: &line,
        keys,
        zoom: index.is_none().then_some(address.as_str()),
        touched: Touched::default(),
    };
    Ok(html! {
        section aria-labelledby="line-title" {
            h2 id="line-title" {
                "Key line"
                @if let Some(name) = index { " of index " (name) }
                @if is_zoomed { ", closer" }
            }
            @if line.stretches.is_empty() {
                p class="empty" { "There are no rows " (if is_zoomed { "here." } else { "yet." }) }
            } @else {
                p class="figures" { (figures(&line)) span class="soft" { ", measured in " (time(took)) } }
                (picture.svg())
                (legend())
                details { summary { "The stretches as a table" } (picture.table()) }
            }
            @if is_zoomed { p { a href=(address) { "The whole table" } } }
            @if index.is_none() { (KeyForm::empty(found).markup(found, &format!("{address}/key"), "Zoom to the key")) }
        }
    })
}

fn figures(line: &Line) -> Markup {
    let about = if line.is_exact() { "" } else { "about " };
    html! {
        strong { (about) (count(line.partitions())) } " partitions, "
        strong { (about) (count(line.rows())) } " rows, "
        strong { (about) (bytes(line.bytes())) }
        @if !line.is_exact() { span class="soft" { ", sampled" } }
    }
}

fn legend() -> Markup {
    let steps = [
        ("heat-0", "usual"),
        ("heat-1", "2 times the usual partition"),
        ("heat-2", "8 times"),
        ("heat-3", "32 times"),
        ("heat-4", "128 times and more"),
    ];
    html! {
        ul class="legend" aria-label="Colours" {
            @for (class, text) in steps {
                li { svg class="swatch" viewBox="0 0 12 12" aria-hidden="true" {
                    rect class=(class) width="12" height="12" rx="2" {}
                } (text) }
            }
        }
    }
}

fn shape(table: &Table) -> Markup {
    let schema = &table.schema;
    let mut facts = vec![(
        "placement",
        match schema.placement {
            Placement::Hashed => "hashed: partitions lie in the order of their tokens".to_owned(),
            Placement::Ordered => "ordered: partitions lie in the order of their keys".to_owned(),
        },
    )];
    let marks = marks(table);
    if !marks.is_empty() {
        facts.push(("also", marks.join(", ")));
    }
    if schema.options.gc_grace_seconds > 0 {
        facts.push(("gc_grace_seconds", schema.options.gc_grace_seconds.to_string()));
    }
    html! {
        section aria-labelledby="shape-title" {
            h2 id="shape-title" { "Keys and options" }
            div class="scroll" tabindex="0" { table {
                thead { tr { th scope="col" { "key column" } th scope="col" { "part" } th scope="col" { "type" } } }
                tbody {
                    @for own in &schema.partition {
                        tr { th scope="row" { (own.name) } td { "partition key" } td { (key_type_text(&own.key_type)) } }
                    }
                    @for own in &schema.sort {
                        tr { th scope="row" { (own.name) }
                            td { "sort key, " (format!("{:?}", own.direction).to_lowercase()) }
                            td { (key_type_text(&own.key_type)) } }
                    }
                }
            } }
            dl class="facts" { @for (name, text) in &facts { div { dt { (name) } dd { (text) } } } }
            (indexes(table))
        }
    }
}

fn indexes(table: &Table) -> Markup {
    let schema = &table.schema;
    let address = super::found::address(&schema.name);
    let of_cells: Vec<_> = schema.cells.iter().flat_map(|cells| &cells.indexes).collect();
    if schema.indexes.is_empty() && of_cells.is_empty() {
        return html! { p class="soft" { "No indexes." } };
    }
    html! {
        h3 { "Indexes" }
        div class="scroll" tabindex="0" { table {
            thead { tr {
                th scope="col" { "index" } th scope="col" { "key" } th scope="col" { "holds" } th scope="col" { "state" }
            } }
            tbody {
                @for own in &schema.indexes {
                    tr {
                        th scope="row" {
                            a href=(format!("{address}?{}", Fields::default().with("index", &own.name).query())) { (own.name) }
                        }
                        td { (index_key(own)) }
                        td { (held(own)) }
                        td { (state(own.state)) }
                    }
                }
                @for own in of_cells {
                    tr {
                        th scope="row" { (own.name) }
                        td { (format!("{:?}", own.target)) }
                        td { "the rows' keys" }
                        td { (state(own.state)) }
                    }
                }
            }
        } }
    }
}

fn index_key(index: &IndexSchema) -> String {
    let partition: Vec<&str> = index.partition.iter().map(|own| own.name.as_str()).collect();
    let sort: Vec<&str> = index.sort.iter().map(|own| own.name.as_str()).collect();
    let unique = if index.kind == IndexKind::Unique { ", unique" } else { "" };
    format!("{} / {}{unique}", partition.join(", "), sort.join(", "))
}

fn held(index: &IndexSchema) -> String {
    match &index.projected {
        Projected::All => "whole rows".to_owned(),
        Projected::KeysOnly => "keys".to_owned(),
        Projected::Include(names) => format!("keys, {}", names.join(", ")),
    }
}

fn state(state: IndexState) -> &'static str {
    match state {
        IndexState::Building => "being built",
        IndexState::Public => "complete",
        IndexState::Dropping => "being dropped",
    }
}

/// Shows the table's definition in the words of its owner.
fn definition(console: &Console, found: &Found) -> Markup {
    let name = &found.table.schema.name;
    let text = match found.owner {
        Owner::Cql => crate::ask::cql_text(
            console,
            &format!(
                "DESCRIBE TABLE {}.{}",
                shelfmark_cql_types::maybe_quote(&name.namespace),
                shelfmark_cql_types::maybe_quote(&name.name)
            ),
            "create_statement",
        ),
        _ => None,
    };
    html! {
        @if let Some(text) = text {
            section aria-labelledby="definition-title" {
                h2 id="definition-title" { "Definition" }
                pre class="code" tabindex="0" { (text) }
            }
        }
    }
}
