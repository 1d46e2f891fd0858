//! Requests from nowhere into the comparison with a model, and its reports from nowhere.
//!
//! Input: a byte that says what is read, then the text. Whatever comes, what is kept stays bounded, and a
//! report that was read is told and written again as the same.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use shelfmark_admin::{ModelFile, SeenRequest, SeenText, WatchReport};
use shelfmark_watch::{Comparison, Watched};

use crate::bed::BEGIN_SECONDS;

/// Models of this repository, with the schema that requests are compared with.
const MODELS: [(&str, &str); 2] = [
    (include_str!("../../models/reference/battle.shelf"), "corrected"),
    (include_str!("../../models/reference/killrvideo.shelf"), "published"),
];

/// Operations whose bodies are read.
const OPERATIONS: [&str; 8] = [
    "Query",
    "GetItem",
    "Scan",
    "PutItem",
    "UpdateItem",
    "BatchGetItem",
    "TransactWriteItems",
    "ExecuteStatement",
];

fn opened(number: usize) -> Option<Arc<Watched>> {
    static OPENED: OnceLock<Vec<Option<Arc<Watched>>>> = OnceLock::new();
    let opened = OPENED.get_or_init(|| {
        let open = |(text, schema): &(&str, &str)| {
            let (name, schema) = ("model.shelf".to_owned(), Some((*schema).to_owned()));
            Watched::open(&ModelFile { name, text: (*text).to_owned(), schema }).ok().map(Arc::new)
        };
        MODELS.iter().map(open).collect()
    });
    opened.get(number).cloned().flatten()
}

/// Runs one input.
pub fn run(data: &[u8]) {
    let Some((kind, text)) = data.split_first() else { return };
    if kind.is_multiple_of(3) {
        return report(text);
    }
    let Some(watched) = opened(usize::from(kind / 3 % 2)) else { return };
    let mut comparison = Comparison::new(watched, BEGIN_SECONDS * 1_000);
    // Requests stand in lines of their own.
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let text = match kind % 3 {
            1 => {
                let operation = OPERATIONS[usize::from(kind / 6) % OPERATIONS.len()];
                SeenText::Dynamo(operation, Bytes::copy_from_slice(line))
            }
            _ => SeenText::Cql(vec![Arc::from(&*String::from_utf8_lossy(line))]),
        };
        comparison.take(&SeenRequest {
            text,
            rows_read: 9,
            rows_returned: 1,
            ranges: 1,
            bytes_read: 900,
            took_us: 100,
            at_ms: BEGIN_SECONDS * 1_000 + at as u64,
            is_refused: false,
            goes_on: false,
        });
    }
    if let Ok(serde_json::Value::Object(item)) = serde_json::from_slice(text) {
        comparison.check("battle", &item);
    }
    let report = comparison.report(BEGIN_SECONDS * 1_000 + 1_000, 0);
    assert!(report.uncovered.len() <= shelfmark_watch::compare::UNCOVERED_MAX, "too many are kept");
    assert!(report.findings.len() <= shelfmark_watch::compare::FINDINGS_MAX, "too many are kept");
    let text = serde_json::to_vec(&report).expect("a report can be written");
    assert!(serde_json::from_slice::<WatchReport>(&text).is_ok(), "a report is read again");
    drop(report.text());
}

/// Reads a report as `shelfmark watch` gets it from a server.
fn report(text: &[u8]) {
    let Ok(report) = serde_json::from_slice::<WatchReport>(text) else { return };
    drop(report.text());
    let written = serde_json::to_vec(&report).expect("what was read can be written");
    let again: WatchReport = serde_json::from_slice(&written).expect("what was written is read");
    let written_again = serde_json::to_vec(&again).expect("what was read can be written");
    assert_eq!(written, written_again, "a report is written in two ways");
}
