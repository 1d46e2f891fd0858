//! `DESCRIBE`: the schema as the statements that make it.
//!
//! Source: Cassandra 5.0, `DescribeStatement` and `toCqlString` of its metadata, read 2026-11.

mod text;

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::{ColumnSpec, CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{Describe, DescribeTarget, QualifiedName};
use shelfmark_cql_types::{CqlType, maybe_quote};

use crate::outcome::{Answered, Outcome, RequestOptions, ResultRows, RowBuffer};
use crate::schema::{Keyspace, Schema, Table, UserAggregate, UserFunction};

/// A description of one object: its keyspace, kind and name, and the statement that makes it.
struct Item {
    keyspace: String,
    kind: &'static str,
    name: String,
    statement: Option<String>,
}

fn item(keyspace: &str, kind: &'static str, name: &str, statement: Option<String>) -> Item {
    Item { keyspace: maybe_quote(keyspace), kind, name: maybe_quote(name), statement }
}

/// Answers a `DESCRIBE`.
pub(super) fn describe(
    describe: &Describe,
    keyspace: Option<&str>,
    schema: &Schema,
    options: &RequestOptions,
) -> Result<Answered> {
    let page = Page::of(schema, options)?;
    let internals = describe.with_internals;
    let current = || {
        let name = keyspace
            .ok_or_else(|| CqlError::invalid("No keyspace specified and no current keyspace"))?;
        found_keyspace(name, schema)
    };
    let items = match &describe.target {
        DescribeTarget::Cluster => return Ok(cluster()),
        DescribeTarget::Keyspaces => {
            let items = ordered(schema).map(|own| item(&own.name, "keyspace", &own.name, None));
            return Ok(page.answer(items.collect(), false));
        }
        DescribeTarget::Tables => {
            return Ok(page.answer(listed(keyspace, schema, &table_names)?, false));
        }
        DescribeTarget::Types => {
            return Ok(page.answer(listed(keyspace, schema, &type_names)?, false));
        }
        DescribeTarget::Functions => {
            return Ok(page.answer(listed(keyspace, schema, &function_names)?, false));
        }
        DescribeTarget::Aggregates => {
            return Ok(page.answer(listed(keyspace, schema, &aggregate_names)?, false));
        }
        DescribeTarget::Schema { full } => {
            let keyspaces =
                ordered(schema).filter(|own| *full || !super::ddl::is_system(&own.name));
            keyspaces.flat_map(|own| keyspace_items(own, false, internals)).collect()
        }
        DescribeTarget::Keyspace { only, name } => {
            let own = match name {
                Some(name) => found_keyspace(name.as_str(), schema)?,
                None => current()?,
            };
            keyspace_items(own, *only, internals)
        }
        DescribeTarget::Table(name) => {
            described_table(name, keyspace_of(name, keyspace, schema)?, internals)?
        }
        DescribeTarget::View(name) => {
            described_view(name, keyspace_of(name, keyspace, schema)?, internals)?
        }
        DescribeTarget::Type(name) => described_type(name, keyspace_of(name, keyspace, schema)?)?,
        DescribeTarget::Index(name) => described_index(name, keyspace_of(name, keyspace, schema)?)?,
        DescribeTarget::Function(name) => {
            described_function("function", name, keyspace, schema, &function_items)?
        }
        DescribeTarget::Aggregate(name) => {
            described_function("aggregate", name, keyspace, schema, &aggregate_items)?
        }
        DescribeTarget::Any(name) => any(name, keyspace, schema, internals)?,
    };
    Ok(page.answer(items, true))
}

/// A page of a description: the schema that it is of, where it begins and how many rows it has.
struct Page {
    version: [u8; 16],
    offset: usize,
    size: usize,
}

impl Page {
    /// Reads the position that the request goes on from: the version of the schema, and how many rows
    /// were sent.
    fn of(schema: &Schema, options: &RequestOptions) -> Result<Self> {
        let size = options.page_size.and_then(|size| usize::try_from(size).ok());
        let size = size.filter(|size| *size > 0).unwrap_or(usize::MAX);
        let version = schema.version;
        let Some(state) = &options.paging else { return Ok(Self { version, offset: 0, size }) };
        let offset = state.strip_prefix(&version).and_then(|rest| rest.try_into().ok());
        match offset.map(u64::from_be_bytes) {
            Some(offset) => {
                let offset = usize::try_from(offset).unwrap_or(usize::MAX);
                Ok(Self { version, offset, size })
            }
            None => invalid(
                "The schema has changed since the previous page of the DESCRIBE statement result. Please retry the DESCRIBE statement.",
            ),
        }
    }

    /// Returns the position behind the page, if it is full: then another one is asked for, as there.
    fn next(&self, rows: usize) -> Option<Bytes> {
        let offset = u64::try_from(self.offset.saturating_add(rows)).unwrap_or(u64::MAX);
        (rows == self.size)
            .then(|| [self.version.as_slice(), &offset.to_be_bytes()].concat().into())
    }
}

/// Returns the keyspaces in the order of their names.
fn ordered(schema: &Schema) -> impl Iterator<Item = &Arc<Keyspace>> {
    let mut keyspaces: Vec<_> = schema.keyspaces.values().collect();
    keyspaces.sort_by_key(|own| by_name(&own.name));
    keyspaces.into_iter()
}

/// Returns what names are sorted by: whether letters are small or large does not count.
fn by_name(name: &str) -> String {
    name.to_lowercase()
}

fn table_names(own: &Keyspace) -> Vec<Item> {
    let tables = own.tables.values().filter(|table| !table.is_view());
    let damaged = own.damage.tables.iter().map(|name| unread(own, name, false));
    tables.map(|table| item(&own.name, "table", &table.name, None)).chain(damaged).collect()
}

fn type_names(own: &Keyspace) -> Vec<Item> {
    own.types.keys().map(|name| item(&own.name, "type", name, None)).collect()
}

/// Returns the statements that create a index.
fn described_index(name: &QualifiedName, own: &Keyspace) -> Result<Vec<Item>> {
    match index_item(own, name.name.as_str()) {
        Some(found) => Ok(vec![found]),
        None => invalid(format!(
            "Table for existing index '{}' not found in '{}'",
            name.name.as_str(),
            own.name
        )),
    }
}

/// Returns the statements that create a type.
fn described_type(name: &QualifiedName, own: &Keyspace) -> Result<Vec<Item>> {
    let wanted = name.name.as_str();
    match own.types.get(wanted) {
        Some(found) => Ok(vec![item(&own.name, "type", wanted, Some(text::user_type(found)))]),
        None => invalid(format!("User defined type '{wanted}' not found in '{}'", own.name)),
    }
}

/// Returns the statements that create a view.
fn described_view(name: &QualifiedName, own: &Keyspace, internals: bool) -> Result<Vec<Item>> {
    let view = name.name.as_str();
    match own.tables.get(view).filter(|own| own.is_view()) {
        Some(found) => Ok(vec![view_item(own, found, internals)]),
        None => invalid(format!("Materialized view '{view}' not found in '{}'", own.name)),
    }
}

/// Returns the statements that create a table.
fn described_table(name: &QualifiedName, own: &Keyspace, internals: bool) -> Result<Vec<Item>> {
    let table = name.name.as_str();
    match own.tables.get(table).filter(|own| !own.is_view()) {
        Some(found) => Ok(table_items(own, found, internals)),
        None if own.damage.tables.contains(table) => Ok(vec![unread(own, table, true)]),
        None => invalid(format!("Table '{table}' not found in keyspace '{}'", own.name)),
    }
}

fn found_keyspace<'s>(name: &str, schema: &'s Schema) -> Result<&'s Arc<Keyspace>> {
    schema
        .keyspace(name)
        .ok_or_else(|| CqlError::invalid(format!("'{name}' not found in keyspaces")))
}

