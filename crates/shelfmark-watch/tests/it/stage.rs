//! Models of this repository, and requests as faces pass them on.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value as Json;
use shelfmark_admin::{ModelFile, PatternEntry, SeenRequest, SeenText, WatchReport};
use shelfmark_watch::{Comparison, Watched};

/// The moment at which tests begin.
pub(crate) const BEGUN_MS: u64 = 1_800_000_000_000;

pub(crate) fn text(model: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(model);
    std::fs::read_to_string(path).unwrap()
}

pub(crate) fn watched(text: &str, schema: &str) -> Arc<Watched> {
    let (name, schema) = ("model.shelf".to_owned(), Some(schema.to_owned()));
    Arc::new(Watched::open(&ModelFile { name, text: text.to_owned(), schema }).unwrap())
}

pub(crate) fn opened(model: &str, schema: &str) -> Comparison {
    Comparison::new(watched(&text(model), schema), BEGUN_MS)
}

fn seen(text: SeenText, (read, returned): (u64, u64), at: u64) -> SeenRequest {
    SeenRequest {
        text,
        rows_read: read,
        rows_returned: returned,
        ranges: 1,
        bytes_read: 100 * read,
        took_us: 250,
        at_ms: BEGUN_MS + at,
        is_refused: false,
        goes_on: false,
    }
}

/// A request of DynamoDB.
pub(crate) fn dynamo(
    operation: &'static str,
    body: &Json,
    rows: (u64, u64),
    at: u64,
) -> SeenRequest {
    seen(SeenText::Dynamo(operation, Bytes::from(body.to_string())), rows, at)
}

/// A request of CQL.
pub(crate) fn cql(statements: &[&str], rows: (u64, u64), at: u64) -> SeenRequest {
    let statements = statements.iter().map(|own| Arc::from(*own)).collect();
    seen(SeenText::Cql(statements), rows, at)
}

pub(crate) fn pattern<'r>(report: &'r WatchReport, name: &str) -> &'r PatternEntry {
    let found = report.patterns.iter().find(|own| own.patterns.iter().any(|own| own == name));
    found.unwrap_or_else(|| panic!("there is no pattern {name}: {}", report.text()))
}
