//! The list of tables: paged, filtered by name and by owner, with a size each.
//!
//! Invariant: one page of it reads the names, and then only of its own tables the form and a few rows.

use std::sync::Arc;

use maud::{Markup, html};
use shelfmark_admin::http::Request;
use shelfmark_engine::{Engine, Owner, Table};
use shelfmark_model::{Direction, RowKind, TableName, TtlSource};

use super::found::{address, key_type_text};

use crate::Console;
use crate::fault::Result;
use crate::fields::Fields;
use crate::figures::{bytes, count};
use crate::key_line::{Effort, LineKeys, measure};
use crate::layout::Page;
use crate::limits::{NAMES_AT_ONCE, NAMES_MAX, TABLES_LOOKED_MAX, TABLES_PAGE};
use crate::request::fields_of;
use crate::response::Response;

/// A table that can or cannot be read.
enum Listed {
    Table(Arc<Table>),
    Damaged(TableName, String),
}

/// Answers `/tables`.
pub(crate) fn list(console: &Console, request: &Request) -> Result<Response> {
    let fields = fields_of(request)?;
    let wanted = Wanted::of(&fields);
    let (listed, next) = wanted.find(&console.engine)?;
    let content = html! {
        h1 { "Tables" }
        (form(&wanted))
        @if listed.is_empty() && next.is_some() {
            p class="soft" { "No table of this part of the list is like that; there are more." }
        } @else if listed.is_empty() {
            (nothing(&wanted))
        } @else {
            (table(console, &listed)?)
        }
        nav class="pager" aria-label="Pages of tables" {
            @if !fields.get("after").is_empty() {
                a href=(format!("/tables?{}", fields.with("after", "").query())) data-page="first" { "First page" }
            }
            @if let Some(next) = &next {
                @let query = fields.with("after", &joined(next)).query();
                a rel="next" data-page="next" href=(format!("/tables?{query}")) { "Next page" }
            }
        }
    };
    Ok(Page { title: "Tables", part: "/tables", script: None }.around(content))
}

/// The tables that are asked for.
struct Wanted {
    filter: String,
    owner: Option<Owner>,
    internal: bool,
    after: Option<TableName>,
}

impl Wanted {
    fn of(fields: &Fields) -> Self {
        let after = fields.get("after").split_once('\0');
        Self {
            filter: fields.get("filter").trim().to_lowercase(),
            owner: Owner::ALL.into_iter().find(|own| own.word() == fields.get("owner")),
            internal: !fields.get("internal").is_empty(),
            after: after.map(|(namespace, name)| TableName::new(namespace, name)),
        }
    }

    fn takes(&self, name: &TableName) -> bool {
        let own = matches!(Owner::of_reserved_name(&name.namespace), Some(owner) if owner != Owner::DynamoDb);
        (self.internal || !own)
            && (self.filter.is_empty() || name.to_string().to_lowercase().contains(&self.filter))
    }

    /// Returns a page of tables, and the name behind which the next one begins if there may be more. Where
    /// few of the tables are wanted a page ends after those that were looked at.
    fn find(&self, engine: &Engine) -> Result<(Vec<Listed>, Option<TableName>)> {
        let (mut listed, mut after) = (Vec::new(), self.after.clone());
        let (mut names_left, mut tables_left) = (NAMES_MAX, TABLES_LOOKED_MAX);
        loop {
            let names = engine.table_names(None, after.as_ref(), NAMES_AT_ONCE)?;
            names_left = names_left.saturating_sub(names.len());
            let is_last = names.len() < NAMES_AT_ONCE;
            for name in names {
                if self.takes(&name) {
                    if listed.len() == TABLES_PAGE || tables_left == 0 {
                        return Ok((listed, after));
                    }
                    tables_left -= 1;
                    listed.extend(self.look(engine, &name));
                }
                after = Some(name);
            }
            match (is_last, names_left) {
                (true, _) => return Ok((listed, None)),
                (false, 0) => return Ok((listed, after)),
                (false, _) => {}
            }
        }
    }

    /// Returns a table, unless it belongs to another owner than is asked for.
    fn look(&self, engine: &Engine, name: &TableName) -> Option<Listed> {
        match engine.table(name) {
            Ok(table) => {
                let is_wanted = self.owner.is_none_or(|own| own == Owner::of_table(&table.schema));
                is_wanted.then_some(Listed::Table(table))
            }
            Err(error) => Some(Listed::Damaged(name.clone(), error.to_string())),
        }
    }
}

fn joined(name: &TableName) -> String {
    format!("{}\0{}", name.namespace, name.name)
}

