//! Converts the engine's errors to exceptions.

use std::sync::Arc;

use shelfmark_engine::{Error as EngineError, ErrorKind, Failure, KeyPart, Misfit, Refusal, Table};
use shelfmark_model::{Item, PatchProblem, Value, ValueKind};

use super::{Error, Exception, Reason, texts};
use crate::limits::HASH_KEY_SIZE_BYTES_MAX;
use crate::table::{first_index_of, key_letter};

/// Returns the exception that a kind of engine error maps to.
pub(crate) const fn exception_of(kind: ErrorKind) -> Exception {
    match kind {
        ErrorKind::Conflict => Exception::TransactionConflict,
        ErrorKind::ConditionFailed => Exception::ConditionalCheckFailed,
        ErrorKind::Invalid | ErrorKind::LimitExceeded => Exception::Validation,
        ErrorKind::NotFound => Exception::ResourceNotFound,
        ErrorKind::AlreadyExists => Exception::ResourceInUse,
        // The SDKs wait and retry on this one, whatever their age.
        ErrorKind::Busy => Exception::ProvisionedThroughputExceeded,
        ErrorKind::ReadOnly | ErrorKind::Unavailable | ErrorKind::Closed => {
            Exception::ServiceUnavailable
        }
        ErrorKind::TooOld
        | ErrorKind::Io
        | ErrorKind::Corrupt
        | ErrorKind::Undetermined
        | ErrorKind::Internal => Exception::InternalServerError,
    }
}

impl From<EngineError> for Error {
    /// Converts an engine error that names no refused write. Its own message goes to the log, and
    /// to the client only when it is about the client's request.
    fn from(error: EngineError) -> Self {
        let exception = exception_of(error.kind());
        let said = error.to_string();
        let message = match error.kind() {
            ErrorKind::Conflict => texts::TRANSACTION_CONFLICT.to_owned(),
            ErrorKind::ConditionFailed => texts::CONDITION_FAILED.to_owned(),
            ErrorKind::Invalid | ErrorKind::LimitExceeded => {
                format!("One or more parameter values were invalid: {said}")
            }
            ErrorKind::NotFound => texts::TABLE_NOT_FOUND.to_owned(),
            ErrorKind::AlreadyExists => said.clone(),
            ErrorKind::Busy => texts::BUSY.to_owned(),
            ErrorKind::ReadOnly => texts::READ_ONLY.to_owned(),
            ErrorKind::Unavailable | ErrorKind::Closed => texts::UNAVAILABLE.to_owned(),
            ErrorKind::TooOld
            | ErrorKind::Io
            | ErrorKind::Corrupt
            | ErrorKind::Undetermined
            | ErrorKind::Internal => texts::INTERNAL.to_owned(),
        };
        Self { log: Some(said), ..Self::new(exception, message) }
    }
}

/// Converts an engine error of which some kinds have words of their own.
pub(crate) fn in_words(error: EngineError, words: &[(ErrorKind, &dyn Fn() -> Error)]) -> Error {
    let own = words.iter().find(|(kind, _)| *kind == error.kind());
    own.map_or_else(|| error.into(), |(_, own)| own())
}

/// Converts the failure of a single write to `table`.
pub(crate) fn write_error(error: EngineError, table: &Table) -> Error {
    match error.failures().first() {
        None => error.into(),
        Some(failure) => {
            let refused = refusal(&failure.refusal, table);
            Error { item: refused.item, ..Error::new(refused.exception, refused.message) }
        }
    }
}

/// Converts the failure of a transaction of writes to these tables.
pub(crate) fn transaction_error(error: EngineError, tables: &[Arc<Table>]) -> Error {
    if error.failures().is_empty() && error.kind() != ErrorKind::Conflict {
        return error.into();
    }
    let mut reasons = vec![Reason::default(); tables.len()];
    if error.failures().is_empty() {
        // Which of the items it was is not known: every one may have been.
        for reason in &mut reasons {
            let message = texts::TRANSACTION_CONFLICT.to_owned();
            reason.fault = Some(("TransactionConflict", message));
        }
    }
    for Failure { position, refusal: refused } in error.failures() {
        if let (Some(reason), Some(table)) = (reasons.get_mut(*position), tables.get(*position)) {
            let Refused { code, message, item, .. } = refusal(refused, table);
            *reason = Reason { fault: Some((code, message)), item };
        }
    }
    cancelled(reasons)
}

/// Builds the error of a transaction of `count` actions of which the one at `position` does not fit
/// its table.
pub(crate) fn cancelled_at(position: usize, count: usize, error: Error) -> Error {
    let mut reasons = vec![Reason::default(); count];
    if let Some(reason) = reasons.get_mut(position) {
        *reason = Reason::misfit(error);
    }
    cancelled(reasons)
}

/// Builds the error of a cancelled transaction.
pub(crate) fn cancelled(reasons: Vec<Reason>) -> Error {
    let codes: Vec<&str> = reasons.iter().map(Reason::code).collect();
    let message = texts::transaction_cancelled(&codes);
    Error { reasons, ..Error::new(Exception::TransactionCanceled, message) }
}

