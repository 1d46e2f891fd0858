//! The tables of one schema on a server of CQL: statements in, rows out as items.
//!
//! Statements are prepared as `design calls` prints them, and run with the values bound to their markers.
//!
//! Invariant: everything is in one keyspace of its own, which goes when the run ends.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use shelfmark_cql_protocol::client::{Execute, Page, PreparedStatement, Query, Request};
use shelfmark_cql_protocol::{BoundValue, Consistency};
use shelfmark_design::trial::{Ask, KeyValue};
use shelfmark_design_language::codec;
use shelfmark_design_language::model::Value;
use shelfmark_design_language::model::types::{Sizes, Type};

use super::endpoint::CqlEndpoint;
use super::fill::{Open, Places};
use super::server::{Server, in_order};
use super::statement;
use super::wire::{attribute, bytes_of, bytes_of_hex, hex_of};

/// The keyspace of the tables.
const KEYSPACE: &str = "shelfmark_confirm";

/// Rows of one page.
const PAGE_ROWS: i32 = 5_000;

/// The columns of a table with their types, and whether all beside its key count.
type Columns = (BTreeMap<String, Type>, bool);

/// The tables of a schema behind an endpoint.
pub(super) struct Cql<'e> {
    endpoint: &'e dyn CqlEndpoint,
    /// The columns of each table and view.
    columns: BTreeMap<String, Columns>,
    /// The tables, without the views.
    tables: Vec<String>,
    /// The statements that the server knows already, by their texts.
    prepared: RefCell<BTreeMap<String, PreparedStatement>>,
}

impl<'e> Cql<'e> {
    /// Creates the keyspace and the tables.
    pub(super) fn new(
        endpoint: &'e dyn CqlEndpoint,
        create: &[Json],
        columns: BTreeMap<String, Columns>,
    ) -> Result<Self, String> {
        let statements: Vec<&str> = create.iter().filter_map(Json::as_str).collect();
        let table = |text: &&str| text.starts_with("CREATE TABLE ");
        let named = |text: &&str| Some(bare(text.split_whitespace().nth(2)?));
        let tables = statements.iter().filter(|text| table(text)).filter_map(named).collect();
        let server = Self { endpoint, columns, tables, prepared: RefCell::default() };
        server.run(&format!(
            "CREATE KEYSPACE {KEYSPACE} WITH replication = \
             {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
        ))?;
        let rest = std::iter::once(format!("USE {KEYSPACE}"));
        let rest = rest.chain(statements.iter().map(|text| (*text).to_owned()));
        for text in rest {
            if let Err(why) = server.run(&text) {
                // The first fault is the one to tell.
                let _ = server.drop_tables();
                return Err(why);
            }
        }
        Ok(server)
    }

    /// Runs a statement and returns its rows.
    fn run(&self, text: &str) -> Result<Option<Page>, String> {
        self.paged(text, |paging| {
            Request::Query(Query { text, page_size: Some(PAGE_ROWS), paging, ..Query::default() })
        })
    }

    /// Runs a filled request, whose statement is prepared as it is printed.
    fn run_prepared(&self, request: &Json) -> Result<Option<Page>, String> {
        let text = request.get("statement").and_then(Json::as_str).unwrap_or("");
        let (statement, values) = self.bound(request)?;
        if request.get("page_size").is_some() {
            return self.executed(request, (&statement, &values), None);
        }
        self.paged(text, |paging| execute((&statement, &values), PAGE_ROWS, paging))
    }

    /// Returns the prepared statement of a filled request, and its values.
    fn bound(&self, request: &Json) -> Result<(PreparedStatement, Vec<BoundValue>), String> {
        let text = request.get("statement").and_then(Json::as_str).unwrap_or("");
        let bound = request.get("bound").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let statement = self.prepare(text)?;
        if statement.markers.len() != bound.len() {
            let markers = statement.markers.len();
            return Err(format!("{text}: it has {markers} markers for {} values", bound.len()));
        }
        let values = statement.markers.iter().zip(bound).map(|(marker, value)| {
            let bytes = bytes_of(value, &marker.kind);
            bytes.ok_or_else(|| format!("{text}: {value} is no value of {}", marker.name))
        });
        let values = values.collect::<Result<_, String>>()?;
        Ok((statement, values))
    }

    /// Runs a statement for one page of the size that stands beside it.
    fn executed(
        &self,
        request: &Json,
        bound: (&PreparedStatement, &[BoundValue]),
        paging: Option<bytes::Bytes>,
    ) -> Result<Option<Page>, String> {
        let size = request.get("page_size").and_then(Json::as_i64);
        let size = size.and_then(|size| i32::try_from(size).ok()).unwrap_or(PAGE_ROWS);
        let answer = self.endpoint.run(&execute(bound, size, paging));
        answer.map(|one| one.page).map_err(|why| format!("{request}: {why}"))
    }

