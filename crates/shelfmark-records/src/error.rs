//! Errors of encoding and decoding records.

use std::fmt;

/// The result of a function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The action that an [`Error`] asks of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The given value is wrong: fix it.
    Invalid,
    /// The given value is too large: make it smaller.
    LimitExceeded,
    /// Stored bytes are damaged: do not retry; run `verify`.
    Corrupt,
}

/// The reason why a value cannot be a key of an index of a table that is strict about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// It is of another type than the index declares.
    OtherType,
    /// It is of the right type, but empty.
    Empty,
    /// It is of the right type, but longer than this.
    TooLong {
        /// Most bytes.
        bytes_max: usize,
    },
    /// It is of the right type, but together with the other columns of its part of the key longer than this.
    TooLongTogether {
        /// The part of the key.
        part: KeyPart,
        /// Their bytes.
        bytes: usize,
        /// Most bytes.
        bytes_max: usize,
    },
}

/// A part of the key of a table or index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPart {
    /// The columns of the partition key.
    Partition,
    /// The columns of the sort key.
    Sort,
}

/// An error of encoding or decoding; its message is for people and outside the contract.
///
/// One word, so that what decoders hand up for each byte and column stays in registers.
#[derive(Debug, Clone)]
pub struct Error {
    detail: Box<(ErrorKind, String)>,
}

impl Error {
    /// Creates an error of `kind`.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { detail: Box::new((kind, message.into())) }
    }

    /// Creates an [`ErrorKind::Invalid`].
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Creates an [`ErrorKind::Corrupt`].
    #[must_use]
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Returns what the caller can do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.detail.0
    }

    /// Takes the message out.
    #[must_use]
    pub fn into_message(self) -> String {
        self.detail.1
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail.1)
    }
}

impl std::error::Error for Error {}

impl From<shelfmark_model::Error> for Error {
    fn from(error: shelfmark_model::Error) -> Self {
        let kind = match error.kind() {
            shelfmark_model::ErrorKind::Invalid => ErrorKind::Invalid,
            shelfmark_model::ErrorKind::LimitExceeded => ErrorKind::LimitExceeded,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<shelfmark_keycode::KeyError> for Error {
    fn from(error: shelfmark_keycode::KeyError) -> Self {
        Self::invalid(format!("a key cannot be encoded: {error}"))
    }
}
