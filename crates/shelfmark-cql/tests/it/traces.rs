//! Traces: what was read and written for a request, as clients read it back.

use shelfmark_cql_protocol::client::Query;

use crate::wire::{SCHEMA, Wire, face, literals};

/// Runs a statement with a trace, and returns the trace's parameters and steps.
fn traced(wire: &mut Wire, text: &str) -> (String, Vec<String>) {
    let query = Query { text, tracing: true, page_size: Some(100), ..Query::default() };
    let answered = wire.ask(&query).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    let id = uuid(answered.trace.unwrap());
    let session = format!(
        "SELECT parameters, command, request, client, coordinator, duration, started_at \
         FROM system_traces.sessions WHERE session_id = {id}"
    );
    let session = literals(&wire.run(&session).page.unwrap());
    let [parameters, command, request, client, ..] = session[0].as_slice() else { panic!() };
    assert_eq!([&**command, &**client], ["'QUERY'", "'127.0.0.1'"]);
    assert_eq!(request, "'Execute CQL3 query'");
    let duration: u64 = session[0][5].parse().unwrap();
    let events = format!(
        "SELECT source_elapsed, activity FROM system_traces.events WHERE session_id = {id}"
    );
    let events = wire.rows(&events);
    let elapsed: Vec<u64> = events.iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(elapsed.is_sorted() && elapsed.last().is_some_and(|last| *last <= duration));
    let steps = events.into_iter().map(|row| row[1].trim_matches('\'').replace("''", "'"));
    (parameters.clone(), steps.collect())
}

fn uuid(id: [u8; 16]) -> String {
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |from: usize, to: usize| &hex[from..to];
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

#[track_caller]
fn has(steps: &[String], wanted: &str) {
    assert!(steps.iter().any(|step| step.contains(wanted)), "{wanted}: {steps:#?}");
}

fn filled() -> Wire {
    let mut wire = Wire::started(&face(), 1);
    SCHEMA.iter().for_each(|text| drop(wire.run(text)));
    for b in 0..5 {
        wire.run(&format!("INSERT INTO k.t (a, b, v, s) VALUES (1, {b}, {b}, 'x')"));
    }
    wire
}

#[test]
fn a_read_says_its_range_and_its_rows() {
    let mut wire = filled();
    let text = "SELECT * FROM k.t WHERE a = 1 AND b >= 1 AND b < 4";
    let (parameters, steps) = traced(&mut wire, text);
    assert_eq!(
        parameters,
        format!(
            "{{'consistency_level': 'ONE', 'page_size': '100', 'query': '{text}', \
             'serial_consistency_level': 'SERIAL'}}"
        )
    );
    has(&steps, "Parsing SELECT * FROM k.t");
    has(&steps, "Executing single-partition query on t: a = 1 AND b >= 1 AND b < 4");
    has(&steps, "Read 3 rows of t, 3 returned");
    has(&steps, "in 1 key range: [");
    has(&steps, "Answered with 3 rows");
}

#[test]
fn rows_that_are_read_and_not_returned_show() {
    let mut wire = filled();
    let text = "SELECT * FROM k.t WHERE s = 'x' AND v = 3 ALLOW FILTERING";
    let (_, steps) = traced(&mut wire, text);
    has(&steps, "Answered with 1 rows");
    assert!(steps.iter().any(|step| step.starts_with("Read 5") || step.starts_with("Read 1")));
    let (_, steps) = traced(&mut wire, "SELECT * FROM k.t WHERE b = 2 ALLOW FILTERING");
    has(&steps, "Executing seq scan of t: all rows");
    has(&steps, "Read 5 rows of t, 1 returned");
}

#[test]
fn the_index_and_the_view_that_serve_are_named() {
    let mut wire = filled();
    let (_, steps) = traced(&mut wire, "SELECT * FROM k.t WHERE v = 3");
    has(&steps, "Executing read on k.t using index by_v: v = 3");
    has(&steps, "Read 1 entries of t.by_v");
    has(&steps, "Read 1 rows of t");
    let (_, steps) = traced(&mut wire, "SELECT * FROM k.m WHERE v = 3");
    has(&steps, "Executing single-partition query on view m: v = 3");
    let (_, steps) = traced(&mut wire, "SELECT * FROM k.t WHERE a IN (1, 2) AND b = 1");
    has(&steps, "Executing single-row query on t: a = 1 AND b = 1");
    has(&steps, "Executing single-row query on t: a = 2 AND b = 1");
    let (_, steps) = traced(&mut wire, "SELECT * FROM k.t WHERE token(a) > -5 LIMIT 1");
    has(&steps, "Executing seq scan of t: token(a) > -5");
}

#[test]
fn a_write_says_its_rows_and_its_sync() {
    let mut wire = filled();
    let (_, steps) = traced(&mut wire, "INSERT INTO k.t (a, b, v) VALUES (7, 7, 7)");
    has(&steps, "Writing 1 changes of rows of t in 1 partitions, with 2 indexes and 1 views");
    has(&steps, "Appended to the commit log and synced");
    let batch = "BEGIN BATCH INSERT INTO k.t (a, b) VALUES (8, 1) INSERT INTO k.t (a, b) VALUES \
                 (8, 2) INSERT INTO k.t (a, b) VALUES (9, 2) APPLY BATCH";
    let (_, steps) = traced(&mut wire, batch);
    has(&steps, "Writing 3 changes of rows of t in 2 partitions");
    let (_, steps) = traced(&mut wire, "UPDATE k.t SET v = 1 WHERE a = 7 AND b = 7 IF v = 7");
    has(&steps, "Reading existing values for CAS precondition: 1 rows of t");
    has(&steps, "CAS precondition is met");
    let (_, steps) = traced(&mut wire, "UPDATE k.t SET v = 1 WHERE a = 7 AND b = 7 IF v = 7");
    has(&steps, "CAS precondition is not met");
    assert!(!steps.iter().any(|step| step.starts_with("Writing")), "{steps:?}");
}

#[test]
fn a_trace_is_bounded_however_long_its_request_is() {
    let mut wire = filled();
    let keys: Vec<String> = (0..1_000).map(|key| key.to_string()).collect();
    let text = format!("SELECT * FROM k.t WHERE a IN ({}) AND b = 1", keys.join(", "));
    let (parameters, steps) = traced(&mut wire, &text);
    assert!(parameters.len() < 3_000 && parameters.contains('…'), "{parameters}");
    assert_eq!(steps.len(), 258);
    assert!(steps.last().unwrap().starts_with("Answered with 1 rows"), "the end is always kept");
    has(&steps, "more steps, which are not kept");
    assert!(steps.iter().all(|step| step.len() < 3_000));
}

#[test]
fn passwords_are_not_traced() {
    let mut wire = filled();
    let text = "CREATE ROLE ann WITH PASSWORD = 'secret'";
    let query = Query { text, tracing: true, ..Query::default() };
    // Without logins roles are refused, and traced all the same.
    drop(wire.ask(&query));
    let all = format!(
        "{:?}{:?}",
        wire.rows("SELECT parameters FROM system_traces.sessions"),
        wire.rows("SELECT activity FROM system_traces.events")
    );
    assert!(all.contains("password *******") && !all.contains("secret"), "{all}");
}
