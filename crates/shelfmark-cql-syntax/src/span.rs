//! Places in a text.

/// A stretch of the text, in bytes from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
}

impl Span {
    /// The span of what was never in a text.
    pub const NOWHERE: Span = Span { start: 0, end: 0 };

    /// Returns the stretch from the start of this one to the end of another.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }

    /// Returns the text that the span covers; empty when it lies outside of `source`.
    #[must_use]
    pub fn text(self, source: &str) -> &str {
        let range = usize::try_from(self.start).ok().zip(usize::try_from(self.end).ok());
        range.and_then(|(start, end)| source.get(start..end)).unwrap_or_default()
    }
}
