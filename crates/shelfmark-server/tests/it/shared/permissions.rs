//! Permissions of CQL's roles hold for DynamoDB's tables.

use std::sync::mpsc;

use shelfmark_cql::{Authorizer, CqlError, ErrorCode, Executor, Outcome, RequestOptions, User};
use shelfmark_engine::{Owner, Share};

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
