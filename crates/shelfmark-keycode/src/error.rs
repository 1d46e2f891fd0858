//! Errors of encoding, decoding and parsing keys.
//!
//! What it is not: it carries no key bytes, so that an error may be logged without showing data.
//!
//! Invariant: the kind alone says what the caller can do; the message is for people.

use std::fmt;

/// Result of a key codec.
pub type Result<T> = std::result::Result<T, KeyError>;

/// The action that a [`KeyError`] asks of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyErrorKind {
    /// The bytes end inside a component. Stored keys: treat as damage. Input: refuse it.
    Truncated,
    /// No encoder of this crate writes these bytes or this text. As for `Truncated`.
    NonCanonical,
    /// The value is not of the type named beside it, or the text is no number. Fix the call.
    WrongType,
    /// Types are nested deeper than [`KEY_DEPTH_MAX`](crate::KEY_DEPTH_MAX). Flatten the type.
    TooDeep,
    /// More bytes or digits than the limit named in the message. Send less.
    TooLong,
    /// Larger (in magnitude) than the codec can represent exactly. Use another codec.
    OutOfRange,
    /// A number nearer to zero than its limits allow. Round it to zero or scale it.
    Underflow,
}

impl KeyErrorKind {
    /// Every kind, for tables that must map them all.
    pub const ALL: [Self; 7] = [
        Self::Truncated,
        Self::NonCanonical,
        Self::WrongType,
        Self::TooDeep,
        Self::TooLong,
        Self::OutOfRange,
        Self::Underflow,
    ];
}

/// An error of encoding, decoding or parsing a key.
///
/// The message is outside the contract; decide by [`KeyError::kind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyError {
    kind: KeyErrorKind,
    position: Option<usize>,
    message: &'static str,
}

impl KeyError {
    pub(crate) const fn new(kind: KeyErrorKind, message: &'static str) -> Self {
        Self { kind, position: None, message }
    }

    pub(crate) const fn at(kind: KeyErrorKind, position: usize, message: &'static str) -> Self {
        Self { kind, position: Some(position), message }
    }

    /// Returns the error with its position moved `bytes` to the back.
    #[must_use]
    pub(crate) const fn moved(mut self, bytes: usize) -> Self {
        self.position = match self.position {
            Some(position) => Some(position.saturating_add(bytes)),
            None => Some(bytes),
        };
        self
    }

    /// Returns the kind, which says what the caller can do.
    #[must_use]
    pub const fn kind(&self) -> KeyErrorKind {
        self.kind
    }

    /// Returns the byte at fault, counted from the start of the bytes or text that were given.
    ///
    /// `None` when a value was encoded, which has no bytes yet.
    #[must_use]
    pub const fn position(&self) -> Option<usize> {
        self.position
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "{} (at byte {position})", self.message),
            None => f.write_str(self.message),
        }
    }
}

impl std::error::Error for KeyError {}
