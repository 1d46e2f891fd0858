//! `get`, `list`, `count`.

use std::cmp::Ordering;

use shelfmark_cql_syntax::quoted_name;
use shelfmark_cql_types::{CqlType, Native, compare, to_literal, to_text};

use super::backend::{Backend, Reply, Table};
use super::client::{Assumed, Client, ROWS_DEFAULT, key_literal};
use super::family::Family;
use super::tree::{Access, Comparison, Condition, Value};
use super::values;
use super::write::{CellPlace, spot};

/// The part of each row that `list` shows.
pub(super) struct ListLimits<'a> {
    /// At most so many columns.
    pub(super) columns: Option<&'a str>,
    /// The last columns first.
    pub(super) reversed: bool,
}

/// A column as it is shown.
struct Shown {
    /// The bytes of the name's parts, with their types, for the order.
    name: Vec<Vec<u8>>,
    /// The name as text, one for each part.
    text: Vec<String>,
    value: Vec<u8>,
    value_type: CqlType,
    timestamp: Option<String>,
    ttl: Option<String>,
}

impl<B: Backend> Client<B> {
    pub(super) fn get(
        &mut self,
        cell: &Access,
        as_type: Option<&str>,
        limit: Option<&str>,
    ) -> Result<Reply, String> {
        let (keyspace, family, mut assumed) = self.family(&cell.family)?;
        let limit = number(limit)?;
        if let Some(name) = as_type {
            assumed.validator = Some(values::named(name)?);
        }
        let key = key_literal(&family, &assumed, &cell.key)?;
        let found = spot(&family, &assumed, cell)?;
        let mut columns = self.columns(&keyspace, &family, &key, found.as_ref(), limit)?;
        let mut reply = Reply::default();
        let single = matches!(
            found,
            Some(CellPlace::Declared { .. } | CellPlace::Dynamic { whole: true, .. })
        );
        if single {
            match columns.first() {
                Some(column) => reply.say(line(&family, &assumed, column)),
                None => reply.say("Value was not found"),
            }
            return Ok(reply);
        }
        columns.truncate(limit.unwrap_or(usize::MAX));
        let count = columns.len();
        match found {
            // The columns of one super column stand by themselves.
            Some(_) => columns.iter().for_each(|own| reply.say(line(&family, &assumed, own))),
            None => show(&mut reply, &family, &assumed, &columns),
        }
        reply.say(format!("Returned {count} results."));
        Ok(reply)
    }

    /// Reads the columns of a row, or of a part of it, in the comparator's order; at least the
    /// first `limit` of them.
    fn columns(
        &mut self,
        keyspace: &str,
        family: &Family,
        key: &str,
        spot: Option<&CellPlace>,
        limit: Option<usize>,
    ) -> Result<Vec<Shown>, String> {
        let table = family.table(keyspace);
        let mut columns = Vec::new();
        for (name, cql_type) in family.static_columns() {
            let wanted = match spot {
                None => true,
                Some(CellPlace::Declared { name: wanted, .. }) => wanted == name,
                Some(CellPlace::Dynamic { .. }) => false,
            };
            if wanted {
                let column = quoted_name(name);
                let rows = self.backend.run(&format!(
                    "SELECT {column}, writetime({column}), ttl({column}) FROM {table} \
                     WHERE key = {key} LIMIT 1"
                ))?;
                columns.extend(declared_column(name, cql_type, &rows));
            }
        }
        if !matches!(spot, Some(CellPlace::Declared { .. })) {
            let names = family.name_columns();
            let restrictions = match spot {
                Some(CellPlace::Dynamic { restrictions, .. }) => {
                    format!(" AND {}", restrictions.join(" AND "))
                }
                _ => String::new(),
            };
            // Counters have neither a time of writing nor one to live that a client could use.
            let metadata = if family.is_counter() { "" } else { ", writetime(value), ttl(value)" };
            // The table's order is the comparator's, so the first columns are the first rows.
            let limit = limit.filter(|limit| *limit > 0 && i32::try_from(*limit).is_ok());
            let limit = limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default();
            let rows = self.backend.run(&format!(
                "SELECT {names}, value{metadata} FROM {table} WHERE key = {key}{restrictions}{limit}"
            ))?;
            columns.extend(rows.rows.iter().filter_map(|row| dynamic_column(family, &rows, row)));
        }
        columns.sort_by(|left, right| order(family, left, right));
        Ok(columns)
    }

