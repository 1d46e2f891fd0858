//! From a page of requirements to certified tables, as a language model would go.

use serde_json::{Value as Json, json};

use crate::Client;

/// The requirements: members of a club book courts. A court's bookings of a day are shown in order of
/// time; a member sees what he booked, newest first; two bookings never have the same court and time.
const PATTERNS: &str = "type court_name = text(min 1, max 20, without \"#\")

entity Member {
  key id: uuid
  count 5k
}

entity Booking {
  key court: court_name
  key at: timestamp
  member: Member immutable
  fanout member avg 40 max 5k
}

read of_court(c, t1, t2) = Booking where court = c and at between t1 and t2 order by at limit 200
read of_member(m, n) = Booking where member = m order by at desc, court limit n
write book(c, t, m) = insert Booking(court c, at t, member m)
write cancel(c, t) = delete Booking(court c, at t)
";

/// A first attempt that a newcomer would make: keyed by member and time alone.
const ATTEMPT: &str = "
schema first target dynamodb {
  table bookings from Booking key (member; at) store { court }
  serve of_member by query bookings (m)
}
";

fn statuses(proof: &Json) -> Vec<(&str, &str)> {
    let patterns = proof["patterns"].as_array().unwrap();
    patterns
        .iter()
        .map(|one| (one["pattern"].as_str().unwrap(), one["status"].as_str().unwrap()))
        .collect()
}

#[tokio::test]
async fn from_requirements_to_certified_tables() {
    let client = Client::connect(None, false).await;
    assert!(client.call("language", json!({})).await["guide"].as_str().unwrap().contains("entity"));

    // A slip is answered with its place.
    let slip = PATTERNS.replace("order by at limit", "order by att limit");
    let words = client.refused("check", json!({ "model": slip })).await;
    assert!(words.contains("att") && words.contains("model.shelf:"), "{words}");

    // Without a schema, the next step is named.
    let checked = client.call("check", json!({ "model": PATTERNS })).await;
    assert!(checked["next"].as_str().unwrap().contains("plan"), "{checked}");

    // The attempt is refused with a state on which it goes wrong.
    let model = format!("{PATTERNS}{ATTEMPT}");
    let proof = client.call("prove", json!({ "model": model, "schema": "first" })).await;
    let refused = proof["patterns"].as_array().unwrap().iter().find(|one| one["pattern"] == "book");
    let refused = refused.unwrap();
    assert_eq!(refused["status"], "refused", "{refused}");
    assert!(!refused["witness"].is_null(), "{refused}");

    // An index is read in one direction: the plan says which read has no key, and why.
    let plan = client.call("plan", json!({ "model": PATTERNS, "target": "dynamodb" })).await;
    assert!(statuses(&plan["proof"]).contains(&("of_member", "refused")), "{plan}");
    assert!(plan["schema"].as_str().unwrap().contains("read in one direction"), "{plan}");

    // With one direction the plan is proven, and its requests are ready.
    let model = PATTERNS.replace("at desc, court", "at desc, court desc");
    let plan = client.call("plan", json!({ "model": model, "target": "dynamodb" })).await;
    for (pattern, status) in statuses(&plan["proof"]) {
        assert_eq!(status, "certified", "{pattern}: {plan}");
    }
    let planned = format!("{model}{}", plan["schema"].as_str().unwrap());
    let calls = client.call("calls", json!({ "model": planned })).await;
    assert!(calls["create"][0]["TableName"].is_string(), "{calls}");
    let operations: Vec<&str> = calls["calls"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|call| call["operation"].as_str())
        .collect();
    assert!(operations.contains(&"Query"), "{operations:?}");

    // They answer as brute force does, through the face itself.
    let asked = json!({ "model": planned, "through": "dynamodb", "calls": 3 });
    assert_eq!(client.call("confirm", asked).await["ok"], true);
    client.end().await;
}

#[tokio::test]
async fn what_cannot_be_done_is_said() {
    let client = Client::connect(None, false).await;
    let tools = client.tools().await;
    assert_eq!(tools.len(), 9, "{tools:?}");
    for (tool, arguments, words) in [
        ("check", json!({}), "model is missing"),
        ("check", json!({ "model": 3 }), "model must be a text"),
        ("plan", json!({ "model": PATTERNS, "target": "mongodb" }), "mongodb"),
        ("prove", json!({ "model": PATTERNS, "schema": "none" }), "there is no schema none"),
        ("explain", json!({ "what": "nothing" }), "is no lint"),
        ("confirm", json!({ "model": PATTERNS, "calls": 51 }), "up to 50"),
        ("confirm", json!({ "model": PATTERNS, "through": "smoke" }), "through smoke"),
    ] {
        let said = client.refused(tool, arguments).await;
        assert!(said.contains(words), "{tool}: {said}");
    }
    assert!(client.call("explain", json!({ "what": "w1" })).await["text"].is_string());
    let request = rmcp::model::CallToolRequestParams::new("tables");
    assert!(client.service.call_tool(request).await.is_err(), "there is no store");
    // It still answers.
    assert!(
        client.call("size", json!({ "model": format!("{PATTERNS}{ATTEMPT}") })).await["shown"]
            .is_string()
    );
    client.end().await;
}
