//! Requests of each language, their pictures, the places of errors, and names offered.

use serde_json::{Value, json};

use crate::stage::Stage;

fn loaded() -> Stage {
    let stage = Stage::new();
    stage.items("orders");
    for at in 0..30 {
        stage.put(
            "orders",
            &json!({
                "pk": { "S": format!("user-{}", at % 3) },
                "sk": { "S": format!("{at:04}") },
                "email": { "S": format!("a{at}@example.com") },
            }),
        );
    }
    stage.statement("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    stage.statement("CREATE TABLE shop.events (who text, at int, n int, PRIMARY KEY (who, at))");
    for at in 0..30 {
        stage
            .statement(&format!("INSERT INTO shop.events (who, at, n) VALUES ('ada', {at}, {at})"));
    }
    stage
}

fn ask(stage: &Stage, language: &str, text: &str) -> (Value, String) {
    let answer = stage
        .done("/ask/run", &json!({ "language": language, "text": text, "operation": "Query" }));
    let html = answer["html"].as_str().unwrap().to_owned();
    (answer, html)
}

#[test]
fn every_language_tells_what_it_read() {
    let stage = loaded();
    let query = json!({
        "TableName": "orders",
        "KeyConditionExpression": "pk = :p AND begins_with(sk, :s)",
        "ExpressionAttributeValues": { ":p": { "S": "user-1" }, ":s": { "S": "000" } },
    });
    let cases = [
        ("dynamodb", query.to_string(), "<strong>3</strong> rows read", "table orders"),
        (
            "partiql",
            "SELECT * FROM orders WHERE pk = 'user-1' AND sk < '0010'".to_owned(),
            "<strong>3</strong> rows read",
            "table orders",
        ),
        (
            "partiql",
            "SELECT * FROM orders.by_email WHERE email = 'a7@example.com'".to_owned(),
            "<strong>1</strong> rows read",
            "index by_email",
        ),
        (
            "cql",
            "SELECT * FROM shop.events WHERE who = 'ada' AND at < 5;".to_owned(),
            "<strong>5</strong> rows read",
            "table events",
        ),
    ];
    for (language, text, read, place) in cases {
        let (answer, html) = ask(&stage, language, &text);
        assert_eq!(answer["ok"], true, "{text}: {html}");
        for words in [read, place, "class=\"touched\"", "class=\"key-line\""] {
            assert!(html.contains(words), "{text}: {words} is missing: {html}");
        }
    }
    let (_, html) = ask(&stage, "cql", "SELECT * FROM shop.events WHERE n = 7 ALLOW FILTERING");
    assert!(html.contains("29 rows were read for nothing"), "{html}");
}

#[test]
fn errors_stand_at_their_place() {
    let stage = loaded();
    let (answer, html) = ask(&stage, "cql", "SELECT *\nFROM WHERE");
    assert_eq!(answer["ok"], false);
    assert_eq!(answer["place"]["line"], 2, "{html}");
    let (answer, _) = ask(&stage, "dynamodb", "{\n  \"TableName\": }");
    assert_eq!((&answer["place"]["line"], &answer["place"]["column"]), (&json!(2), &json!(16)));
    let (answer, html) = ask(&stage, "partiql", "SELECT * FROM nowhere");
    assert_eq!(answer["ok"], false);
    assert!(html.contains("ResourceNotFoundException"), "{html}");
    assert_eq!(stage.post("/ask/run", &json!({ "language": "cql", "text": " " })).status, 400);
    assert_eq!(stage.post("/ask/run", &json!({ "language": "sql", "text": "x" })).status, 400);
}

#[test]
fn changes_of_the_schema_are_seen_at_once() {
    let stage = loaded();
    let (answer, _) = ask(&stage, "cql", "CREATE TABLE shop.more (id uuid PRIMARY KEY)");
    assert_eq!(answer["ok"], true);
    assert!(stage.page("/tables?filter=more").contains("more"));
    let (answer, html) = ask(&stage, "cql", "INSERT INTO shop.more (id) VALUES (uuid())");
    assert_eq!(answer["ok"], true, "{html}");
}

#[test]
fn names_are_offered() {
    let stage = loaded();
    let offered = |text: &str| {
        let answer = stage.done("/ask/names", &json!({ "text": text, "at": text.chars().count() }));
        let names = answer["names"].as_array().unwrap();
        names.iter().map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    assert!(offered("SELECT * FROM ord").contains(&"orders".to_owned()));
    assert!(offered("SELECT * FROM shop.ev").contains(&"shop.events".to_owned()));
    assert!(offered("SELECT * FROM orders WHERE em").contains(&"email".to_owned()));
    assert!(offered("é sel").contains(&"SELECT".to_owned()));
    assert_eq!(stage.post("/ask/names", &json!({ "text": "a", "at": 9 })).status, 400);
}