    fn prepare(&self, text: &str) -> Result<PreparedStatement, String> {
        if let Some(known) = self.prepared.borrow().get(text) {
            return Ok(known.clone());
        }
        let said = |why: String| format!("{text}: {why}");
        let answer = self.endpoint.run(&Request::Prepare(text)).map_err(said)?;
        let none = || format!("{text}: the server prepares nothing");
        let statement = *answer.prepared.ok_or_else(none)?;
        self.prepared.borrow_mut().insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Sends a request for each page of its rows.
    fn paged<'r>(
        &self,
        text: &str,
        request: impl Fn(Option<bytes::Bytes>) -> Request<'r>,
    ) -> Result<Option<Page>, String> {
        let send = |paging| {
            let answer = self.endpoint.run(&request(paging));
            answer.map(|one| one.page).map_err(|why| format!("{text}: {why}"))
        };
        let Some(mut whole) = send(None)? else { return Ok(None) };
        while let Some(paging) = whole.paging.take() {
            let Some(next) = send(Some(paging))? else { break };
            whole.rows.extend(next.rows);
            whole.paging = next.paging;
        }
        Ok(Some(whole))
    }

    /// Returns the rows of a page as items; identifiers keep their type if they are `typed`.
    fn items(&self, table: &str, page: &Page, typed: bool) -> Result<Vec<Json>, String> {
        let (types, _) = self.columns.get(table).ok_or_else(|| format!("no table {table}"))?;
        let row = |row: &Vec<Option<bytes::Bytes>>| {
            let mut item = Map::new();
            for (column, value) in page.columns.iter().zip(row) {
                let name: &str = &column.name;
                let (Some(ty), Some(bytes)) = (types.get(name), value) else { continue };
                let shown = attribute(bytes, ty, typed);
                let shown = shown.ok_or_else(|| format!("{name} of {table} cannot be read"))?;
                item.insert(name.to_owned(), shown);
            }
            Ok(Json::Object(item))
        };
        page.rows.iter().map(row).collect()
    }

    /// Returns the statement that puts an item.
    fn insert(&self, table: &str, item: &Json) -> Result<String, String> {
        let none = || format!("no table {table}");
        let (types, counts) = self.columns.get(table).ok_or_else(none)?;
        let mut terms = Vec::new();
        for (name, attribute) in item.as_object().into_iter().flatten() {
            let ty = types.get(name).ok_or_else(|| format!("no column {name} in {table}"))?;
            let value = value(attribute, ty).ok_or_else(|| format!("{name} is no value"))?;
            terms.push((quoted(name), shelfmark_design::trial::cql_literal(&value, ty), ty));
        }
        if *counts {
            let key = self.key_of(table)?;
            let of_key = |name: &String| key.contains(name);
            let (own, beside): (Vec<_>, Vec<_>) =
                terms.into_iter().partition(|(name, ..)| of_key(name));
            let set = beside.iter().map(|(name, value, _)| format!("{name} = {name} + {value}"));
            let own = own.iter().map(|(name, value, _)| format!("{name} = {value}"));
            let (set, own): (Vec<String>, Vec<String>) = (set.collect(), own.collect());
            return Ok(format!(
                "UPDATE {} SET {} WHERE {}",
                quoted(table),
                set.join(", "),
                own.join(" AND ")
            ));
        }
        let names: Vec<&str> = terms.iter().map(|(name, ..)| name.as_str()).collect();
        let values: Vec<&str> = terms.iter().map(|(_, value, _)| value.as_str()).collect();
        Ok(format!(
            "INSERT INTO {} ({}) VALUES ({})",
            quoted(table),
            names.join(", "),
            values.join(", ")
        ))
    }

    fn key_of(&self, table: &str) -> Result<Vec<String>, String> {
        let text = format!(
            "SELECT column_name, kind FROM system_schema.columns \
             WHERE keyspace_name = '{KEYSPACE}' AND table_name = '{table}'"
        );
        let page = self.run(&text)?.unwrap_or_default();
        let text = |cell: Option<&Option<bytes::Bytes>>| {
            cell.and_then(|one| one.as_ref())
                .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
                .unwrap_or_default()
        };
        let key = page.rows.iter().filter(|row| text(row.get(1)) != "regular");
        Ok(key.map(|row| quoted(&text(row.first()))).collect())
    }
}

