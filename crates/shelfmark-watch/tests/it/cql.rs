//! Statements of CQL against a model of a table for each question.

use crate::stage::{BEGUN_MS, cql, opened, pattern};

const MODEL: (&str, &str) = ("recipes/timeseries.shelf", "by_day");

#[test]
fn statements_are_counted_however_they_are_written() {
    let mut own = opened(MODEL.0, MODEL.1);
    for text in [
        "SELECT * FROM readings WHERE sensor = :s AND day = :d",
        "SELECT value FROM site.readings WHERE day = '2026-11-27' AND sensor = 'x'",
        "select at from readings where sensor in (?, ?) and day = ?",
    ] {
        own.take(&cql(&[text], (10, 10), 0));
    }
    own.take(&cql(
        &["INSERT INTO readings (sensor, day, at, value) VALUES (?, ?, ?, ?)"],
        (0, 0),
        0,
    ));
    let report = own.report(BEGUN_MS + 1_000, 0);
    assert_eq!(pattern(&report, "on_day").calls, 3, "{}", report.text());
    assert_eq!(pattern(&report, "record").calls, 1);
    assert_eq!(report.uncovered, []);
    // What the model cannot serve is told, not missed.
    assert!(report.left_out.iter().any(|(name, _)| name == "newest"), "{:?}", report.left_out);
}

#[test]
fn the_direction_is_that_of_the_key() {
    let mut own = opened(MODEL.0, MODEL.1);
    let range = "SELECT * FROM readings WHERE sensor = ? AND day = ? AND at >= ? AND at <= ?";
    own.take(&cql(&[&format!("{range} ORDER BY at ASC")], (3, 3), 0));
    own.take(&cql(&[&format!("{range} ORDER BY at DESC")], (3, 3), 0));
    own.take(&cql(&[range], (3, 3), 0));
    let report = own.report(BEGUN_MS + 1_000, 0);
    assert_eq!(pattern(&report, "between_times").calls, 1, "{}", report.text());
    let backward = report.uncovered.iter().find(|own| own.calls == 2).unwrap();
    assert_eq!(backward.request, "read readings sensor = *, day = *, at between *");
}

#[test]
fn filters_scans_and_batches_are_told() {
    let mut own = opened(MODEL.0, MODEL.1);
    own.take(&cql(&["SELECT * FROM readings WHERE value = ? ALLOW FILTERING"], (500, 2), 0));
    own.take(&cql(&["SELECT * FROM system.local WHERE key = 'local'"], (1, 1), 0));
    let insert = "INSERT INTO readings (sensor, day, at, value) VALUES (?, ?, ?, ?)";
    own.take(&cql(&[insert, insert], (0, 0), 0));
    let report = own.report(BEGUN_MS + 1_000, 0);
    assert_eq!(report.requests, 3);
    assert_eq!(pattern(&report, "record").calls, 2);
    let [filtered] = report.uncovered.as_slice() else { panic!("{}", report.text()) };
    assert_eq!(filtered.request, "read readings value = *, filter");
    assert_eq!(
        filtered.proposed,
        ["read reading_by_value(p0) = Reading where value = p0 rate 1/s"]
    );
    assert!(report.findings.iter().any(|own| own.kind == "reads more"), "{}", report.text());
}