    pub(super) fn count(&mut self, cell: &Access) -> Result<Reply, String> {
        let (keyspace, family, assumed) = self.family(&cell.family)?;
        let key = key_literal(&family, &assumed, &cell.key)?;
        let found = spot(&family, &assumed, cell)?;
        let columns = self.columns(&keyspace, &family, &key, found.as_ref(), None)?;
        let mut count = columns.len();
        if family.is_super() && found.is_none() {
            let mut names: Vec<&String> =
                columns.iter().filter_map(|column| column.text.first()).collect();
            names.dedup();
            count = names.len();
        }
        Ok(Reply::line(format!("{count} columns")))
    }

    pub(super) fn list(
        &mut self,
        family: &str,
        range: Option<&(Option<String>, Option<String>)>,
        limit: Option<&str>,
        cut: &ListLimits<'_>,
    ) -> Result<Reply, String> {
        let (keyspace, family, assumed) = self.family(family)?;
        let mut reply = Reply::default();
        if limit.is_none() {
            reply.say(format!("Using default limit of {ROWS_DEFAULT}"));
        }
        let limit = number(limit)?.unwrap_or(ROWS_DEFAULT);
        let mut bounds = Vec::new();
        if let Some((start, end)) = range {
            for (bound, sign) in [(start, ">="), (end, "<=")] {
                if let Some(text) = bound {
                    let value = Value::Text(text.clone());
                    let key = key_literal(&family, &assumed, &value)?;
                    bounds.push(format!("token(key) {sign} token({key})"));
                }
            }
        }
        let bounds = if bounds.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", bounds.join(" AND "))
        };
        let table = family.table(&keyspace);
        let keys =
            self.backend.run(&format!("SELECT DISTINCT key FROM {table}{bounds} LIMIT {limit}"))?;
        self.rows(reply, &keyspace, &family, &assumed, &keys, cut)
    }

    pub(super) fn get_where(
        &mut self,
        family: &str,
        conditions: &[Condition],
        limit: Option<&str>,
    ) -> Result<Reply, String> {
        let (keyspace, family, assumed) = self.family(family)?;
        let limit = number(limit)?.unwrap_or(ROWS_DEFAULT);
        let indexed = self.indexed(&keyspace, &family)?;
        let by_index = conditions.iter().any(|condition| {
            condition.operator == Comparison::Equal
                && indexed.iter().any(|column| column == condition.column.text())
        });
        if !by_index {
            return Err("No indexed columns present in index clause with operator EQ".to_owned());
        }
        let mut restrictions = Vec::new();
        let mut undeclared = Vec::new();
        for condition in conditions {
            let Condition { column, operator, value } = condition;
            let name = column.text();
            let Some((_, cql_type)) = family.declared(name) else {
                undeclared.push(condition);
                continue;
            };
            let value = values::literal(value, cql_type, assumed.validator.as_ref())?;
            let operator = match operator {
                Comparison::Equal => "=",
                Comparison::Greater => ">",
                Comparison::Less => "<",
                Comparison::GreaterOrEqual => ">=",
                Comparison::LessOrEqual => "<=",
            };
            restrictions.push(format!("{} {operator} {value}", quoted_name(name)));
        }
        // The index finds the rows; what else is asked of them is looked at row by row.
        let filtering = if restrictions.len() > 1 { " ALLOW FILTERING" } else { "" };
        let table = family.table(&keyspace);
        let restrictions = restrictions.join(" AND ");
        let at_most = match undeclared.is_empty() {
            true => format!(" LIMIT {limit}"),
            false => String::new(),
        };
        let mut keys = self.backend.run(&format!(
            "SELECT key FROM {table} WHERE {restrictions} PER PARTITION LIMIT 1{at_most}{filtering}"
        ))?;
        for condition in undeclared {
            self.keep_where(&keyspace, &family, &assumed, condition, &mut keys)?;
        }
        keys.rows.truncate(limit);
        let all = ListLimits { columns: None, reversed: false };
        self.rows(Reply::default(), &keyspace, &family, &assumed, &keys, &all)
    }

    /// Keeps the rows of which a column that is not declared has a value.
    fn keep_where(
        &mut self,
        keyspace: &str,
        family: &Family,
        assumed: &Assumed,
        condition: &Condition,
        keys: &mut Table,
    ) -> Result<(), String> {
        let Condition { column, operator, value } = condition;
        let wanted = values::bytes(value, &family.value, assumed.validator.as_ref())?;
        let mut kept = Vec::new();
        for row in std::mem::take(&mut keys.rows) {
            let Some(Some(bytes)) = row.first() else { continue };
            let cell = Access {
                family: family.name.clone(),
                key: Value::Text(String::new()),
                column: Some(column.clone()),
                sub_column: None,
            };
            let spot = spot(family, assumed, &cell)?;
            let key = to_literal(&family.key, Some(bytes));
            let found = self.columns(keyspace, family, &key, spot.as_ref(), None)?;
            let order = found.first().map(|own| compare(&family.value, &own.value, &wanted));
            let holds = order.is_some_and(|order| match operator {
                Comparison::Equal => order.is_eq(),
                Comparison::Greater => order.is_gt(),
                Comparison::Less => order.is_lt(),
                Comparison::GreaterOrEqual => order.is_ge(),
                Comparison::LessOrEqual => order.is_le(),
            });
            if holds {
                kept.push(row);
            }
        }
        keys.rows = kept;
        Ok(())
    }

    /// Returns the declared columns that have an index.
    fn indexed(&mut self, keyspace: &str, family: &Family) -> Result<Vec<String>, String> {
        let table = self.backend.run(&format!(
            "SELECT index_name, options FROM system_schema.indexes \
             WHERE keyspace_name = {} AND table_name = {}",
            shelfmark_cql_syntax::quoted_string(keyspace),
            shelfmark_cql_syntax::quoted_string(&family.name),
        ))?;
        let Some(kind) = table.types.get(1) else { return Ok(Vec::new()) };
        let options: Vec<String> = table
            .rows
            .iter()
            .map(|row| to_literal(kind, row.get(1).and_then(Option::as_deref)))
            .collect();
        let is_indexed = |name: &str| {
            let target = shelfmark_cql_syntax::quoted_string(&quoted_name(name));
            options.iter().any(|option| option.contains(&format!("'target': {target}")))
        };
        Ok(family
            .static_columns()
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| is_indexed(name))
            .collect())
    }

    /// Shows whole rows by their keys.
    fn rows(
        &mut self,
        mut reply: Reply,
        keyspace: &str,
        family: &Family,
        assumed: &Assumed,
        keys: &Table,
        cut: &ListLimits<'_>,
    ) -> Result<Reply, String> {
        let most = number(cut.columns)?;
        for row in &keys.rows {
            let Some(Some(bytes)) = row.first() else { continue };
            let shown = to_text(assumed.keys.as_ref().unwrap_or(&family.key), bytes);
            reply.say("-------------------");
            reply.say(format!("RowKey: {shown}"));
            let key = to_literal(&family.key, Some(bytes));
            let limit = if cut.reversed { None } else { most };
            let mut columns = self.columns(keyspace, family, &key, None, limit)?;
            if cut.reversed {
                columns.reverse();
            }
            columns.truncate(most.unwrap_or(usize::MAX));
            show(&mut reply, family, assumed, &columns);
        }
        reply.say("");
        let count = keys.rows.len();
        let plural = if count > 1 { "s" } else { "" };
        reply.say(format!("{count} Row{plural} Returned."));
        Ok(reply)
    }
}

