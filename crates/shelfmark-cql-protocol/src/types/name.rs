//! Types as CQL text, the form that `system_schema` shows.

use std::fmt;

use super::{CqlType, Native};

const NAMES: [(Native, &str); 21] = [
    (Native::Ascii, "ascii"),
    (Native::Bigint, "bigint"),
    (Native::Blob, "blob"),
    (Native::Boolean, "boolean"),
    (Native::Counter, "counter"),
    (Native::Date, "date"),
    (Native::Decimal, "decimal"),
    (Native::Double, "double"),
    (Native::Duration, "duration"),
    (Native::Empty, "empty"),
    (Native::Float, "float"),
    (Native::Inet, "inet"),
    (Native::Int, "int"),
    (Native::Smallint, "smallint"),
    (Native::Text, "text"),
    (Native::Time, "time"),
    (Native::Timestamp, "timestamp"),
    (Native::Timeuuid, "timeuuid"),
    (Native::Tinyint, "tinyint"),
    (Native::Uuid, "uuid"),
    (Native::Varint, "varint"),
];

/// Returns the type without parameters of this (lower-case) name; `varchar` is `text`.
#[must_use]
pub fn native_by_name(name: &str) -> Option<Native> {
    if name == "varchar" {
        return Some(Native::Text);
    }
    NAMES.iter().find(|(_, own)| *own == name).map(|(native, _)| *native)
}

impl Native {
    /// Returns the name of the type in CQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(own, _)| *own == self).map_or("", |(_, name)| name)
    }

    /// Returns all native types, in the order of their names.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(native, _)| *native)
    }
}

impl fmt::Display for CqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Native(native) => f.write_str(native.name()),
            Self::List { element, frozen } => {
                frozen_form(f, *frozen, &format_args!("list<{element}>"))
            }
            Self::Set { element, frozen } => {
                frozen_form(f, *frozen, &format_args!("set<{element}>"))
            }
            Self::Map { key, value, frozen } => {
                frozen_form(f, *frozen, &format_args!("map<{key}, {value}>"))
            }
            Self::Tuple(fields) => {
                f.write_str("frozen<tuple<")?;
                for (at, field) in fields.iter().enumerate() {
                    if at > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{field}")?;
                }
                f.write_str(">>")
            }
            Self::User { definition: udt, frozen } => {
                frozen_form(f, *frozen, &format_args!("{}", maybe_quote(&udt.name)))
            }
            Self::Vector { element, dimension } => write!(f, "vector<{element}, {dimension}>"),
            Self::Custom(class) => write!(f, "'{class}'"),
        }
    }
}

fn frozen_form(
    f: &mut fmt::Formatter<'_>,
    frozen: bool,
    inner: &fmt::Arguments<'_>,
) -> fmt::Result {
    if frozen { write!(f, "frozen<{inner}>") } else { f.write_fmt(*inner) }
}

/// Returns the name as it must be written in CQL: quoted unless it is lower case, without odd
/// characters, and no reserved word.
#[must_use]
pub fn maybe_quote(name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if plain && !is_reserved(name) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The reserved words. Source: Cassandra 5.0, `reserved_keywords.txt`, read 2026-11.
const RESERVED: [&str; 58] = [
    "add",
    "allow",
    "alter",
    "and",
    "apply",
    "asc",
    "authorize",
    "batch",
    "begin",
    "by",
    "columnfamily",
    "create",
    "default",
    "delete",
    "desc",
    "describe",
    "drop",
    "entries",
    "execute",
    "from",
    "full",
    "grant",
    "if",
    "in",
    "index",
    "infinity",
    "insert",
    "into",
    "is",
    "keyspace",
    "limit",
    "materialized",
    "modify",
    "nan",
    "norecursive",
    "not",
    "null",
    "of",
    "on",
    "or",
    "order",
    "primary",
    "rename",
    "replace",
    "revoke",
    "schema",
    "select",
    "set",
    "table",
    "to",
    "token",
    "truncate",
    "unlogged",
    "unset",
    "update",
    "use",
    "using",
    "view",
];

fn is_reserved(name: &str) -> bool {
    matches!(name, "where" | "with") || RESERVED.binary_search(&name).is_ok()
}
