//! The exceptions of the API: names, namespaces and HTTP statuses.

/// An exception of the DynamoDB API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the exception of that name")]
pub enum Exception {
    AccessDenied,
    BackupInUse,
    BackupNotFound,
    ConditionalCheckFailed,
    ContinuousBackupsUnavailable,
    DuplicateItem,
    ExpiredIterator,
    ExportConflict,
    ExportNotFound,
    GlobalTableNotFound,
    IdempotentParameterMismatch,
    ImportConflict,
    ImportNotFound,
    IncompleteSignature,
    InternalServerError,
    InvalidExportTime,
    InvalidRestoreTime,
    InvalidSignature,
    LimitExceeded,
    MissingAuthenticationToken,
    PointInTimeRecoveryUnavailable,
    PolicyNotFound,
    ProvisionedThroughputExceeded,
    RequestTooLarge,
    ResourceInUse,
    ResourceNotFound,
    Serialization,
    ServiceUnavailable,
    TableAlreadyExists,
    TableInUse,
    TableNotFound,
    TransactionCanceled,
    TransactionConflict,
    TransactionInProgress,
    TrimmedDataAccess,
    UnknownOperation,
    UnrecognizedClient,
    Validation,
}

/// The namespace of data types and their errors.
const DYNAMODB: &str = "com.amazonaws.dynamodb.v20120810";
/// The namespace of the service framework.
const SERVICE: &str = "com.amazon.coral.service";
/// The namespace of the service framework's validation.
const VALIDATE: &str = "com.amazon.coral.validate";
/// The namespace of the service framework's back-pressure.
const AVAILABILITY: &str = "com.amazon.coral.availability";

impl Exception {
    /// Every exception, for tests that walk them all.
    pub const ALL: [Self; 38] = [
        Self::AccessDenied,
        Self::BackupInUse,
        Self::BackupNotFound,
        Self::ConditionalCheckFailed,
        Self::ContinuousBackupsUnavailable,
        Self::DuplicateItem,
        Self::ExpiredIterator,
        Self::ExportConflict,
        Self::ExportNotFound,
        Self::GlobalTableNotFound,
        Self::IdempotentParameterMismatch,
        Self::ImportConflict,
        Self::ImportNotFound,
        Self::IncompleteSignature,
        Self::InternalServerError,
        Self::InvalidExportTime,
        Self::InvalidRestoreTime,
        Self::InvalidSignature,
        Self::LimitExceeded,
        Self::MissingAuthenticationToken,
        Self::PointInTimeRecoveryUnavailable,
        Self::PolicyNotFound,
        Self::ProvisionedThroughputExceeded,
        Self::RequestTooLarge,
        Self::ResourceInUse,
        Self::ResourceNotFound,
        Self::Serialization,
        Self::ServiceUnavailable,
        Self::TableAlreadyExists,
        Self::TableInUse,
        Self::TableNotFound,
        Self::TransactionCanceled,
        Self::TransactionConflict,
        Self::TransactionInProgress,
        Self::TrimmedDataAccess,
        Self::UnknownOperation,
        Self::UnrecognizedClient,
        Self::Validation,
    ];