fn keyspace_of<'s>(
    name: &QualifiedName,
    keyspace: Option<&str>,
    schema: &'s Schema,
) -> Result<&'s Arc<Keyspace>> {
    match name.keyspace.as_ref().map(shelfmark_cql_syntax::ast::Name::as_str).or(keyspace) {
        Some(own) => found_keyspace(own, schema),
        None => invalid("No keyspace specified and no current keyspace"),
    }
}

/// Returns the functions or aggregates of a name.
fn described_function(
    what: &str,
    name: &shelfmark_cql_syntax::ast::FunctionName,
    keyspace: Option<&str>,
    schema: &Schema,
    of: &dyn Fn(&Keyspace, Option<&str>) -> Vec<Item>,
) -> Result<Vec<Item>> {
    let named = QualifiedName { keyspace: name.keyspace.clone(), name: name.name.clone() };
    let own = keyspace_of(&named, keyspace, schema)?;
    let shown = name.name.as_str();
    match of(own, Some(shown)) {
        found if found.is_empty() => {
            invalid(format!("User defined {what} '{shown}' not found in '{}'", own.name))
        }
        found => Ok(found),
    }
}

/// Returns the functions of a keyspace, or those of a name.
fn function_items(own: &Keyspace, name: Option<&str>) -> Vec<Item> {
    let named = |own: &&Arc<UserFunction>| name.is_none_or(|name| *own.name == *name);
    let item = |function: &Arc<UserFunction>| Item {
        keyspace: maybe_quote(&own.name),
        kind: "function",
        name: text::signature(&function.name, &function.types()),
        statement: Some(text::function(function)),
    };
    own.functions.iter().filter(named).map(item).collect()
}

