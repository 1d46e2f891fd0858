//! Errors as the protocol knows them: a code, a text for the client, and what the code carries.

use bytes::Bytes;

use crate::consistency::Consistency;
use crate::types::MarshalError;

/// An error's code.
///
/// Source: native protocol specification v5, section 8, read 2026-11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// Something went wrong on our side.
    Server,
    /// The bytes break the rules of the protocol.
    Protocol,
    /// Name or password are wrong.
    BadCredentials,
    /// Too few replicas are there.
    Unavailable,
    /// Too much is under way: retry later.
    Overloaded,
    /// The server is starting.
    Bootstrapping,
    /// A TRUNCATE failed.
    Truncate,
    /// True if the write happened is not known.
    WriteTimeout,
    /// A read took too long.
    ReadTimeout,
    /// A read failed.
    ReadFailure,
    /// A function of the user's failed.
    FunctionFailure,
    /// A write failed.
    WriteFailure,
    /// The change log took no write.
    CdcWriteFailure,
    /// True if the conditional write happened is not known; only version 5 has it.
    CasWriteUnknown,
    /// The statement cannot be read.
    Syntax,
    /// The user may not do that.
    Unauthorized,
    /// The statement is readable but wrong.
    Invalid,
    /// A setting is wrong.
    Configuration,
    /// The keyspace or table is there already.
    AlreadyExists,
    /// The prepared statement is not known: prepare it again.
    Unprepared,
}

impl ErrorCode {
    /// Every code, for tests that walk them.
    pub const ALL: [Self; 20] = [
        Self::Server,
        Self::Protocol,
        Self::BadCredentials,
        Self::Unavailable,
        Self::Overloaded,
        Self::Bootstrapping,
        Self::Truncate,
        Self::WriteTimeout,
        Self::ReadTimeout,
        Self::ReadFailure,
        Self::FunctionFailure,
        Self::WriteFailure,
        Self::CdcWriteFailure,
        Self::CasWriteUnknown,
        Self::Syntax,
        Self::Unauthorized,
        Self::Invalid,
        Self::Configuration,
        Self::AlreadyExists,
        Self::Unprepared,
    ];

    /// Returns the code as it stands in an ERROR.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            Self::Server => 0x0000,
            Self::Protocol => 0x000A,
            Self::BadCredentials => 0x0100,
            Self::Unavailable => 0x1000,
            Self::Overloaded => 0x1001,
            Self::Bootstrapping => 0x1002,
            Self::Truncate => 0x1003,
            Self::WriteTimeout => 0x1100,
            Self::ReadTimeout => 0x1200,
            Self::ReadFailure => 0x1300,
            Self::FunctionFailure => 0x1400,
            Self::WriteFailure => 0x1500,
            Self::CdcWriteFailure => 0x1600,
            Self::CasWriteUnknown => 0x1700,
            Self::Syntax => 0x2000,
            Self::Unauthorized => 0x2100,
            Self::Invalid => 0x2200,
            Self::Configuration => 0x2300,
            Self::AlreadyExists => 0x2400,
            Self::Unprepared => 0x2500,
        }
    }
}

/// The kind of write that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKind {
    /// One statement.
    Simple,
    /// A logged batch.
    Batch,
    /// A batch without log.
    UnloggedBatch,
    /// A counter.
    Counter,
    /// A conditional write.
    Cas,
}

impl WriteKind {
    /// Returns the name that the protocol sends.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simple => "SIMPLE",
            Self::Batch => "BATCH",
            Self::UnloggedBatch => "UNLOGGED_BATCH",
            Self::Counter => "COUNTER",
            Self::Cas => "CAS",
        }
    }
}

/// The details that an error code carries beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ErrorExtra {
    /// Nothing.
    #[default]
    None,
    /// The level that was asked for; required and alive are 1 and 0 on a single store.
    Unavailable {
        /// The level.
        consistency: Consistency,
    },
    /// A read: the level, and whether data was there.
    Read {
        /// The level.
        consistency: Consistency,
        /// True if the data itself had arrived.
        data_present: bool,
    },
    /// A write: the level and the kind of write.
    Write {
        /// The level.
        consistency: Consistency,
        /// The kind of write.
        kind: WriteKind,
    },
    /// A user's function.
    Function {
        /// The keyspace.
        keyspace: String,
        /// The name.
        name: String,
        /// The types of its arguments, as CQL text.
        arguments: Vec<String>,
    },
    /// The name that is taken; the table is empty for a keyspace.
    AlreadyExists {
        /// The keyspace.
        keyspace: String,
        /// The table, or nothing.
        table: String,
    },
    /// The id that is not known.
    Unprepared(Bytes),
}

/// The result of whatever a client may be refused.
pub type Result<T> = std::result::Result<T, CqlError>;

/// Refuses a statement with [`ErrorCode::Invalid`].
///
/// # Errors
///
/// * Always, with this message.
pub fn invalid<T>(message: impl Into<String>) -> Result<T> {
    Err(CqlError::invalid(message))
}

/// An error on its way to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CqlError {
    /// The code.
    pub code: ErrorCode,
    /// The text for the client: Cassandra's words where it has some.
    pub message: String,
    /// The details of the code.
    pub extra: ErrorExtra,
}

impl CqlError {
    /// Creates an error that carries nothing beside its text.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), extra: ErrorExtra::None }
    }

    /// Creates an `Invalid`.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Invalid, message)
    }

    /// Creates a `Syntax`.
    #[must_use]
    pub fn syntax(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Syntax, message)
    }

    /// Creates a `Protocol`.
    #[must_use]
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Protocol, message)
    }

    /// Creates an `Overloaded`: the client may come again later.
    #[must_use]
    pub fn overloaded(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Overloaded, message)
    }

    /// Creates an `AlreadyExists`; `table` is empty for a keyspace.
    #[must_use]
    pub fn already_exists(keyspace: &str, table: &str) -> Self {
        let message = if table.is_empty() {
            format!("Cannot add existing keyspace \"{keyspace}\"")
        } else {
            format!("Cannot add already existing table \"{table}\" to keyspace \"{keyspace}\"")
        };
        Self {
            code: ErrorCode::AlreadyExists,
            message,
            extra: ErrorExtra::AlreadyExists {
                keyspace: keyspace.to_owned(),
                table: table.to_owned(),
            },
        }
    }
}

impl std::fmt::Display for CqlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CqlError {}

impl From<MarshalError> for CqlError {
    fn from(error: MarshalError) -> Self {
        Self::invalid(error.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct() {
        let mut numbers: Vec<i32> = ErrorCode::ALL.map(ErrorCode::number).to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), ErrorCode::ALL.len());
    }
}
