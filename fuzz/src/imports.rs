//! Schemas of other tools from nowhere into the modeller's importers.
//!
//! Input: the text, which is read in every format, and as a query log. What is imported must be a model, and importing
//! it twice must give the same text.

use shelfmark_design::Document;
use shelfmark_design_import::{Log, Source, import, import_with_log};

/// Runs one input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = Source::of("", &text);
    let log = Log { text: &text, span_seconds: Some(1.0) };
    let tables = "CREATE TABLE a (b int, c text, PRIMARY KEY (b)); CREATE TABLE d (e int PRIMARY KEY, \
                  b int REFERENCES a (b));";
    if let Ok(model) = import_with_log("fuzz", tables, log) {
        Document::parse("fuzz", &model).expect("what a log gives is a model");
    }
    for (name, from) in Source::ALL {
        if let Ok(model) = import("fuzz", &text, from) {
            Document::parse("fuzz", &model).expect("what is imported is a model");
            let again = import("fuzz", &text, from).expect("it was imported before");
            assert_eq!(model, again, "importing {name} twice gives two texts");
        }
    }
}
