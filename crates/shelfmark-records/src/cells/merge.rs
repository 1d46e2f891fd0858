//! Merging what several writes say about one row.
//!
//! Source of the tie rules: Apache Cassandra's reconciliation of cells, read 2026-11: the later
//! timestamp; then dead or expiring before plain; then dead before expiring; then the later local
//! time; then the larger value.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Cell, CellKey, CellRow, Content, Deletion, Expiry, Liveness, Timestamp};

impl CellRow {
    /// Adds what another write, or another part of the same row, says.
    pub fn merge(&mut self, other: Self) {
        self.deletion = later(self.deletion, other.deletion);
        for (column, deletion) in other.collections {
            self.take_collection(column, deletion);
        }
        self.liveness = match (self.liveness, other.liveness) {
            (Some(a), Some(b)) => Some(if compare_liveness(&a, &b).is_lt() { b } else { a }),
            (a, b) => a.or(b),
        };
        for (key, cell) in other.cells {
            self.take_cell(key, cell);
        }
        self.drop_covered();
    }

    /// Adds that a collection was deleted.
    pub fn take_collection(&mut self, column: u32, deletion: Deletion) {
        let kept = later(self.collections.get(&column).copied(), Some(deletion));
        self.collections.extend(kept.map(|deletion| (column, deletion)));
    }

    /// Adds what a write says about one cell.
    pub fn take_cell(&mut self, key: CellKey, cell: Cell) {
        match self.cells.get_mut(&key) {
            Some(own) if compare(own, &cell).is_lt() => *own = cell,
            Some(_) => {}
            None => {
                self.cells.insert(key, cell);
            }
        }
    }

    /// Forgets everything that was written up to a timestamp: a tombstone tells of it.
    pub fn delete_up_to(&mut self, timestamp: Timestamp) {
        let own = self.deletion;
        self.deletion = Some(Deletion { timestamp, at_seconds: 0 });
        self.drop_covered();
        self.deletion = own.filter(|own| own.timestamp > timestamp);
    }

    /// Forgets what a deletion of the row or of a collection covers.
    fn drop_covered(&mut self) {
        let row = self.deletion.map(|deletion| deletion.timestamp);
        if row.is_none() && self.collections.is_empty() {
            return;
        }
        let covered = |timestamp: Timestamp, by: Option<Timestamp>| {
            by.is_some_and(|deleted| timestamp <= deleted)
        };
        self.collections.retain(|_, deletion| !covered(deletion.timestamp, row));
        let collections: BTreeMap<u32, Timestamp> =
            self.collections.iter().map(|(column, own)| (*column, own.timestamp)).collect();
        self.cells.retain(|key, cell| {
            !covered(cell.timestamp, row)
                && !covered(cell.timestamp, collections.get(&key.column).copied())
        });
        if self.liveness.is_some_and(|liveness| covered(liveness.timestamp, row)) {
            self.liveness = None;
        }
    }

    /// Forgets deletions that happened before `before_seconds`, and what expired before it: the
    /// grace period is over. Expired cells become dead ones first.
    pub fn forget(&mut self, now_seconds: u64, before_seconds: u64) {
        for cell in self.cells.values_mut() {
            if let Content::Live { expiry: Some(expiry), .. } = &cell.content
                && expiry.at_seconds <= now_seconds
            {
                cell.content = Content::Dead { at_seconds: expiry.at_seconds };
            }
        }
        let is_over = |at_seconds: u64| at_seconds < before_seconds;
        self.cells.retain(
            |_, cell| !matches!(cell.content, Content::Dead { at_seconds } if is_over(at_seconds)),
        );
        self.collections.retain(|_, deletion| !is_over(deletion.at_seconds));
        self.deletion = self.deletion.filter(|deletion| !is_over(deletion.at_seconds));
        self.liveness = self
            .liveness
            .filter(|liveness| liveness.expiry.is_none_or(|expiry| !is_over(expiry.at_seconds)));
    }
}

fn later(a: Option<Deletion>, b: Option<Deletion>) -> Option<Deletion> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let order = (a.timestamp, a.at_seconds).cmp(&(b.timestamp, b.at_seconds));
            Some(if order.is_lt() { b } else { a })
        }
        (a, b) => a.or(b),
    }
}

/// Orders two cells of one key: the greater one wins.
fn compare(a: &Cell, b: &Cell) -> Ordering {
    a.timestamp.cmp(&b.timestamp).then_with(|| {
        let (rank_a, rank_b) = (rank(&a.content), rank(&b.content));
        rank_a.cmp(&rank_b).then_with(|| value(&a.content).cmp(value(&b.content)))
    })
}

/// Returns the rank of a content: kind (plain, expiring, dead), then local time, then the shorter
/// time to live, which was written later.
fn rank(content: &Content) -> (u8, u64, u32) {
    match content {
        Content::Live { expiry: None, .. } => (0, 0, 0),
        Content::Live { expiry: Some(Expiry { at_seconds, ttl_seconds }), .. } => {
            (1, *at_seconds, u32::MAX - ttl_seconds)
        }
        Content::Dead { at_seconds } => (2, *at_seconds, 0),
    }
}

fn value(content: &Content) -> &[u8] {
    match content {
        Content::Live { value, .. } => value,
        Content::Dead { .. } => &[],
    }
}

fn compare_liveness(a: &Liveness, b: &Liveness) -> Ordering {
    let rank = |liveness: &Liveness| {
        let expiry = liveness.expiry.map(|own| (own.at_seconds, u32::MAX - own.ttl_seconds));
        (liveness.timestamp, expiry)
    };
    rank(a).cmp(&rank(b))
}
