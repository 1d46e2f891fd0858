//! Reads all records of a store and checks that they belong together.
//!
//! Every key and record decodes, every row has its entries in all indexes and every entry its row,
//! views are what their bases make of them, counts are what is there, and what expires or is to be
//! forgotten is in the queue. What lies below, files and their
//! checksums, is the store's to verify; here it may be as it was written and yet be wrong.
//!
//! What it is not: a repair. Nothing is changed, whatever is found.
//!
//! Memory: one row with what follows from it, the ids of all tables, the schemas of those of cells,
//! the counts of one partition's shards, at most [`FINDINGS_MAX`] findings, and 16 bytes for each row
//! of cells that is due at another time than its table's grace period now says.

mod catalogue;
mod cells;
mod derived;
mod items;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

pub(crate) use self::derived::each_change;
use crate::engine::Engine;
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::rows::Moment;

/// Findings that are kept; further ones are only counted.
pub const FINDINGS_MAX: usize = 100;

/// Bytes of a key that a finding's text shows.
const SHOWN_KEY_BYTES_MAX: usize = 256;

/// Something that does not belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The part that was looked at: the rows of a table, an index, the catalogue.
    pub place: String,
    /// The key in the store.
    pub key: Bytes,
    /// The description of the fault.
    pub why: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, key {}: {}", self.place, hex(&self.key), self.why)
    }
}

/// Shows the beginning of a key.
fn hex(key: &[u8]) -> String {
    let shown = hex::encode(key.get(..SHOWN_KEY_BYTES_MAX).unwrap_or(key));
    match key.len() {
        0..=SHOWN_KEY_BYTES_MAX => shown,
        bytes => format!("{shown}… ({bytes} bytes)"),
    }
}

/// The result of [`Engine::verify`]: what it read and found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// Tables.
    pub tables: u64,
    /// Rows, those of views included.
    pub rows: u64,
    /// Entries of indexes.
    pub entries: u64,
    /// Entries of change logs.
    pub changes: u64,
    /// Due times, those that lead nowhere any more included: the sweep sees to them.
    pub due_times: u64,
    /// Request tokens.
    pub tokens: u64,
    /// The faults, in the order they were found; empty if all is well.
    pub findings: Vec<Finding>,
    /// Findings beyond [`FINDINGS_MAX`].
    pub findings_more: u64,
}

impl Verification {
    /// Tells whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    fn add(&mut self, place: impl Into<String>, key: &[u8], why: impl Into<String>) {
        if self.findings.len() >= FINDINGS_MAX {
            self.findings_more += 1;
            return;
        }
        let key = Bytes::copy_from_slice(key);
        self.findings.push(Finding { place: place.into(), key, why: why.into() });
    }
}

/// The state that all checks share.
struct Checker {
    moment: Moment,
    /// Second since the Unix epoch.
    now: u64,
    out: Verification,
    /// Ids that may have keys: of tables, of indexes, and of those that were dropped.
    ids: BTreeSet<u64>,
    /// Every table's record could be read.
    knows_all_ids: bool,
    /// Tables of cells, by id.
    cells_tables: BTreeMap<u64, Arc<Table>>,
    /// Rows and tombstones of cells, by table and hash, that are not due when their table now says.
    not_queued: BTreeSet<(u64, u64)>,
}

impl Engine {
    /// Reads every record of the engine and checks that they belong together.
    ///
    /// Beside writers it may report what changed while it was being looked at where the driver keeps no
    /// moment for as long as this takes ([`shelfmark_store::Store::snapshot_for_copy`]); the embedded one
    /// does. Damage is no error of this function: it is in the findings.
    ///
    /// Cost: reads everything once in order, and of each row what follows from it by point reads.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn verify(&self) -> Result<Verification> {
        let mut checker = Checker {
            moment: Moment::take_for_copy(self.store())?,
            now: self.now(),
            out: Verification::default(),
            ids: BTreeSet::new(),
            knows_all_ids: true,
            cells_tables: BTreeMap::new(),
            not_queued: BTreeSet::new(),
        };
        checker.catalogue()?;
        checker.due_times()?;
        checker.not_queued();
        checker.tokens()?;
        checker.strangers()?;
        Ok(checker.out)
    }
}
