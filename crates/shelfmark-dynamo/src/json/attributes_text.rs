//! Attributes as one text, for faces that show them so: DynamoDB's JSON, which tells every type apart.
//!
//! Invariant: what was written reads back as it was.

use shelfmark_engine::AttributesText;
use shelfmark_model::Item;

use super::{Reader, Writer, put_item};

/// Attributes as DynamoDB's JSON: `{"title": {"S": "x"}}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct AttributesJson;

impl AttributesText for AttributesJson {
    fn text(&self, attributes: &Item) -> String {
        let mut out = Writer::with_capacity(256);
        put_item(&mut out, attributes);
        // JSON is written as UTF-8.
        String::from_utf8(out.out).unwrap_or_default()
    }

    fn attributes(&self, text: &str) -> Result<Item, String> {
        let wanted = || "it is one object such as {\"title\": {\"S\": \"x\"}}".to_owned();
        if text.trim().is_empty() {
            return Err(wanted());
        }
        let body = format!("{{\"Item\":{text}}}");
        let (mut found, mut members) = (None, 0);
        let read = Reader::body(body.as_bytes(), |reader, _| {
            members += 1;
            reader.refuse_repeats();
            found = reader.attributes()?;
            Ok(())
        });
        if members > 1 {
            return Err(wanted());
        }
        read.map_err(|error| format!("{}; {}", error.message, wanted()))?;
        let attributes = found.ok_or_else(wanted)?;
        let item = attributes.checked().map_err(|error| error.message)?;
        match item.iter().find(|(name, _)| name.is_empty()) {
            Some(_) => Err("an attribute has no name".to_owned()),
            None => Ok(item),
        }
    }
}
