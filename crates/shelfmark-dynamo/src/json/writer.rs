//! Writes JSON straight into bytes.
//!
//! What it is not: it does not check that members stand in objects. The answers' encoders do that
//! by their shape, and tests read them back.

use std::fmt::Display;
use std::io::Write as _;

use crate::reply::Answered;

/// A buffer of JSON.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(super) out: Vec<u8>,
    place: Place,
}

/// The context of the next value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// After nothing, an opening bracket, or a member's name.
    #[default]
    First,
    /// After another value.
    Next,
}

impl Writer {
    /// Creates a writer with this capacity in bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { out: Vec::with_capacity(bytes), place: Place::First }
    }

    /// Writes one object as a whole body.
    pub(crate) fn body(members: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut writer = Self::with_capacity(256);
        writer.object(members);
        writer.out
    }

    /// Writes one object as the body of an answer.
    pub(crate) fn answer(members: impl FnOnce(&mut Self)) -> Answered {
        Self::body(members).into()
    }

    /// Writes an object.
    pub(crate) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.between(b'{', b'}', members);
    }

    /// Writes a list.
    pub(crate) fn list(&mut self, elements: impl FnOnce(&mut Self)) {
        self.between(b'[', b']', elements);
    }

    /// Writes a member's name; its value must follow.
    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        self.separate();
        self.quoted(name);
        self.out.push(b':');
        self.place = Place::First;
        self
    }

    /// Writes a member's name that needs no escapes; its value must follow.
    pub(super) fn plain_name(&mut self, name: &'static str) -> &mut Self {
        self.separate();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.place = Place::First;
        self
    }

    /// Writes text that needs no escapes.
    pub(super) fn plain_text(&mut self, text: impl Display) {
        self.separate();
        self.out.push(b'"');
        // Writing to memory does not fail.
        let _ = write!(self.out, "{text}");
        self.out.push(b'"');
    }

    /// Writes text.
    pub(crate) fn text(&mut self, text: &str) {
        self.separate();
        self.quoted(text);
    }

    /// Writes a whole number.
    pub(crate) fn integer(&mut self, number: i64) {
        self.raw(&number.to_string());
    }

    /// Writes a count.
    pub(crate) fn count(&mut self, number: usize) {
        self.raw(&number.to_string());
    }

    /// Writes a number with a fraction, also when it is whole: `1.0`.
    pub(crate) fn fraction(&mut self, number: f64) {
        self.raw(&format!("{number:?}"));
    }

    /// Writes a number that is given as its text.
    pub(crate) fn number_text(&mut self, text: &str) {
        self.raw(text);
    }

    /// Writes a truth value.
    pub(crate) fn boolean(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    fn raw(&mut self, text: &str) {
        self.separate();
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn separate(&mut self) {
        if self.place == Place::Next {
            self.out.push(b',');
        }
        self.place = Place::Next;
    }

    fn between(&mut self, open: u8, close: u8, inside: impl FnOnce(&mut Self)) {
        self.separate();
        self.out.push(open);
        self.place = Place::First;
        inside(self);
        self.out.push(close);
        self.place = Place::Next;
    }

    fn quoted(&mut self, text: &str) {
        self.out.push(b'"');
        let mut rest = text.as_bytes();
        loop {
            let (plain, behind) = rest.split_at_checked(plain_length(rest)).unwrap_or((rest, &[]));
            self.out.extend_from_slice(plain);
            let Some((byte, behind)) = behind.split_first() else { break };
            self.escape(*byte);
            rest = behind;
        }
        self.out.push(b'"');
    }

    fn escape(&mut self, byte: u8) {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            _ => return self.out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        };
        self.out.extend_from_slice(escape);
    }
}

/// Returns how many of the first bytes stand in JSON as they are.
fn plain_length(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        if let Some(escaped) = first_escaped(u64::from_be_bytes(*word).swap_bytes()) {
            return place * 8 + escaped;
        }
    }
    let behind = rest.iter().position(|own| is_escaped(*own)).unwrap_or(rest.len());
    bytes.len() - rest.len() + behind
}

const fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Returns the place of the first of eight bytes, the lowest first, that has to be escaped.
///
/// All eight are looked at by one subtraction: it sets the highest bit of a byte that is too small,
/// and may set that of higher bytes by its borrow, so the lowest such bit is never a false one.
const fn first_escaped(word: u64) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let quotes = word ^ (ONES * 0x22);
    let slashes = word ^ (ONES * 0x5C);
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    let quotes = quotes.wrapping_sub(ONES) & !quotes;
    let slashes = slashes.wrapping_sub(ONES) & !slashes;
    match (controls | quotes | slashes) & HIGH {
        0 => None,
        marks => Some(marks.trailing_zeros() as usize / 8),
    }
}
