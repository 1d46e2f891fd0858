//! Items as lines of Amazon Ion's text form, as the service exports and imports them.
//!
//! Source: Developer Guide, "DynamoDB table export output format" and "DynamoDB import formats": the
//! types of attributes are those of Ion, and sets are lists that carry `$dynamodb_SS` and the like.
//!
//! Invariant: text is handed to the library only if it nests at most [`DEPTH_MAX`] deep, for that reads
//! values within values on the stack.

use ion_rs::{Element, Value as Ion};
use shelfmark_model::{Item, Value};

use crate::json::{Reader, Writer, plain, put_base64};

/// Most values within values of a line; more than an item may have (`VALUE_DEPTH_MAX`).
const DEPTH_MAX: usize = 64;

/// The marks of sets, with the letters of their types.
const SETS: [(&str, &str); 3] =
    [("$dynamodb_SS", "SS"), ("$dynamodb_NS", "NS"), ("$dynamodb_BS", "BS")];

/// The marker of the version, before each line.
const VERSION: &str = "$ion_1_0 ";

/// Returns structures of items as a line, each under its name.
pub(super) fn line_of(parts: &[(&str, &Item)]) -> Vec<u8> {
    let mut out = VERSION.as_bytes().to_vec();
    put_fields(&mut out, parts.iter().map(|(name, item)| (*name, *item)), |out, item| {
        put_fields(out, item.iter().map(|(name, value)| (name.as_str(), value)), put_value);
    });
    out.push(b'\n');
    out
}

fn put_fields<'f, T: 'f + ?Sized>(
    out: &mut Vec<u8>,
    fields: impl Iterator<Item = (&'f str, &'f T)>,
    put: impl Fn(&mut Vec<u8>, &T),
) {
    out.push(b'{');
    for (number, (name, value)) in fields.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        put_symbol(out, name);
        out.push(b':');
        put(out, value);
    }
    out.push(b'}');
}

fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(own) => out.extend_from_slice(own.to_string().as_bytes()),
        Value::Number(number) => put_number(out, &plain(number)),
        Value::Int(number) => put_number(out, &number.to_string()),
        Value::Text(text) => put_quoted(out, text, b'"'),
        Value::Bytes(bytes) => {
            out.extend_from_slice(b"{{");
            put_base64(out, bytes);
            out.extend_from_slice(b"}}");
        }
        Value::List(list) => put_list(out, list),
        Value::Set(members) => {
            let (mark, _) = match members.first() {
                Some(Value::Text(_)) => SETS[0],
                Some(Value::Bytes(_)) => SETS[2],
                _ => SETS[1],
            };
            out.extend_from_slice(mark.as_bytes());
            out.extend_from_slice(b"::");
            put_list(out, members);
        }
        Value::Map(map) => {
            put_fields(out, map.iter().map(|(name, value)| (name.as_str(), value)), put_value);
        }
        // DynamoDB's own tables have no other values.
        Value::BigInt(_)
        | Value::Float32(_)
        | Value::Float(_)
        | Value::Uuid(_)
        | Value::Timestamp(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::Inet(_)
        | Value::Duration { .. }
        | Value::Pairs(_)
        | Value::Tuple(_) => put_quoted(out, &format!("{value:?}"), b'"'),
    }
}

fn put_list(out: &mut Vec<u8>, list: &[Value]) {
    out.push(b'[');
    for (number, value) in list.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        put_value(out, value);
    }
    out.push(b']');
}

/// Puts a number as a decimal; a whole one ends with a point, for without it would be an integer.
fn put_number(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    if !text.contains('.') {
        out.push(b'.');
    }
}

/// Puts a name as it is, if it is one that needs no quotation marks.
fn put_symbol(out: &mut Vec<u8>, name: &str) {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_');
    let mut bytes = name.bytes();
    let is_plain = bytes.next().as_ref().is_some_and(is_letter)
        && bytes.all(|byte| is_letter(&byte) || byte.is_ascii_digit())
        && !matches!(name, "null" | "true" | "false" | "nan");
    match is_plain {
        true => out.extend_from_slice(name.as_bytes()),
        false => put_quoted(out, name, b'\''),
    }
}

