//! Composite classes as text: `1:a` for `CompositeType(Int32Type,UTF8Type)`, and `a@1:b@x` for a
//! `DynamicCompositeType` with aliases.
//!
//! What it is not: how composites compare, or whether bytes are one: they are bytes to everything else.
//!
//! Each component is its length in two bytes, its bytes and an end byte, 1 where the text stops at `!`.
//! A component of a dynamic composite begins with its class: an alias with the top bit set, or a name.
//! Source: Cassandra 5.0, `AbstractCompositeType`.

use super::text::from_text_at;
use super::{MarshalError, Result, parse_class_name};

/// The top bit of what stands before a component: what follows is an alias, not a name's length.
const IS_ALIAS: u16 = 0x8000;

/// The text that ends a composite: it sorts behind everything that begins with the components
/// before.
const STOP: &str = "!";

/// Serialises text of a composite class; `None` if the class is none. `depth` counts composites around
/// it.
pub(super) fn composite_from_text(
    class: &str,
    text: &str,
    depth: usize,
) -> Option<Result<Vec<u8>>> {
    let (head, parameters) = class.strip_suffix(')')?.split_once('(')?;
    match head.rsplit('.').next()? {
        "CompositeType" => Some(plain(parameters, text, depth)),
        "DynamicCompositeType" => Some(dynamic(parameters, text, depth)),
        _ => None,
    }
}

fn plain(parameters: &str, text: &str, depth: usize) -> Result<Vec<u8>> {
    let classes = at_top(parameters, ',');
    let mut out = Vec::new();
    for (at, part) in components(text).into_iter().enumerate() {
        if part == STOP {
            stop(&mut out);
            break;
        }
        let class = classes.get(at).ok_or_else(|| {
            let count = classes.len();
            MarshalError::new(format!("'{text}' has more components than the {count} of its type"))
        })?;
        put(&value(class, part, depth)?, &mut out)?;
    }
    Ok(out)
}

fn dynamic(parameters: &str, text: &str, depth: usize) -> Result<Vec<u8>> {
    let aliases: Vec<(&str, &str)> =
        at_top(parameters, ',').iter().filter_map(|one| one.split_once("=>")).collect();
    let mut out = Vec::new();
    for part in components(text) {
        if part == STOP {
            stop(&mut out);
            break;
        }
        let (of, part) = part.split_once('@').ok_or_else(|| {
            MarshalError::new(format!("Invalid component: {part}; it needs its class, as in a@1"))
        })?;
        let alias = aliases.iter().find(|(alias, _)| alias.trim() == of);
        let class = match (alias, of.as_bytes()) {
            (Some((_, class)), [alias]) => {
                out.extend((IS_ALIAS | u16::from(*alias)).to_be_bytes());
                class.trim()
            }
            _ => {
                let length = u16::try_from(of.len()).ok().filter(|length| *length < IS_ALIAS);
                let length = length.ok_or_else(|| MarshalError::new("a class name is too long"))?;
                out.extend(length.to_be_bytes());
                out.extend(of.as_bytes());
                of
            }
        };
        put(&value(class, part, depth)?, &mut out)?;
    }
    Ok(out)
}

fn value(class: &str, part: &str, depth: usize) -> Result<Vec<u8>> {
    let (ty, _) = parse_class_name(class)?;
    // What is escaped may end in a `!` that keeps a last `\` or `!` from meaning something.
    let part = part.strip_suffix('!').unwrap_or(part).replace("\\:", ":");
    from_text_at(&ty, &part, depth + 1)
}

fn put(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let length = u16::try_from(bytes.len())
        .map_err(|_| MarshalError::new("a component of a composite has at most 65535 bytes"))?;
    out.extend(length.to_be_bytes());
    out.extend(bytes);
    out.push(0);
    Ok(())
}

/// Turns the last end byte into that of a composite that stops there.
fn stop(out: &mut [u8]) {
    if let Some(last) = out.last_mut() {
        *last = 1;
    }
}

/// Returns the parts between colons that no backslash stands before; none of an empty text.
fn components(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before = '\0';
    for (at, character) in text.char_indices() {
        if character == ':' && before != '\\' {
            parts.extend(text.get(start..at));
            start = at + 1;
        }
        before = character;
    }
    if !text.is_empty() {
        parts.extend(text.get(start..));
    }
    parts
}

/// Returns the parts of a text between separators that stand in no parentheses.
fn at_top(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if character == separator && depth == 0 => {
                parts.extend(text.get(start..at).map(str::trim));
                start = at + separator.len_utf8();
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..).map(str::trim));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::from_text;

    fn bytes(class: &str, text: &str) -> Result<Vec<u8>> {
        from_text(&parse_class_name(class)?.0, text)
    }

    #[test]
    fn components_are_split_at_colons_that_are_not_escaped() {
        let class = "CompositeType(Int32Type,UTF8Type)";
        assert_eq!(bytes(class, "1:a").unwrap(), b"\x00\x04\x00\x00\x00\x01\x00\x00\x01a\x00");
        assert_eq!(
            bytes(class, r"1:a\:b").unwrap(),
            b"\x00\x04\x00\x00\x00\x01\x00\x00\x03a:b\x00"
        );
        assert_eq!(bytes(class, "1:!").unwrap(), b"\x00\x04\x00\x00\x00\x01\x01");
        assert_eq!(bytes(class, "").unwrap(), b"");
        for wrong in ["x:a", "1:a:b"] {
            assert!(bytes(class, wrong).is_err(), "{wrong}");
        }
        assert!(bytes(class, &format!("1:{}", "a".repeat(65_535))).is_ok());
        assert!(bytes(class, &format!("1:{}", "a".repeat(65_536))).is_err());
    }

    #[test]
    fn dynamic_components_name_their_class() {
        let class = "DynamicCompositeType(a=>Int32Type,b=>UTF8Type)";
        let both = b"\x80a\x00\x04\x00\x00\x00\x01\x00\x80b\x00\x01x\x00";
        assert_eq!(bytes(class, "a@1:b@x").unwrap(), both);
        let named = b"\x00\x09Int32Type\x00\x04\x00\x00\x00\x01\x00";
        assert_eq!(bytes(class, "Int32Type@1").unwrap(), named);
        for wrong in ["1", "c@1", "a@x"] {
            assert!(bytes(class, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn composites_in_composites_end() {
        let nested = |depth| {
            let open = "CompositeType(".repeat(depth);
            format!("{open}UTF8Type{}", ")".repeat(depth))
        };
        assert!(bytes(&nested(3), "a").is_ok());
        assert!(bytes(&nested(100_000), "a").is_err());
    }
}
