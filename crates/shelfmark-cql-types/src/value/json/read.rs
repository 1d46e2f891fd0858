//! JSON to values.
//!
//! A reader of our own, because numbers must keep every digit and objects the last of a repeated
//! name.

use std::collections::{HashMap, HashSet};

use super::super::number::{decimal_from_parts, parse_decimal, parse_varint, varint_to_bytes};
use super::super::{CqlType, MarshalError, Native, Result, compare, from_text, to_text};
use super::super::{put_collection, put_tuple, unsigned_vint};

/// The greatest depth of nested JSON. Ours; Cassandra's reader takes 1,000, and no type is as deep.
const JSON_DEPTH_MAX: usize = 64;

/// A JSON value; numbers as they were written.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number's text.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in the order written.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Returns the name of the class that Cassandra's texts call it by.
    fn class(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "Boolean",
            Self::Number(text) if text.contains(['.', 'e', 'E']) => "Double",
            Self::Number(text) if text.parse::<i32>().is_ok() => "Integer",
            Self::Number(text) if text.parse::<i64>().is_ok() => "Long",
            Self::Number(_) => "BigInteger",
            Self::String(_) => "String",
            Self::Array(_) => "ArrayList",
            Self::Object(_) => "LinkedHashMap",
        }
    }

    /// Returns the form that Cassandra's texts show it in.
    fn shown(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(bool) => bool.to_string(),
            Self::Number(text) if self.class() == "Double" => match text.parse::<f64>() {
                Ok(number) => to_text(&CqlType::Double, &number.to_be_bytes()),
                Err(_) => text.clone(),
            },
            // An integer has no negative zero.
            Self::Number(text) if text == "-0" => "0".to_owned(),
            Self::Number(text) | Self::String(text) => text.clone(),
            Self::Array(values) => {
                format!("[{}]", values.iter().map(Self::shown).collect::<Vec<_>>().join(", "))
            }
            Self::Object(pairs) => {
                let pairs: Vec<String> =
                    pairs.iter().map(|(name, value)| format!("{name}={}", value.shown())).collect();
                format!("{{{}}}", pairs.join(", "))
            }
        }
    }
}

