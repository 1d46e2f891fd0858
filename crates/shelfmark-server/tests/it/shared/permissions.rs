//! Permissions of CQL's roles hold for DynamoDB's tables.

use std::sync::mpsc;

use shelfmark_cql::{Authorizer, CqlError, ErrorCode, Executor, Outcome, RequestOptions, User};
use shelfmark_engine::{Owner, Share};
use shelfmark_model::TableName;

use super::history::engine;
use super::runner::Faces;

/// The role that the server is started with.
const START_ROLE: &str = "admin";

fn run(executor: &Executor, role: &str, text: &str) -> Result<Outcome, CqlError> {
    let statement = executor.prepare(text, None)?;
    let user = Some(User { name: role.into(), start_role: START_ROLE.into() });
    let (sender, receiver) = mpsc::channel();
    let answer = Box::new(move |answered| sender.send(answered).unwrap());
    executor.execute(&statement, RequestOptions { user, ..RequestOptions::default() }, answer);
    receiver.recv().unwrap().map(|answered| answered.outcome)
}

#[test]
fn roles_may_do_what_was_granted_on_the_table() {
    let engine = engine(1);
    let faces = Faces::open(&engine, Share::All);
    let body = r#"{"TableName":"ttt","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}"#;
    assert_eq!(faces.dynamodb("CreateTable", body).0, 200);
    let engine = engine.sharing(Share::All).of_owner(Owner::Cql);
    let executor = Executor::open(engine, Vec::new()).unwrap();
    let executor = executor.with_authorizer(Authorizer::Cassandra, START_ROLE);
    let done = |role: &str, text: &str| drop(run(&executor, role, text).unwrap());
    let refused = |text: &str, permission: &str| {
        let error = run(&executor, "r", text).unwrap_err();
        assert_eq!(error.code, ErrorCode::Unauthorized, "{}", error.message);
        assert!(error.message.contains(permission), "{}", error.message);
    };
    let (read, write) =
        ("SELECT * FROM dynamodb.ttt", "INSERT INTO dynamodb.ttt (pk) VALUES ('a')");
    let declare = "ALTER TABLE dynamodb.ttt ADD year int";
    done(START_ROLE, "CREATE ROLE r WITH LOGIN = true");
    refused(read, "SELECT");
    done(START_ROLE, "GRANT SELECT ON dynamodb.ttt TO r");
    done("r", read);
    refused(write, "MODIFY");
    done(START_ROLE, "GRANT MODIFY ON KEYSPACE dynamodb TO r");
    done("r", write);
    refused(declare, "ALTER");
    done(START_ROLE, "GRANT ALTER ON TABLE dynamodb.ttt TO r");
    done("r", declare);
    done(START_ROLE, "REVOKE SELECT ON dynamodb.ttt FROM r");
    refused(read, "SELECT");
}

/// Returns how many permissions the role has.
fn listed(executor: &Executor) -> u32 {
    match run(executor, START_ROLE, "LIST ALL PERMISSIONS OF r").unwrap() {
        Outcome::Rows(rows) => rows.rows.rows(),
        _ => 0,
    }
}

#[test]
fn permissions_that_a_crash_left_over_are_not_those_of_the_next_table() {
    let engine = engine(1);
    let body = r#"{"TableName":"ttt","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}"#;
    let executor = || {
        let engine = engine.sharing(Share::All).of_owner(Owner::Cql);
        let executor = Executor::open(engine, Vec::new()).unwrap();
        executor.with_authorizer(Authorizer::Cassandra, START_ROLE)
    };
    let faces = Faces::open(&engine, Share::All);
    assert_eq!(faces.dynamodb("CreateTable", body).0, 200);
    let granting = executor();
    let granted = |text: &str| drop(run(&granting, START_ROLE, text).unwrap());
    granted("CREATE ROLE r WITH LOGIN = true");
    granted("GRANT SELECT ON dynamodb.ttt TO r");
    assert_eq!(listed(&granting), 1);
    // As if the process had ended between the table's end and that of the permission.
    drop(faces);
    engine.drop_table(&TableName::new("dynamodb", "ttt")).unwrap();
    assert_eq!(listed(&executor()), 1);
    let faces = Faces::open(&engine, Share::All);
    assert_eq!(faces.dynamodb("CreateTable", body).0, 200);
    assert_eq!(listed(&executor()), 0);
    // The neighbour: a table that is there keeps its permissions, also when it is created once more.
    granted("GRANT SELECT ON dynamodb.ttt TO r");
    assert_eq!(faces.dynamodb("CreateTable", body).0, 400);
    assert_eq!(listed(&executor()), 1);
}
