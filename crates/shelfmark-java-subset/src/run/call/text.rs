//! Texts, texts that are built, and characters.
//!
//! What it is not: regular expressions; `split` takes plain texts.
//!
//! Invariant: places are counted in units of UTF-16.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::{Machine, Run, SLOT_BYTES};
use super::{int, place, size, string, text};
use crate::value::{Thrown, Value};

/// Texts up to this long are looked for place by place.
const SHORT: usize = 16;

/// Returns the place of a text in another, from a place on. Takes time by the length of both.
fn find(all: &[u16], wanted: &[u16], from: usize) -> Option<usize> {
    if wanted.is_empty() {
        return Some(from.min(all.len()));
    }
    let rest = all.get(from..)?;
    let at = match wanted.len() {
        ..=SHORT => rest.windows(wanted.len()).position(|own| own == wanted),
        _ => places(rest, wanted).next(),
    };
    at.map(|at| from + at)
}

fn find_last(all: &[u16], wanted: &[u16]) -> Option<usize> {
    match wanted.len() {
        0 => Some(all.len()),
        1..=SHORT => all.windows(wanted.len()).rposition(|own| own == wanted),
        _ => places(all, wanted).last(),
    }
}

/// Returns the places of a text in another, those that overlap too: Knuth, Morris and Pratt's.
fn places<'t>(all: &'t [u16], wanted: &'t [u16]) -> impl Iterator<Item = usize> + 't {
    let known = borders(wanted);
    let mut matched = 0;
    all.iter().enumerate().filter_map(move |(at, unit)| {
        matched = next_match(wanted, &known, matched, *unit);
        (matched == wanted.len()).then(|| {
            matched = known.get(matched - 1).copied().unwrap_or(0);
            at + 1 - wanted.len()
        })
    })
}

/// Returns for each beginning of a text how much of it stands at its end, too.
fn borders(wanted: &[u16]) -> Vec<usize> {
    let mut known = Vec::with_capacity(wanted.len());
    let mut matched = 0;
    for (at, unit) in wanted.iter().enumerate() {
        if at > 0 {
            matched = next_match(wanted, &known, matched, *unit);
        }
        known.push(matched);
    }
    known
}

/// Returns how much of a text is matched once `unit` has come.
fn next_match(wanted: &[u16], known: &[usize], mut matched: usize, unit: u16) -> usize {
    loop {
        if wanted.get(matched) == Some(&unit) {
            return matched + 1;
        }
        match matched.checked_sub(1).and_then(|before| known.get(before)) {
            Some(shorter) => matched = *shorter,
            None => return 0,
        }
    }
}