fn aggregate_items(own: &Keyspace, name: Option<&str>) -> Vec<Item> {
    let named = |own: &&Arc<UserAggregate>| name.is_none_or(|name| *own.name == *name);
    let item = |aggregate: &Arc<UserAggregate>| Item {
        keyspace: maybe_quote(&own.name),
        kind: "aggregate",
        name: text::signature(&aggregate.name, &aggregate.arguments),
        statement: Some(text::aggregate(aggregate)),
    };
    own.aggregates.iter().filter(named).map(item).collect()
}

fn without_statements(mut items: Vec<Item>) -> Vec<Item> {
    items.iter_mut().for_each(|own| own.statement = None);
    items
}

fn function_names(own: &Keyspace) -> Vec<Item> {
    without_statements(function_items(own, None))
}

fn aggregate_names(own: &Keyspace) -> Vec<Item> {
    without_statements(aggregate_items(own, None))
}

/// Things of the current keyspace, or of all.
fn listed(
    keyspace: Option<&str>,
    schema: &Schema,
    of: &dyn Fn(&Keyspace) -> Vec<Item>,
) -> Result<Vec<Item>> {
    match keyspace {
        Some(name) => Ok(sorted(of(found_keyspace(name, schema)?))),
        None => Ok(ordered(schema).flat_map(|own| sorted(of(own))).collect()),
    }
}

fn sorted(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by_key(|own| by_name(own.name.trim_matches('"')));
    items
}

/// Returns a keyspace, then what is in it: types before the types that use them, functions,
/// aggregates, tables, indexes, views.
fn keyspace_items(own: &Keyspace, only: bool, internals: bool) -> Vec<Item> {
    let shown = match own.damage.record {
        true => format!(
            "/*\nWarning: Keyspace {} omitted because what is stored about it cannot be read.\nDROP KEYSPACE removes it.\n*/",
            maybe_quote(&own.name)
        ),
        false => text::keyspace(own),
    };
    let mut items = vec![item(&own.name, "keyspace", &own.name, Some(shown))];
    if only {
        return items;
    }
    let mut written: Vec<&str> = Vec::new();
    while written.len() < own.types.len() {
        let before = written.len();
        for (name, ty) in &own.types {
            let waits = own.types.keys().any(|other| {
                other != name
                    && !written.contains(&other.as_str())
                    && ty.fields.iter().any(|(_, field)| field.references(&own.name, other))
            });
            if !waits && !written.contains(&name.as_str()) {
                written.push(name);
                items.push(item(&own.name, "type", name, Some(text::user_type(ty))));
            }
        }
        if written.len() == before {
            break;
        }
    }
    items.extend(function_items(own, None));
    items.extend(aggregate_items(own, None));
    let mut tables: Vec<_> = own.tables.values().filter(|table| !table.is_view()).collect();
    tables.sort_by_key(|table| by_name(&table.name));
    for table in tables {
        items.extend(table_items(own, table, internals));
    }
    items.extend(own.damage.types.keys().map(|name| {
        let text = format!(
            "/*\nWarning: Type {}.{} omitted because what is stored about it cannot be read.\n*/",
            maybe_quote(&own.name),
            maybe_quote(name)
        );
        item(&own.name, "type", name, Some(text))
    }));
    items.extend(own.damage.tables.iter().map(|name| unread(own, name, true)));
    items
}

