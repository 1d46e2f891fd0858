//! The error of a page: a status and a sentence for the person who looks at it.

use shelfmark_engine::ErrorKind;

/// The result of what a page does.
pub(crate) type Result<T> = std::result::Result<T, Fault>;

/// An error of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The HTTP status.
    pub(crate) status: u16,
    /// A sentence on what happened, and what to do.
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self { status: 400, message: message.into() }
    }

    pub(crate) fn absent(message: impl Into<String>) -> Self {
        Self { status: 404, message: message.into() }
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self { status: 413, message: message.into() }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { status: 500, message: message.into() }
    }
}

impl From<shelfmark_engine::Error> for Fault {
    fn from(error: shelfmark_engine::Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NotFound => 404,
            ErrorKind::Invalid | ErrorKind::LimitExceeded => 400,
            ErrorKind::Conflict | ErrorKind::ConditionFailed | ErrorKind::AlreadyExists => 409,
            ErrorKind::Busy => 503,
            _ => 500,
        };
        Self { status, message: error.to_string() }
    }
}

impl From<shelfmark_admin::Error> for Fault {
    fn from(error: shelfmark_admin::Error) -> Self {
        Self { status: error.kind.status(), message: error.message }
    }
}

impl From<shelfmark_store::Error> for Fault {
    fn from(error: shelfmark_store::Error) -> Self {
        Self::failed(format!("the store cannot be read: {error}"))
    }
}

impl From<shelfmark_cql::CqlError> for Fault {
    fn from(error: shelfmark_cql::CqlError) -> Self {
        Self::bad(error.message)
    }
}
