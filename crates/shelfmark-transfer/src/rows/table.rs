//! A table's columns, as `system_schema` and the protocol tell of them, and its statements.

use shelfmark_cql_protocol::types::CqlType;
use shelfmark_cql_protocol::types::maybe_quote;
use shelfmark_cql_types::to_literal;

use super::peer::{Peer, text_of};
use crate::error::{Error, ErrorKind, Result};

/// The part of a column in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// In the partition key.
    Partition,
    /// In the clustering key.
    Clustering,
    /// One cell for a partition.
    Static,
    /// A cell for each row.
    Regular,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type.
    pub kind: CqlType,
    /// Its part.
    pub role: Role,
    /// The place in the key.
    position: i32,
    /// True for a collection or user type with a cell for each element, which has several write times.
    pub is_multi_cell: bool,
}

impl Column {
    /// Returns true if the cell has one write time and one expiry.
    pub(crate) fn has_stamp(&self) -> bool {
        let is_value = matches!(self.role, Role::Static | Role::Regular);
        is_value && !self.is_multi_cell && self.kind != CqlType::Counter
    }
}

/// A table of a keyspace.
#[derive(Debug, Clone, PartialEq)]
pub struct RowTable {
    /// The keyspace.
    pub keyspace: String,
    /// The table.
    pub name: String,
    /// The columns: the key in its order, then by name.
    pub columns: Vec<Column>,
    by_name: Vec<usize>,
}

impl RowTable {
    /// Reads what a server says of a table, `KEYSPACE.NAME`.
    pub(crate) fn read(peer: &mut Peer<'_>, table: &str) -> Result<Self> {
        let (keyspace, name) = table.split_once('.').ok_or_else(|| {
            Error::invalid(format!("{table}: a table of CQL is named KEYSPACE.NAME"))
        })?;
        let (keyspace, name) = (stored(keyspace), stored(name));
        let full = format!("{}.{}", maybe_quote(&keyspace), maybe_quote(&name));
        let text = |text: &str| to_literal(&CqlType::Text, Some(text.as_bytes()));
        let page = peer.all(&format!(
            "SELECT column_name, kind, position, type FROM system_schema.columns WHERE keyspace_name = {} AND \
             table_name = {}",
            text(&keyspace),
            text(&name)
        ))?;
        if page.rows.is_empty() {
            return Err(Error::new(ErrorKind::Refused, format!("there is no table {full}")));
        }
        let types = peer.all(&format!("SELECT * FROM {full} LIMIT 1"))?.columns;
        let mut columns = Vec::new();
        for row in &page.rows {
            let column = text_of(row.first());
            let Some(found) = types.iter().find(|own| *own.name == *column) else {
                return Err(Error::new(
                    ErrorKind::Refused,
                    format!("{full} changed while it was looked at: {column}"),
                ));
            };
            let position = row.get(2).and_then(Option::as_ref);
            let position =
                position.and_then(|bytes| Some(i32::from_be_bytes((**bytes).try_into().ok()?)));
            let is_frozen = text_of(row.get(3)).starts_with("frozen<");
            let is_nested = matches!(
                found.kind,
                CqlType::List { .. }
                    | CqlType::Set { .. }
                    | CqlType::Map { .. }
                    | CqlType::User { .. }
            );
            columns.push(Column {
                name: column,
                kind: found.kind.clone(),
                role: match text_of(row.get(1)).as_str() {
                    "partition_key" => Role::Partition,
                    "clustering" => Role::Clustering,
                    "static" => Role::Static,
                    _ => Role::Regular,
                },
                position: position.unwrap_or_default(),
                is_multi_cell: is_nested && !is_frozen,
            });
        }
        columns.sort_by(|a, b| (a.role, a.position, &a.name).cmp(&(b.role, b.position, &b.name)));
        let mut by_name: Vec<usize> = (0..columns.len()).collect();
        by_name.sort_by_key(|at| columns.get(*at).map(|own| own.name.clone()));
        Ok(Self { keyspace, name, columns, by_name })
    }

    /// Returns the places of the columns in the order of their names.
    pub(crate) fn by_name(&self) -> &[usize] {
        &self.by_name
    }

    /// Returns the name as statements have it.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}.{}", maybe_quote(&self.keyspace), maybe_quote(&self.name))
    }

    /// Returns true if its cells are counters.
    pub(crate) fn is_of_counters(&self) -> bool {
        self.columns.iter().any(|own| own.kind == CqlType::Counter)
    }

    /// Returns the columns of one or two parts, as statements have them.
    pub(crate) fn names(&self, wanted: impl Fn(&Column) -> bool) -> Vec<String> {
        self.columns.iter().filter(|own| wanted(own)).map(|own| maybe_quote(&own.name)).collect()
    }

    /// Returns the place of a column.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|own| own.name == name)
    }

    /// Returns the statement that reads a range of tokens; its markers are the range's ends.
    pub(crate) fn select(&self, with_stamps: bool) -> String {
        let mut all = self.names(|_| true);
        if with_stamps {
            for name in self.names(Column::has_stamp) {
                all.push(format!("writetime({name})"));
                all.push(format!("ttl({name})"));
            }
        }
        let key = self.names(|own| own.role == Role::Partition).join(", ");
        format!(
            "SELECT {} FROM {} WHERE token({key}) > ? AND token({key}) <= ?",
            all.join(", "),
            self.full_name()
        )
    }

    /// Returns the statement that writes these columns; its markers are in their order.
    pub(crate) fn insert(&self, columns: &[usize], with_stamps: bool) -> String {
        let names: Vec<String> = columns
            .iter()
            .filter_map(|place| self.columns.get(*place))
            .map(|own| maybe_quote(&own.name))
            .collect();
        let markers = vec!["?"; names.len()].join(", ");
        let stamps = if with_stamps { " USING TIMESTAMP ? AND TTL ?" } else { "" };
        let (names, full) = (names.join(", "), self.full_name());
        format!("INSERT INTO {full} ({names}) VALUES ({markers}){stamps}")
    }
}

/// Returns a name as it is stored: folded unless it is quoted.
fn stored(written: &str) -> String {
    match written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => written.to_lowercase(),
    }
}