/// Returns a table or view that is there and cannot be read, as Cassandra shows what has no form in
/// CQL.
fn unread(own: &Keyspace, name: &str, with_statement: bool) -> Item {
    let text = with_statement.then(|| {
        format!(
            "/*\nWarning: Table {}.{} omitted because what is stored about it cannot be read.\nDROP TABLE removes it.\n*/",
            maybe_quote(&own.name),
            maybe_quote(name)
        )
    });
    item(&own.name, "table", name, text)
}

/// Returns a table, its indexes and its views.
fn table_items(own: &Keyspace, table: &Table, internals: bool) -> Vec<Item> {
    let mut items =
        vec![item(&own.name, "table", &table.name, Some(text::table(table, internals)))];
    items.extend(
        table
            .indexes
            .iter()
            .map(|index| item(&own.name, "index", &index.name, Some(text::index(table, index)))),
    );
    let views = own
        .tables
        .values()
        .filter(|view| view.view.as_ref().is_some_and(|view| view.base == table.name));
    items.extend(views.map(|view| view_item(own, view, internals)));
    items
}

fn view_item(own: &Keyspace, view: &Table, internals: bool) -> Item {
    item(&own.name, "materialized_view", &view.name, Some(text::table(view, internals)))
}

fn index_item(own: &Keyspace, name: &str) -> Option<Item> {
    own.tables.values().find_map(|table| {
        let index = table.indexes.iter().find(|index| index.name == name)?;
        Some(item(&own.name, "index", name, Some(text::index(table, index))))
    })
}

/// Describes whatever has the name: a keyspace, a table, a view, an index.
fn any(
    name: &QualifiedName,
    keyspace: Option<&str>,
    schema: &Schema,
    internals: bool,
) -> Result<Vec<Item>> {
    let wanted = name.name.as_str();
    if name.keyspace.is_none()
        && let Some(own) = schema.keyspace(wanted)
    {
        return Ok(keyspace_items(own, false, internals));
    }
    let Some(current) =
        name.keyspace.as_ref().map(shelfmark_cql_syntax::ast::Name::as_str).or(keyspace)
    else {
        return invalid(format!("'{wanted}' not found in keyspaces"));
    };
    let own = found_keyspace(current, schema)?;
    if let Some(table) = own.tables.get(wanted) {
        if table.is_view() {
            return Ok(vec![view_item(own, table, internals)]);
        }
        return Ok(table_items(own, table, internals));
    }
    if own.damage.tables.contains(wanted) {
        return Ok(vec![unread(own, wanted, true)]);
    }
    match index_item(own, wanted) {
        Some(found) => Ok(vec![found]),
        None => invalid(format!("'{wanted}' not found in keyspace '{current}'")),
    }
}

fn column(name: &str) -> ColumnSpec {
    ColumnSpec {
        keyspace: "system".into(),
        table: "describe".into(),
        name: name.into(),
        kind: CqlType::Text,
    }
}

impl Page {
    /// Returns the items of the page as the rows of an answer.
    fn answer(&self, items: Vec<Item>, with_statements: bool) -> Answered {
        let mut columns = vec![column("keyspace_name"), column("type"), column("name")];
        if with_statements {
            columns.push(column("create_statement"));
        }
        let mut rows = RowBuffer::default();
        let mut count = 0;
        for own in items.into_iter().skip(self.offset).take(self.size) {
            count += 1;
            rows.cell(Some(own.keyspace.as_bytes()));
            rows.cell(Some(own.kind.as_bytes()));
            rows.cell(Some(own.name.as_bytes()));
            if with_statements {
                rows.cell(own.statement.as_deref().map(str::as_bytes));
            }
            rows.end_row();
        }
        let paging = self.next(count);
        Outcome::Rows(ResultRows { columns: columns.into(), rows, paging }).into()
    }
}

fn cluster() -> Answered {
    let columns = vec![column("cluster"), column("partitioner"), column("snitch")];
    let mut rows = RowBuffer::default();
    rows.row([
        Some(b"Shelfmark".as_slice()),
        Some(b"Murmur3Partitioner".as_slice()),
        Some(b"SimpleSnitch".as_slice()),
    ]);
    Outcome::Rows(ResultRows { columns: columns.into(), rows, paging: None }).into()
}
