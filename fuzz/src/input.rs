//! Reading decisions off the front of an input.
//!
//! The form is plain on purpose: one byte per small choice, two for a length or offset, eight for a
//! number, and zeros once the input is used up. So a seed can be written by hand, and a byte that
//! the fuzzer changes changes one decision.

/// What is left of an input.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// Begins at the front.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Tells whether everything is used up.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes one byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *first
    }

    /// Takes a choice below `count`, of one byte; 0 if there is nothing to choose from.
    pub fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()).checked_rem(count).unwrap_or(0)
    }

    /// Takes a yes or no.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Takes two bytes, big-endian.
    pub fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// Takes eight bytes, big-endian.
    pub fn u64(&mut self) -> u64 {
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// Takes a length of one byte and that many bytes, as far as there are any.
    pub fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte());
        self.up_to(length)
    }

    /// Takes a length of two bytes and that many bytes, as far as there are any.
    pub fn long_bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.u16());
        self.up_to(length)
    }

    /// Takes everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Takes text: what is not UTF-8 is replaced.
    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Takes one of `choices`.
    ///
    /// # Panics
    ///
    /// If there are none: a mistake of the target.
    pub fn one_of<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        let chosen = choices.get(self.below(choices.len()));
        chosen.expect("there is something to choose from")
    }

    fn up_to(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        taken
    }
}