/// Reads JSON. What stands behind the first value is not looked at, as in Cassandra's reader: only a
/// number, and `true`, `false` and `null`, have to end where they do.
///
/// # Errors
///
/// It is not JSON, or nested more deeply than 64.
pub fn parse_json(text: &str) -> Result<Json> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0);
    let next = reader.rest.chars().next();
    let ends = |value: &Json| match value {
        Json::Number(_) => next.is_none_or(|own| matches!(own, ' ' | '\t' | '\n' | '\r')),
        Json::Null | Json::Bool(_) => next.is_none_or(|own| !own.is_alphanumeric() && own != '_'),
        _ => true,
    };
    value
        .filter(ends)
        .ok_or_else(|| MarshalError::new(format!("Could not decode JSON string '{text}'")))
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, wanted: &str) -> bool {
        self.blank();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth >= JSON_DEPTH_MAX {
            return None;
        }
        self.blank();
        if self.take("null") {
            return Some(Json::Null);
        }
        if self.take("true") {
            return Some(Json::Bool(true));
        }
        if self.take("false") {
            return Some(Json::Bool(false));
        }
        match self.rest.as_bytes().first()? {
            b'"' => self.string().map(Json::String),
            b'[' => self.array(depth),
            b'{' => self.object(depth),
            _ => self.number(),
        }
    }

    fn array(&mut self, depth: usize) -> Option<Json> {
        self.take("[");
        let mut values = Vec::new();
        if self.take("]") {
            return Some(Json::Array(values));
        }
        loop {
            values.push(self.value(depth + 1)?);
            if self.take("]") {
                return Some(Json::Array(values));
            }
            self.take(",").then_some(())?;
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        self.take("{");
        let mut pairs: Vec<(String, Json)> = Vec::new();
        if self.take("}") {
            return Some(Json::Object(pairs));
        }
        loop {
            self.blank();
            let name = self.string()?;
            self.take(":").then_some(())?;
            let value = self.value(depth + 1)?;
            pairs.push((name, value));
            if self.take("}") {
                return Some(Json::Object(last_of_each(pairs)));
            }
            self.take(",").then_some(())?;
        }
    }

    fn number(&mut self) -> Option<Json> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E')))
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        let digits = text.strip_prefix('-').unwrap_or(text);
        let leads = digits.starts_with(|c: char| c.is_ascii_digit())
            && !(digits.len() > 1
                && digits.starts_with('0')
                && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit));
        // A point stands between digits.
        let ends_with_digit = text.ends_with(|c: char| c.is_ascii_digit());
        let mut parts = text.split('.').skip(1);
        let follows = parts.all(|own| own.starts_with(|c: char| c.is_ascii_digit()));
        parse_decimal(text).ok().filter(|_| leads && ends_with_digit && follows)?;
        self.rest = rest;
        Some(Json::Number(text.to_owned()))
    }

    fn string(&mut self) -> Option<String> {
        let mut out = String::new();
        let mut chars = self.rest.char_indices();
        (chars.next()?.1 == '"').then_some(())?;
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = self.rest.get(at + 1..)?;
                    return Some(out);
                }
                '\\' => match chars.next()?.1 {
                    'b' => out.push('\u{8}'),
                    'f' => out.push('\u{c}'),
                    'n' => out.push('\n'),
                    'r' => out.push('\r'),
                    't' => out.push('\t'),
                    'u' => {
                        let high = hex4(&mut chars)?;
                        let mut ahead = chars.clone();
                        let code = match low_half(&mut ahead) {
                            Some(low) if (0xD800..0xDC00).contains(&high) => {
                                chars = ahead;
                                0x1_0000 + (high - 0xD800) * 0x400 + low
                            }
                            _ => high,
                        };
                        // Half a character is shown as what Java writes for it.
                        out.push(char::from_u32(code).unwrap_or('?'));
                    }
                    c @ ('"' | '\\' | '/') => out.push(c),
                    _ => return None,
                },
                c if c < ' ' => return None,
                c => out.push(c),
            }
        }
        None
    }
}

/// Reads the escape of the second half of a character; returns its bits.
fn low_half(chars: &mut std::str::CharIndices<'_>) -> Option<u32> {
    (chars.next()?.1 == '\\' && chars.next()?.1 == 'u').then_some(())?;
    hex4(chars)?.checked_sub(0xDC00).filter(|low| *low < 0x400)
}

fn hex4(chars: &mut std::str::CharIndices<'_>) -> Option<u32> {
    (0..4).try_fold(0, |code, _| Some(code * 16 + chars.next()?.1.to_digit(16)?))
}

/// Serialises what the JSON means for the type; `None` is null.
///
/// # Errors
///
/// It means nothing. The text says what was expected and what came.
pub fn from_json(ty: &CqlType, json: &Json) -> Result<Option<Vec<u8>>> {
    if *json == Json::Null {
        return Ok(None);
    }
    value_from_json(ty, json).map(Some)
}

fn expected(what: &str, json: &Json) -> MarshalError {
    MarshalError::new(format!("Expected {what}, but got a {}: {}", json.class(), json.shown()))
}