    /// Returns the namespace and the name, as `__type` joins them.
    #[must_use]
    pub const fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::AccessDenied => (SERVICE, "AccessDeniedException"),
            Self::BackupInUse => (DYNAMODB, "BackupInUseException"),
            Self::BackupNotFound => (DYNAMODB, "BackupNotFoundException"),
            Self::ContinuousBackupsUnavailable => {
                (DYNAMODB, "ContinuousBackupsUnavailableException")
            }
            Self::ExportConflict => (DYNAMODB, "ExportConflictException"),
            Self::ExportNotFound => (DYNAMODB, "ExportNotFoundException"),
            Self::ImportConflict => (DYNAMODB, "ImportConflictException"),
            Self::ImportNotFound => (DYNAMODB, "ImportNotFoundException"),
            Self::InvalidExportTime => (DYNAMODB, "InvalidExportTimeException"),
            Self::InvalidRestoreTime => (DYNAMODB, "InvalidRestoreTimeException"),
            Self::PointInTimeRecoveryUnavailable => {
                (DYNAMODB, "PointInTimeRecoveryUnavailableException")
            }
            Self::TableAlreadyExists => (DYNAMODB, "TableAlreadyExistsException"),
            Self::TableInUse => (DYNAMODB, "TableInUseException"),
            Self::ConditionalCheckFailed => (DYNAMODB, "ConditionalCheckFailedException"),
            Self::DuplicateItem => (DYNAMODB, "DuplicateItemException"),
            Self::ExpiredIterator => (DYNAMODB, "ExpiredIteratorException"),
            Self::GlobalTableNotFound => (DYNAMODB, "GlobalTableNotFoundException"),
            Self::IdempotentParameterMismatch => (DYNAMODB, "IdempotentParameterMismatchException"),
            Self::IncompleteSignature => (SERVICE, "IncompleteSignatureException"),
            Self::InternalServerError => (DYNAMODB, "InternalServerError"),
            Self::InvalidSignature => (SERVICE, "InvalidSignatureException"),
            Self::LimitExceeded => (DYNAMODB, "LimitExceededException"),
            Self::MissingAuthenticationToken => (SERVICE, "MissingAuthenticationTokenException"),
            Self::PolicyNotFound => (DYNAMODB, "PolicyNotFoundException"),
            Self::ProvisionedThroughputExceeded => {
                (DYNAMODB, "ProvisionedThroughputExceededException")
            }
            Self::RequestTooLarge => (SERVICE, "RequestEntityTooLargeException"),
            Self::ResourceInUse => (DYNAMODB, "ResourceInUseException"),
            Self::ResourceNotFound => (DYNAMODB, "ResourceNotFoundException"),
            Self::Serialization => (SERVICE, "SerializationException"),
            Self::ServiceUnavailable => (AVAILABILITY, "ServiceUnavailableException"),
            Self::TableNotFound => (DYNAMODB, "TableNotFoundException"),
            Self::TransactionCanceled => (DYNAMODB, "TransactionCanceledException"),
            Self::TransactionConflict => (DYNAMODB, "TransactionConflictException"),
            Self::TransactionInProgress => (DYNAMODB, "TransactionInProgressException"),
            Self::TrimmedDataAccess => (DYNAMODB, "TrimmedDataAccessException"),
            Self::UnknownOperation => (SERVICE, "UnknownOperationException"),
            Self::UnrecognizedClient => (SERVICE, "UnrecognizedClientException"),
            Self::Validation => (VALIDATE, "ValidationException"),
        }
    }

    /// Returns the HTTP status; always one of 4xx or 5xx.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::InternalServerError => 500,
            Self::ServiceUnavailable => 503,
            Self::RequestTooLarge => 413,
            Self::AccessDenied
            | Self::BackupInUse
            | Self::BackupNotFound
            | Self::ContinuousBackupsUnavailable
            | Self::ExportConflict
            | Self::ExportNotFound
            | Self::ImportConflict
            | Self::ImportNotFound
            | Self::InvalidExportTime
            | Self::InvalidRestoreTime
            | Self::PointInTimeRecoveryUnavailable
            | Self::TableAlreadyExists
            | Self::TableInUse
            | Self::ConditionalCheckFailed
            | Self::DuplicateItem
            | Self::ExpiredIterator
            | Self::GlobalTableNotFound
            | Self::IdempotentParameterMismatch
            | Self::IncompleteSignature
            | Self::InvalidSignature
            | Self::LimitExceeded
            | Self::MissingAuthenticationToken
            | Self::PolicyNotFound
            | Self::ProvisionedThroughputExceeded
            | Self::ResourceInUse
            | Self::ResourceNotFound
            | Self::Serialization
            | Self::TableNotFound
            | Self::TransactionCanceled
            | Self::TransactionConflict
            | Self::TransactionInProgress
            | Self::TrimmedDataAccess
            | Self::UnknownOperation
            | Self::UnrecognizedClient
            | Self::Validation => 400,
        }
    }

    /// Returns the spelling of the member with the message.
    ///
    /// Source: observed on the service; SDKs read both.
    pub(crate) const fn message_member(self) -> &'static str {
        match self {
            Self::Serialization | Self::TransactionCanceled => "Message",
            Self::AccessDenied
            | Self::BackupInUse
            | Self::BackupNotFound
            | Self::ContinuousBackupsUnavailable
            | Self::ExportConflict
            | Self::ExportNotFound
            | Self::ImportConflict
            | Self::ImportNotFound
            | Self::InvalidExportTime
            | Self::InvalidRestoreTime
            | Self::PointInTimeRecoveryUnavailable
            | Self::TableAlreadyExists
            | Self::TableInUse
            | Self::ConditionalCheckFailed
            | Self::DuplicateItem
            | Self::ExpiredIterator
            | Self::GlobalTableNotFound
            | Self::IdempotentParameterMismatch
            | Self::IncompleteSignature
            | Self::InternalServerError
            | Self::InvalidSignature
            | Self::LimitExceeded
            | Self::MissingAuthenticationToken
            | Self::PolicyNotFound
            | Self::ProvisionedThroughputExceeded
            | Self::RequestTooLarge
            | Self::ResourceInUse
            | Self::ResourceNotFound
            | Self::ServiceUnavailable
            | Self::TableNotFound
            | Self::TransactionConflict
            | Self::TransactionInProgress
            | Self::TrimmedDataAccess
            | Self::UnknownOperation
            | Self::UnrecognizedClient
            | Self::Validation => "message",
        }
    }
}
