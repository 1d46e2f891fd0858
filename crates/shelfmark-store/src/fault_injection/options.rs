//! Limits and fault rates of the fault-injecting driver.

use std::time::Duration;

/// Limits, probabilities and the seed that decides when which fault comes.
///
/// Sizes in bytes; probabilities in cases of 1,000. Every driver that is planned takes at least
/// these sizes, so what runs within them runs everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultOptions {
    /// The seed of all random decisions.
    pub seed: u64,
    /// Longest key.
    pub key_size_bytes_max: usize,
    /// Longest value. 72 KiB: a row's chunk of 64 KiB with its head.
    pub value_size_bytes_max: usize,
    /// Largest commit. 16 MiB: a DynamoDB transaction writes 4 MB, and a change log may keep an old
    /// and a new image of them beside the indexes.
    pub commit_size_bytes_max: usize,
    /// Most writes of one commit. 8,192: 100 items with 20 index entries each to go and to come,
    /// and as much again.
    pub commit_writes_max: usize,
    /// Limits the rows of a page, which may have as few as one.
    pub page_rows_max: usize,
    /// Rate of pages that are empty although the range goes on.
    pub empty_page: u16,
    /// Rate of commits that are refused with `Conflict` although nobody wrote their keys.
    pub conflict: u16,
    /// Rate of commits that are refused with `Busy`.
    pub busy: u16,
    /// The retry time of a refused commit.
    pub busy_wait: Duration,
    /// Rate of commits that end as `Undetermined`; every other one of them was applied.
    pub undetermined: u16,
    /// Rate of snapshots that are too old at once.
    pub too_old: u16,
    /// Rate of commits that are acknowledged late and from another thread, and published only then.
    pub late: u16,
    /// The delay of late acknowledgements.
    pub late_wait: Duration,
    /// Rate of `latest` calls that return the published state although more is queued.
    pub behind: u16,
}

impl FaultOptions {
    /// Creates options with every limit at its lowest and every fault of a commit.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            key_size_bytes_max: 7 * 1024,
            value_size_bytes_max: 72 * 1024,
            commit_size_bytes_max: 16 * 1024 * 1024,
            commit_writes_max: 8192,
            page_rows_max: 7,
            empty_page: 60,
            conflict: 40,
            busy: 20,
            busy_wait: Duration::from_micros(20),
            undetermined: 10,
            too_old: 0,
            late: 150,
            late_wait: Duration::from_micros(100),
            behind: 200,
        }
    }
}