impl Server for Cql<'_> {
    fn fill(&self, places: &Places<'_>, request: &Json) -> Result<Json, Open> {
        statement::fill(places, request)
    }

    fn asks_for(&self, request: &Json, ask: &Ask) -> bool {
        let text = request.get("filled").and_then(Json::as_str).unwrap_or("");
        let told = statement::compared(text);
        let fits = |told: &str, wanted: &KeyValue| match wanted {
            KeyValue::Text(text) => {
                told == format!("'{}'", text.replace('\'', "''")) || told == format!("0x{text}")
            }
            KeyValue::Native(value) => {
                [Type::Uuid, Type::Ulid, Type::Int(None), Type::Date, Type::Bytes(Sizes::default())]
                    .iter()
                    .any(|ty| shelfmark_design::trial::cql_literal(value, ty) == told)
            }
        };
        let equal = told.iter().filter(|(op, _)| op == "=");
        let mut equal = equal.map(|(_, value)| value.as_str());
        let bound =
            ask.bound.iter().all(|wanted| equal.next().is_some_and(|told| fits(told, wanted)));
        let low = told.iter().find(|(op, _)| op == ">=").map(|(_, value)| value);
        let prefix = match (&ask.prefix, low) {
            (Some(prefix), Some(low)) => fits(low, &KeyValue::Text(prefix.clone())),
            _ => true,
        };
        bound && equal.next().is_none() && prefix
    }

    fn read(&self, _: &str, request: &Json) -> Result<Vec<Json>, String> {
        let text = request.get("statement").and_then(Json::as_str).unwrap_or("");
        let page = self.run_prepared(request)?.unwrap_or_default();
        self.items(&table_of(text), &page, true)
    }

    fn page(
        &self,
        _: &str,
        request: &Json,
        cursor: Option<&Json>,
    ) -> Result<(Vec<Json>, Option<Json>), String> {
        let state = cursor.and_then(Json::as_str).and_then(bytes_of_hex);
        let (statement, values) = self.bound(request)?;
        let page = self.executed(request, (&statement, &values), state)?.unwrap_or_default();
        let text = request.get("statement").and_then(Json::as_str).unwrap_or("");
        let rows = self.items(&table_of(text), &page, true)?;
        Ok((rows, page.paging.map(|state| Json::from(hex_of(&state)))))
    }

    fn change(&self, _: &str, request: &Json) -> Result<bool, String> {
        let Some(page) = self.run_prepared(request)? else { return Ok(true) };
        let applied = page.columns.iter().position(|one| &*one.name == "[applied]");
        let said = applied.and_then(|at| page.rows.first()?.get(at)?.clone());
        Ok(said.is_none_or(|said| said.first() == Some(&1)))
    }

    fn hold(&self, items: &[(String, Json)]) -> Result<(), String> {
        for table in &self.tables {
            self.run(&format!("TRUNCATE {}", quoted(table)))?;
        }
        for (table, item) in items {
            self.run(&self.insert(table, item)?)?;
        }
        Ok(())
    }

    fn dump(&self) -> Result<Vec<(String, Json)>, String> {
        let mut all = Vec::new();
        for table in &self.tables {
            let page = self.run(&format!("SELECT * FROM {}", quoted(table)))?.unwrap_or_default();
            let items = self.items(table, &page, false)?;
            all.extend(items.into_iter().map(|item| (table.clone(), item)));
        }
        Ok(self.kept(all))
    }

    fn kept(&self, items: Vec<(String, Json)>) -> Vec<(String, Json)> {
        let counts = |table: &str| self.columns.get(table).is_some_and(|(_, counts)| *counts);
        let mut out = Vec::new();
        for (table, mut item) in items {
            let none = json!({ "L": [] });
            if let Some(fields) = item.as_object_mut() {
                fields.retain(|_, value| *value != none);
            }
            // A counter that nobody added to is no row, one that is 0 again may be one.
            let types = self.columns.get(&table).map(|(types, _)| types);
            let zero = json!({ "N": "0" });
            let summed = |(name, value): (&String, &Json)| {
                types
                    .and_then(|types| types.get(name))
                    .is_some_and(|ty| matches!(ty, Type::Int(None)))
                    && *value == zero
            };
            if counts(&table) && item.as_object().into_iter().flatten().any(summed) {
                continue;
            }
            out.push((table, item));
        }
        in_order(out)
    }

    fn drop_tables(&self) -> Result<(), String> {
        self.run(&format!("DROP KEYSPACE {KEYSPACE}")).map(drop)
    }
}

/// Returns the request that runs a statement with its values.
fn execute<'r>(
    (statement, values): (&'r PreparedStatement, &'r [BoundValue]),
    size: i32,
    paging: Option<bytes::Bytes>,
) -> Request<'r> {
    let consistency = Consistency::default();
    Request::Execute(Execute { statement, values, consistency, page_size: Some(size), paging })
}

/// Returns the table that a SELECT reads.
fn table_of(text: &str) -> String {
    let mut words = text.split_whitespace().skip_while(|word| *word != "FROM");
    bare(words.nth(1).unwrap_or(""))
}

/// Returns a name without its quotes.
fn bare(name: &str) -> String {
    let name = name.trim_end_matches(';');
    match name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a value of an item.
fn value(attribute: &Json, ty: &Type) -> Option<Value> {
    let (letter, inner) = attribute.as_object()?.iter().next()?;
    match (letter.as_str(), ty) {
        ("B", _) => codec::hex_of_base64(inner.as_str()?).map(Value::Text),
        ("N", _) => inner.as_str()?.parse().ok().map(Value::Int),
        ("L", Type::List(of, _)) => {
            let items = inner.as_array()?.iter().map(|one| value(one, of));
            items.collect::<Option<_>>().map(Value::List)
        }
        _ => Value::of_json(inner, ty),
    }
}
