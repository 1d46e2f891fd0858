//! The tables of one schema on a server of CQL: statements in, rows out as items.
//!
//! Statements are sent as `design calls` prints them, with the values written where their markers
//! stand.
//!
//! Invariant: everything is in one keyspace of its own, which goes when the run ends.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use shelfmark_cql_protocol::client::{Page, Query};
use shelfmark_design::trial::{Ask, KeyValue};
use shelfmark_design_language::codec;
use shelfmark_design_language::model::Value;
use shelfmark_design_language::model::types::{Sizes, Type};

use super::endpoint::CqlEndpoint;
use super::fill::{Open, Places};
use super::server::{Server, in_order};
use super::statement;

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
        let server = Self { endpoint, columns, tables };
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
        let said = |why: String| format!("{text}: {why}");
        let mut query = Query { text, page_size: Some(PAGE_ROWS), ..Query::default() };
        let Some(mut whole) = self.endpoint.run(&query).map_err(said)? else { return Ok(None) };
        while let Some(paging) = whole.paging.take() {
            query.paging = Some(paging);
            let Some(next) = self.endpoint.run(&query).map_err(said)? else { break };
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
        let text = request.get("statement").and_then(Json::as_str).unwrap_or("");
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
        let page = self.run(text)?.unwrap_or_default();
        let mut words = text.split_whitespace().skip_while(|word| *word != "FROM");
        let table = bare(words.nth(1).unwrap_or(""));
        self.items(&table, &page, true)
    }

    fn change(&self, _: &str, request: &Json) -> Result<bool, String> {
        let text = request.get("statement").and_then(Json::as_str).unwrap_or("");
        let Some(page) = self.run(text)? else { return Ok(true) };
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

/// Reads a value as CQL serialises it, as an attribute.
fn attribute(bytes: &[u8], ty: &Type, typed: bool) -> Option<Json> {
    let number = |bytes: &[u8]| Some(i64::from_be_bytes(bytes.try_into().ok()?).to_string());
    Some(match ty {
        Type::Uuid => {
            let id = Value::Id(u128::from_be_bytes(bytes.try_into().ok()?));
            json!({ if typed { "U" } else { "S" }: id.text(ty) })
        }
        Type::Bool => json!({ "BOOL": bytes.first() == Some(&1) }),
        Type::Int(_) | Type::Timestamp => json!({ "N": number(bytes)? }),
        Type::Date => {
            // Days from the middle of the unsigned numbers.
            let days = i64::from(u32::from_be_bytes(bytes.try_into().ok()?)) - (1 << 31);
            json!({ "S": Value::Int(days).text(ty) })
        }
        Type::Ulid | Type::Text(_) | Type::Enum(_) => {
            json!({ "S": std::str::from_utf8(bytes).ok()? })
        }
        Type::Bytes(_) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "B": codec::base64_of_hex(&hex) })
        }
        Type::List(of, _) => {
            let (count, mut rest) = bytes.split_first_chunk::<4>()?;
            let mut items = Vec::new();
            for _ in 0..u32::from_be_bytes(*count) {
                let (length, behind) = rest.split_first_chunk::<4>()?;
                let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
                items.push(attribute(behind.get(..length)?, of, typed)?);
                rest = behind.get(length..)?;
            }
            json!({ "L": items })
        }
        // States hold whole numbers only.
        Type::Decimal(_) => {
            let (scale, digits) = bytes.split_first_chunk::<4>()?;
            let negative = digits.first().is_some_and(|byte| byte & 0x80 != 0);
            let start = if negative { -1_i128 } else { 0 };
            let whole = digits
                .iter()
                .try_fold(start, |sum, byte| Some(sum.checked_mul(256)? + i128::from(*byte)))?;
            (i32::from_be_bytes(*scale) == 0).then(|| json!({ "N": whole.to_string() }))?
        }
    })
}
