//! A snapshot that is read in small, uneven pages.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::dice::Dice;
use crate::contract::{
    CommitNumber, Direction, Error, ErrorKind, KeyRange, Page, Result, ScanLimits, Snapshot,
    SnapshotId,
};

pub(super) struct FaultInjectingSnapshot {
    inner: Arc<dyn Snapshot>,
    dice: Arc<Dice>,
    is_too_old: bool,
}

impl FaultInjectingSnapshot {
    pub(super) fn wrap(inner: Arc<dyn Snapshot>, dice: &Arc<Dice>) -> Arc<dyn Snapshot> {
        let is_too_old = dice.is_too_old();
        if is_too_old {
            dice.count(|counts| &counts.too_old);
        }
        Arc::new(Self { inner, dice: Arc::clone(dice), is_too_old })
    }

    fn check(&self) -> Result<()> {
        if self.is_too_old {
            return Err(Error::new(ErrorKind::TooOld, "injected: the snapshot is too old"));
        }
        Ok(())
    }
}

impl Snapshot for FaultInjectingSnapshot {
    fn id(&self) -> SnapshotId {
        self.inner.id()
    }

    fn stamped_through(&self) -> Result<CommitNumber> {
        self.check()?;
        self.inner.stamped_through()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.check()?;
        self.inner.get(key)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.check()?;
        self.inner.get_many(keys)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        self.check()?;
        let fate = self.dice.page(limits.rows_max);
        if fate.is_empty && !range.is_empty() {
            self.dice.count(|counts| &counts.empty_pages);
            return Ok(Page { rows: Vec::new(), next: Some(range.clone()) });
        }
        let limits = ScanLimits { rows_max: fate.rows_max, ..limits };
        let mut page = self.inner.scan(range, direction, limits)?;
        if let (true, None, Some(last)) = (fate.is_followed, &page.next, page.rows.last()) {
            page.next = Some(range.after(&last.key, direction));
        }
        Ok(page)
    }

    fn time_left(&self) -> Option<Duration> {
        if self.is_too_old { Some(Duration::ZERO) } else { self.inner.time_left() }
    }
}
