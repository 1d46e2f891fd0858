//! Rows: pages both ways, conditions on the key, forms to copy, writes and what they do to indexes.

use serde_json::{Value, json};

use crate::stage::{Stage, text};

fn loaded(count: usize) -> Stage {
    let stage = Stage::new();
    stage.items("orders");
    for at in 0..count {
        stage.put(
            "orders",
            &json!({
                "pk": { "S": "ada" },
                "sk": { "S": format!("{at:04}") },
                "email": { "S": format!("a{at}@example.com") },
                "n": { "N": "1.50" },
            }),
        );
    }
    stage
}

/// Returns the sort keys that a page shows, in its order.
fn shown(page: &str) -> Vec<String> {
    let rows = page.split("data-row=\"").skip(1);
    rows.map(|row| {
        let key = row.split('"').next().unwrap().replace("&quot;", "\"");
        let key: Value = serde_json::from_str(&key).unwrap();
        key["sk"]["S"].as_str().unwrap_or("").to_owned()
    })
    .collect()
}

fn link(page: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("data-page=\"{name}\" href=\""))?;
    Some(rest.split('"').next()?.replace("&amp;", "&"))
}

#[test]
fn pages_lead_on_and_back_in_key_order() {
    let stage = loaded(120);
    let first = stage.page("/tables/dynamodb/orders/rows?p0=ada");
    let numbers =
        |from: usize, to: usize| (from..to).map(|at| format!("{at:04}")).collect::<Vec<_>>();
    assert_eq!(shown(&first), numbers(0, 50));
    assert_eq!(link(&first, "previous"), None);
    let second = stage.page(&link(&first, "next").unwrap());
    assert_eq!(shown(&second), numbers(50, 100));
    let third = stage.page(&link(&second, "next").unwrap());
    assert_eq!(shown(&third), numbers(100, 120));
    assert_eq!(link(&third, "next"), None);
    let back = stage.page(&link(&third, "previous").unwrap());
    assert_eq!(shown(&back), numbers(50, 100));
    let front = stage.page(&link(&back, "previous").unwrap());
    assert_eq!(shown(&front), numbers(0, 50));
    let turned = stage.page(&link(&front, "turn").unwrap());
    let last: Vec<String> = numbers(70, 120).into_iter().rev().collect();
    assert_eq!(shown(&turned), last);
    let behind = stage.page(&link(&turned, "next").unwrap());
    assert_eq!(shown(&behind).first().map(String::as_str), Some("0069"));
}

#[test]
fn a_key_condition_reads_what_it_shows() {
    let stage = loaded(60);
    let base = "/tables/dynamodb/orders/rows/part?p0=ada";
    let cases = [
        ("&op=begins&s0=001", 10),
        ("&op=is&s0=0007", 1),
        ("&op=from&s0=0055", 5),
        ("&op=above&s0=0055", 4),
        ("&op=to&s0=0002", 3),
        ("&op=below&s0=0002", 2),
        ("&op=between&s0=0002&upper=0004", 3),
    ];
    for (condition, count) in cases {
        let page = stage.page(&format!("{base}{condition}"));
        assert_eq!(shown(&page).len(), count, "{condition}: {page}");
        assert!(page.contains(&format!("<strong>{count}</strong> read")), "{condition}: {page}");
        assert!(page.contains("class=\"touched\""), "{condition}");
    }
    assert!(
        stage
            .page("/tables/dynamodb/orders/rows/part?p0=nobody")
            .contains("No rows have such a key.")
    );
    assert!(stage.page("/tables/dynamodb/orders/rows/part?p0=ada&at=zz").contains("begin again"));
    let long = "x".repeat(3_000);
    assert!(
        stage
            .page(&format!("/tables/dynamodb/orders/rows/part?p0={long}"))
            .contains("at most 2048 bytes")
    );
}

#[test]
fn a_row_is_copied_in_four_forms() {
    let stage = loaded(1);
    let key = json!({ "pk": { "S": "ada" }, "sk": { "S": "0000" } });
    let forms = stage.done("/tables/dynamodb/orders/row/forms", &json!({ "key": key }));
    assert!(forms["document"].as_str().unwrap().contains("\"n\": {\"N\":\"1.5"), "{forms}");
    let insert = forms["insert"].as_str().unwrap();
    assert!(
        insert.starts_with("INSERT INTO \"orders\" VALUE {'email': 'a0@example.com'"),
        "{insert}"
    );
    assert!(
        forms["rust"].as_str().unwrap().contains("AttributeValue::S(\"ada\".to_owned())"),
        "{forms}"
    );
    stage.operation("DeleteItem", &json!({ "TableName": "orders", "Key": key }));
    // What was copied is what the face takes.
    stage.operation("ExecuteStatement", &json!({ "Statement": insert }));
    let again = stage.done("/tables/dynamodb/orders/row/forms", &json!({ "key": key }));
    assert_eq!(again, forms);
}

