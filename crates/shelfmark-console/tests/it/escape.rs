//! Names and values become text, never markup; every answer carries the policy; inputs are bounded.

use serde_json::json;

use crate::stage::{Stage, text};

/// What must never stand in a page as it is.
const HOSTILE: [&str; 3] =
    ["<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'-->]]></style>"];

#[test]
fn hostile_names_and_values_are_text() {
    let stage = Stage::new();
    stage.items("orders");
    for (at, hostile) in HOSTILE.iter().enumerate() {
        stage.put(
            "orders",
            &json!({
                "pk": { "S": hostile }, "sk": { "S": format!("{at}{hostile}") },
                "email": { "S": hostile }, (*hostile): { "M": { (*hostile): { "S": hostile } } },
            }),
        );
    }
    stage.statement("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    // CQL takes any column's name, and no such table's.
    stage.statement("CREATE TABLE shop.hostile (\"<img src=x>\" text PRIMARY KEY)");
    stage.statement(
        "INSERT INTO shop.hostile (\"<img src=x>\") VALUES ('<script>alert(1)</script>')",
    );
    let name = "%3Cscript%3Ealert%281%29%3C%2Fscript%3E";
    let mut pages = vec![
        stage.page("/tables"),
        stage.page("/tables/dynamodb/orders"),
        stage.page("/tables/dynamodb/orders/rows"),
        stage.page("/tables/shop/hostile"),
        stage.page("/tables/shop/hostile/rows"),
        stage.page(&format!("/tables?filter={name}")),
        stage.page(&format!("/ask?text={name}")),
        text(&stage.get(&format!("/tables/dynamodb/{name}"))),
        text(&stage.get(&format!("/{name}"))),
    ];
    for language in ["cql", "partiql"] {
        for statement in
            ["SELECT * FROM orders", "SELECT * FROM shop.hostile", "<script>alert(1)</script>"]
        {
            let answer =
                stage.done("/ask/run", &json!({ "language": language, "text": statement }));
            pages.push(answer["html"].as_str().unwrap().to_owned());
        }
    }
    for page in &pages {
        for hostile in ["<script>", "<img src=x", "<style", "onerror=alert(1)>\"", "-->"] {
            assert!(!page.contains(hostile), "{hostile} in {page}");
        }
    }
    assert!(pages.iter().any(|page| page.contains("&lt;script&gt;")), "the values are shown");
}

#[test]
fn pages_are_well_formed_and_have_nothing_inline() {
    let stage = Stage::new();
    stage.items("orders");
    stage.put("orders", &json!({ "pk": { "S": "a" }, "sk": { "S": "b" } }));
    for target in [
        "/tables",
        "/tables/dynamodb/orders",
        "/tables/dynamodb/orders/rows",
        "/ask",
        "/sign-in",
        "/nowhere",
    ] {
        let response = stage.get(target);
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let page = text(&response);
        for inline in [" style=\"", "<style", " onclick", "javascript:", "http://", "https://"] {
            assert!(!page.contains(inline), "{inline} in {target}");
        }
        for script in page.split("<script").skip(1) {
            assert!(script.starts_with(" type=\"module\" src=\"/assets/"), "{target}: {script}");
        }
    }
}

#[test]
fn assets_are_found_by_their_address() {
    let stage = Stage::new();
    let page = stage.page("/ask");
    let addresses = page.split("\"/assets/").skip(1).map(|rest| rest.split('"').next().unwrap());
    let mut count = 0;
    for address in addresses {
        let asset = stage.get(&format!("/assets/{address}"));
        assert_eq!(asset.status, 200, "{address}");
        assert!(asset.header("cache-control").unwrap().contains("immutable"));
        count += 1;
    }
    assert!(count >= 4, "{page}");
    assert_eq!(stage.get("/assets/x/nothing.js").status, 404);
}

#[test]
fn inputs_have_limits() {
    let stage = Stage::new();
    assert_eq!(stage.get(&format!("/tables?filter={}", "x".repeat(20_000))).status, 400);
    assert_eq!(stage.get(&format!("/tables?{}", "a=1&".repeat(100))).status, 400);
    let large = json!({ "language": "cql", "text": "x".repeat(3_000_000) });
    assert_eq!(stage.post("/ask/run", &large).status, 413);
    for body in ["", "[]", "1", "{\"a\"", &"[".repeat(100_000)] {
        let request = shelfmark_admin::http::Request::post("/ask/run", body.to_owned());
        assert_eq!(stage.console.answer(&request).status, 400, "{body:.20}");
    }
}
