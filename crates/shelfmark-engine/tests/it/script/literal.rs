//! Values as text: `7`, `7i` (an integer that is no number of any precision), `1.50`, `0xCAFE`,
//! `true`, `null`, `text`, `"text"`, `[a, 1]`, `<a, b>` (a set), `{name: value}`.

use std::collections::BTreeMap;

use shelfmark_keycode::KeyType;
use shelfmark_keycode::number::{ANY_NUMBER, parse};
use shelfmark_model::{Decimal, Value};

use super::runner::Answer;

/// Reads a value from the front of `rest`.
pub(super) fn take(rest: &mut &str) -> Answer<Value> {
    *rest = rest.trim_start();
    let first = rest.chars().next().ok_or("a value is missing")?;
    match first {
        '"' | '\'' => Ok(Value::text(quoted(rest, first)?)),
        '[' => Ok(Value::List(members(rest, ']', take)?)),
        '<' => Ok(Value::set(members(rest, '>', take)?)),
        '{' => {
            let pairs = members(rest, '}', |rest| {
                let name = word(rest).to_owned();
                expect(rest, ':')?;
                Ok((name, take(rest)?))
            })?;
            Ok(Value::Map(pairs.into_iter().collect::<BTreeMap<_, _>>()))
        }
        _ => scalar(word(rest)),
    }
}

/// Reads a whole argument: brackets and quotes as above, anything else as one word.
pub(super) fn whole(text: &str) -> Answer<Value> {
    if text.starts_with(['[', '<', '{', '"']) {
        let mut rest = text;
        let value = take(&mut rest)?;
        return if rest.trim().is_empty() { Ok(value) } else { Err("more than a value".into()) };
    }
    scalar(text)
}

/// Reads a value of a key column.
pub(super) fn of_type(key_type: &KeyType, text: &str) -> Answer<Value> {
    Ok(match key_type {
        KeyType::Text => match text.strip_prefix("wrong:") {
            // A value of another type, to see it refused.
            Some(wrong) => whole(wrong)?,
            None => Value::text(text),
        },
        KeyType::I64 | KeyType::U32 => match text.parse::<i64>() {
            Ok(n) => Value::Int(n),
            Err(_) => Value::text(text),
        },
        KeyType::Timestamp => Value::Timestamp(text.parse()?),
        KeyType::Date => Value::Date(text.parse()?),
        KeyType::F64 => Value::Float(text.parse()?),
        _ => whole(text)?,
    })
}

fn scalar(word: &str) -> Answer<Value> {
    if let Some(hex) = word.strip_prefix("0x") {
        let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
        let bytes =
            digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte * 16 + digit));
        let bytes: Vec<u8> = bytes.filter_map(|byte| u8::try_from(byte).ok()).collect();
        return Ok(Value::Bytes(bytes.into()));
    }
    if let Some(int) = word.strip_suffix('i').and_then(|digits| digits.parse().ok()) {
        return Ok(Value::Int(int));
    }
    Ok(match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        word => number(word).map_or_else(|| Value::text(word), Value::Number),
    })
}

/// A number with the scale that it was written with.
fn number(word: &str) -> Option<Decimal> {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let parsed = parse(word, &ANY_NUMBER).ok().filter(|_| is_number)?;
    let Some((whole, fraction)) = word.split_once('.').filter(|_| !word.contains(['e', 'E']))
    else {
        return Some(parsed);
    };
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Decimal::new(digits, i32::try_from(fraction.len()).ok()?).ok()
}

/// Reads a word: up to what separates.
pub(super) fn word<'t>(rest: &mut &'t str) -> &'t str {
    *rest = rest.trim_start();
    let end = rest.find([' ', ',', ']', '>', '}', ':', '(', ')', '=', '<', '+']);
    let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = after;
    word
}

pub(super) fn expect(rest: &mut &str, sign: char) -> Answer<()> {
    *rest = rest.trim_start();
    *rest = rest.strip_prefix(sign).ok_or_else(|| format!("{sign} is missing before {rest:?}"))?;
    Ok(())
}

fn quoted(rest: &mut &str, quote: char) -> Answer<String> {
    expect(rest, quote)?;
    let (text, after) = rest.split_once(quote).ok_or("a quote does not end")?;
    *rest = after;
    Ok(text.to_owned())
}

fn members<T>(
    rest: &mut &str,
    end: char,
    mut take: impl FnMut(&mut &str) -> Answer<T>,
) -> Answer<Vec<T>> {
    *rest = rest.get(1..).unwrap_or_default();
    let mut members = Vec::new();
    loop {
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(end) {
            *rest = after;
            return Ok(members);
        }
        if !members.is_empty() {
            expect(rest, ',')?;
        }
        members.push(take(rest)?);
    }
}
