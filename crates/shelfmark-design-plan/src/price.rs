//! Price lists: the cost of a request unit and of a stored byte, per target, as data with a date.
//!
//! What it is not: no bill. Free tiers, discounts, backups and traffic are left out.
//!
//! Invariant: every list parses and has positive prices; a test reads them all.

use std::sync::LazyLock;

use serde::Deserialize;

/// Seconds of a month, as calendars average it.
pub const MONTH_SECONDS: f64 = 30.5 * 86_400.0;

/// Bytes of the gigabyte that storage is billed by.
const GIGABYTE: f64 = 1_073_741_824.0;

/// The prices of one target, in dollars.
#[derive(Debug, Clone, Deserialize)]
pub struct Prices {
    /// The target.
    pub target: String,
    /// The month of the prices.
    pub date: String,
    /// The source of the prices.
    pub source: String,
    /// A million read units.
    pub read_million: f64,
    /// A million write units.
    pub write_million: f64,
    /// A gigabyte for a month.
    pub storage_gb_month: f64,
    /// Bytes that one read unit reads.
    pub read_bytes: f64,
    /// Bytes that one write unit writes.
    pub write_bytes: f64,
    /// Units of a read that may be stale.
    pub weak_read: f64,
    /// Factor of a write within a transaction.
    pub transaction: f64,
    /// Bytes that are billed with each stored item.
    pub item_head_bytes: f64,
    /// Read units a second that one partition serves.
    pub partition_reads: f64,
    /// Write units a second that one partition takes.
    pub partition_writes: f64,
}

const FILES: [&str; 3] = [
    include_str!("prices/dynamodb.json"),
    include_str!("prices/cql.json"),
    include_str!("prices/shelfmark.json"),
];

static LISTS: LazyLock<Vec<Prices>> =
    LazyLock::new(|| FILES.iter().filter_map(|text| serde_json::from_str(text).ok()).collect());

impl Prices {
    /// Returns the prices of a target; those of `shelfmark` for one that has none.
    #[must_use]
    pub fn of(target: &str) -> Option<&'static Self> {
        let own = LISTS.iter().find(|list| list.target == target);
        own.or_else(|| LISTS.iter().find(|list| list.target == "shelfmark"))
    }

    /// Returns the read units of one request that reads these bytes.
    #[must_use]
    pub fn read_units(&self, bytes: f64, strong: bool) -> f64 {
        let whole = (bytes / self.read_bytes).ceil().max(1.0);
        if strong { whole } else { whole * self.weak_read }
    }

    /// Returns the write units of one item or index entry of these bytes.
    #[must_use]
    pub fn write_units(&self, bytes: f64) -> f64 {
        (bytes / self.write_bytes).ceil().max(1.0)
    }

    /// Returns the dollars a month of read units a second.
    #[must_use]
    pub fn reads(&self, units_per_second: f64) -> f64 {
        units_per_second * MONTH_SECONDS / 1e6 * self.read_million
    }

    /// Returns the dollars a month of write units a second.
    #[must_use]
    pub fn writes(&self, units_per_second: f64) -> f64 {
        units_per_second * MONTH_SECONDS / 1e6 * self.write_million
    }

    /// Returns the dollars a month of items of these bytes.
    #[must_use]
    pub fn storage(&self, items: f64, bytes: f64) -> f64 {
        items * (bytes + self.item_head_bytes) / GIGABYTE * self.storage_gb_month
    }
}

#[cfg(test)]
mod tests {
    use super::{FILES, LISTS, Prices};

    #[test]
    fn every_list_is_read_and_positive() {
        assert_eq!(LISTS.len(), FILES.len());
        for list in LISTS.iter() {
            let prices = [list.read_million, list.write_million, list.storage_gb_month];
            assert!(prices.iter().all(|price| *price > 0.0), "{}", list.target);
            assert!(list.source.len() > 20 && list.date.len() == 7, "{}", list.target);
        }
    }

    #[test]
    fn units_are_rounded_up() {
        let list = Prices::of("dynamodb").expect("prices");
        assert_eq!(list.read_units(4096.0, true), 1.0);
        assert_eq!(list.read_units(4097.0, false), 1.0);
        assert_eq!(list.read_units(0.0, false), 0.5);
        assert_eq!(list.write_units(1025.0), 2.0);
        let month = list.writes(1.0);
        assert!((1.6..1.7).contains(&month), "one write a second: {month}");
    }
}