fn put_quoted(out: &mut Vec<u8>, text: &str, mark: u8) {
    out.push(mark);
    for letter in text.chars() {
        match letter {
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            letter if letter == char::from(mark) => out.extend_from_slice(&[b'\\', mark]),
            letter if letter < ' ' || letter == '\u{7f}' => {
                out.extend_from_slice(format!("\\x{:02x}", u32::from(letter)).as_bytes());
            }
            letter => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(mark);
}

/// Reads the item of a line: `$ion_1_0 {Item:{…}}`. Returns `None` if it is none, by the rules for values
/// in requests.
pub(super) fn item_of(line: &[u8]) -> Option<Item> {
    let text = std::str::from_utf8(line).ok()?;
    if !is_shallow(text) {
        return None;
    }
    let read = Element::read_one(text).ok()?;
    let item = read.as_struct()?.get("Item")?;
    // By the rules of requests, which are those of JSON.
    let mut is_fine = true;
    let json = Writer::body(|out| {
        out.name("Item").object(|out| is_fine = put_json_fields(out, item));
    });
    if !is_fine {
        return None;
    }
    let mut found = None;
    let read = Reader::body(&json, |reader, name| {
        match name {
            "Item" => found = reader.attributes()?,
            _ => reader.skip()?,
        }
        Ok(())
    });
    read.ok()?;
    found?.checked().ok()
}

/// Writes the fields of a structure as DynamoDB's JSON. Returns false if one has no type there.
fn put_json_fields(out: &mut Writer, element: &Element) -> bool {
    let Some(fields) = element.as_struct() else { return false };
    fields.iter().all(|(name, value)| {
        let Some(name) = name.text() else { return false };
        out.name(name);
        let mut is_fine = true;
        out.object(|out| is_fine = put_json(out, value));
        is_fine
    })
}

fn put_json(out: &mut Writer, element: &Element) -> bool {
    let marks = element.annotations();
    let set = SETS.iter().find(|(mark, _)| marks.contains(mark));
    if let Some((_, letters)) = set {
        return put_json_set(out.name(letters), element, letters);
    }
    match element.value() {
        Ion::Null(_) => out.name("NULL").boolean(true),
        Ion::Bool(own) => out.name("BOOL").boolean(*own),
        Ion::Int(_) | Ion::Decimal(_) => match number_of(element) {
            Some(number) => out.name("N").text(&number),
            None => return false,
        },
        Ion::String(own) => out.name("S").text(own.text()),
        Ion::Blob(_) => return put_json_blob(out.name("B"), element),
        Ion::List(list) => {
            let mut is_fine = true;
            out.name("L").list(|out| {
                for member in list {
                    out.object(|out| is_fine &= put_json(out, member));
                }
            });
            return is_fine;
        }
        Ion::Struct(_) => {
            let mut is_fine = true;
            out.name("M").object(|out| is_fine = put_json_fields(out, element));
            return is_fine;
        }
        // What the service has no type for. Floats are not exact.
        Ion::Float(_) | Ion::Timestamp(_) | Ion::Symbol(_) | Ion::Clob(_) | Ion::SExp(_) => {
            return false;
        }
    }
    true
}

fn put_json_set(out: &mut Writer, element: &Element, letters: &str) -> bool {
    let Some(list) = element.as_list() else { return false };
    let mut is_fine = true;
    out.list(|out| {
        for member in list {
            is_fine &= match letters {
                "SS" => member.as_string().map(|own| out.text(own)).is_some(),
                "NS" => number_of(member).map(|own| out.text(&own)).is_some(),
                _ => put_json_blob(out, member),
            };
        }
    });
    is_fine
}

fn put_json_blob(out: &mut Writer, element: &Element) -> bool {
    let Some(bytes) = element.as_blob() else { return false };
    let mut base64 = Vec::new();
    put_base64(&mut base64, bytes);
    out.text(&String::from_utf8_lossy(&base64));
    true
}

/// Returns an integer or a decimal as text.
fn number_of(element: &Element) -> Option<String> {
    if let Ion::Int(own) = element.value() {
        return Some(own.to_string());
    }
    let Ion::Decimal(own) = element.value() else { return None };
    // Its letter for an exponent is that of Ion.
    Some(own.to_string().replace('d', "E").trim_end_matches('.').to_owned())
}

/// Returns true if the brackets of a text nest at most [`DEPTH_MAX`] deep, those in texts and comments
/// left out.
fn is_shallow(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        at += match byte {
            b'"' => quoted(rest, b"\""),
            b'\'' if rest.starts_with(b"'''") => quoted(rest, b"'''"),
            b'\'' => quoted(rest, b"'"),
            b'/' if rest.starts_with(b"//") => until(rest, b"\n"),
            b'/' if rest.starts_with(b"/*") => until(rest, b"*/"),
            b'{' | b'[' | b'(' => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return false;
                }
                1
            }
            b'}' | b']' | b')' => {
                depth = depth.saturating_sub(1);
                1
            }
            _ => 1,
        };
    }
    true
}

