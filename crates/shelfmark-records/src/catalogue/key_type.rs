//! Key types as text, for the catalogue: `text`, `i64`, `tuple(text,kinded(i64))`.

use shelfmark_keycode::{KEY_DEPTH_MAX, KeyType};

use super::limits::TYPE_LEVELS_MAX;
use crate::error::{Error, Result};

const PLAIN: [(&str, KeyType); 24] = [
    ("text", KeyType::Text),
    ("bytes", KeyType::Bytes),
    ("bool", KeyType::Bool),
    ("i8", KeyType::I8),
    ("i16", KeyType::I16),
    ("i32", KeyType::I32),
    ("i64", KeyType::I64),
    ("i128", KeyType::I128),
    ("u8", KeyType::U8),
    ("u16", KeyType::U16),
    ("u32", KeyType::U32),
    ("u64", KeyType::U64),
    ("u128", KeyType::U128),
    ("integer", KeyType::Integer),
    ("decimal", KeyType::Decimal),
    ("f32", KeyType::F32),
    ("f64", KeyType::F64),
    ("date", KeyType::Date),
    ("time", KeyType::Time),
    ("timestamp", KeyType::Timestamp),
    ("inet", KeyType::Inet),
    ("uuid", KeyType::Uuid),
    ("cql_uuid", KeyType::CqlUuid),
    ("cql_timeuuid", KeyType::CqlTimeUuid),
];

/// Writes a type.
pub(crate) fn key_type_to_text(key_type: &KeyType) -> String {
    let nested = |name: &str, inner: &[&KeyType]| {
        let inner: Vec<String> = inner.iter().map(|inner| key_type_to_text(inner)).collect();
        format!("{name}({})", inner.join(","))
    };
    match key_type {
        KeyType::Tuple(fields) => nested("tuple", &fields.iter().collect::<Vec<_>>()),
        KeyType::Record(fields) => nested("record", &fields.iter().collect::<Vec<_>>()),
        KeyType::List(inner) => nested("list", &[inner]),
        KeyType::Set(inner) => nested("set", &[inner]),
        KeyType::Map(key, value) => nested("map", &[key, value]),
        KeyType::Kinded(inner) => nested("kinded", &[inner]),
        plain => PLAIN
            .iter()
            .find(|(_, own)| own == plain)
            .map_or_else(String::new, |(name, _)| (*name).to_owned()),
    }
}

/// Reads a type.
pub(crate) fn key_type_from_text(text: &str) -> Result<KeyType> {
    let mut rest = text;
    let key_type = parse(&mut rest, TYPE_LEVELS_MAX)?;
    if !rest.is_empty() {
        return Err(unknown());
    }
    // What keys of the type will be asked for: the same limits as where a schema is checked.
    key_type.check().map_err(|_| unknown())?;
    Ok(key_type)
}

fn unknown() -> Error {
    let depth = KEY_DEPTH_MAX;
    Error::corrupt(format!("it names a type that is not known or nested over {depth} deep"))
}

fn parse(rest: &mut &str, depth: usize) -> Result<KeyType> {
    let below = depth.checked_sub(1).ok_or_else(unknown)?;
    let end = rest.find(['(', ')', ',']).unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end).ok_or_else(unknown)?;
    *rest = after;
    if let Some((_, plain)) = PLAIN.iter().find(|(own, _)| *own == name) {
        return Ok(plain.clone());
    }
    let mut inner = Vec::new();
    *rest = rest.strip_prefix('(').ok_or_else(unknown)?;
    while !rest.starts_with(')') {
        if !inner.is_empty() {
            *rest = rest.strip_prefix(',').ok_or_else(unknown)?;
        }
        inner.push(parse(rest, below)?);
    }
    *rest = rest.strip_prefix(')').ok_or_else(unknown)?;
    let mut inner = inner.into_iter();
    let mut one = || inner.next().map(Box::new).ok_or_else(unknown);
    match name {
        "list" => Ok(KeyType::List(one()?)),
        "set" => Ok(KeyType::Set(one()?)),
        "kinded" => Ok(KeyType::Kinded(one()?)),
        "map" => Ok(KeyType::Map(one()?, one()?)),
        "tuple" => Ok(KeyType::Tuple(inner.collect())),
        "record" => Ok(KeyType::Record(inner.collect())),
        _ => Err(unknown()),
    }
}