fn form(wanted: &Wanted) -> Markup {
    html! {
        form class="bar" method="get" action="/tables" role="search" {
            label { "Filter "
                input type="search" name="filter" value=(wanted.filter) data-focus="filter"
                    placeholder="part of a name" maxlength="200";
            }
            label { "Owner "
                select name="owner" {
                    option value="" { "all" }
                    @for owner in Owner::ALL {
                        option value=(owner.word()) selected[wanted.owner == Some(owner)] {
                            (owner.word())
                        }
                    }
                }
            }
            label class="check" {
                input type="checkbox" name="internal" value="1" checked[wanted.internal];
                " the server's own"
            }
            button { "Show" }
        }
    }
}

fn nothing(wanted: &Wanted) -> Markup {
    html! {
        div class="empty" {
            @if wanted.filter.is_empty() && wanted.owner.is_none() && wanted.after.is_none() {
                p { "There are no tables yet." }
                p { "Create one with any client, in " a href="/ask" { "Ask" } ", or from a model in "
                    a href="/models" { "Models" } "." }
            } @else {
                p { "No table is like that. " a href="/tables" { "Show all" } }
            }
        }
    }
}

fn table(console: &Console, listed: &[Listed]) -> Result<Markup> {
    Ok(html! {
        div class="scroll" tabindex="0" {
            table class="list" data-list="" {
                thead { tr {
                    th scope="col" { "table" }
                    th scope="col" { "owner" }
                    th scope="col" { "partition key" }
                    th scope="col" { "sort key" }
                    th scope="col" { "indexes" }
                    th scope="col" class="number" { "rows" }
                    th scope="col" class="number" { "size" }
                    th scope="col" { "also" }
                } }
                tbody {
                    @for one in listed {
                        @match one {
                            Listed::Table(table) => (row(console, table)?),
                            Listed::Damaged(name, why) => {
                                tr { th scope="row" { (name) } td colspan="7" class="fault" { (why) } }
                            }
                        }
                    }
                }
            }
        }
    })
}

fn row(console: &Console, table: &Table) -> Result<Markup> {
    let schema = &table.schema;
    let keys = LineKeys::of_table(table, None);
    let line = measure(&**console.engine.store(), &keys, &keys.whole(), Effort::FIGURE)?;
    let about = if line.is_exact() { "" } else { "≈ " };
    let indexes = index_names(table);
    Ok(html! {
        tr {
            th scope="row" {
                a href=(address(&schema.name)) {
                    span class="soft" { (schema.name.namespace) "." } (schema.name.name)
                }
            }
            td { (Owner::of_table(schema).word()) }
            td { @for own in &schema.partition { (column(&own.name, &key_type_text(&own.key_type), "")) } }
            td {
                @for own in &schema.sort {
                    @let down = if own.direction == Direction::Descending { " ↓" } else { "" };
                    (column(&own.name, &key_type_text(&own.key_type), down))
                }
            }
            td { (indexes.join(", ")) }
            td class="number" { (about) (count(line.rows())) }
            td class="number" { (about) (bytes(line.bytes())) }
            td { (marks(table).join(", ")) }
        }
    })
}

fn column(name: &str, kind: &str, down: &str) -> Markup {
    html! { span class="column" { (name) " " span class="soft" { (kind) (down) } } " " }
}

fn index_names(table: &Table) -> Vec<&str> {
    let schema = &table.schema;
    let of_cells = schema.cells.iter().flat_map(|cells| &cells.indexes);
    let of_items = schema.indexes.iter().map(|index| index.name.as_str());
    of_items.chain(of_cells.map(|index| index.name.as_str())).collect()
}

/// Returns what else a table has, in a word each.
pub(super) fn marks(table: &Table) -> Vec<String> {
    let (schema, options) = (&table.schema, &table.schema.options);
    let mut marks = Vec::new();
    match &options.ttl {
        Some(TtlSource::Attribute(name)) => marks.push(format!("expiry by {name}")),
        Some(TtlSource::PerItem) => marks.push("expiry".to_owned()),
        None => {}
    }
    let word = |is_so: bool, word: &str| is_so.then(|| word.to_owned());
    marks.extend(word(options.stream.is_some(), "stream"));
    marks.extend(word(options.change_log, "change log"));
    marks.extend(word(options.history.is_some(), "history"));
    marks.extend(word(options.exact_counts, "exact counts"));
    let view = schema.cells.as_ref().is_some_and(|cells| cells.view_of.is_some());
    marks.extend(word(view, "view"));
    marks.extend(word(schema.rows == RowKind::Cells, "rows of cells"));
    marks
}