fn number(text: Option<&str>) -> Result<Option<usize>, String> {
    let Some(text) = text else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("'{text}' is too large for a limit."))
}

fn declared_column(name: &str, cql_type: &CqlType, rows: &Table) -> Option<Shown> {
    let row = rows.rows.first()?;
    Some(Shown {
        name: vec![name.as_bytes().to_vec()],
        text: vec![name.to_owned()],
        value: row.first()?.clone()?,
        value_type: cql_type.clone(),
        timestamp: rows.text(row, 1),
        ttl: rows.text(row, 2),
    })
}

fn dynamic_column(family: &Family, rows: &Table, row: &[Option<Vec<u8>>]) -> Option<Shown> {
    let parts = family.names.len();
    let name: Option<Vec<Vec<u8>>> = row.get(..parts)?.iter().cloned().collect();
    let text: Vec<String> = (0..parts).filter_map(|part| rows.text(row, part)).collect();
    let value_type = family.sub_column_type(text.last().map_or("", String::as_str)).clone();
    Some(Shown {
        name: name?,
        text,
        value: row.get(parts)?.clone()?,
        value_type,
        timestamp: rows.text(row, parts + 1),
        ttl: rows.text(row, parts + 2),
    })
}

fn order(family: &Family, left: &Shown, right: &Shown) -> Ordering {
    let parts = family.names.iter().zip(left.name.iter().zip(&right.name));
    parts.fold(Ordering::Equal, |order, ((_, cql_type, reversed), (left, right))| {
        let next = compare(cql_type, left, right);
        order.then(if *reversed { next.reverse() } else { next })
    })
}

