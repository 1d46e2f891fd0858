//! Items as DynamoDB's JSON, in their fixed form.

use shelfmark_dynamo::AttributesJson;
use shelfmark_engine::AttributesText as _;
use shelfmark_model::Item;

/// Returns an item as DynamoDB's JSON: the form of which checksums are made.
#[must_use]
pub fn text_of(item: &Item) -> String {
    AttributesJson.text(item)
}

/// Parses an item of DynamoDB's JSON.
///
/// # Errors
///
/// * What is wrong with it, as a message.
pub fn item_of(text: &str) -> Result<Item, String> {
    AttributesJson.attributes(text)
}