fn found(at: Option<usize>) -> Value {
    Value::Int(at.and_then(|at| i32::try_from(at).ok()).unwrap_or(-1))
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn is_blank(own: u16) -> bool {
    own <= 32
}

fn trimmed(own: &[u16]) -> &[u16] {
    let first = own.iter().position(|unit| !is_blank(*unit)).unwrap_or(own.len());
    let last = own.iter().rposition(|unit| !is_blank(*unit)).map_or(first, |at| at + 1);
    own.get(first..last).unwrap_or_default()
}

/// Returns a part of a text.
fn part(own: &[u16], from: i32, to: i32) -> Run<Vec<u16>> {
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let found = range.and_then(|(from, to)| own.get(from..to));
    found
        .map(<[u16]>::to_vec)
        .ok_or_else(|| Thrown::text_index(format!("begin {from}, end {to}, length {}", own.len())))
}

fn character(own: &[u16], at: i32) -> Run<u16> {
    place(at, own.len())
        .and_then(|at| own.get(at).copied())
        .ok_or_else(|| Thrown::text_index(format!("String index out of range: {at}")))
}

fn replaced(own: &[u16], wanted: &[u16], by: &[u16]) -> Vec<u16> {
    let mut out = Vec::new();
    if wanted.is_empty() {
        for unit in own {
            out.extend_from_slice(by);
            out.push(*unit);
        }
        out.extend_from_slice(by);
        return out;
    }
    let mut rest = own;
    while let Some(at) = find(rest, wanted, 0) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(by);
        rest = rest.get(at + wanted.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

fn compare(one: &[u16], other: &[u16]) -> i32 {
    let differing = one.iter().zip(other).find(|(one, other)| one != other);
    match differing {
        Some((one, other)) => i32::from(*one) - i32::from(*other),
        None => {
            let length = |own: &[u16]| i32::try_from(own.len()).unwrap_or(i32::MAX);
            length(one) - length(other)
        }
    }
}

impl Machine<'_> {
    /// Calls a method of a text.
    pub(super) fn text_method(
        &mut self,
        own: &Rc<[u16]>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        if !matches!(name, "length" | "charAt" | "codePointAt" | "isEmpty") {
            self.spend(u64::try_from(own.len() / 16).unwrap_or(u64::MAX))?;
        }
        if let Some(value) = self.text_question(own, name, arguments)? {
            return Ok(Some(value));
        }
        let lossy = || String::from_utf16_lossy(own);
        let made = match (name, arguments) {
            ("substring", [_]) => {
                let length = i32::try_from(own.len()).unwrap_or(i32::MAX);
                part(own, int(arguments, 0)?, length)?
            }
            ("substring", [_, _]) => part(own, int(arguments, 0)?, int(arguments, 1)?)?,
            ("concat", [_]) => {
                let mut all = own.to_vec();
                all.extend_from_slice(&text(arguments, 0)?);
                all
            }
            ("replace", [Value::Char(wanted), Value::Char(by)]) => {
                own.iter().map(|unit| if unit == wanted { *by } else { *unit }).collect()
            }
            ("replace", [_, _]) => {
                let (wanted, by) = (text(arguments, 0)?, text(arguments, 1)?);
                self.take(own.len().saturating_mul(2 + by.len()))?;
                replaced(own, &wanted, &by)
            }
            ("toUpperCase", []) => units(&lossy().to_uppercase()),
            ("toLowerCase", []) => units(&lossy().to_lowercase()),
            ("trim", []) => trimmed(own).to_vec(),
            ("strip", []) => units(lossy().trim()),
            ("repeat", [_]) => {
                let times = int(arguments, 0)?;
                let times = usize::try_from(times)
                    .map_err(|_| Thrown::illegal(format!("count is negative: {times}")))?;
                self.take(own.len().saturating_mul(2).saturating_mul(times))?;
                own.repeat(times)
            }
            ("toString" | "intern", []) => return Ok(Some(Value::Text(Rc::clone(own)))),
            ("split", [_]) => return self.split(own, arguments).map(Some),
            ("toCharArray", []) => {
                self.check_room(own.len() * SLOT_BYTES)?;
                let all = own.iter().map(|unit| Value::Char(*unit)).collect();
                return self.array(all).map(Some);
            }
            ("getBytes", []) => {
                self.check_room(own.len() * SLOT_BYTES)?;
                let all = lossy().bytes().map(|byte| Value::Byte(byte.cast_signed())).collect();
                return self.array(all).map(Some);
            }
            _ => return Ok(None),
        };
        self.text(made).map(Some)
    }

    /// Answers what is asked of a text.
    fn text_question(
        &mut self,
        own: &[u16],
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("length", []) => size(own.len()),
            ("charAt", [_]) => Value::Char(character(own, int(arguments, 0)?)?),
            ("codePointAt", [_]) => Value::Int(i32::from(character(own, int(arguments, 0)?)?)),
            ("isEmpty", []) => Value::Boolean(own.is_empty()),
            ("isBlank", []) => Value::Boolean(trimmed(own).is_empty()),
            ("indexOf", [Value::Int(_) | Value::Char(_)]) => {
                let wanted = int(arguments, 0)?;
                found(own.iter().position(|unit| i32::from(*unit) == wanted))
            }
            ("lastIndexOf", [Value::Int(_) | Value::Char(_)]) => {
                let wanted = int(arguments, 0)?;
                found(own.iter().rposition(|unit| i32::from(*unit) == wanted))
            }
            ("indexOf", [_, ..]) => {
                let from = if arguments.len() > 1 { int(arguments, 1)? } else { 0 };
                found(find(own, &text(arguments, 0)?, usize::try_from(from).unwrap_or(0)))
            }
            ("lastIndexOf", [_]) => found(find_last(own, &text(arguments, 0)?)),
            ("contains", [_]) => Value::Boolean(find(own, &text(arguments, 0)?, 0).is_some()),
            ("startsWith", [_]) => Value::Boolean(own.starts_with(&text(arguments, 0)?)),
            ("startsWith", [_, _]) => {
                let from = usize::try_from(int(arguments, 1)?).ok();
                let rest = from.and_then(|from| own.get(from..));
                Value::Boolean(rest.is_some_and(|rest| {
                    text(arguments, 0).is_ok_and(|wanted| rest.starts_with(&wanted))
                }))
            }
            ("endsWith", [_]) => Value::Boolean(own.ends_with(&text(arguments, 0)?)),
            ("equalsIgnoreCase", [other]) => match other {
                Value::Text(other) => {
                    let folded = |own: &[u16]| String::from_utf16_lossy(own).to_lowercase();
                    Value::Boolean(folded(own) == folded(other))
                }
                _ => Value::Boolean(false),
            },
            ("compareTo", [_]) => Value::Int(compare(own, &text(arguments, 0)?)),
            ("compareToIgnoreCase", [_]) => {
                let folded = |own: &[u16]| units(&String::from_utf16_lossy(own).to_lowercase());
                Value::Int(compare(&folded(own), &folded(&text(arguments, 0)?)))
            }
            _ => return Ok(None),
        }))
    }

    /// Splits a text at a plain text, or at one character that a backslash makes plain.
    fn split(&mut self, own: &[u16], arguments: &[Value]) -> Run<Value> {
        let pattern = string(arguments, 0)?;
        let plain = match pattern.strip_prefix('\\') {
            Some("s" | "s+") => return self.split_blanks(own),
            Some(rest) => rest.to_owned(),
            None => pattern,
        };
        let is_special =
            plain.len() > 1 && plain.contains(['[', '(', '*', '+', '?', '|', '{', '^', '$', '.']);
        if is_special || plain.is_empty() {
            let message = "split takes no regular expression here but a plain text, \\s and \\s+";
            return Err(Thrown::known(
                "java.lang.UnsupportedOperationException",
                Some(message.to_owned()),
            ));
        }
        let wanted = units(&plain);
        let mut parts = Vec::new();
        let mut rest = own;
        while let Some(at) = find(rest, &wanted, 0) {
            self.part(rest.get(..at).unwrap_or_default().to_vec(), &mut parts)?;
            rest = rest.get(at + wanted.len()..).unwrap_or_default();
        }
        self.part(rest.to_vec(), &mut parts)?;
        self.parts(parts)
    }

    fn split_blanks(&mut self, own: &[u16]) -> Run<Value> {
        let text = String::from_utf16_lossy(own);
        let mut parts = Vec::new();
        for own in text.split_ascii_whitespace() {
            self.part(units(own), &mut parts)?;
        }
        self.parts(parts)
    }

    fn part(&mut self, own: Vec<u16>, parts: &mut Vec<Value>) -> Run<()> {
        parts.push(self.text(own)?);
        self.check_room(parts.len() * SLOT_BYTES)
    }

    /// Returns the parts of a text, without the empty ones at its end.
    fn parts(&mut self, mut parts: Vec<Value>) -> Run<Value> {
        let is_empty = |own: &Value| matches!(own, Value::Text(own) if own.is_empty());
        while parts.len() > 1 && parts.last().is_some_and(is_empty) {
            parts.pop();
        }
        self.array(parts)
    }

    /// Calls a method of the class of texts.
    pub(super) fn text_static(&mut self, name: &str, arguments: &[Value]) -> Run<Option<Value>> {
        match (name, arguments) {
            ("valueOf", [own]) => {
                let mut units = Vec::new();
                match super::show::array(own).map(|own| own.borrow().clone()) {
                    Some(items) => {
                        for own in &items {
                            self.show(own, &mut units)?;
                        }
                    }
                    None => self.show(own, &mut units)?,
                }
                self.text(units).map(Some)
            }
            ("join", [_, items]) => {
                let between = text(arguments, 0)?;
                let mut units = Vec::new();
                for (at, own) in self.items_of(items)?.iter().enumerate() {
                    if at > 0 {
                        units.extend_from_slice(&between);
                        self.take(between.len() * 2)?;
                    }
                    self.show(own, &mut units)?;
                }
                self.text(units).map(Some)
            }
            ("format", [_, values]) => {
                let pattern = string(arguments, 0)?;
                let values = self.items_of(values)?;
                let made = self.formatted(&pattern, &values)?;
                self.text(units(&made)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns what `String.format` makes: `%s`, `%d`, `%x`, `%f`, `%b`, `%c`, `%n`, with widths.
    fn formatted(&mut self, pattern: &str, values: &[Value]) -> Run<String> {
        let mut out = String::new();
        let mut values = values.iter();
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let mut flags = String::new();
            let kind = loop {
                match rest.next() {
                    Some(c) if c.is_ascii_digit() || matches!(c, '-' | '.' | ',' | '+') => {
                        flags.push(c)
                    }
                    Some(c) => break c,
                    None => return Err(format_error("Conversion = '%'")),
                }
            };
            if matches!(kind, '%' | 'n') {
                out.push(if kind == 'n' { '\n' } else { '%' });
                continue;
            }
            let missing = || format_error(&format!("Format specifier '%{flags}{kind}'"));
            let value = values.next().ok_or_else(missing)?;
            let made = self.formatted_one(kind, &flags, value)?;
            let left = flags.starts_with('-');
            let plain = flags.trim_start_matches(['-', '+', ',']);
            let width = plain.split('.').next().unwrap_or_default();
            let fill = if width.starts_with('0') { '0' } else { ' ' };
            let width: usize = width.parse().unwrap_or(0).min(10_000);
            let missing = width.saturating_sub(made.chars().count());
            self.take(made.len() + missing)?;
            let filled: String = std::iter::repeat_n(fill, missing).collect();
            out.push_str(&if left { format!("{made}{filled}") } else { format!("{filled}{made}") });
        }
        Ok(out)
    }

    fn formatted_one(&mut self, kind: char, flags: &str, value: &Value) -> Run<String> {
        let wrong = || {
            let class = super::show::class_of(value);
            format_error(&format!("{kind} != {class}"))
        };
        Ok(match (kind, value) {
            (_, Value::Null) => "null".to_owned(),
            ('s' | 'S', own) => {
                let mut units = Vec::new();
                self.show(own, &mut units)?;
                let made = String::from_utf16_lossy(&units);
                if kind == 'S' { made.to_uppercase() } else { made }
            }
            (
                'd',
                Value::Byte(_)
                | Value::Short(_)
                | Value::Int(_)
                | Value::Long(_)
                | Value::BigInteger(_),
            ) => {
                let mut units = Vec::new();
                self.show(value, &mut units)?;
                String::from_utf16_lossy(&units)
            }
            ('x', Value::Int(own)) => format!("{own:x}"),
            ('x', Value::Long(own)) => format!("{own:x}"),
            ('X', Value::Int(own)) => format!("{own:X}"),
            ('b', Value::Boolean(own)) => own.to_string(),
            ('c', Value::Char(own)) => String::from_utf16_lossy(&[*own]),
            ('f', Value::Double(_) | Value::Float(_)) => {
                let own = match value {
                    Value::Double(own) => *own,
                    Value::Float(own) => f64::from(*own),
                    _ => 0.0,
                };
                let places = flags.split_once('.').and_then(|(_, own)| own.parse().ok());
                let places: usize = places.unwrap_or(6).min(100);
                format!("{own:.places$}")
            }
            _ => return Err(wrong()),
        })
    }

    pub(super) fn new_text(&mut self, arguments: &[Value]) -> Run<Value> {
        let Some(own) = arguments.first() else { return self.text(Vec::new()) };
        let mut units = Vec::new();
        match super::show::array(own).map(|own| own.borrow().clone()) {
            Some(items) => {
                let bytes: Vec<u8> = items
                    .iter()
                    .filter_map(|own| match own {
                        Value::Byte(own) => Some(own.cast_unsigned()),
                        _ => None,
                    })
                    .collect();
                units.extend(String::from_utf8_lossy(&bytes).encode_utf16());
                units.extend(items.iter().filter_map(|own| match own {
                    Value::Char(own) => Some(*own),
                    _ => None,
                }));
            }
            None => units.extend_from_slice(&text(arguments, 0)?),
        }
        self.text(units)
    }

    /// Calls a method of a text that is being built.
    pub(super) fn builder_method(
        &mut self,
        own: &Value,
        builder: &RefCell<Vec<u16>>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let length = builder.borrow().len();
        let outside = |at: i32| Thrown::text_index(format!("index {at},length {length}"));
        match (name, arguments) {
            ("append", [part]) => {
                let mut units = Vec::new();
                self.show(part, &mut units)?;
                self.take(units.len() * 2)?;
                builder.borrow_mut().append(&mut units);
            }
            ("insert", [_, part]) => {
                let at = int(arguments, 0)?;
                let mut units = Vec::new();
                self.show(part, &mut units)?;
                self.take(units.len() * 2 + length / 8)?;
                let at = place(at, length + 1).ok_or_else(|| outside(at))?;
                builder.borrow_mut().splice(at..at, units);
            }
            ("deleteCharAt", [_]) => {
                let at = int(arguments, 0)?;
                self.spend(u64::try_from(length / 16).unwrap_or(0))?;
                let at = place(at, length).ok_or_else(|| outside(at))?;
                builder.borrow_mut().remove(at);
            }
            ("delete", [_, _]) => {
                let (from, to) = (int(arguments, 0)?, int(arguments, 1)?);
                self.spend(u64::try_from(length / 16).unwrap_or(0))?;
                let to = usize::try_from(to).unwrap_or(0).min(length);
                let from = usize::try_from(from).ok().filter(|own| *own <= to);
                let from = from.ok_or_else(|| outside(int(arguments, 0).unwrap_or(0)))?;
                builder.borrow_mut().drain(from..to);
            }
            ("reverse", []) => {
                self.spend(u64::try_from(length / 8).unwrap_or(0))?;
                builder.borrow_mut().reverse();
            }
            ("setLength", [_]) => {
                let wanted = usize::try_from(int(arguments, 0)?).map_err(|_| outside(-1))?;
                self.take(wanted.saturating_mul(2))?;
                builder.borrow_mut().resize(wanted, 0);
            }
            ("setCharAt", [_, Value::Char(unit)]) => {
                let at = int(arguments, 0)?;
                let found = place(at, length).ok_or_else(|| outside(at))?;
                if let Some(place) = builder.borrow_mut().get_mut(found) {
                    *place = *unit;
                }
            }
            ("charAt", [_]) => {
                let at = int(arguments, 0)?;
                let units = builder.borrow();
                let found = place(at, length).and_then(|at| units.get(at).copied());
                return found.map(|own| Some(Value::Char(own))).ok_or_else(|| outside(at));
            }
            ("length", []) => return Ok(Some(size(length))),
            ("indexOf" | "substring", _) => {
                let whole: Rc<[u16]> = builder.borrow().as_slice().into();
                return self.text_method(&whole, name, arguments);
            }
            _ => return Ok(None),
        }
        Ok(Some(own.clone()))
    }
}

fn format_error(message: &str) -> Box<Thrown> {
    Thrown::known("java.util.IllegalFormatException", Some(message.to_owned()))
}

/// Calls a method of the class of characters.
pub(super) fn character_static(name: &str, arguments: &[Value]) -> Run<Option<Value>> {
    let unit = match arguments.first() {
        Some(Value::Char(own)) => *own,
        Some(Value::Int(own)) => u16::try_from(*own).unwrap_or(0),
        _ => return Ok(None),
    };
    let c = char::from_u32(u32::from(unit)).unwrap_or('\0');
    let one = |own: char| Value::Char(own.encode_utf16(&mut [0; 2]).first().copied().unwrap_or(0));
    let digit = |radix: u32| {
        let found = c.to_digit(radix.clamp(2, 36)).and_then(|own| i32::try_from(own).ok());
        Value::Int(found.unwrap_or(-1))
    };
    Ok(Some(match name {
        "valueOf" => Value::Char(unit),
        "isDigit" => Value::Boolean(c.is_ascii_digit()),
        "isLetter" | "isAlphabetic" => Value::Boolean(c.is_alphabetic()),
        "isLetterOrDigit" => Value::Boolean(c.is_alphanumeric()),
        "isUpperCase" => Value::Boolean(c.is_uppercase()),
        "isLowerCase" => Value::Boolean(c.is_lowercase()),
        "isWhitespace" => Value::Boolean(c.is_whitespace()),
        "toUpperCase" => one(c.to_uppercase().next().unwrap_or(c)),
        "toLowerCase" => one(c.to_lowercase().next().unwrap_or(c)),
        "getNumericValue" => digit(36),
        "digit" => digit(u32::try_from(int(arguments, 1)?).unwrap_or(10)),
        "toString" => Value::units(vec![unit]),
        _ => return Ok(None),
    }))
}
