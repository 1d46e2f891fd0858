//! Writes rows of a range that holds none into table files at once: no log, no memory table, no merge
//! of what was just flushed.
//!
//! What it is not: a commit. Nobody who validates keys learns of it, and rows are shown with the next
//! group that is published.
//!
//! Invariant: the files become part of the tree together or not at all, and never once the store was
//! told to close.

use bytes::Bytes;

use crate::contract::{Error, ErrorKind, Result};
use crate::locks::lock;

use super::bytes::wide;
use super::fault;
use super::inner::Inner;
use super::submit::check_row;

/// Rows as they come, checked.
struct Rows<'a> {
    rows: &'a mut dyn Iterator<Item = Result<(Bytes, Bytes)>>,
    inner: &'a Inner,
    before: Option<Bytes>,
    bytes: u64,
}

impl Inner {
    /// Implements [`crate::Store::ingest`].
    pub(super) fn ingest(
        &self,
        rows: &mut dyn Iterator<Item = Result<(Bytes, Bytes)>>,
    ) -> Result<()> {
        // Held until the files belong to the tree or are gone; a store that closes waits for it.
        let _ingesting = lock(&self.signals.ingesting);
        self.queue.lock().check_open()?;
        self.space.check(false)?;
        self.check_backlog()?;
        let first_table = self.signals.begin_ingestion(|| self.tree.next_table());
        let mut rows = Rows { rows, inner: self, before: None, bytes: 0 };
        let written = self.tree.ingest(&mut rows, || self.check_not_closing());
        let left_behind = self.signals.end_ingestion();
        let left_behind = match &written {
            Ok(()) => left_behind,
            Err(_) => Some(left_behind.map_or(first_table, |from| from.min(first_table))),
        };
        if let Some(from) = left_behind
            && !self.stop.is_stopped()
        {
            // A merge may be writing files of such numbers.
            let _compacting = lock(&self.signals.compacting);
            let _flushing = lock(&self.signals.flushing);
            self.tree.remove_unfinished(from)?;
        }
        written?;
        self.space.spend(rows.bytes);
        self.tree.refresh(|view| self.snapshots.install(view));
        self.measure_backlog();
        self.tree.keep_identities();
        self.signals.compaction_due();
        Ok(())
    }

    fn check_not_closing(&self) -> Result<()> {
        if self.stop.is_stopped() { Err(fault::closed()) } else { Ok(()) }
    }
}

impl Rows<'_> {
    fn check(&mut self, key: &Bytes, value: &Bytes) -> Result<()> {
        self.inner.check_not_closing()?;
        check_row(key.len(), value.len())?;
        if self.before.as_ref().is_some_and(|before| before >= key) {
            return Err(Error::new(ErrorKind::Invalid, "the keys to ingest are not ascending"));
        }
        self.before = Some(key.clone());
        // A scan that found nothing here may have noted so.
        self.inner.gaps.written(key);
        self.bytes += wide(key.len() + value.len());
        Ok(())
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<(Bytes, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next()?;
        Some(row.and_then(|(key, value)| self.check(&key, &value).map(|()| (key, value))))
    }
}
