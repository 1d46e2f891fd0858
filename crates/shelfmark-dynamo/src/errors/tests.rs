use std::collections::HashSet;

use shelfmark_engine::{Error as EngineError, ErrorKind};
use shelfmark_model::Item;

use super::engine::{cancelled, exception_of};
use super::*;

#[test]
fn every_kind_of_engine_error_has_one_exception() {
    let expected = [
        (ErrorKind::Conflict, "TransactionConflictException", 400),
        (ErrorKind::ConditionFailed, "ConditionalCheckFailedException", 400),
        (ErrorKind::Invalid, "ValidationException", 400),
        (ErrorKind::NotFound, "ResourceNotFoundException", 400),
        (ErrorKind::AlreadyExists, "ResourceInUseException", 400),
        (ErrorKind::LimitExceeded, "ValidationException", 400),
        (ErrorKind::Busy, "ProvisionedThroughputExceededException", 400),
        (ErrorKind::TooOld, "InternalServerError", 500),
        (ErrorKind::ReadOnly, "ServiceUnavailableException", 503),
        (ErrorKind::Unavailable, "ServiceUnavailableException", 503),
        (ErrorKind::Closed, "ServiceUnavailableException", 503),
        (ErrorKind::Io, "InternalServerError", 500),
        (ErrorKind::Corrupt, "InternalServerError", 500),
        (ErrorKind::Undetermined, "InternalServerError", 500),
        (ErrorKind::Internal, "InternalServerError", 500),
    ];
    let walked: Vec<ErrorKind> = expected.iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(walked, ErrorKind::ALL);
    for (kind, name, status) in expected {
        let exception = exception_of(kind);
        assert_eq!((exception.name().1, exception.status()), (name, status), "{kind:?}");
        let error = Error::from(EngineError::new(kind, "inside"));
        assert_eq!(error.exception, exception);
        assert_eq!(error.log.as_deref(), Some("inside"), "the log gets the engine's words");
        assert!(!error.message.is_empty());
    }
}

#[test]
fn what_went_wrong_inside_is_not_told() {
    for kind in ErrorKind::ALL {
        let error = Error::from(EngineError::new(kind, "/secret/path"));
        let about_the_request = matches!(
            kind,
            ErrorKind::Invalid | ErrorKind::LimitExceeded | ErrorKind::AlreadyExists
        );
        let body = String::from_utf8(error.body()).unwrap();
        assert_eq!(body.contains("/secret/path"), about_the_request, "{kind:?}");
    }
}

#[test]
fn exceptions_have_distinct_names_and_failing_statuses() {
    let names: HashSet<_> = Exception::ALL.iter().map(|exception| exception.name()).collect();
    assert_eq!(names.len(), Exception::ALL.len());
    for exception in Exception::ALL {
        assert!((400..600).contains(&exception.status()), "{exception:?}");
    }
}

fn check_body(error: Error, expected: &str) {
    assert_eq!(String::from_utf8(error.body()).unwrap(), expected);
}

#[test]
fn bodies_have_the_service_s_form() {
    check_body(
        Error::validation("x \"y\""),
        r#"{"__type":"com.amazon.coral.validate#ValidationException","message":"x \"y\""}"#,
    );
    check_body(
        Error::enveloped("x"),
        r#"{"__type":"com.amazon.coral.validate#ValidationException","message":"1 validation error detected: x"}"#,
    );
    check_body(
        Error::serialization("x"),
        r#"{"__type":"com.amazon.coral.service#SerializationException","Message":"x"}"#,
    );
    check_body(
        Error::new(Exception::UnknownOperation, ""),
        r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#,
    );
    let failed = Reason {
        fault: Some(("ConditionalCheckFailed", texts::CONDITION_FAILED.to_owned())),
        item: Some(Item::new().with("id", "a")),
    };
    check_body(
        cancelled(vec![Reason::default(), failed]),
        concat!(
            r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","#,
            r#""Message":"Transaction cancelled, please refer cancellation reasons for specific "#,
            r#"reasons [None, ConditionalCheckFailed]","CancellationReasons":[{"Code":"None"},"#,
            r#"{"Code":"ConditionalCheckFailed","Message":"The conditional request failed","#,
            r#""Item":{"id":{"S":"a"}}}]}"#
        ),
    );
}
