//! Values as the scripts write them, and as they are bound: as in `clients/cassandra/wire.py`.

use std::net::{Ipv4Addr, Ipv6Addr};

use num_bigint::BigInt;

use super::wire::Reader;

/// A type, as the protocol sends it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Native(&'static str),
    Custom(String),
    /// `list`, `set` or `map`, with what it is of.
    Collection(&'static str, Vec<Kind>),
    Tuple(Vec<Kind>),
    User {
        keyspace: String,
        name: String,
        fields: Vec<(String, Kind)>,
    },
}

/// Reads a type.
pub(super) fn kind(reader: &mut Reader) -> Kind {
    let code = reader.short();
    match code {
        0x00 => Kind::Custom(reader.string()),
        0x20 => Kind::Collection("list", vec![kind(reader)]),
        0x21 => Kind::Collection("map", vec![kind(reader), kind(reader)]),
        0x22 => Kind::Collection("set", vec![kind(reader)]),
        0x30 => {
            let (keyspace, name) = (reader.string(), reader.string());
            let count = reader.short();
            let fields = (0..count).map(|_| (reader.string(), kind(reader))).collect();
            Kind::User { keyspace, name, fields }
        }
        0x31 => {
            let count = reader.short();
            Kind::Tuple((0..count).map(|_| kind(reader)).collect())
        }
        _ => Kind::Native(match code {
            0x01 => "ascii",
            0x02 => "bigint",
            0x03 => "blob",
            0x04 => "boolean",
            0x05 => "counter",
            0x06 => "decimal",
            0x07 => "double",
            0x08 => "float",
            0x09 => "int",
            0x0B => "timestamp",
            0x0C => "uuid",
            0x0D => "text",
            0x0E => "varint",
            0x0F => "timeuuid",
            0x10 => "inet",
            0x11 => "date",
            0x12 => "time",
            0x13 => "smallint",
            0x14 => "tinyint",
            0x15 => "duration",
            other => panic!("no type has the code {other:#x}"),
        }),
    }
}

/// A type as text; user types with their fields, which the protocol sends too.
pub(super) fn kind_text(kind: &Kind) -> String {
    let all = |kinds: &[Kind]| kinds.iter().map(kind_text).collect::<Vec<_>>().join(", ");
    match kind {
        Kind::Native(name) => (*name).to_owned(),
        Kind::Custom(class) => quoted(&class.replace("org.apache.cassandra.db.marshal.", "")),
        Kind::Collection(name, of) => format!("{name}<{}>", all(of)),
        Kind::Tuple(of) => format!("tuple<{}>", all(of)),
        Kind::User { keyspace, name, fields } => {
            let field = |(name, kind): &(String, Kind)| format!("{name} {}", kind_text(kind));
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{keyspace}.{name}({})", fields.join(", "))
        }
    }
}

/// How many bytes an integer of a type has.
fn width(name: &str) -> Option<usize> {
    Some(match name {
        "bigint" | "counter" | "timestamp" | "time" => 8,
        "int" => 4,
        "smallint" => 2,
        "tinyint" => 1,
        _ => return None,
    })
}

/// A value as text: of which type it is stands in the columns.
pub(super) fn value_text(kind: &Kind, data: Option<&[u8]>) -> String {
    let Some(data) = data else { return "null".to_owned() };
    match kind {
        Kind::Custom(_) => hex(data),
        Kind::Tuple(of) => {
            let fields: Vec<(&str, &Kind)> = of.iter().map(|kind| ("", kind)).collect();
            format!("({})", fields_text(&fields, data))
        }
        Kind::User { fields, .. } => {
            let fields: Vec<(&str, &Kind)> =
                fields.iter().map(|(name, kind)| (name.as_str(), kind)).collect();
            format!("{{{}}}", fields_text(&fields, data))
        }
        Kind::Native("blob") => hex(data),
        Kind::Native("ascii" | "text") => {
            std::str::from_utf8(data).map_or_else(|_| hex(data), quoted)
        }
        _ if data.is_empty() => "empty".to_owned(),
        Kind::Collection(name, of) => {
            let mut reader = Reader::new(data);
            let count = reader.int();
            let element = |_| {
                let parts: Vec<String> =
                    of.iter().map(|kind| value_text(kind, reader.value().as_deref())).collect();
                parts.join(": ")
            };
            let parts: Vec<String> = (0..count).map(element).collect();
            let all = parts.join(", ");
            if *name == "list" { format!("[{all}]") } else { format!("{{{all}}}") }
        }
        Kind::Native(name) => native_text(name, data),
    }
}

