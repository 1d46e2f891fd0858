//! Column families as tables of CQL.
//!
//! ```text
//! key | column1 | value                         a standard family, COMPACT STORAGE
//! key | column1 | column2 | value               a super family: column1 is the super column
//! key | column1 | column2 | value | a static    a super family with declared columns
//! key | component1 | component2 … | value       a comparator of several components
//! key | column1 | value | a static | b static   a family with declared columns
//! ```
//!
//! A declared column is a static column of its own type, so that it can be indexed; every other
//! column of the same row lies in the dynamic part. In a super family all columns do: there the static
//! column stays empty and says the type of values whose column2 is its name.

use shelfmark_cql_syntax::{quoted_name, quoted_string};
use shelfmark_cql_types::{CqlType, Native, native_by_name};

use super::backend::{Backend, Table};

/// A column family as its table shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// The table's name, in its own case.
    pub(super) name: String,
    /// The type of row keys.
    pub(super) key: CqlType,
    /// The columns that make a column's name, each with its type and whether it runs backwards.
    pub(super) names: Vec<(String, CqlType, bool)>,
    /// The type of values that are not declared.
    pub(super) value: CqlType,
    /// The declared columns.
    pub(super) declared: Vec<(String, CqlType)>,
}

impl Family {
    /// Tells whether its columns lie in super columns.
    pub(super) fn is_super(&self) -> bool {
        self.names.iter().any(|(name, ..)| name == "column2")
    }

    /// Tells whether its values are counters.
    pub(super) fn is_counter(&self) -> bool {
        self.value == CqlType::Native(Native::Counter)
    }

    /// Returns the declared column of a name.
    pub(super) fn declared(&self, name: &str) -> Option<&(String, CqlType)> {
        self.declared.iter().find(|(declared, _)| declared == name)
    }

    /// Returns the declared columns that hold values themselves.
    pub(super) fn static_columns(&self) -> &[(String, CqlType)] {
        if self.is_super() { &[] } else { &self.declared }
    }

    /// Returns the type of the values of a column within super columns.
    pub(super) fn sub_column_type(&self, name: &str) -> &CqlType {
        let declared = if self.is_super() { self.declared(name) } else { None };
        declared.map_or(&self.value, |(_, cql_type)| cql_type)
    }

    /// Returns the table's name as CQL writes it, with its keyspace.
    pub(super) fn table(&self, keyspace: &str) -> String {
        format!("{}.{}", quoted_name(keyspace), quoted_name(&self.name))
    }

    /// Returns the names of the columns that make a column's name, with commas between.
    pub(super) fn name_columns(&self) -> String {
        let names: Vec<&str> = self.names.iter().map(|(name, ..)| name.as_str()).collect();
        names.join(", ")
    }
}

/// Returns the name that a keyspace has, whatever its case in the command.
pub(super) fn find_keyspace(
    backend: &mut dyn Backend,
    wanted: &str,
) -> Result<Option<String>, String> {
    let table = backend.run("SELECT keyspace_name FROM system_schema.keyspaces")?;
    Ok(find(&table, wanted))
}

fn find(table: &Table, wanted: &str) -> Option<String> {
    let names = || table.rows.iter().filter_map(|row| table.text(row, 0));
    names()
        .find(|name| name == wanted)
        .or_else(|| names().find(|name| name.eq_ignore_ascii_case(wanted)))
}

/// Returns the names of a keyspace's tables.
pub(super) fn table_names(
    backend: &mut dyn Backend,
    keyspace: &str,
) -> Result<Vec<String>, String> {
    let keyspace = quoted_string(keyspace);
    let table = backend.run(&format!(
        "SELECT table_name FROM system_schema.tables WHERE keyspace_name = {keyspace}"
    ))?;
    Ok(table.rows.iter().filter_map(|row| table.text(row, 0)).collect())
}

/// Reads a column family from the schema, whatever its case in the command.
pub(super) fn load(
    backend: &mut dyn Backend,
    keyspace: &str,
    wanted: &str,
) -> Result<Family, String> {
    let names = table_names(backend, keyspace)?;
    let exact = names.iter().find(|name| *name == wanted);
    let name = exact
        .or_else(|| names.iter().find(|name| name.eq_ignore_ascii_case(wanted)))
        .ok_or_else(|| format!("{wanted} not found in current keyspace."))?;
    let table = backend.run(&format!(
        "SELECT column_name, kind, position, clustering_order, type FROM system_schema.columns \
         WHERE keyspace_name = {} AND table_name = {}",
        quoted_string(keyspace),
        quoted_string(name),
    ))?;
    family(name, &table)
        .ok_or_else(|| format!("{name} is a table that was not made as a column family."))
}

/// Returns the columns of a table that have an index, each with the index's name.
pub(super) fn index_names(
    backend: &mut dyn Backend,
    keyspace: &str,
    table: &str,
) -> Result<Vec<(String, String)>, String> {
    let found = backend.run(&format!(
        "SELECT index_name, options['target'] FROM system_schema.indexes \
         WHERE keyspace_name = {} AND table_name = {}",
        quoted_string(keyspace),
        quoted_string(table),
    ))?;
    let named =
        |row: &Vec<Option<Vec<u8>>>| Some((unquoted(&found.text(row, 1)?), found.text(row, 0)?));
    Ok(found.rows.iter().filter_map(named).collect())
}

/// Returns a name as the schema tells it, where only those are quoted that need it.
fn unquoted(name: &str) -> String {
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}

fn family(name: &str, table: &Table) -> Option<Family> {
    let mut keys = Vec::new();
    let mut names = Vec::new();
    let mut value = None;
    let mut declared = Vec::new();
    for row in &table.rows {
        let text = |column| table.text(row, column);
        let column = text(0)?;
        let cql_type = CqlType::Native(native_by_name(&text(4)?)?);
        match text(1)?.as_str() {
            "partition_key" => keys.push(cql_type),
            "clustering" => {
                let position: usize = text(2)?.parse().ok()?;
                let reversed = text(3)?.eq_ignore_ascii_case("desc");
                names.push((position, (column, cql_type, reversed)));
            }
            "static" => declared.push((column, cql_type)),
            _ if value.is_none() => value = Some(cql_type),
            _ => return None,
        }
    }
    names.sort_by_key(|(position, _)| *position);
    let names: Vec<_> = names.into_iter().map(|(_, name)| name).collect();
    let [key] = keys.as_slice() else { return None };
    if names.is_empty() {
        return None;
    }
    Some(Family { name: name.to_owned(), key: key.clone(), names, value: value?, declared })
}
