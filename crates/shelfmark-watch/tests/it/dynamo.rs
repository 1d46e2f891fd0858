//! Requests of DynamoDB against a model of one table with templates.

use serde_json::json;

use crate::stage::{BEGUN_MS, dynamo, opened, pattern};

const MODEL: (&str, &str) = ("reference/battle.shelf", "corrected");

fn query(key: &str, values: &serde_json::Value) -> serde_json::Value {
    json!({
        "TableName": "battle",
        "KeyConditionExpression": key,
        "ExpressionAttributeValues": values,
    })
}

#[test]
fn requests_are_counted_by_the_pattern_whose_rows_they_read() {
    let mut own = opened(MODEL.0, MODEL.1);
    for at in 0..40 {
        let key = json!({ "pk": { "S": format!("USER#{at}") }, "sk": { "S": "A" } });
        own.take(&dynamo(
            "GetItem",
            &json!({ "TableName": "battle", "Key": key }),
            (1, 1),
            at * 250,
        ));
    }
    let of_game = json!({ ":g": { "S": "GAME#7" } });
    let lobby = query("pk = :g", &of_game);
    own.take(&dynamo("Query", &lobby, (21, 21), 0));
    own.take(&dynamo("Query", &lobby, (41, 41), 0));
    let players = json!({ ":g": { "S": "GAME#7" }, ":u": { "S": "USER#" } });
    own.take(&dynamo("Query", &query("pk = :g and begins_with(sk, :u)", &players), (20, 20), 0));
    let report = own.report(BEGUN_MS + 10_000, 0);
    let user = pattern(&report, "user");
    assert_eq!((user.calls, user.status.as_str()), (40, "covered"), "{}", report.text());
    assert!((user.rate - 4.0).abs() < 1e-9 && (user.busiest_rate - 4.0).abs() < 1e-9);
    let lobby = pattern(&report, "lobby");
    assert_eq!((lobby.calls, lobby.declared_rate), (2, Some(200.0)));
    assert_eq!((lobby.rows_returned.max, lobby.rows_returned.sum), (41, 62));
    assert_eq!(lobby.declared_rows.max, Some(51.0), "a game and who is in it");
    assert_eq!(pattern(&report, "players").calls, 1);
    assert_eq!(pattern(&report, "game").status, "not seen");
    assert_eq!(report.uncovered, []);
    assert_eq!(report.findings, []);
}

#[test]
fn statements_of_partiql_are_the_patterns_that_other_requests_are() {
    let mut own = opened(MODEL.0, MODEL.1);
    let statement = |text: &str, parameters: &serde_json::Value| json!({ "Statement": text, "Parameters": parameters });
    let none = json!([]);
    for body in [
        statement("SELECT * FROM \"battle\" WHERE pk = ?", &json!([{ "S": "GAME#7" }])),
        statement("SELECT * FROM battle WHERE 'GAME#7' = \"pk\"", &none),
    ] {
        own.take(&dynamo("ExecuteStatement", &body, (21, 21), 0));
    }
    let players = "SELECT * FROM battle WHERE pk = ? AND begins_with(sk, 'USER#')";
    let players = statement(players, &json!([{ "S": "GAME#7" }]));
    own.take(&dynamo("BatchExecuteStatement", &json!({ "Statements": [players] }), (20, 20), 0));
    let user = "SELECT * FROM battle WHERE pk = 'USER#anna' AND sk = 'A'";
    own.take(&dynamo("ExecuteStatement", &statement(user, &none), (1, 1), 0));
    let all = statement("SELECT * FROM battle", &none);
    own.take(&dynamo("ExecuteStatement", &all, (300, 300), 0));
    let wrong = statement("SELECT FROM", &none);
    own.take(&dynamo("ExecuteStatement", &wrong, (0, 0), 0));
    let report = own.report(BEGUN_MS + 1_000, 0);
    for (name, calls) in [("lobby", 2), ("players", 1), ("user", 1)] {
        assert_eq!(pattern(&report, name).calls, calls, "{name}: {}", report.text());
    }
    assert_eq!(report.uncovered.len(), 1, "the scan: {}", report.text());
    assert_eq!(report.unread, 1);
}

#[test]
fn a_scan_is_no_pattern_and_the_patterns_that_would_be_are_told() {
    let mut own = opened(MODEL.0, MODEL.1);
    own.take(&dynamo("Scan", &json!({ "TableName": "battle" }), (300, 300), 0));
    let of_user = json!({ ":u": { "S": "USER#anna" } });
    own.take(&dynamo("Query", &query("pk = :u", &of_user), (1, 1), 0));
    let strange = json!({ ":u": { "S": "TEAM#secret" } });
    own.take(&dynamo("Query", &query("pk = :u", &strange), (0, 0), 0));
    let report = own.report(BEGUN_MS + 1_000, 0);
    let told = report.text();
    let lines: Vec<&str> =
        report.uncovered.iter().flat_map(|own| &own.proposed).map(String::as_str).collect();
    for line in [
        "read every_user() = User rate 1/s",
        "read every_playing() = Playing rate 1/s",
        "read user_by_id(p0) = User where id = p0 unique rate 1/s",
    ] {
        assert!(lines.contains(&line), "{line}: {told}");
    }
    assert!(told.contains("no row of the model has such a key"), "{told}");
    for value in ["anna", "secret", "TEAM"] {
        assert!(!told.contains(value), "{value} is a value: {told}");
    }
}

