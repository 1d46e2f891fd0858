//! The errors of transfers.

/// Result of a transfer.
pub type Result<T> = std::result::Result<T, Error>;

/// A kind of [`Error`], which says what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The call is wrong, or the form cannot carry the table: change the call.
    Invalid,
    /// A record of a file cannot be kept: correct it, or allow some to be passed over.
    BadRecord,
    /// A server refused a request: see its words.
    Refused,
    /// A server does not answer: call again, the transfer goes on where it stopped.
    Unreachable,
    /// A file cannot be read or written.
    Io,
    /// The caller asked to stop: call again, the transfer goes on where it stopped.
    Stopped,
    /// Both sides were read and differ: see the counts.
    Differs,
}

/// The reason why a transfer did not end well.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// Creates an error of a kind.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Creates the error of a wrong call.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Creates the error of a file.
    #[must_use]
    pub fn io(what: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("cannot {what} {}: {error}", path.display()))
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
