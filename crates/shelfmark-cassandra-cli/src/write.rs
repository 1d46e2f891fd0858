//! `set`, `del`, `incr`, `decr`, `truncate`.

use shelfmark_cql_syntax::quoted_name;
use shelfmark_cql_types::CqlType;

use super::backend::{Backend, Reply};
use super::client::{Assumed, Client, key_literal};
use super::family::Family;
use super::tree::{Access, Value};
use super::values;

/// The place of a cell in its table.
pub(super) enum CellPlace {
    /// In a declared column.
    Declared {
        /// The column.
        name: String,
        /// The type.
        cql_type: CqlType,
    },
    /// In the dynamic part: `column1 = …`, joined by `AND`.
    Dynamic {
        /// The restrictions.
        restrictions: Vec<String>,
        /// All name columns are given: it is one cell.
        whole: bool,
    },
}

impl<B: Backend> Client<B> {
    pub(super) fn set(
        &mut self,
        cell: &Access,
        value: &Value,
        ttl: Option<&str>,
    ) -> Result<Reply, String> {
        let (keyspace, family, assumed) = self.family(&cell.family)?;
        if family.is_counter() {
            return Err("counters are set by incr and decr.".to_owned());
        }
        let Some(spot) = spot(&family, &assumed, cell)? else {
            return Err("No column name given: a value is set in one column.".to_owned());
        };
        let table = family.table(&keyspace);
        let key = key_literal(&family, &assumed, &cell.key)?;
        let using = ttl.map(|ttl| format!(" USING TTL {ttl}")).unwrap_or_default();
        let mut reply = Reply::default();
        let cql = match &spot {
            CellPlace::Declared { name, cql_type } => {
                let value = values::literal(value, cql_type, assumed.validator.as_ref())?;
                let column = quoted_name(name);
                format!("INSERT INTO {table} (key, {column}) VALUES ({key}, {value}){using}")
            }
            CellPlace::Dynamic { whole: false, .. } => {
                return Err("No sub column name given: a super column holds columns.".to_owned());
            }
            CellPlace::Dynamic { restrictions, .. } => {
                if !family.static_columns().is_empty() {
                    reply.hints.push(undeclared(&family, cell));
                }
                let sub_column = cell.sub_column.as_ref().map_or("", Value::text);
                let cql_type = family.sub_column_type(sub_column);
                let value = match assumed.validator.as_ref() {
                    assumed if *cql_type == family.value => {
                        values::literal(value, cql_type, assumed)?
                    }
                    assumed => values::bytes_literal(value, cql_type, assumed)?,
                };
                format!(
                    "UPDATE {table}{using} SET value = {value} WHERE key = {key} AND {}",
                    restrictions.join(" AND ")
                )
            }
        };
        self.backend.run(&cql)?;
        reply.say("Value inserted.");
        Ok(reply)
    }

    pub(super) fn delete(&mut self, cell: &Access) -> Result<Reply, String> {
        let (keyspace, family, assumed) = self.family(&cell.family)?;
        let table = family.table(&keyspace);
        let key = key_literal(&family, &assumed, &cell.key)?;
        let cql = match spot(&family, &assumed, cell)? {
            None => format!("DELETE FROM {table} WHERE key = {key}"),
            Some(CellPlace::Declared { name, .. }) => {
                format!("DELETE {} FROM {table} WHERE key = {key}", quoted_name(&name))
            }
            Some(CellPlace::Dynamic { restrictions, .. }) => {
                format!("DELETE FROM {table} WHERE key = {key} AND {}", restrictions.join(" AND "))
            }
        };
        self.backend.run(&cql)?;
        let what = if cell.column.is_some() { "column" } else { "row" };
        Ok(Reply::line(format!("{what} removed.")))
    }

    pub(super) fn increment(
        &mut self,
        cell: &Access,
        by: Option<&str>,
        down: bool,
    ) -> Result<Reply, String> {
        let (keyspace, family, assumed) = self.family(&cell.family)?;
        let by: i64 = match by {
            Some(text) => {
                text.parse().map_err(|_| format!("'{text}' is too large to count by."))?
            }
            None => 1,
        };
        let by = if down { by.checked_neg() } else { Some(by) };
        let by = by.ok_or("that is too large to count by.")?;
        let key = key_literal(&family, &assumed, &cell.key)?;
        let table = family.table(&keyspace);
        let Some(CellPlace::Dynamic { restrictions, whole: true }) = spot(&family, &assumed, cell)?
        else {
            return Err("A counter is one column.".to_owned());
        };
        let sign = if by < 0 { '-' } else { '+' };
        let by = by.unsigned_abs();
        self.backend.run(&format!(
            "UPDATE {table} SET value = value {sign} {by} WHERE key = {key} AND {}",
            restrictions.join(" AND ")
        ))?;
        Ok(Reply::line(if down { "Value decremented." } else { "Value incremented." }))
    }

    pub(super) fn truncate(&mut self, family: &str) -> Result<Reply, String> {
        let (keyspace, family, _) = self.family(family)?;
        self.backend.run(&format!("TRUNCATE {}", family.table(&keyspace)))?;
        Ok(Reply::line(format!("{} truncated.", family.name)))
    }
}

fn undeclared(family: &Family, cell: &Access) -> String {
    let column = cell.column.as_ref().map_or("", Value::text);
    let names: Vec<&str> = family.declared.iter().map(|(name, _)| name.as_str()).collect();
    format!(
        "{column} is not among the declared columns of {} ({}); its value is validated by default",
        family.name,
        names.join(", "),
    )
}

/// Finds where a cell lies; nothing when the command names a whole row.
pub(super) fn spot(
    family: &Family,
    assumed: &Assumed,
    cell: &Access,
) -> Result<Option<CellPlace>, String> {
    let Some(column) = &cell.column else { return Ok(None) };
    if let (Value::Word(text) | Value::Text(text), None) = (column, &cell.sub_column)
        && !family.is_super()
        && let Some((name, cql_type)) = family.declared(text)
    {
        return Ok(Some(CellPlace::Declared { name: name.clone(), cql_type: cql_type.clone() }));
    }
    let parts = parts(family, column, cell.sub_column.as_ref())?;
    let whole = parts.len() == family.names.len();
    let mut restrictions = Vec::new();
    for (number, ((name, cql_type, _), part)) in family.names.iter().zip(&parts).enumerate() {
        let assumed = match number {
            0 => assumed.comparator.as_ref(),
            _ => assumed.sub_comparator.as_ref(),
        };
        restrictions.push(format!("{name} = {}", values::literal(part, cql_type, assumed)?));
    }
    Ok(Some(CellPlace::Dynamic { restrictions, whole }))
}

/// Returns the parts of a column's name: super column and column, or `a:b` of a composite
/// comparator.
fn parts(
    family: &Family,
    column: &Value,
    sub_column: Option<&Value>,
) -> Result<Vec<Value>, String> {
    let mut parts = vec![column.clone()];
    match sub_column {
        Some(sub) if family.is_super() => parts.push(sub.clone()),
        Some(_) => {
            return Err(format!("Column family {} may not contain SuperColumns", family.name));
        }
        None if !family.is_super() && family.names.len() > 1 => {
            parts = column.text().split(':').map(|part| Value::Text(part.to_owned())).collect();
            if parts.len() > family.names.len() {
                return Err(format!("'{}' has too many components.", column.text()));
            }
        }
        None => {}
    }
    Ok(parts)
}
