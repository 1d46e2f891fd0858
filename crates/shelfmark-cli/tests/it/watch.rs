//! Requests of both faces beside a model: real clients' bytes in, the report of `shelfmark watch` out.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use crate::console::{console_of, post};
use crate::process::{Server, command, shelfmark, stderr, stdout};

/// The header of a body of JSON.
const JSON_TYPE: &str = "Content-Type: application/json\r\n";

fn model(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    path.to_str().unwrap().to_owned()
}

fn serve(folder: &Path, flags: &[&str]) -> Server {
    Server::start_cql(folder, &[&["--console", "127.0.0.1:0"], flags].concat())
}

fn watch(console: &str, flags: &[&str]) -> Output {
    shelfmark(&[&["watch", "--server", console], flags].concat())
}

fn report(console: &str, flags: &[&str]) -> Value {
    let output = watch(console, &[&["--json"], flags].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn pattern<'r>(report: &'r Value, name: &str) -> &'r Value {
    let all = report["patterns"].as_array().unwrap();
    let named = |own: &&Value| own["patterns"].as_array().unwrap().contains(&json!(name));
    all.iter().find(named).unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

fn findings<'r>(report: &'r Value, kind: &str) -> Vec<&'r Value> {
    report["findings"].as_array().unwrap().iter().filter(|own| own["kind"] == kind).collect()
}

fn call(server: &Server, operation: &str, body: &Value) {
    let (status, answer) = server.call(operation, &body.to_string());
    assert_eq!(status, 200, "{operation}: {answer}");
}

fn cql(server: &Server, statement: &str) {
    let output =
        command().args(["cql", "--server", &server.cql, "-e", statement]).output().unwrap();
    assert!(output.status.success(), "{statement}: {}", stderr(&output));
}

/// Creates the tables of a schema as `design calls` says.
fn create(model: &str, schema: &str) -> Vec<Value> {
    let output = shelfmark(&["design", "calls", model, "--schema", schema, "--format", "json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let requests: Value = serde_json::from_slice(&output.stdout).unwrap();
    requests["create"].as_array().unwrap().clone()
}

#[test]
fn requests_of_dynamodb_are_seen_beside_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let battle = model("reference/battle.shelf");
    let server = serve(folder.path(), &["--model", &battle, "--model-schema", "corrected"]);
    let console = console_of(folder.path());
    create(&battle, "corrected").iter().for_each(|table| call(&server, "CreateTable", table));
    let put =
        |item: Value| call(&server, "PutItem", &json!({ "TableName": "battle", "Item": item }));
    for user in 0..60 {
        put(json!({ "pk": { "S": "GAME#7" }, "sk": { "S": format!("USER#{user:02}") },
                    "joined": { "N": "1" }, "place": { "N": user.to_string() } }));
    }
    put(json!({ "pk": { "S": "USER#anna" }, "sk": { "S": "A" }, "name": { "S": "Anna" },
                "email": { "N": "7" }, "born": { "S": "1990-01-01" } }));
    for _ in 0..5 {
        let key = json!({ "pk": { "S": "USER#anna" }, "sk": { "S": "A" } });
        call(&server, "GetItem", &json!({ "TableName": "battle", "Key": key }));
    }
    call(&server, "Scan", &json!({ "TableName": "battle" }));
    let mut players = json!({
        "TableName": "battle",
        "KeyConditionExpression": "pk = :g AND begins_with(sk, :u)",
        "FilterExpression": "place = :p",
        "ExpressionAttributeValues": {
            ":g": { "S": "GAME#7" }, ":u": { "S": "USER#" }, ":p": { "N": "3" } },
    });
    call(&server, "Query", &players);
    players["FilterExpression"] = json!("nonsense(");
    assert_eq!(server.call("Query", &players.to_string()).0, 400);
    let told = report(&console, &[]);
    let user = pattern(&told, "user");
    assert_eq!((&user["calls"], &user["status"]), (&json!(5), &json!("covered")), "{told:#}");
    assert!(user["rate"].as_f64().unwrap() > 0.0);
    assert_eq!(told["refused"], 1);
    let scan = &told["uncovered"].as_array().unwrap().iter();
    let scan = scan.clone().find(|own| own["request"] == "read all of battle").unwrap();
    assert!(scan["proposed"].to_string().contains("read every_user() = User"), "{scan:#}");
    let more = findings(&told, "reads more");
    assert_eq!(more[0]["about"], "players", "{told:#}");
    assert!(more[0]["message"].as_str().unwrap().starts_with("read 60 rows and returned 1"));
    let broken = findings(&told, "type");
    assert!(broken.iter().any(|own| own["about"] == "User.email"), "{told:#}");
    // The partition is found by the samples, which are taken a few times a second.
    let outgrown = || report(&console, &[]);
    let seen = (0..100).map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        outgrown()
    });
    let is_seen = |told: &Value| !findings(told, "partition").is_empty();
    let told = seen.into_iter().find(is_seen).expect("a partition of 60 is beyond 50");
    assert!(!told.to_string().contains("anna"), "no value is told: {told:#}");
    drop(server.stop("-TERM"));
}