fn native_text(name: &str, data: &[u8]) -> String {
    let integer = |data: &[u8]| BigInt::from_signed_bytes_be(data);
    match name {
        _ if width(name).is_some_and(|width| width != data.len()) => hex(data),
        _ if width(name).is_some() || name == "varint" => integer(data).to_string(),
        "decimal" => format!("{}e{}", integer(&data[4..]), -integer(&data[..4])),
        "boolean" => match data {
            [0] => "false".to_owned(),
            [1] => "true".to_owned(),
            _ => hex(data),
        },
        "double" => float(f64::from_be_bytes(data.try_into().unwrap())),
        "float" => float(f64::from(f32::from_be_bytes(data.try_into().unwrap()))),
        "uuid" | "timeuuid" => {
            let digits = hex(data)[2..].to_owned();
            let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| digits[range].to_owned());
            parts.join("-")
        }
        "inet" => match <[u8; 4]>::try_from(data) {
            Ok(four) => Ipv4Addr::from(four).to_string(),
            Err(_) => Ipv6Addr::from(<[u8; 16]>::try_from(data).unwrap()).to_string(),
        },
        "date" => (integer(&[&[0], data].concat()) - (1_i64 << 31)).to_string(),
        _ => hex(data),
    }
}

fn fields_text(fields: &[(&str, &Kind)], data: &[u8]) -> String {
    let mut reader = Reader::new(data);
    let field = |(name, kind): &(&str, &Kind)| {
        if reader.is_at_end() {
            return "-".to_owned();
        }
        let shown = value_text(kind, reader.value().as_deref());
        if name.is_empty() { shown } else { format!("{name}: {shown}") }
    };
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

pub(super) fn hex(data: &[u8]) -> String {
    let digits: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// A text as Python's `repr` writes it.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            own if own == quote => out.extend(['\\', own]),
            own if own < ' ' || ('\x7f'..='\u{a0}').contains(&own) || own == '\u{ad}' => {
                out.push_str(&format!("\\x{:02x}", u32::from(own)));
            }
            own => out.push(own),
        }
    }
    out.push(quote);
    out
}

/// A number as Python's `repr` writes it: the shortest digits, an exponent below −4 and from 16 on.
fn float(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string().to_lowercase();
    }
    let shortest = format!("{number:e}");
    let (digits, _) = shortest.split_once('e').expect("an exponent");
    let count = digits.chars().filter(char::is_ascii_digit).count();
    // Of two that are equally near Python takes the even one.
    let shortest = format!("{number:.*e}", count - 1);
    let (digits, exponent) = shortest.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("a number");
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let places = i32::try_from(fraction).expect("few digits") - exponent;
    format!("{number:.*}", usize::try_from(places.max(1)).expect("not negative"))
}

/// A value to bind, given as a word: null, unset, `0x…`, a number, a text, `a|b|c`. With its length.
pub(super) fn bound(kind: &Kind, word: &str) -> Vec<u8> {
    let data = match (kind, word) {
        (_, "null") => return (-1_i32).to_be_bytes().to_vec(),
        (_, "unset") => return (-2_i32).to_be_bytes().to_vec(),
        _ if word.starts_with("0x") => {
            let digits = word.as_bytes()[2..].chunks(2);
            let byte = |pair: &[u8]| {
                u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).expect("hex digits")
            };
            digits.map(byte).collect()
        }
        (Kind::Native("double"), _) => word.parse::<f64>().unwrap().to_be_bytes().to_vec(),
        (Kind::Native("float"), _) => word.parse::<f32>().unwrap().to_be_bytes().to_vec(),
        (Kind::Native("boolean"), _) => vec![u8::from(word == "true")],
        (Kind::Native("varint"), _) => word.parse::<BigInt>().unwrap().to_signed_bytes_be(),
        (Kind::Native("uuid" | "timeuuid"), _) => {
            return bound(kind, &format!("0x{}", word.replace('-', "")));
        }
        (Kind::Native(name), _) if width(name).is_some() => {
            let bytes = word.parse::<i64>().unwrap().to_be_bytes();
            bytes[8 - width(name).unwrap()..].to_vec()
        }
        (Kind::Collection("list" | "set", of), _) => {
            let parts: Vec<Vec<u8>> = word
                .split('|')
                .filter(|part| !part.is_empty())
                .map(|part| bound(&of[0], part))
                .collect();
            let count = i32::try_from(parts.len()).unwrap();
            [count.to_be_bytes().to_vec(), parts.concat()].concat()
        }
        (Kind::Native("ascii" | "text"), _) => word.as_bytes().to_vec(),
        _ => panic!("give a value of type {} as 0x…", kind_text(kind)),
    };
    [i32::try_from(data.len()).unwrap().to_be_bytes().to_vec(), data].concat()
}