/// Returns the text of a name's part, as what was assumed has it.
fn name_text(family: &Family, assumed: &Assumed, column: &Shown, part: usize) -> String {
    let assumed = if part == 0 { &assumed.comparator } else { &assumed.sub_comparator };
    let bytes = column.name.get(part);
    // The name of a declared column is a text, whatever the comparator.
    let declared = column.name.len() < family.names.len()
        || !family.is_super() && column.value_type != family.value;
    match (assumed, bytes) {
        (Some(cql_type), Some(bytes)) if !declared => to_text(cql_type, bytes),
        _ => column.text.get(part).cloned().unwrap_or_default(),
    }
}

fn value_text(assumed: &Assumed, column: &Shown) -> String {
    to_text(assumed.validator.as_ref().unwrap_or(&column.value_type), &column.value)
}

/// Returns `(column=c, value=v, timestamp=t, ttl=n)`, or a counter.
fn plain(name: &str, assumed: &Assumed, column: &Shown) -> String {
    let value = value_text(assumed, column);
    if column.value_type == CqlType::Native(Native::Counter) {
        return format!("(counter={name}, value={value})");
    }
    let timestamp = column.timestamp.as_deref().unwrap_or("0");
    let ttl = column.ttl.as_ref().map(|ttl| format!(", ttl={ttl}")).unwrap_or_default();
    format!("(column={name}, value={value}, timestamp={timestamp}{ttl})")
}

fn full_name(family: &Family, assumed: &Assumed, column: &Shown) -> String {
    let parts: Vec<String> =
        (0..column.text.len()).map(|part| name_text(family, assumed, column, part)).collect();
    parts.join(":")
}

/// Returns one column as the answer to a command that names it.
fn line(family: &Family, assumed: &Assumed, column: &Shown) -> String {
    let name = if family.is_super() {
        name_text(family, assumed, column, 1)
    } else {
        full_name(family, assumed, column)
    };
    format!("=> {}", plain(&name, assumed, column))
}

fn show(reply: &mut Reply, family: &Family, assumed: &Assumed, columns: &[Shown]) {
    if !family.is_super() {
        for column in columns {
            reply.say(line(family, assumed, column));
        }
        return;
    }
    let mut rest = columns;
    while let Some(first) = rest.first() {
        let count =
            rest.iter().take_while(|column| column.name.first() == first.name.first()).count();
        let (group, behind) = rest.split_at(count);
        rest = behind;
        reply.say(format!("=> (super_column={},", name_text(family, assumed, first, 0)));
        for (number, column) in (1..).zip(group) {
            let name = name_text(family, assumed, column, 1);
            let end = if number == count { ")" } else { "" };
            reply.say(format!("     {}{end}", plain(&name, assumed, column)));
        }
    }
}
