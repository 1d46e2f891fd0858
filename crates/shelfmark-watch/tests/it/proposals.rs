//! The requests of every model of this repository are covered by the patterns that they come from, and
//! each line that is proposed is one of the language.

use std::sync::Arc;

use shelfmark_admin::ModelFile;
use shelfmark_design::Document;
use shelfmark_watch::asked::{self, Reading};
use shelfmark_watch::shape::Kind;
use shelfmark_watch::{Comparison, Watched};

use crate::stage::{BEGUN_MS, cql, dynamo, pattern, text, watched};

const MODELS: [(&str, &str); 8] = [
    ("reference/battle.shelf", "corrected"),
    ("reference/leaderboard.shelf", "corrected"),
    ("reference/messaging.shelf", "published"),
    ("designs/shop.shelf", "published"),
    ("designs/carts.shelf", "published"),
    ("designs/music.shelf", "published"),
    ("recipes/counters.shelf", "counted"),
    ("recipes/timeseries.shelf", "by_day"),
];

#[test]
fn what_a_model_sends_it_covers() {
    for (model, schema) in MODELS {
        let document = Document::parse(model, &text(model)).unwrap();
        let requests = document.calls(schema, None).unwrap();
        let watched = watched(&text(model), schema);
        let mut comparison = Comparison::new(Arc::clone(&watched), BEGUN_MS);
        for call in &requests.calls {
            let seen = match call.request.get("statement").and_then(|own| own.as_str()) {
                Some(statement) => cql(&[statement], (0, 0), 0),
                None => {
                    let operation = call.operation.clone().leak();
                    dynamo(operation, &call.request, (0, 0), 0)
                }
            };
            comparison.take(&seen);
        }
        let report = comparison.report(BEGUN_MS + 1_000, 0);
        assert_eq!(report.uncovered, [], "{model}: {}", report.text());
        for call in requests.calls.iter().filter(|call| call.step == 1) {
            let own = pattern(&report, &call.pattern);
            assert!(own.calls + own.further > 0, "{model}, {}: {}", call.pattern, report.text());
        }
    }
}

#[test]
fn what_is_proposed_is_a_line_of_the_language() {
    let mut lines = 0;
    for (model, schema) in MODELS {
        let source = text(model);
        let mut bare = Comparison::new(without_patterns(&source, schema), BEGUN_MS);
        let whole = watched(&source, schema);
        for (kind, statement) in requests(&source, schema) {
            bare.take(&match kind.as_str() {
                "statement" => cql(&[statement.as_str()], (0, 0), 0),
                _ => dynamo(kind.leak(), &serde_json::from_str(&statement).unwrap(), (0, 0), 0),
            });
        }
        let report = bare.report(BEGUN_MS + 1_000, 0);
        assert!(!report.uncovered.is_empty(), "{model}");
        for own in &report.uncovered {
            for line in &own.proposed {
                let text = format!("{}\n{line}\n", without(&source));
                let parsed = Document::parse(model, &text);
                assert!(parsed.is_ok(), "{model}: {line}\n{}", parsed.unwrap_err());
                lines += 1;
            }
        }
        assert!(whole.groups.iter().any(|own| own.shape.kind == Kind::Read), "{model}");
    }
    assert!(lines > 40, "{lines} lines were proposed");
}

/// The requests of a model: operation and text.
fn requests(source: &str, schema: &str) -> Vec<(String, String)> {
    let document = Document::parse("model", source).unwrap();
    let calls = document.calls(schema, None).unwrap().calls;
    let text = |call: shelfmark_design::Call| {
        let statement = call.request.get("statement").and_then(|own| own.as_str());
        let text = statement.map_or_else(|| call.request.to_string(), str::to_owned);
        (call.operation, text)
    };
    calls.into_iter().map(text).collect()
}

/// The text of a model without its patterns, and without what its schemas say of them.
fn without(source: &str) -> String {
    let (mut out, mut inside) = (String::new(), false);
    for line in source.lines() {
        let starts = |words: &[&str]| words.iter().any(|own| line.starts_with(own));
        // A pattern may go on over indented lines.
        let begins = starts(&["read ", "write ", "  serve ", "  write ", "allow "]);
        inside = begins || (inside && line.starts_with("    "));
        if !inside {
            out += line;
            out.push('\n');
        }
    }
    out
}

/// The same keys without any pattern: whatever is asked is uncovered.
fn without_patterns(source: &str, schema: &str) -> Arc<Watched> {
    let (name, schema) = ("bare".to_owned(), Some(schema.to_owned()));
    let opened = Watched::open(&ModelFile { name, text: without(source), schema });
    Arc::new(opened.unwrap_or_else(|why| panic!("{why}")))
}

#[test]
fn a_statement_that_cannot_be_read_is_told_so() {
    assert_eq!(asked::statement("SELECT FROM"), Reading::Unread);
    assert_eq!(asked::statement("USE k"), Reading::Asks(Vec::new()));
}
