//! Words of commands as values of types, and back.

use shelfmark_cql_types::{CqlType, Native, from_text, parse_class_name, to_literal, validate};

use super::tree::Value;

/// Returns the type of a validator or comparator by its class, short or full, and whether its
/// order is reversed. Types that the 2012 client calls otherwise are known by those names too.
pub(super) fn class(name: &str) -> Result<(CqlType, bool), String> {
    let package = "org.apache.cassandra.db.marshal.";
    let short = name.trim().strip_prefix(package).unwrap_or(name.trim());
    let (short, reversed) = match short.strip_suffix("(reversed=true)") {
        Some(short) => (short, true),
        None => (short.strip_suffix("(reversed=false)").unwrap_or(short), false),
    };
    let known = match short {
        "LexicalUUIDType" => "UUIDType",
        "DateType" => "TimestampType",
        other => other,
    };
    let (found, also_reversed) = parse_class_name(known)
        .ok()
        .filter(|(found, _)| !matches!(found, CqlType::Custom(_)))
        .ok_or_else(|| format!("Unable to find abstract-type class '{package}{short}'"))?;
    Ok((found, reversed || also_reversed))
}

/// Returns the type of a conversion such as `long('5')`, or of an `assume`.
pub(super) fn function(name: &str) -> Option<CqlType> {
    let native = match name.to_ascii_lowercase().as_str() {
        "bytes" => Native::Blob,
        "integer" => Native::Varint,
        "int" => Native::Int,
        "long" => Native::Bigint,
        "lexicaluuid" | "uuid" => Native::Uuid,
        "timeuuid" => Native::Timeuuid,
        "utf8" => Native::Text,
        "ascii" => Native::Ascii,
        "countercolumn" => Native::Counter,
        _ => return None,
    };
    Some(CqlType::Native(native))
}

/// Returns a type that `as` or `assume` names: a function's name or a class.
pub(super) fn named(name: &str) -> Result<CqlType, String> {
    match function(name) {
        Some(found) => Ok(found),
        None => class(name).map(|(found, _)| found).map_err(|_| {
            format!(
                "Type '{name}' was not found. Available: bytes, integer, int, long, lexicaluuid, \
                 timeuuid, utf8, ascii, countercolumn."
            )
        }),
    }
}

/// Returns a word as the bytes of a value of a type. `assumed` is what `assume` said of it.
pub(super) fn bytes(
    value: &Value,
    declared: &CqlType,
    assumed: Option<&CqlType>,
) -> Result<Vec<u8>, String> {
    let (as_type, text) = match value {
        Value::Word(text) | Value::Text(text) => {
            (assumed.unwrap_or(declared).clone(), text.as_str())
        }
        Value::Call { function: name, argument } => {
            let found = function(name).ok_or_else(|| unknown_function(name))?;
            let argument = argument.as_deref();
            (found, argument.ok_or_else(|| format!("Function '{name}' needs an argument here"))?)
        }
    };
    // A number is the same number whichever function names it.
    let as_type = if is_integer(&as_type) && is_integer(declared) { declared } else { &as_type };
    let bytes = match as_type {
        CqlType::Native(Native::Blob) => hex(text)?,
        _ => from_text(as_type, text).map_err(|error| error.0)?,
    };
    validate(declared, &bytes).map_err(|error| error.0)?;
    Ok(bytes)
}

fn unknown_function(name: &str) -> String {
    format!(
        "Function '{name}' not found. Available functions: bytes, integer, int, long, lexicaluuid, \
         timeuuid, utf8, ascii."
    )
}

/// Writes a word as CQL for a column of a type. `assumed` is what `assume` said of it. A function
/// without argument makes a new value.
pub(super) fn literal(
    value: &Value,
    declared: &CqlType,
    assumed: Option<&CqlType>,
) -> Result<String, String> {
    if let Value::Call { function: name, argument: None } = value
        && let Some(kind) = function(name)
        && let Some(new) = generated(&kind, declared)
    {
        return Ok(new);
    }
    Ok(to_literal(declared, Some(&bytes(value, declared, assumed)?)))
}

/// Writes a word as CQL for a column of bytes, where its value is of another type.
pub(super) fn bytes_literal(
    value: &Value,
    cql_type: &CqlType,
    assumed: Option<&CqlType>,
) -> Result<String, String> {
    let blob = CqlType::Native(Native::Blob);
    if let Value::Call { function: name, argument: None } = value
        && let Some(kind) = function(name)
        && generated(&kind, cql_type).is_some()
        && let Some(new) = generated(&kind, &blob)
    {
        return Ok(new);
    }
    Ok(to_literal(&blob, Some(&bytes(value, cql_type, assumed)?)))
}

fn is_integer(found: &CqlType) -> bool {
    let integers = [Native::Int, Native::Bigint, Native::Varint, Native::Smallint, Native::Tinyint];
    matches!(found, CqlType::Native(native) if integers.contains(native))
}

/// Reads bytes as the original does: of an odd number of digits the first stands alone.
fn hex(text: &str) -> Result<Vec<u8>, String> {
    let whole = if text.len() % 2 == 1 { format!("0{text}") } else { text.to_owned() };
    from_text(&CqlType::Native(Native::Blob), &whole).map_err(|error| error.0)
}

/// Returns what makes a new UUID for a column, of the kind that `timeuuid()` or `lexicaluuid()` asks
/// for.
fn generated(kind: &CqlType, declared: &CqlType) -> Option<String> {
    let new = match kind {
        CqlType::Native(Native::Timeuuid) => "now()",
        CqlType::Native(Native::Uuid) => "uuid()",
        _ => return None,
    };
    match declared {
        CqlType::Native(Native::Blob) if new == "now()" => Some(format!("timeuuidAsBlob({new})")),
        CqlType::Native(Native::Blob) => Some(format!("uuidAsBlob({new})")),
        CqlType::Native(Native::Uuid) => Some(new.to_owned()),
        CqlType::Native(Native::Timeuuid) if new == "now()" => Some(new.to_owned()),
        _ => None,
    }
}
