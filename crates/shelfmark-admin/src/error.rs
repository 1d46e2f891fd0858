//! The errors of operations, alike in process and over the wire.

use serde::{Deserialize, Serialize};
use shelfmark_engine as engine;

/// Result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// A kind of [`Error`], which says what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The request is wrong: fix it.
    Invalid,
    /// The table, index or item is not there.
    NotFound,
    /// A condition did not hold, or something is there already: decide.
    Conflict,
    /// Too much is under way, or a part cannot be reached: retry later.
    Busy,
    /// No writes until space returns or the store is reopened.
    ReadOnly,
    /// Stored bytes are damaged: run `verify`.
    Damaged,
    /// Something else failed: see the message and the server's log.
    Failed,
}

impl ErrorKind {
    /// Returns the status code of HTTP for it.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::Busy | Self::ReadOnly => 503,
            Self::Damaged | Self::Failed => 500,
        }
    }
}

/// The reason why an operation was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct Error {
    /// Its kind.
    pub kind: ErrorKind,
    /// The reason, and what to do.
    pub message: String,
}

impl Error {
    /// Returns an error of a kind.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Returns the error of a wrong request.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }
}

/// The body of an answer that says why an operation was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The reason.
    pub error: Error,
}

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        use engine::ErrorKind as From;
        let kind = match error.kind() {
            From::Invalid | From::LimitExceeded | From::TooOld => ErrorKind::Invalid,
            From::NotFound => ErrorKind::NotFound,
            From::ConditionFailed | From::AlreadyExists => ErrorKind::Conflict,
            From::Conflict | From::Busy | From::Unavailable | From::Closed => ErrorKind::Busy,
            From::ReadOnly => ErrorKind::ReadOnly,
            From::Corrupt => ErrorKind::Damaged,
            From::Io | From::Undetermined | From::Internal => ErrorKind::Failed,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<shelfmark_store::Error> for Error {
    fn from(error: shelfmark_store::Error) -> Self {
        engine::Error::from(error).into()
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::invalid(error.to_string())
    }
}
