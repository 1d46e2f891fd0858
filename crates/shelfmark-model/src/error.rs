//! Errors of the pure layer: the caller's data or schema is wrong.

use std::fmt;

/// Result of a call into this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The action that an [`Error`] asks of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The call, schema or data is wrong: fix it.
    Invalid,
    /// Something is too large or nested too deep: make it smaller.
    LimitExceeded,
}

/// An error of a schema, key or value; its message is for people and outside the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// Creates an [`ErrorKind::Invalid`].
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Invalid, message: message.into() }
    }

    /// Creates an [`ErrorKind::LimitExceeded`].
    #[must_use]
    pub fn limit(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::LimitExceeded, message: message.into() }
    }

    /// Returns the kind, which says what the caller can do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