impl Reason {
    /// Builds the reason of a write that does not fit its table.
    fn misfit(error: Error) -> Self {
        Self { fault: Some(("ValidationError", error.message)), item: None }
    }

    /// Returns the code, or the text `None` for a write without fault.
    pub(crate) fn code(&self) -> &'static str {
        self.fault.as_ref().map_or("None", |(code, _)| code)
    }
}

struct Refused {
    exception: Exception,
    /// The code of a cancellation reason, such as `ConditionalCheckFailed`.
    code: &'static str,
    message: String,
    item: Option<Item>,
}

fn refusal(refusal: &Refusal, table: &Table) -> Refused {
    let invalid = |message: String| Refused {
        exception: Exception::Validation,
        code: "ValidationError",
        message,
        item: None,
    };
    match refusal {
        Refusal::ConditionFailed(item) => Refused {
            exception: Exception::ConditionalCheckFailed,
            code: "ConditionalCheckFailed",
            message: texts::CONDITION_FAILED.to_owned(),
            item: item.clone(),
        },
        Refusal::Patch(problem) => invalid(patch_problem(problem)),
        Refusal::TooDeep { .. } => invalid(texts::NESTED_TOO_DEEP.to_owned()),
        Refusal::TooLarge(_) => invalid(texts::UPDATED_ITEM_TOO_LARGE.to_owned()),
        Refusal::NotUnique(index) => Refused {
            exception: Exception::ConditionalCheckFailed,
            code: "ConditionalCheckFailed",
            message: format!("{}: index {index}", texts::CONDITION_FAILED),
            item: None,
        },
        Refusal::IndexKey { index, attribute, found, misfit } => {
            let found = data_type(*found);
            let index = first_index_of(&table.schema, attribute).unwrap_or(index);
            invalid(match misfit {
                Misfit::Empty => texts::index_key_is_empty(attribute, found, index),
                Misfit::OtherType => {
                    let expected = index_key_letter(table, index, attribute);
                    texts::index_key_type(attribute, expected, found, index)
                }
                Misfit::TooLong { bytes_max: HASH_KEY_SIZE_BYTES_MAX } => {
                    texts::HASH_KEY_TOO_LARGE.to_owned()
                }
                Misfit::TooLong { .. } => texts::RANGE_KEY_TOO_LARGE.to_owned(),
                Misfit::TooLongTogether { part, bytes, bytes_max } => {
                    let names = index_part_names(table, index, *part);
                    let letter = if *part == KeyPart::Partition { "HASH" } else { "RANGE" };
                    texts::index_key_too_large(letter, &names, index, *bytes, *bytes_max)
                }
            })
        }
    }
}

/// Returns the letter of the type that an index declares for an attribute.
fn index_key_letter(table: &Table, index: &str, attribute: &str) -> &'static str {
    let Some(index) = table.schema.index(index) else { return "S" };
    let partition = index.partition.iter().map(|column| (&column.name, &column.key_type));
    let sort = index.sort.iter().map(|column| (&column.name, &column.key_type));
    let found = partition.chain(sort).find(|(name, _)| *name == attribute);
    found.map_or("S", |(_, key_type)| key_letter(key_type))
}

/// Returns the names of the attributes that are a part of the key of an index, with commas between them.
fn index_part_names(table: &Table, index: &str, part: KeyPart) -> String {
    let Some(index) = table.schema.index(index) else { return String::new() };
    let names: Vec<&str> = match part {
        KeyPart::Partition => index.partition.iter().map(|own| own.name.as_str()).collect(),
        KeyPart::Sort => index.sort.iter().map(|own| own.name.as_str()).collect(),
    };
    names.join(", ")
}

fn patch_problem(problem: &PatchProblem) -> String {
    match problem {
        PatchProblem::MissingOperand(_) => texts::UPDATE_MISSES_ATTRIBUTE,
        PatchProblem::PathInvalid(_) | PatchProblem::TooDeep(_) => texts::UPDATE_PATH_INVALID,
        PatchProblem::WrongKind(_) => texts::UPDATE_OPERAND_TYPE,
        PatchProblem::NumberOutOfRange(_) => texts::NUMBER_OVERFLOW,
    }
    .to_owned()
}

/// Returns DynamoDB's name for a kind of values; sets are distinguished by their members elsewhere.
const fn data_type(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Null => "NULL",
        ValueKind::Bool => "BOOL",
        ValueKind::Int
        | ValueKind::BigInt
        | ValueKind::Number
        | ValueKind::Float32
        | ValueKind::Float
        | ValueKind::Timestamp
        | ValueKind::Date
        | ValueKind::Time => "N",
        ValueKind::Text | ValueKind::Inet | ValueKind::Duration => "S",
        ValueKind::Bytes | ValueKind::Uuid => "B",
        ValueKind::List | ValueKind::Pairs | ValueKind::Tuple => "L",
        ValueKind::Set => "SS",
        ValueKind::Map => "M",
    }
}

/// Returns DynamoDB's name for a value's type.
pub(crate) fn type_name(value: &Value) -> &'static str {
    let Value::Set(members) = value else { return data_type(value.kind()) };
    match members.first().map(|member| data_type(member.kind())) {
        Some("N") => "NS",
        Some("B") => "BS",
        _ => "SS",
    }
}