fn value_from_json(ty: &CqlType, json: &Json) -> Result<Vec<u8>> {
    // A string may hold the JSON of a compound, as keys of objects must.
    if let (Json::String(text), true) =
        (json, !matches!(ty, CqlType::Native(_) | CqlType::Custom(_)))
    {
        let inner = parse_json(text)?;
        if !matches!(inner, Json::String(_)) {
            return value_from_json(ty, &inner);
        }
    }
    match ty {
        CqlType::Native(native) => native_from_json(*native, json),
        CqlType::Custom(_) => native_from_json(Native::Blob, json),
        CqlType::List { element, .. } => {
            let parts = list_parts(element, json, "a list", "list")?;
            Ok(put_collection(parts.len(), parts.iter().map(Vec::as_slice)))
        }
        CqlType::Set { element, .. } => {
            let mut parts = list_parts(element, json, "a list (representing a set)", "set")?;
            parts.sort_by(|a, b| compare(element, a, b));
            parts.dedup_by(|a, b| compare(element, a, b).is_eq());
            Ok(put_collection(parts.len(), parts.iter().map(Vec::as_slice)))
        }
        CqlType::Vector { element, dimension } => {
            if let Json::Array(values) = json
                && u32::try_from(values.len()) != Ok(*dimension)
            {
                return Err(MarshalError::new(format!(
                    "List had incorrect size: expected {dimension} but given {}; {}",
                    values.len(),
                    json.shown()
                )));
            }
            let parts = list_parts(element, json, "a list", "list")?;
            let mut out = Vec::new();
            for part in parts {
                if element.fixed_size().is_none() {
                    unsigned_vint(part.len() as u64, &mut out);
                }
                out.extend_from_slice(&part);
            }
            Ok(out)
        }
        CqlType::Map { key, value, .. } => map_from_json(key, value, json),
        CqlType::Tuple(types) => tuple_from_json(types, json),
        CqlType::User { definition, .. } => {
            let Json::Object(pairs) = json else { return Err(expected("a map", json)) };
            let known: HashSet<&str> = definition.fields.iter().map(|(name, _)| &**name).collect();
            let mut names = pairs.iter().map(|(name, _)| column_name(name));
            if let Some(unknown) = names.find(|name| !known.contains(name.as_str())) {
                return Err(MarshalError::new(format!(
                    "Unknown field '{unknown}' in value of user defined type {}",
                    definition.name
                )));
            }
            let mut by_name = HashMap::with_capacity(pairs.len());
            for (name, value) in pairs {
                // Of names that become one the first counts.
                by_name.entry(column_name(name)).or_insert(value);
            }
            let parts = definition.fields.iter().map(|(name, ty)| {
                by_name.get(&**name).map_or(Ok(None), |value| from_json(ty, value))
            });
            let parts = parts.collect::<Result<Vec<_>>>()?;
            Ok(put_tuple(parts.iter().map(Option::as_deref)))
        }
    }
}

/// Returns a name of JSON as a column's or field's: folded unless it has quotes inside.
pub fn column_name(name: &str) -> String {
    match name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.to_owned(),
        None => name.to_lowercase(),
    }
}

fn list_parts(element: &CqlType, json: &Json, what: &str, kind: &str) -> Result<Vec<Vec<u8>>> {
    let Json::Array(values) = json else { return Err(expected(what, json)) };
    values
        .iter()
        .map(|value| match value {
            Json::Null => Err(MarshalError::new(format!("Invalid null element in {kind}"))),
            value => value_from_json(element, value),
        })
        .collect()
}

fn map_from_json(key: &CqlType, value: &CqlType, json: &Json) -> Result<Vec<u8>> {
    let Json::Object(pairs) = json else { return Err(expected("a map", json)) };
    let mut parts = pairs
        .iter()
        .map(|(k, v)| {
            if *v == Json::Null {
                return Err(MarshalError::new("Invalid null value in map"));
            }
            Ok((value_from_json(key, &Json::String(k.clone()))?, value_from_json(value, v)?))
        })
        .collect::<Result<Vec<_>>>()?;
    parts.sort_by(|(a, _), (b, _)| compare(key, a, b));
    let flat = parts.iter().flat_map(|(k, v)| [k.as_slice(), v.as_slice()]);
    Ok(put_collection(parts.len(), flat))
}

fn tuple_from_json(types: &[CqlType], json: &Json) -> Result<Vec<u8>> {
    let Json::Array(values) = json else {
        return Err(MarshalError::new(format!(
            "Expected a list representation of a tuple, but got a {}: {}",
            json.class(),
            json.shown()
        )));
    };
    let (wanted, shown) = (types.len(), json.shown());
    if values.len() > wanted {
        let text = format!("Tuple contains extra items (expected {wanted}): {shown}");
        return Err(MarshalError::new(text));
    }
    if values.len() < wanted {
        let text = format!("Tuple is missing items (expected {wanted}): {shown}");
        return Err(MarshalError::new(text));
    }
    let parts = types
        .iter()
        .zip(values)
        .map(|(ty, value)| from_json(ty, value))
        .collect::<Result<Vec<_>>>()?;
    Ok(put_tuple(parts.iter().map(Option::as_deref)))
}

