//! The errors of the typed layers: kinds that say what the caller can do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::ErrorKind as EngineKind;

/// Result of a typed call.
pub type Result<T> = std::result::Result<T, Error>;

/// The action that an [`Error`] asks of the caller.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{ErrorKind, OrderedTable};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let ages: OrderedTable<String, u8> = OrderedTable::named(&database, "ages")?;
/// match ages.read(&"nobody".to_owned()) {
///     Err(error) if error.kind() == ErrorKind::NotFound => {}
///     other => panic!("nobody has an age: {other:?}"),
/// }
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The environment has no right to the database, or a transaction reached outside its own:
    /// assign the database, or stay inside.
    Restricted,
    /// The caller's own body ended the transaction ([`crate::Tx::abort`]): nothing was written.
    Aborted,
    /// Stored data does not fit the Rust type: read it with the type it was written with, or
    /// migrate.
    Mismatch,
    /// Someone else wrote what was read, every time: retry the whole call or transaction later.
    Conflict,
    /// A condition did not hold: decide.
    ConditionFailed,
    /// The call is wrong: fix it.
    Invalid,
    /// The entry, table, database or environment is not there.
    NotFound,
    /// The entry, table or name is there already: decide.
    AlreadyExists,
    /// Something is too large: make it smaller.
    LimitExceeded,
    /// Too much is under way: retry after [`Error::retry_after`].
    Busy,
    /// A snapshot outlived its bounds: begin again.
    TooOld,
    /// No writes until space returns or the store is reopened; reads go on.
    ReadOnly,
    /// A remote part cannot be reached: retry later.
    Unavailable,
    /// The store was closed: open it again.
    Closed,
    /// The operating system refused: see the source.
    Io,
    /// Stored bytes are damaged: do not retry; run `verify`.
    Corrupt,
    /// The write may or may not have happened: ask by reading.
    Undetermined,
    /// A bug of ours: report it.
    Internal,
}

impl ErrorKind {
    /// Every kind, for tables that must map them all.
    pub const ALL: [Self; 18] = [
        Self::Restricted,
        Self::Aborted,
        Self::Mismatch,
        Self::Conflict,
        Self::ConditionFailed,
        Self::Invalid,
        Self::NotFound,
        Self::AlreadyExists,
        Self::LimitExceeded,
        Self::Busy,
        Self::TooOld,
        Self::ReadOnly,
        Self::Unavailable,
        Self::Closed,
        Self::Io,
        Self::Corrupt,
        Self::Undetermined,
        Self::Internal,
    ];

    fn of_engine(kind: EngineKind) -> Self {
        match kind {
            EngineKind::Conflict => Self::Conflict,
            EngineKind::ConditionFailed => Self::ConditionFailed,
            EngineKind::Invalid => Self::Invalid,
            EngineKind::NotFound => Self::NotFound,
            EngineKind::AlreadyExists => Self::AlreadyExists,
            EngineKind::LimitExceeded => Self::LimitExceeded,
            EngineKind::Busy => Self::Busy,
            EngineKind::TooOld => Self::TooOld,
            EngineKind::ReadOnly => Self::ReadOnly,
            EngineKind::Unavailable => Self::Unavailable,
            EngineKind::Closed => Self::Closed,
            EngineKind::Io => Self::Io,
            EngineKind::Corrupt => Self::Corrupt,
            EngineKind::Undetermined => Self::Undetermined,
            EngineKind::Internal => Self::Internal,
        }
    }

    /// Returns the engine's kind for a body that ended with an error.
    pub(crate) fn to_engine(self) -> EngineKind {
        match self {
            // Only this one makes the engine run the body again.
            Self::TooOld => EngineKind::TooOld,
            _ => EngineKind::Invalid,
        }
    }
}

/// An error of a typed call; its message is for people and outside the contract.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{ErrorKind, OrderedTable};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let table: OrderedTable<u32, u32> = OrderedTable::named(&database, "t")?;
/// match table.read(&7) {
///     Err(error) if error.kind() == ErrorKind::NotFound => println!("{error}"),
///     other => println!("{:?}", other?),
/// }
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    retry_after: Option<Duration>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error of `kind`.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, source: None }
    }

    /// Creates an [`ErrorKind::Invalid`].
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Creates an [`ErrorKind::Mismatch`].
    #[must_use]
    pub fn mismatch(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Mismatch, message)
    }

    /// Creates an [`ErrorKind::Aborted`] that carries the caller's own error as its source.
    #[must_use]
    pub fn aborted_by(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self {
            source: Some(Arc::new(source)),
            ..Self::new(ErrorKind::Aborted, "the transaction was ended by its body")
        }
    }

    /// Returns the kind, which says what the caller can do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns how long to wait before trying again, for [`ErrorKind::Busy`].
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}

impl From<shelfmark_engine::Error> for Error {
    fn from(error: shelfmark_engine::Error) -> Self {
        Self {
            retry_after: error.retry_after(),
            source: Some(Arc::new(error.clone())),
            ..Self::new(ErrorKind::of_engine(error.kind()), error.to_string())
        }
    }
}
