//! How mean the store is.

use std::time::Duration;

/// Limits, probabilities and the seed that decides when which fault comes.
///
/// Sizes in bytes; probabilities in cases of 1,000. Every driver that is planned takes at least
/// these sizes, so what runs within them runs everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeanestOptions {
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// Longest key. 7 KiB: TiKV's 8 KiB hold the encoded key, which is 9/8 of ours and a little.
    pub key_size_bytes_max: usize,
    /// Longest value. 72 KiB: a row's chunk of 64 KiB with its head.
    pub value_size_bytes_max: usize,
    /// Largest commit. 16 MiB: a DynamoDB transaction writes 4 MB, and a change log may keep an old
    /// and a new image of them beside the indexes.
    pub commit_size_bytes_max: usize,
    /// Most writes of one commit. 8,192: 100 items with 20 index entries each to go and to come,
    /// and as much again.
    pub commit_writes_max: usize,
    /// A page has at most this many rows, and as few as one.
    pub page_rows_max: usize,
    /// A page is empty although the range goes on.
    pub empty_page: u16,
    /// A commit that validates keys is refused with `Conflict` although nobody wrote them.
    pub conflict: u16,
    /// A commit is refused with `Busy`.
    pub busy: u16,
    /// What a refused commit is told to wait.
    pub busy_wait: Duration,
    /// A commit ends as `Undetermined`. Every other one of them was applied.
    pub undetermined: u16,
    /// A snapshot is too old at once. 0 unless chosen: readers that answer it to their caller are
    /// right to do so.
    pub too_old: u16,
    /// A commit is acknowledged later and from another thread, and published only then.
    pub late: u16,
    /// How much later.
    pub late_wait: Duration,
    /// `latest` shows the published moment although more is queued.
    pub behind: u16,
}

impl MeanestOptions {
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