fn native_from_json(native: Native, json: &Json) -> Result<Vec<u8>> {
    let ty = CqlType::Native(native);
    let text_only = |what: &str| match json {
        Json::String(text) => from_text(&ty, text),
        _ => Err(expected(what, json)),
    };
    let small = |what: &str| match json {
        Json::String(text) => from_text(&ty, text),
        Json::Number(_) => from_text(&ty, &json.shown()),
        _ => Err(expected(what, json)),
    };
    let number = |what: &str| match json {
        Json::String(text) => from_text(&ty, text),
        Json::Number(text) => from_text(&ty, text).map_err(|_| expected(what, json)),
        _ => Err(expected(what, json)),
    };
    match native {
        Native::Ascii => text_only("an ascii string"),
        Native::Text => text_only("a UTF-8 string"),
        Native::Blob | Native::Empty => blob_from_json(json),
        Native::Boolean => match json {
            Json::Bool(bool) => Ok(vec![u8::from(*bool)]),
            Json::String(text) if text.eq_ignore_ascii_case("true") => Ok(vec![1]),
            Json::String(text) if text.is_empty() || text.eq_ignore_ascii_case("false") => {
                Ok(vec![0])
            }
            Json::String(text) => {
                Err(MarshalError::new(format!("Unable to make boolean from '{text}'")))
            }
            _ => Err(expected("a boolean value", json)),
        },
        Native::Tinyint => small("a byte value"),
        Native::Smallint => small("a short value"),
        Native::Int => number("an int value"),
        Native::Bigint | Native::Counter => number("a bigint value"),
        Native::Float => number("a float value"),
        Native::Double => number("a double value"),
        Native::Varint => match json {
            Json::Number(text) | Json::String(text) => {
                parse_varint(text).map(|n| varint_to_bytes(&n))
            }
            _ => Err(MarshalError::new("")),
        }
        .map_err(|_| invalid_number("varint", json)),
        Native::Decimal => match json {
            Json::String(text) if text.is_empty() => Ok(Vec::new()),
            Json::Number(text) | Json::String(text) => {
                parse_decimal(text).map(|n| decimal_from_parts(n.unscaled(), n.scale()))
            }
            _ => Err(MarshalError::new("")),
        }
        .map_err(|_| invalid_number("decimal", json)),
        Native::Uuid => text_only("a string representation of a uuid"),
        Native::Timeuuid => text_only("a string representation of a timeuuid"),
        Native::Inet => text_only("a string representation of an inet value"),
        Native::Date => text_only("a string representation of a date value"),
        Native::Time => text_only("a string representation of a time value"),
        Native::Duration => text_only("a string representation of a duration"),
        Native::Timestamp => number("a long or a datestring representation of a timestamp value"),
    }
}

/// Keeps of pairs with one name the last.
fn last_of_each(mut pairs: Vec<(String, Json)>) -> Vec<(String, Json)> {
    let mut known = HashSet::with_capacity(pairs.len());
    let is_last: Vec<bool> = pairs.iter().rev().map(|(name, _)| known.insert(&**name)).collect();
    let mut is_last = is_last.into_iter().rev();
    pairs.retain(|_| is_last.next().unwrap_or(true));
    pairs
}

fn blob_from_json(json: &Json) -> Result<Vec<u8>> {
    let shown = json.shown();
    let invalid =
        || MarshalError::new(format!("Value '{shown}' is not a valid blob representation"));
    let Json::String(text) = json else { return Err(invalid()) };
    let digits = text.strip_prefix("0x").ok_or_else(|| {
        MarshalError::new(format!(
            "Value '{text}' is not a valid blob representation: String representation of blob is missing 0x prefix: {text}"
        ))
    })?;
    hex::decode(digits).ok().ok_or_else(|| {
        MarshalError::new(format!(
            "Value '{text}' is not a valid blob representation: cannot parse '{digits}' as hex bytes"
        ))
    })
}

fn invalid_number(what: &str, json: &Json) -> MarshalError {
    MarshalError::new(format!(
        "Value '{}' is not a valid representation of a {what} value",
        json.shown()
    ))
}