#[test]
fn what_reads_more_or_returns_more_is_told() {
    let mut own = opened(MODEL.0, MODEL.1);
    let mut players = query(
        "pk = :g and begins_with(sk, :u)",
        &json!({
            ":g": { "S": "GAME#7" }, ":u": { "S": "USER#" }, ":p": { "N": "1" },
        }),
    );
    players["FilterExpression"] = json!("place = :p");
    own.take(&dynamo("Query", &players, (45, 1), 0));
    // More than 50 to a game are declared not to be.
    let lobby = query("pk = :g", &json!({ ":g": { "S": "GAME#7" } }));
    own.take(&dynamo("Query", &lobby, (90, 90), 0));
    let report = own.report(BEGUN_MS + 1_000, 0);
    let told = |kind: &str| report.findings.iter().find(|own| own.kind == kind);
    let more = told("reads more").unwrap();
    assert_eq!(more.about, "players");
    assert_eq!(more.message, "read 45 rows and returned 1: 45.0 for each that was wanted");
    let fan_out = told("fan-out").unwrap();
    assert_eq!((fan_out.about.as_str(), fan_out.count), ("lobby", 1));
    assert_eq!(pattern(&report, "players").status, "reads more");
    assert_eq!(pattern(&report, "lobby").status, "more rows");
}

#[test]
fn writes_are_told_apart_by_what_they_change() {
    let mut own = opened(MODEL.0, MODEL.1);
    let key = json!({ "pk": { "S": "GAME#7" }, "sk": { "S": "A" } });
    let update = |expression: &str| {
        json!({ "TableName": "battle", "Key": key, "UpdateExpression": expression,
                "ExpressionAttributeNames": { "#e": "ended" },
                "ExpressionAttributeValues": { ":t": { "N": "1" } } })
    };
    own.take(&dynamo("UpdateItem", &update("SET #e = :t"), (1, 1), 0));
    own.take(&dynamo("UpdateItem", &update("SET map = :t"), (1, 1), 0));
    let report = own.report(BEGUN_MS + 1_000, 0);
    assert_eq!(pattern(&report, "finish").calls, 1, "{}", report.text());
    assert_eq!(report.uncovered.len(), 1);
    assert_eq!(report.uncovered[0].request, "update battle pk = GAME#*, sk = A set map");
    assert_eq!(
        report.uncovered[0].proposed,
        ["write set_game_map(p0, p1) = update Game(game p0) set map = p1"]
    );
}

#[test]
fn pages_behind_the_first_and_refused_requests_are_no_calls() {
    let mut own = opened(MODEL.0, MODEL.1);
    let mut lobby = query("pk = :g", &json!({ ":g": { "S": "GAME#7" } }));
    own.take(&dynamo("Query", &lobby, (10, 10), 0));
    lobby["ExclusiveStartKey"] = json!({ "pk": { "S": "GAME#7" }, "sk": { "S": "USER#1" } });
    own.take(&dynamo("Query", &lobby, (5, 5), 0));
    let mut refused = dynamo("Query", &lobby, (0, 0), 0);
    refused.is_refused = true;
    own.take(&refused);
    own.take(&dynamo("ExecuteStatement", &json!({ "Statement": "SELECT * FROM" }), (0, 0), 0));
    let report = own.report(BEGUN_MS + 1_000, 7);
    let lobby = pattern(&report, "lobby");
    assert_eq!((lobby.calls, lobby.rows_returned.sum), (1, 15));
    assert_eq!((report.refused, report.unread, report.dropped), (1, 1, 7));
    // What was let go is counted as what was taken.
    assert!((lobby.rate - 4.5).abs() < 1e-9, "{}", lobby.rate);
}

#[test]
fn memory_is_bounded_whatever_comes() {
    let mut own = opened(MODEL.0, MODEL.1);
    for at in 0..2_000 {
        own.take(&dynamo("Scan", &json!({ "TableName": format!("t{at}") }), (1, 1), 0));
    }
    let report = own.report(BEGUN_MS + 1_000, 0);
    assert_eq!(report.uncovered.len(), shelfmark_watch::compare::UNCOVERED_MAX);
    assert_eq!(report.uncovered_more, 2_000 - shelfmark_watch::compare::UNCOVERED_MAX as u64);
}
