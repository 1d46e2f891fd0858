//! Writes JSON straight into bytes.
//!
//! What it is not: it does not check that members stand in objects. The answers' encoders do that
//! by their shape, and tests read them back.

use crate::reply::Answered;

/// A buffer of JSON.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(super) out: Vec<u8>,
    place: Place,
}

/// Bytes that are looked at together for what has to be escaped.
const BLOCK_BYTES: usize = 32;

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
    let is_escaped = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    // Without a way out of the loop it is compiled to a few instructions for the whole block.
    let has_escaped = |block: &&[u8]| block.iter().fold(false, |any, own| any | is_escaped(own));
    let blocks = bytes.chunks(BLOCK_BYTES).take_while(|block| !has_escaped(block)).count();
    let sure = bytes.len().min(blocks * BLOCK_BYTES);
    let rest = bytes.get(sure..).unwrap_or_default();
    sure + rest.iter().position(is_escaped).unwrap_or(rest.len())
}
