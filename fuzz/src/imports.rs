//! Schemas of other tools from nowhere into the modeller's importers.
//!
//! Input: the text, CQL or a Workbench model by its first character. What is imported must be a
//! model, and importing it twice must give the same text.

use shelfmark_design::Document;
use shelfmark_design::import::{Source, import};

/// Runs one input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let from = Source::of(&text);
    if let Ok(model) = import("fuzz", &text, from) {
        Document::parse("fuzz", &model).expect("what is imported is a model");
        let again = import("fuzz", &text, from).expect("it was imported before");
        assert_eq!(model, again, "importing twice gives two texts");
    }
}
