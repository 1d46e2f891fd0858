//! The errors of a store; kinds name what the caller can do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

/// Result of a store call.
pub type Result<T> = std::result::Result<T, Error>;

/// The action that an [`Error`] asks of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A validated key was written since the base: read again and retry.
    Conflict,
    /// A key that must be absent exists: decide.
    Exists,
    /// The outcome is unknown: ask by reading a key that the commit would have put.
    Undetermined,
    /// The snapshot outlived its bounds: take a new one.
    TooOld,
    /// A key, value or commit is over the limits: make it smaller.
    LimitExceeded,
    /// Too much is queued: retry after the given time.
    Busy,
    /// No more writes until space returns or the store is reopened; reads go on.
    ReadOnly,
    /// The remote part cannot be reached: retry later.
    Unavailable,
    /// Stored bytes are damaged: do not retry; run `verify`.
    Corrupt,
    /// The operating system refused: see the source.
    Io,
    /// The store was closed: open it again.
    Closed,
    /// The call itself is wrong (a wrong folder, an empty value): fix it.
    Invalid,
    /// A bug of ours: report it.
    Internal,
}

impl ErrorKind {
    /// Every kind, for tables that must map them all.
    pub const ALL: [Self; 13] = [
        Self::Conflict,
        Self::Exists,
        Self::Undetermined,
        Self::TooOld,
        Self::LimitExceeded,
        Self::Busy,
        Self::ReadOnly,
        Self::Unavailable,
        Self::Corrupt,
        Self::Io,
        Self::Closed,
        Self::Invalid,
        Self::Internal,
    ];
}

/// An error of a store call; its message is for people and outside the contract.
///
/// One word, so that a result with a row in it is no larger than the row.
#[derive(Debug, Clone)]
pub struct Error {
    detail: Box<Detail>,
}

#[derive(Debug, Clone)]
struct Detail {
    kind: ErrorKind,
    message: String,
    keys: Vec<Bytes>,
    retry_after: Option<Duration>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error of `kind`.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        let detail = Detail { kind, message, keys: Vec::new(), retry_after: None, source: None };
        Self { detail: Box::new(detail) }
    }

    /// Creates a [`ErrorKind::Conflict`] over `keys`.
    #[must_use]
    pub fn conflict(keys: Vec<Bytes>) -> Self {
        let mut error =
            Self::new(ErrorKind::Conflict, "a key that was read has been written since");
        error.detail.keys = keys;
        error
    }

    /// Creates an [`ErrorKind::Exists`] for `key`.
    #[must_use]
    pub fn exists(key: Bytes) -> Self {
        let mut error = Self::new(ErrorKind::Exists, "the key is there already");
        error.detail.keys = vec![key];
        error
    }

    /// Creates an [`ErrorKind::Busy`] to be retried after `wait`.
    #[must_use]
    pub fn busy(message: impl Into<String>, wait: Duration) -> Self {
        let mut error = Self::new(ErrorKind::Busy, message);
        error.detail.retry_after = Some(wait);
        error
    }

    /// Adds the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.detail.source = Some(Arc::new(source));
        self
    }

    /// Returns the kind, which says what the caller can do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.detail.kind
    }

    /// Returns the keys that conflict or exist already, as far as the driver knows them: at least one.
    #[must_use]
    pub fn keys(&self) -> &[Bytes] {
        &self.detail.keys
    }

    /// Returns how long to wait before retrying, for [`ErrorKind::Busy`].
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.detail.retry_after
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.detail.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}
