//! The engine's errors: kinds that say what the caller can do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use shelfmark_model::{Item, PatchProblem, ValueKind};
use shelfmark_records::Misfit;
use shelfmark_store::budget::NoRoom;

/// The time after which to come again where memory was short.
const ROOM_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Result of an engine call.
pub type Result<T> = std::result::Result<T, Error>;

/// A kind of [`Error`], which says what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Someone else wrote what was read: retry the whole call or transaction.
    Conflict,
    /// A condition did not hold: decide. See [`Error::failures`].
    ConditionFailed,
    /// The call is wrong: fix it.
    Invalid,
    /// The table or index is not there: create it first.
    NotFound,
    /// The table, index or unique value is there already: decide.
    AlreadyExists,
    /// Something is too large: make it smaller.
    LimitExceeded,
    /// Too much is under way: retry after [`Error::retry_after`].
    Busy,
    /// A snapshot or cursor outlived its bounds: begin again.
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
    pub const ALL: [Self; 15] = [
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
}

/// A reason for which one write of a call was refused.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// Its condition did not hold; the item as it was, if the write asked for it.
    ConditionFailed(Option<Item>),
    /// Its patch does not fit the item.
    Patch(PatchProblem),
    /// Another item has the same key in the unique index of this name.
    NotUnique(String),
    /// It would make the item larger than the table takes.
    TooLarge(String),
    /// It would nest an attribute deeper than the table takes.
    TooDeep {
        /// The attribute.
        attribute: String,
        /// Most levels.
        levels_max: usize,
    },
    /// An attribute cannot be a key of an index, and the table refuses that.
    IndexKey {
        /// The index.
        index: String,
        /// The attribute.
        attribute: String,
        /// The kind of its value.
        found: ValueKind,
        /// The reason for which it cannot be a key.
        misfit: Misfit,
    },
}

/// One refused write: its position in the call, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Position of the write in the call, from 0.
    pub position: usize,
    /// The reason for which it was refused.
    pub refusal: Refusal,
}

/// An error of an engine call. The message is for people and outside the contract.
///
/// One word, so that what decoders hand up for each byte and column stays in registers.
#[derive(Debug, Clone)]
pub struct Error {
    detail: Box<Detail>,
}

#[derive(Debug, Clone)]
struct Detail {
    kind: ErrorKind,
    message: String,
    failures: Vec<Failure>,
    retry_after: Option<Duration>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error of `kind`.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        let detail =
            Detail { kind, message, failures: Vec::new(), retry_after: None, source: None };
        Self { detail: Box::new(detail) }
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

    /// Creates the error of a call for which there is no room in its client's part of the memory budget.
    #[must_use]
    pub fn no_room(why: NoRoom) -> Self {
        match why {
            NoRoom::Now => {
                let text = "the memory budget has no room for the rows that this looks at; come again later";
                let mut own = Self::new(ErrorKind::Busy, text);
                own.detail.retry_after = Some(ROOM_AGAIN_AFTER);
                own
            }
            NoRoom::Ever => Self::new(
                ErrorKind::LimitExceeded,
                "the rows that this looks at take more memory than one client gets; look at fewer of \
                 them at once, or raise --memory-limit",
            ),
        }
    }

    pub(crate) fn refused(failures: Vec<Failure>) -> Self {
        let (kind, message) = match failures.first().map(|failure| &failure.refusal) {
            Some(Refusal::ConditionFailed(_)) | None => {
                (ErrorKind::ConditionFailed, "the condition did not hold".to_owned())
            }
            Some(Refusal::Patch(problem)) => {
                (ErrorKind::Invalid, format!("the patch does not fit the item: {problem:?}"))
            }
            Some(Refusal::NotUnique(index)) => {
                (ErrorKind::AlreadyExists, format!("another item has this key in index {index}"))
            }
            Some(Refusal::IndexKey { index, attribute, .. }) => (
                ErrorKind::Invalid,
                format!("attribute {attribute} cannot be a key of index {index}"),
            ),
            Some(Refusal::TooLarge(message)) => (ErrorKind::LimitExceeded, message.clone()),
            Some(Refusal::TooDeep { attribute, levels_max }) => (
                ErrorKind::LimitExceeded,
                format!("attribute {attribute} is nested deeper than {levels_max} levels"),
            ),
        };
        let mut error = Self::new(kind, message);
        error.detail.failures = failures;
        error
    }

    /// Returns what the caller can do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.detail.kind
    }

    /// Returns which writes of the call were refused and why; empty unless writes were refused.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.detail.failures
    }

    /// Returns how long to wait before trying again, for [`ErrorKind::Busy`].
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

impl From<shelfmark_store::Error> for Error {
    fn from(error: shelfmark_store::Error) -> Self {
        use shelfmark_store::ErrorKind as Store;
        let kind = match error.kind() {
            Store::Conflict | Store::Exists => ErrorKind::Conflict,
            Store::Undetermined => ErrorKind::Undetermined,
            Store::TooOld => ErrorKind::TooOld,
            Store::LimitExceeded => ErrorKind::LimitExceeded,
            Store::Busy => ErrorKind::Busy,
            Store::ReadOnly => ErrorKind::ReadOnly,
            Store::Unavailable => ErrorKind::Unavailable,
            Store::Corrupt => ErrorKind::Corrupt,
            Store::Io => ErrorKind::Io,
            Store::Closed => ErrorKind::Closed,
            Store::Invalid | Store::Internal => ErrorKind::Internal,
        };
        let mut own = Self::new(kind, error.to_string());
        own.detail.retry_after = error.retry_after();
        own.detail.source = Some(Arc::new(error));
        own
    }
}

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

impl From<shelfmark_records::Error> for Error {
    fn from(error: shelfmark_records::Error) -> Self {
        let kind = match error.kind() {
            shelfmark_records::ErrorKind::Invalid => ErrorKind::Invalid,
            shelfmark_records::ErrorKind::LimitExceeded => ErrorKind::LimitExceeded,
            shelfmark_records::ErrorKind::Corrupt => ErrorKind::Corrupt,
        };
        Self::new(kind, error.into_message())
    }
}