#[test]
fn statements_of_cql_are_seen_beside_a_model_that_is_opened_later() {
    let folder = tempfile::tempdir().unwrap();
    let readings = model("recipes/timeseries.shelf");
    let server = serve(folder.path(), &[]);
    let console = console_of(folder.path());
    let none = watch(&console, &[]);
    assert!(!none.status.success());
    assert!(stderr(&none).contains("no model is open"), "{}", stderr(&none));
    let class = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    cql(&server, &format!("CREATE KEYSPACE site WITH replication = {class}"));
    for statement in create(&readings, "by_day") {
        let statement = statement.as_str().unwrap().replacen("TABLE ", "TABLE site.", 1);
        cql(&server, &statement);
    }
    let choose = watch(&console, &["--model", &readings]);
    assert!(stderr(&choose).contains("choose one: one_partition, by_day"), "{}", stderr(&choose));
    report(&console, &["--model", &readings, "--schema", "by_day"]);
    for minute in 0..6 {
        cql(
            &server,
            &format!(
                "INSERT INTO site.readings (sensor, day, at, value) \
             VALUES ('hidden', '2026-11-27', '2026-11-27T08:0{minute}:00Z', {minute})"
            ),
        );
    }
    cql(&server, "SELECT * FROM site.readings WHERE sensor = 'hidden' AND day = '2026-11-27'");
    cql(&server, "SELECT * FROM site.readings WHERE value = 3 ALLOW FILTERING");
    let told = report(&console, &[]);
    assert_eq!(pattern(&told, "record")["calls"], 6, "{told:#}");
    assert_eq!(pattern(&told, "on_day")["rows_returned"]["max"], 6, "{told:#}");
    let uncovered = &told["uncovered"][0];
    assert_eq!(uncovered["request"], "read readings value = *, filter");
    assert_eq!(
        (&uncovered["rows_read"]["max"], &uncovered["rows_returned"]["max"]),
        (&json!(6), &json!(1))
    );
    assert!(uncovered["proposed"].to_string().contains("read reading_by_value(p0)"), "{told:#}");
    assert!(!told.to_string().contains("hidden"), "no value is told: {told:#}");
    let text = stdout(&watch(&console, &["--reset"]));
    assert!(text.contains("Requests that no pattern covers"), "{text}");
    assert_eq!(report(&console, &["--close"])["requests"], 0);
    assert!(stderr(&watch(&console, &[])).contains("no model is open"));
    drop(server.stop("-TERM"));
}

#[test]
fn a_model_without_a_console_or_with_errors_is_refused_at_the_start() {
    let battle = model("reference/battle.shelf");
    let refused = ["serve", "--memory", "--dynamodb", "127.0.0.1:0", "--model", &battle];
    let refused = shelfmark(&refused);
    assert!(stderr(&refused).contains("model needs console"), "{}", stderr(&refused));
    let flags = ["serve", "--memory", "--console", "127.0.0.1:0", "--dynamodb", "127.0.0.1:0"];
    let refused = shelfmark(&[&flags[..], &["--model", &battle]].concat());
    assert!(stderr(&refused).contains("choose one: published, corrected"), "{}", stderr(&refused));
    let refused = shelfmark(&[&flags[..], &["--model", "nowhere.shelf"]].concat());
    assert!(
        stderr(&refused).contains("cannot read the model nowhere.shelf"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn a_running_server_tells_its_settings_and_where_they_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path(), &["--slow-after", "7"]);
    let told = post(&console_of(folder.path()), "/api/v1/config", JSON_TYPE, "{}");
    let (_, body) = told.split_once("\r\n\r\n").unwrap();
    let told: Value = serde_json::from_str(body).unwrap();
    let all = told["settings"].as_array().unwrap();
    let slow = all.iter().find(|own| own["setting"] == "slow_after").unwrap();
    assert_eq!((&slow["value"], &slow["from"]), (&json!("7"), &json!("flag --slow-after")));
    let share = all.iter().find(|own| own["setting"] == "share").unwrap();
    assert_eq!(share["from"], "default");
    drop(server.stop("-TERM"));
}
