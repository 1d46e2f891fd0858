//! Errors of the engine as errors of the protocol.

use shelfmark_cql_protocol::{Consistency, CqlError, ErrorCode, ErrorExtra, WriteKind};
use shelfmark_engine::ErrorKind;

/// Returns the error for a failed call of the engine. Total: a new kind does not compile until
/// it has its code here.
///
/// `consistency` and `write` say what the request was; `write` is `None` for a read.
#[must_use]
pub(crate) fn from_engine(
    error: &shelfmark_engine::Error,
    consistency: Consistency,
    write: Option<WriteKind>,
) -> CqlError {
    let code = code_of(error.kind(), write);
    let extra = match (code, write) {
        (ErrorCode::Unavailable, _) => ErrorExtra::Unavailable { consistency },
        (ErrorCode::WriteTimeout | ErrorCode::WriteFailure, write) => {
            ErrorExtra::Write { consistency, kind: write.unwrap_or(WriteKind::Simple) }
        }
        (ErrorCode::ReadTimeout | ErrorCode::ReadFailure, _) => {
            ErrorExtra::Read { consistency, data_present: false }
        }
        _ => ErrorExtra::None,
    };
    CqlError { code, message: error.to_string(), extra }
}

/// Returns the one table from the engine's kinds to codes.
fn code_of(kind: ErrorKind, write: Option<WriteKind>) -> ErrorCode {
    match kind {
        // Conditions are answered as rows; one that gets here was nobody's condition.
        ErrorKind::ConditionFailed | ErrorKind::Internal => ErrorCode::Server,
        ErrorKind::Invalid
        | ErrorKind::NotFound
        | ErrorKind::AlreadyExists
        | ErrorKind::LimitExceeded => ErrorCode::Invalid,
        // Whoever repeats these gets through: drivers retry on them.
        ErrorKind::Conflict | ErrorKind::Busy => ErrorCode::Overloaded,
        ErrorKind::TooOld => ErrorCode::ReadTimeout,
        ErrorKind::Undetermined => ErrorCode::WriteTimeout,
        ErrorKind::ReadOnly => ErrorCode::WriteFailure,
        ErrorKind::Unavailable | ErrorKind::Closed => ErrorCode::Unavailable,
        ErrorKind::Io | ErrorKind::Corrupt if write.is_some() => ErrorCode::WriteFailure,
        ErrorKind::Io | ErrorKind::Corrupt => ErrorCode::ReadFailure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_engine_has_a_code() {
        for kind in ErrorKind::ALL {
            let error = shelfmark_engine::Error::new(kind, "text");
            for write in [None, Some(WriteKind::Cas)] {
                let mapped = from_engine(&error, Consistency::One, write);
                assert!(ErrorCode::ALL.contains(&mapped.code));
                assert_eq!(mapped.message, "text");
            }
        }
    }
}