/// Returns the length of a quoted text at the beginning.
fn quoted(text: &[u8], mark: &[u8]) -> usize {
    let mut at = mark.len();
    while let Some(byte) = text.get(at) {
        if text.get(at..).is_some_and(|rest| rest.starts_with(mark)) {
            return at + mark.len();
        }
        at += if *byte == b'\\' { 2 } else { 1 };
    }
    text.len()
}

/// Returns the length of a text up to a mark and with it.
fn until(text: &[u8], mark: &[u8]) -> usize {
    let found = text.windows(mark.len()).position(|window| window == mark);
    found.map_or(text.len(), |found| found + mark.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_json(text: &str) -> Item {
        let mut found = None;
        Reader::body(text.as_bytes(), |reader, _| {
            found = reader.attributes()?;
            Ok(())
        })
        .unwrap();
        found.unwrap().checked().unwrap()
    }

    #[test]
    fn items_are_written_in_the_service_s_form_and_read_again() {
        let item = of_json(
            r#"{"Item": {"Title": {"S": "Book \"103\"\n\u0001"}, "Id": {"N": "103"}, "Price": {"N": "-2.50"},
            "big": {"N": "1E+20"}, "small": {"N": "1E-20"}, "in stock": {"BOOL": false}, "null": {"NULL": true},
            "it's": {"B": "AAEC"}, "$id": {"L": [{"N": "1"}, {"S": "é"}]}, "m": {"M": {"a": {"M": {}}}},
            "ss": {"SS": ["b", "a"]}, "ns": {"NS": ["1", "2.5"]}, "bs": {"BS": ["AA==", ""]}}}"#,
        );
        let line = line_of(&[("Item", &item)]);
        let text = String::from_utf8(line.clone()).unwrap();
        assert_eq!(
            text,
            "$ion_1_0 {Item:{'$id':[1.,\"é\"],Id:103.,Price:-2.5,Title:\"Book \\\"103\\\"\\n\\x01\",\
             big:100000000000000000000.,bs:$dynamodb_BS::[{{}},{{AA==}}],'in stock':false,\
             'it\\'s':{{AAEC}},m:{a:{}},ns:$dynamodb_NS::[1.,2.5],'null':null,\
             small:0.00000000000000000001,ss:$dynamodb_SS::[\"a\",\"b\"]}}\n"
        );
        assert_eq!(item_of(&line).unwrap(), item);
    }

    #[test]
    fn what_others_write_is_read() {
        let read = |text: &str| item_of(text.as_bytes());
        let expected =
            of_json(r#"{"Item": {"a": {"N": "5"}, "b": {"N": "0.015"}, "c": {"S": "xy"}}}"#);
        assert_eq!(read("{Item:{a:5,b:1.5d-2,c:'''x''' '''y'''}}"), Some(expected.clone()));
        assert_eq!(
            read("{\"Item\" : {\"a\": 5d0, 'b': 0.015, c: \"xy\"}} // a book"),
            Some(expected)
        );
        let wrong = [
            "",
            "nothing",
            "{}",
            "{Item:1}",
            "{Item:{a:2020-01-01T}}",
            "{Item:{a:symbol}}",
            "{Item:{a:1e0}}",
            "{Item:{a:(1)}}",
            "{Item:{a:$dynamodb_SS::[1]}}",
            "{Item:{a:$dynamodb_SS::[]}}",
            "{Item:{a:$dynamodb_NS::1}}",
            "{Item:{a:{{!}}}}",
            "{Item:{a:1}} {Item:{a:2}}",
            "{Item:{$99:1}}",
            "{Item:{a:1d200}}",
        ];
        for text in wrong {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn deep_text_does_not_reach_the_library() {
        let deep = |open: &str, count: usize| format!("{{Item:{{a:{}", open.repeat(count));
        for open in ["[", "{a:", "(", "{a:[("] {
            assert_eq!(item_of(deep(open, 100_000).as_bytes()), None);
        }
        let brackets = "[".repeat(1_000);
        for quoted in [format!("\"{brackets}\""), format!("'''{brackets}\\''''")] {
            assert!(item_of(format!("{{Item:{{a:{quoted}}}}}").as_bytes()).is_some(), "{quoted}");
        }
        let line = format!("{{Item:{{/*{brackets}*/a:1}}}}//{brackets}");
        assert!(item_of(line.as_bytes()).is_some());
    }
}
