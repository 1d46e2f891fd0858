//! A server with the tables of one schema, whichever language it speaks.
//!
//! Invariant: items have one form, that of DynamoDB; a server of CQL shows its rows in it.

use serde_json::Value as Json;
use shelfmark_design::trial::Ask;

use super::fill::{Open, Places};

/// Tables on a server, with the requests that it takes.
pub(super) trait Server {
    /// Puts the values of one call in a request.
    fn fill(&self, places: &Places<'_>, request: &Json) -> Result<Json, Open>;

    /// Returns true if a filled request names the keys that the plan asks for.
    fn asks_for(&self, request: &Json, ask: &Ask) -> bool;

    /// Sends a read and follows its pages, as far as its own limit allows.
    fn read(&self, operation: &str, request: &Json) -> Result<Vec<Json>, String>;

    /// Sends a read of one page, behind the cursor that the page before gave, and returns the rows and
    /// the cursor of the next page; `None` on the last one.
    fn page(
        &self,
        operation: &str,
        request: &Json,
        cursor: Option<&Json>,
    ) -> Result<(Vec<Json>, Option<Json>), String>;

    /// Sends a change; false if its condition does not hold, and nothing was changed.
    fn change(&self, operation: &str, request: &Json) -> Result<bool, String>;

    /// Makes the tables hold these items, and no other.
    fn hold(&self, items: &[(String, Json)]) -> Result<(), String>;

    /// Returns every item of every table, in order.
    fn dump(&self) -> Result<Vec<(String, Json)>, String>;

    /// Returns items as the server keeps them, in order: what it does not tell apart is one.
    fn kept(&self, items: Vec<(String, Json)>) -> Vec<(String, Json)> {
        in_order(items)
    }

    /// Returns how many times a read is sent until indexes show the last writes.
    fn patience(&self) -> usize {
        1
    }

    /// Drops the tables.
    fn drop_tables(&self) -> Result<(), String>;
}

/// Sorts items by their text, so that two lists can be compared.
pub(super) fn in_order(mut items: Vec<(String, Json)>) -> Vec<(String, Json)> {
    let sorted = |item: &Json| {
        let mut fields: Vec<String> = item
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}{value}"))
            .collect();
        fields.sort();
        fields
    };
    items.sort_by_cached_key(|(table, item)| (table.clone(), sorted(item)));
    items
}
