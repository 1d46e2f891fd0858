//! The list of tables, a table's page, and its key line.

use serde_json::json;

use crate::stage::{Stage, text};

#[test]
fn a_store_without_tables_says_so() {
    let stage = Stage::new();
    assert!(stage.page("/tables").contains("There are no tables yet."));
    assert_eq!(stage.get("/").header("location"), Some("/tables"));
    assert_eq!(stage.get("/nothing").status, 404);
    assert_eq!(stage.get("/tables/dynamodb/nothing").status, 404);
}

#[test]
fn tables_of_every_face_are_listed_with_their_keys() {
    let stage = Stage::new();
    stage.items("orders");
    stage.statement("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    stage.statement("CREATE TABLE shop.events (who text, at timestamp, n int, PRIMARY KEY (who, at)) WITH CLUSTERING ORDER BY (at DESC)");
    let page = stage.page("/tables");
    for word in ["orders", "by_email", "shop.", "events", "timestamp ↓", "rows of cells"] {
        assert!(page.contains(word), "{word} is missing: {page}");
    }
    assert!(!stage.page("/tables?owner=cql").contains("orders"));
    assert!(!stage.page("/tables?filter=ORD").contains("events"));
    assert!(stage.page("/tables?filter=ORD").contains("orders"));
    assert!(stage.page("/tables/shop/events").contains("CREATE TABLE shop.events"));
}

#[test]
fn a_long_list_comes_in_pages_and_none_is_left_out() {
    let stage = Stage::new();
    let names: Vec<String> = (0..120).map(|at| format!("table-{at:03}")).collect();
    for name in &names {
        stage.operation(
            "CreateTable",
            &json!({
                "TableName": name,
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
                "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
            }),
        );
    }
    let (mut target, mut seen) = ("/tables".to_owned(), Vec::new());
    loop {
        let page = stage.page(&target);
        seen.extend(names.iter().filter(|name| page.contains(&format!("</span>{name}<"))));
        let Some((_, rest)) = page.split_once("data-page=\"next\" href=\"") else { break };
        target = rest.split('"').next().unwrap().replace("&amp;", "&");
    }
    assert_eq!(seen.len(), names.len(), "{seen:?}");
}

#[test]
fn a_key_line_shows_partitions_and_zooms() {
    let stage = Stage::new();
    stage.items("orders");
    assert!(stage.page("/tables/dynamodb/orders").contains("There are no rows yet."));
    for (user, count) in [("ada", 3), ("bob", 40), ("cy", 1)] {
        for at in 0..count {
            stage.put("orders", &json!({ "pk": { "S": user }, "sk": { "S": format!("{at:04}") } }));
        }
    }
    let page = stage.page("/tables/dynamodb/orders");
    assert!(page.contains("3</strong> partitions"), "{page}");
    assert!(page.contains("44</strong> rows"), "{page}");
    // Forty rows beside three and one are warmer.
    assert!(page.contains("heat-2") || page.contains("heat-3"), "{page}");
    let found = stage.get("/tables/dynamodb/orders/key?p0=bob&op=begins&s0=003");
    assert_eq!(found.status, 303, "{}", text(&found));
    let closer = stage.page(found.header("location").unwrap());
    assert!(closer.contains("10</strong> rows"), "{closer}");
    assert!(closer.contains("bob / 0030"), "{closer}");
    assert_eq!(stage.get("/tables/dynamodb/orders?from=00").status, 400);
    assert_eq!(stage.get("/tables/dynamodb/orders?from=xyz").status, 400);
    assert_eq!(stage.get("/tables/dynamodb/orders/key?s0=x&p0=%ff").status, 400);
}

#[test]
fn a_large_table_is_sampled_and_the_estimate_is_near() {
    let stage = Stage::new();
    stage.items("events");
    for at in 0..3_000_u32 {
        let (user, at) =
            (format!("user-{:03}", at % 97), format!("2026-11-{:02}#{at:06}", at % 28 + 1));
        stage.put(
            "events",
            &json!({ "pk": { "S": user }, "sk": { "S": at }, "v": { "S": "x".repeat(80) } }),
        );
    }
    for at in 0..3_000_u32 {
        stage.put("events", &json!({ "pk": { "S": "large" }, "sk": { "S": format!("{at:08}") }, "v": { "S": "x".repeat(80) } }));
    }
    let page = stage.page("/tables/dynamodb/events");
    assert!(page.contains(", sampled"), "{page}");
    let rows = page.split("</strong> rows").next().unwrap().rsplit('>').next().unwrap();
    let rows: u64 = rows.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap();
    assert!((3_000..12_000).contains(&rows), "6000 rows were estimated as {rows}");
}