#[test]
fn a_change_says_what_it_does_to_indexes_and_does_not_overwrite_another() {
    let stage = loaded(1);
    let key = json!({ "pk": { "S": "ada" }, "sk": { "S": "0000" } });
    let act =
        |what: &str, body: &Value| stage.post(&format!("/tables/dynamodb/orders/row/{what}"), body);
    let was = stage.done("/tables/dynamodb/orders/row/forms", &json!({ "key": key }));
    let was = was["document"].as_str().unwrap();
    let moved = was.replace("a0@example.com", "b@example.com");
    let told = text(&act("effects", &json!({ "was": was, "text": moved })));
    assert!(told.contains("the entry moves from a0@example.com to b@example.com"), "{told}");
    let told = text(&act("effects", &json!({ "was": was, "text": "" })));
    assert!(told.contains("the entry under a0@example.com is deleted"), "{told}");
    assert_eq!(act("put", &json!({ "was": was, "text": moved })).status, 200);
    // Who opened it before sees no longer what is there.
    let late = act("put", &json!({ "was": was, "text": was.replace("1.5", "2") }));
    assert_eq!(late.status, 409, "{}", text(&late));
    assert_eq!(act("put", &json!({ "was": "", "text": moved })).status, 409);
    assert_eq!(act("delete", &json!({ "key": key, "was": was })).status, 409);
    assert_eq!(act("delete", &json!({ "key": key, "was": moved })).status, 200);
    assert_eq!(act("forms", &json!({ "key": key })).status, 404);
    let wrong = act("put", &json!({ "was": "", "text": "{\"pk\": 1}" }));
    assert_eq!(wrong.status, 400, "{}", text(&wrong));
}

#[test]
fn rows_of_cql_are_read_and_written_as_json() {
    let stage = Stage::new();
    stage.statement("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    stage.statement("CREATE TABLE shop.events (who text, at int, tags set<text>, big varint, PRIMARY KEY (who, at))");
    stage.statement("CREATE INDEX by_tag ON shop.events (big)");
    for at in 0..120 {
        stage.statement(&format!("INSERT INTO shop.events (who, at, tags, big) VALUES ('ada', {at}, {{'a', 'b'}}, 123456789012345678901234567890)"));
    }
    let page = stage.page("/tables/shop/events/rows?p0=ada&op=from&s0=10");
    assert!(page.contains("<strong>50</strong> rows shown"), "{page}");
    let next = stage.page(&link(&page, "next").unwrap());
    assert!(next.contains("<strong>50</strong> rows shown"), "{next}");
    let turned = stage.page("/tables/shop/events/rows/part?p0=ada&order=desc");
    assert!(turned.contains(">119<"), "{turned}");
    let key = json!(["616461", "00000007"]);
    let forms = stage.done("/tables/shop/events/row/forms", &json!({ "key": key }));
    let was = forms["document"].as_str().unwrap();
    assert!(was.contains("\"big\": 123456789012345678901234567890"), "{was}");
    assert!(
        forms["insert"]
            .as_str()
            .unwrap()
            .starts_with("INSERT INTO shop.events (who, at, big, tags) VALUES ('ada', 7, "),
        "{forms}"
    );
    let after = was.replace("678901234567890", "678901234567891");
    stage.done("/tables/shop/events/row/put", &json!({ "was": was, "text": after }));
    let now = stage.done("/tables/shop/events/row/forms", &json!({ "key": key }));
    assert_eq!(now["document"].as_str().unwrap(), after);
    let late = stage.post("/tables/shop/events/row/delete", &json!({ "key": key, "was": was }));
    assert_eq!(late.status, 409);
    stage.done("/tables/shop/events/row/delete", &json!({ "key": key, "was": after }));
    let taken = stage.post(
        "/tables/shop/events/row/put",
        &json!({ "was": "", "text": "{\"who\": \"ada\", \"at\": 8}" }),
    );
    assert_eq!(taken.status, 409, "{}", text(&taken));
}
