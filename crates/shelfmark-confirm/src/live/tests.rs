//! Tables of both faces in this process, described and imported.

use serde_json::{Value as Json, json};
use shelfmark_cql_protocol::client::{Query, Request};
use shelfmark_design::Document;
use shelfmark_design_import::{Source, import};
use shelfmark_dynamo::DynamoDbEndpoint;

use super::{ask, describe_cql, describe_dynamodb};
use crate::CqlEndpoint;
use crate::through::{LocalCql, local_dynamodb};

fn item(endpoint: &dyn DynamoDbEndpoint, item: &Json) {
    let body = json!({ "TableName": "forge", "Item": item });
    ask(endpoint, "PutItem", &body).expect("an item");
}

/// A table with a shared key: repositories and their issues, with an index of some of them.
fn forge() -> impl DynamoDbEndpoint {
    let face = local_dynamodb().expect("a face");
    let text = |name: &str| json!({ "AttributeName": name, "AttributeType": "S" });
    let part = |name: &str, kind: &str| json!({ "AttributeName": name, "KeyType": kind });
    let create = json!({
        "TableName": "forge",
        "AttributeDefinitions": [text("PK"), text("SK"), text("state"), text("opened")],
        "KeySchema": [part("PK", "HASH"), part("SK", "RANGE")],
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [{
            "IndexName": "by_state",
            "KeySchema": [part("state", "HASH"), part("opened", "RANGE")],
            "Projection": { "ProjectionType": "KEYS_ONLY" },
        }],
    });
    ask(&face, "CreateTable", &create).expect("a table");
    for repo in 0..6 {
        let name = format!("repo{repo}");
        item(
            &face,
            &json!({
                "PK": { "S": format!("REPO#{name}") }, "SK": { "S": format!("REPO#{name}") },
                "type": { "S": "Repo" }, "name": { "S": name }, "stars": { "N": "7" },
            }),
        );
        for number in 1..5 {
            item(
                &face,
                &json!({
                    "PK": { "S": format!("REPO#{name}") }, "SK": { "S": format!("ISSUE#{number:06}") },
                    "type": { "S": "Issue" }, "repo": { "S": name },
                    "state": { "S": if number == 1 { "open" } else { "closed" } },
                    "opened": { "S": format!("2026-01-0{number}") },
                }),
            );
        }
    }
    face
}

#[test]
fn a_live_table_of_dynamodb_brings_its_row_types() {
    let face = forge();
    let described = describe_dynamodb(&face, None).expect("a description");
    let model = import("live", &described, Source::Workbench).expect("a model");
    for wanted in [
        "entity Repo {",
        "entity Issue {",
        "index by_state key (state; \"<opened:iso>\") store { }",
        "row Repo from Repo key (\"REPO#<name>\"; \"REPO#<name>\")",
    ] {
        assert!(model.contains(wanted), "{wanted} in\n{model}");
    }
    let document = Document::parse("live", &model).unwrap_or_else(|report| panic!("{report}"));
    assert!(document.check().iter().all(|one| one.id != "K9"), "{model}");
    let one = describe_dynamodb(&face, Some("forge")).expect("a description");
    let one = import("live", &one, Source::Workbench).expect("a model");
    let behind_the_title = |model: &str| model.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(behind_the_title(&one), behind_the_title(&model));
    let none = describe_dynamodb(&face, Some("other")).expect_err("there is no such table");
    assert!(none.contains("ResourceNotFoundException"), "{none}");
}

#[test]
fn live_tables_of_cql_bring_what_their_rows_say() {
    let server = LocalCql::new().expect("a face");
    let run = |text: &str| {
        let query = Query { text, ..Query::default() };
        server.run(&Request::Query(query)).unwrap_or_else(|why| panic!("{text}: {why}"));
    };
    run(
        "CREATE KEYSPACE net WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    run("CREATE TABLE net.followers (user uuid, at timestamp, follower uuid, note text, \
         PRIMARY KEY (user, at))");
    run("CREATE TABLE net.\"Quiet\" (id int PRIMARY KEY, v text)");
    for at in 0..6 {
        let user =
            "11111111-1111-4111-8111-11111111111".to_owned() + if at < 4 { "1" } else { "2" };
        run(&format!(
            "INSERT INTO net.followers (user, at, follower) VALUES ({user}, {at}, {user})"
        ));
    }
    let described = describe_cql(&server, Some("net")).expect("a description");
    let said = "-- Of 6 rows in 2 partitions: 3.0 share one, at most 4. Absent: note in 6 of 6.";
    assert!(described.contains(said), "{described}");
    assert!(described.contains("-- No row was there"), "{described}");
    let model = import("live", &described, Source::Cql).expect("a model");
    for wanted in ["entity Followers", "entity Quiet", "key (user; at)", "3.0 share one"] {
        assert!(model.contains(wanted), "{wanted} in\n{model}");
    }
    assert!(Document::parse("live", &model).is_ok());
    let none = describe_cql(&server, Some("nothing")).expect_err("there is no such keyspace");
    assert!(none.contains("nothing"), "{none}");
}
