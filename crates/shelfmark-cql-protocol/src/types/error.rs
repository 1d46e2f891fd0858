//! Errors of serialised values, in Cassandra's words.

use std::fmt;

/// A value that does not fit its type; the text is what the client reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarshalError(pub String);

/// Result of working with values.
pub type Result<T> = std::result::Result<T, MarshalError>;

impl MarshalError {
    /// Creates an error with the text that the client reads.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for MarshalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MarshalError {}
