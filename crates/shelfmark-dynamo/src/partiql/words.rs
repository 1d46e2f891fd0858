//! The keywords of PartiQL, which are no names unless they stand in double quotes, and its types.
//!
//! Source: the reserved words of SQL-92, and those that the PartiQL specification adds, read
//! 2026-11; without `offset`, which DynamoDB Local 3.3 takes as a name.

use std::sync::LazyLock;

/// The keywords, sorted.
static KEYWORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut words: Vec<&str> = SQL.split_ascii_whitespace().collect();
    words.extend(PARTIQL.split_ascii_whitespace());
    words.sort_unstable();
    words.dedup();
    words
});

/// Longest keyword in bytes.
const CHARS_MAX: usize = 17;

const SQL: &str = "\
     absolute action add all allocate alter and any are as asc assertion at authorization avg begin \
     between bit bit_length by cascade cascaded case cast catalog char character character_length \
     char_length check close coalesce collate collation column commit connect connection constraint \
     constraints continue convert corresponding count create cross current current_date current_time \
     current_timestamp current_user cursor date date_add date_diff deallocate dec decimal declare \
     default deferrable deferred delete desc describe descriptor diagnostics disconnect distinct \
     domain double drop else end escape except exception exec execute exists external extract false \
     fetch first float for foreign found from full get global go goto grant group having identity \
     immediate in indicator initially inner input insensitive insert int integer intersect interval \
     into is isolation join key language last left level like local lower match max min module names \
     national natural nchar next no not null nullif numeric octet_length of on only open option or \
     order outer output overlaps pad partial position precision prepare preserve primary prior \
     privileges procedure public read real references relative restrict revoke right rollback rows \
     schema scroll section select session session_user set size smallint some space sql sqlcode \
     sqlerror sqlstate substring sum system_user table temporary then time timestamp to transaction \
     translate translation trim true union unique unknown update upper usage user using value values \
     varchar varying view when whenever where with work write zone";

const PARTIQL: &str = "\
     can_cast can_lossless_cast missing pivot unpivot limit tuple remove index let integer2 \
     int2 integer4 int4 integer8 int8 bigint conflict do nothing returning modified new old bool \
     boolean string symbol clob blob struct list sexp bag";

/// Returns true if a word in small letters is a keyword.
pub(super) fn is_keyword(word: &str) -> bool {
    word.len() <= CHARS_MAX && KEYWORDS.binary_search(&word).is_ok()
}

/// Keywords that are functions where a parenthesis follows.
const FUNCTIONS: [&str; 16] = [
    "exists",
    "count",
    "avg",
    "max",
    "min",
    "sum",
    "substring",
    "char_length",
    "character_length",
    "octet_length",
    "bit_length",
    "upper",
    "lower",
    "size",
    "list",
    "bag",
];

/// Returns true if a keyword is a function where a parenthesis follows.
pub(super) fn is_function(keyword: &str) -> bool {
    FUNCTIONS.contains(&keyword)
}

/// The type behind IS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeName {
    Missing,
    /// The types of attributes that have this name, by DynamoDB's letters.
    Letters(&'static [&'static str]),
    /// A type that IS does not know, by its name in the grammar.
    Unsupported(&'static str),
}

/// Returns the type of a name in small letters; two words are joined by a blank.
pub(super) fn type_named(name: &str) -> Option<TypeName> {
    use TypeName::{Letters, Missing, Unsupported};
    Some(match name {
        "missing" => Missing,
        "null" => Letters(&["NULL"]),
        "boolean" | "bool" => Letters(&["BOOL"]),
        "string" => Letters(&["S"]),
        "numeric" => Letters(&["N"]),
        "blob" => Letters(&["B"]),
        "list" => Letters(&["L"]),
        "struct" | "tuple" => Letters(&["M"]),
        "char" | "character" => Unsupported("CHARACTER"),
        "varchar" | "character varying" => Unsupported("CHARACTER_VARYING"),
        "smallint" => Unsupported("SMALLINT"),
        "integer2" | "int2" => Unsupported("INTEGER2"),
        "integer4" | "int4" => Unsupported("INTEGER4"),
        "integer8" | "int8" | "bigint" => Unsupported("INTEGER8"),
        "integer" | "int" => Unsupported("INTEGER"),
        "float" => Unsupported("FLOAT"),
        "real" => Unsupported("REAL"),
        "double precision" => Unsupported("DOUBLE_PRECISION"),
        "decimal" | "dec" => Unsupported("DECIMAL"),
        "bag" => Unsupported("BAG"),
        "timestamp" => Unsupported("TIMESTAMP"),
        "date" => Unsupported("DATE"),
        "time" => Unsupported("TIME"),
        "symbol" => Unsupported("SYMBOL"),
        "clob" => Unsupported("CLOB"),
        "sexp" => Unsupported("SEXP"),
        "any" => Unsupported("ANY"),
        _ => return None,
    })
}
