//! Names of columns are no longer than the protocol can carry, whichever statement makes them.

use shelfmark_cql::{CqlError, Outcome, RequestOptions};
use shelfmark_engine::Share;

use super::history::engine;
use super::runner::Faces;

/// The most bytes of a `string` of the native protocol.
const STRING_BYTES_MAX: usize = 65_535;

#[test]
fn names_of_columns_fit_the_protocol() {
    let faces = Faces::open(&engine(1), Share::All);
    let run = |text: &str| -> Result<Outcome, CqlError> {
        faces.cql(text, RequestOptions::default()).map(|answered| answered.outcome)
    };
    let body = r#"{"TableName":"ttt","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}"#;
    assert_eq!(faces.dynamodb("CreateTable", body).0, 200);
    let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    run(&format!("CREATE KEYSPACE k WITH replication = {replication}")).unwrap();
    let name = |letter: &str, length: usize| format!("\"{}\"", letter.repeat(length));
    let statements = |length: usize| {
        [
            format!("CREATE TABLE k.t ({} int PRIMARY KEY, v int)", name("A", length)),
            format!("ALTER TABLE k.t ADD {} int", name("B", length)),
            format!(
                "ALTER TABLE k.t RENAME {} TO {}",
                name("A", STRING_BYTES_MAX),
                name("C", length)
            ),
            format!("ALTER TABLE dynamodb.ttt ADD {} int", name("D", length)),
        ]
    };
    for (too_long, longest) in
        statements(STRING_BYTES_MAX + 1).iter().zip(statements(STRING_BYTES_MAX))
    {
        let error = run(too_long).unwrap_err();
        assert!(error.message.contains("must not be more than 65535 bytes"), "{}", error.message);
        run(&longest).unwrap();
    }
    for table in ["k.t", "dynamodb.ttt"] {
        let Outcome::Rows(rows) = run(&format!("SELECT * FROM {table}")).unwrap() else {
            panic!("SELECT answers rows")
        };
        assert!(rows.columns.iter().any(|own| own.name.len() == STRING_BYTES_MAX));
    }
}

#[test]
fn indexed_values_have_one_limit_whichever_face_writes_them() {
    let faces = Faces::open(&engine(1), Share::All);
    let run = |text: &str| faces.cql(text, RequestOptions::default()).map(drop);
    let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    run(&format!("CREATE KEYSPACE k WITH replication = {replication}")).unwrap();
    run("CREATE TABLE k.ix (pk text PRIMARY KEY, v text, m map<text, text>)").unwrap();
    run("CREATE INDEX vi ON k.ix (v)").unwrap();
    run("CREATE INDEX mi ON k.ix (entries(m))").unwrap();
    let put = |members: &str| {
        let body = format!(r#"{{"TableName":"k.ix","Item":{{"pk":{{"S":"a"}},{members}}}}}"#);
        faces.dynamodb("PutItem", &body)
    };
    let text = |length: usize| "z".repeat(length);
    let entry = |length| format!(r#""m":{{"M":{{"key":{{"S":"{}"}}}}}}"#, text(length));
    for (index, column, size, members, insert) in [
        (
            "vi",
            "v",
            65_535,
            format!(r#""v":{{"S":"{}"}}"#, text(65_535)),
            format!("INSERT INTO k.ix (pk, v) VALUES ('b', '{}')", text(65_535)),
        ),
        (
            "mi",
            "m",
            65_535,
            entry(65_526),
            format!("UPDATE k.ix SET m['key'] = '{}' WHERE pk = 'b'", text(65_526)),
        ),
    ] {
        let why = format!("Cannot index value of size {size} for index {index} on k.ix({column})");
        let (status, answer) = put(&members);
        assert!(status == 400 && answer.contains(&why), "{status} {answer}");
        let error = run(&insert).unwrap_err();
        assert!(error.message.contains(&why), "{}", error.message);
    }
    assert_eq!(put(&format!(r#""v":{{"S":"{}"}}"#, text(60_000))).0, 200);
    assert_eq!(put(&entry(60_000)).0, 200);
}
