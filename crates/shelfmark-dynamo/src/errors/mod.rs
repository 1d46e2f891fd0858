//! Errors as DynamoDB words them: an exception's name, a message, and further members.
//!
//! What it is not: no Rust error of this crate leaves it; an error becomes the bytes of a
//! [`crate::Reply`]. Every text that a client can read stands in [`texts`].
//!
//! Invariant: every [`shelfmark_engine::ErrorKind`] has exactly one exception, chosen in
//! [`engine`] and walked over by a test.

mod encode;
mod engine;
mod exception;
pub(crate) mod texts;

use shelfmark_model::Item;

pub(crate) use engine::{
    cancelled, cancelled_at, in_words, transaction_error, type_name, write_error,
};
pub use exception::Exception;

/// Result of a step of an operation.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// An error: the exception and message for the client, and a message for the log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Error {
    pub(crate) exception: Exception,
    pub(crate) message: String,
    /// True if the message carries the prefix of the service's validation framework.
    pub(crate) enveloped: bool,
    /// True if the request is refused as a whole, also where it is one write of a transaction that
    /// is wrong.
    pub(crate) whole: bool,
    /// The item that a condition failed on, if the client asked for it.
    pub(crate) item: Option<Item>,
    /// The reason of each write of a cancelled transaction, in request order.
    pub(crate) reasons: Vec<Reason>,
    /// The message for the log.
    pub(crate) log: Option<String>,
}

/// The reason why one write of a cancelled transaction was refused.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Reason {
    /// The code and message; `None` for a write without fault.
    pub(crate) fault: Option<(&'static str, String)>,
    /// The item that the condition failed on, if the client asked for it.
    pub(crate) item: Option<Item>,
}

impl Error {
    pub(crate) fn new(exception: Exception, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            exception,
            message,
            enveloped: false,
            whole: false,
            item: None,
            reasons: Vec::new(),
            log: None,
        }
    }

    /// Returns a `ValidationException`.
    pub(crate) fn validation(message: impl Into<String>) -> Self {
        Self::new(Exception::Validation, message)
    }

    /// Returns a `ValidationException` of the service's validation framework: its texts carry a
    /// prefix.
    pub(crate) fn enveloped(message: impl Into<String>) -> Self {
        Self { enveloped: true, ..Self::validation(message) }
    }

    /// Returns the error with the prefix of the validation framework, if it is one of validation.
    pub(crate) fn in_envelope(self) -> Self {
        Self { enveloped: self.exception == Exception::Validation, ..self }
    }

    /// Works as [`Error::validation`], but refuses the whole transaction where it is one write that
    /// is wrong.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self { whole: true, ..Self::validation(message) }
    }

    /// Returns a `SerializationException`: the body is no JSON, or a member has the wrong type.
    pub(crate) fn serialization(message: impl Into<String>) -> Self {
        Self::new(Exception::Serialization, message)
    }

    /// Prefixes the message.
    pub(crate) fn prefixed(mut self, prefix: &str) -> Self {
        self.message.insert_str(0, prefix);
        self
    }
}

#[cfg(test)]
mod tests;
