//! Texts from nowhere into the modeller: parsing, formatting, resolving, the JSON form.
//!
//! Input: the text. What parses must format to a text that formats to itself, and what resolves
//! must come back from its JSON form.

use shelfmark_design::Document;

/// Runs one input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(once) = Document::format("fuzz", &text) {
        let twice = Document::format("fuzz", &once).expect("a formatted text parses");
        assert_eq!(once, twice, "formatting twice changes something");
    }
    let _ = Document::text_of_json("fuzz", &text);
    if let Ok(document) = Document::parse("fuzz", &text) {
        let json = document.to_json().expect("a model has a JSON form");
        let back = Document::text_of_json("fuzz", &json.to_string()).expect("it reads back");
        Document::parse("fuzz", &back).expect("it is still a model");
    }
}
