//! The second copy of the catalogue: each record stands under two first bytes, in blocks of their own.
//!
//! A table file is made of blocks of 4 KiB, and a block is whole or lost. The catalogue is the first
//! stretch of keys and its copy the last; between them lies a *separator*, a record as long as a
//! block, so that the two never share a block, however little else the store holds. It is written
//! with each change, for a file may hold nothing but one change.
//!
//! Invariant: record and copy are written in one commit. Where they differ, something was lost.

use std::collections::BTreeSet;

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::catalogue::keys::{
    SECTIONS, copy_key, format_record, has_copy, moved, original_key, section, separator,
};
use shelfmark_records::keys::Tree;
use shelfmark_store::{Commit, Direction, ErrorKind as StoreErrorKind, KeyRange, Snapshot, Write};
use shelfmark_store::{Page, ScanLimits};

use super::Catalogue;
use crate::error::{Error, ErrorKind, Result};

/// Writes of one commit while copies are brought up to date.
const WRITES_PER_COMMIT: usize = 64;

/// The numbers of records and copies that differed and were made equal again.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Reconciled {
    /// Records that were lost, or were as of an earlier time, and are back from their copy.
    pub records: u64,
    /// Copies that were lost, or were as of an earlier time.
    pub copies: u64,
}

/// Adds to the writes of a change of the catalogue those of the copies.
pub(super) fn with_copies(mut writes: Vec<Write>) -> Vec<Write> {
    let copies: Vec<Write> = writes.iter().filter_map(copy_of).collect();
    if !copies.is_empty() {
        writes.extend(copies);
        let (key, value) = separator();
        writes.push(Write::Put { key, value });
    }
    writes
}

fn copy_of(write: &Write) -> Option<Write> {
    match write {
        Write::Put { key, value } if has_copy(key) => {
            Some(Write::Put { key: copy_key(key), value: value.clone() })
        }
        Write::Delete { key } if has_copy(key) => Some(Write::Delete { key: copy_key(key) }),
        _ => None,
    }
}

/// Reads a record of the catalogue with `read`; its copy, if it is damaged.
pub(super) fn get<T, E: Into<Error>>(
    snapshot: &dyn Snapshot,
    key: &[u8],
    read: impl Fn(&Bytes) -> std::result::Result<T, E>,
) -> Result<Option<T>> {
    let at = |key: &[u8]| -> Result<Option<T>> {
        let found = snapshot.get(key).map_err(Error::from)?;
        found.map(|bytes| read(&bytes).map_err(Into::into)).transpose()
    };
    match at(key) {
        Err(error) if error.kind() == ErrorKind::Corrupt && has_copy(key) => {
            // An absent copy says nothing of a record that is there and damaged.
            match at(&copy_key(key)) {
                Ok(Some(found)) => Ok(Some(found)),
                _ => Err(error),
            }
        }
        outcome => outcome,
    }
}

/// Scans a part of one section of the catalogue; its copy, if a block of it is damaged.
pub(super) fn scan(
    snapshot: &dyn Snapshot,
    range: &KeyRange,
    limits: ScanLimits,
) -> shelfmark_store::Result<Page> {
    match snapshot.scan(range, Direction::Ascending, limits) {
        Err(error) if error.kind() == StoreErrorKind::Corrupt => {
            let moved = range_moved(range, Tree::CatalogueCopy);
            let Ok(mut page) = snapshot.scan(&moved, Direction::Ascending, limits) else {
                return Err(error);
            };
            for row in &mut page.rows {
                row.key = original_key(&row.key);
            }
            page.next = page.next.map(|next| range_moved(&next, Tree::Catalogue));
            Ok(page)
        }
        outcome => outcome,
    }
}

fn range_moved(range: &KeyRange, tree: Tree) -> KeyRange {
    KeyRange {
        start: moved(&range.start, tree),
        end: range.end.as_ref().map(|end| moved(end, tree)),
    }
}

impl Catalogue {
    /// Brings records and copies together: what one side lacks comes from the other, and where both
    /// are there and differ the newer one counts. A store of before gets its copies so.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Corrupt`]: a record cannot be read on either side.
    /// * Those of the store.
    pub fn reconcile(&self) -> Result<Reconciled> {
        let mut done = Reconciled::default();
        let mut writes = Vec::new();
        let snapshot = self.store.snapshot()?;
        let dropped = dropped_ids(&*snapshot)?;
        let (format_key, format) = format_record();
        for section in SECTIONS {
            for key in keys(&*snapshot, section)? {
                let (record, copy) = (snapshot.get(&key)?, snapshot.get(&copy_key(&key))?);
                let right = match key == format_key {
                    true => Some(format.clone()),
                    false => newer(section, record.as_ref(), copy.as_ref(), &dropped),
                };
                let mut put = |key: Bytes, own: Option<&Bytes>, count: &mut u64| {
                    if own == right.as_ref() {
                        return;
                    }
                    *count += 1;
                    writes.push(match &right {
                        Some(value) => Write::Put { key, value: value.clone() },
                        None => Write::Delete { key },
                    });
                };
                put(key.clone(), record.as_ref(), &mut done.records);
                put(copy_key(&key), copy.as_ref(), &mut done.copies);
            }
        }
        if writes.is_empty() {
            return Ok(done);
        }
        let (key, value) = separator();
        writes.push(Write::Put { key, value });
        // Whatever interrupts this, the next call begins anew.
        for part in writes.chunks(WRITES_PER_COMMIT) {
            self.store.commit(Commit::of(part.to_vec()))?;
        }
        self.forget_all();
        Ok(done)
    }
}

/// Returns the keys of a section of which the record or the copy is there.
fn keys(snapshot: &dyn Snapshot, section: u8) -> Result<BTreeSet<Bytes>> {
    let mut keys = BTreeSet::new();
    for tree in [Tree::Catalogue, Tree::CatalogueCopy] {
        let mut rest = Some(KeyRange::prefix(vec![tree as u8, section]));
        let limits = ScanLimits { keys_only: true, ..ScanLimits::default() };
        while let Some(range) = rest.take() {
            let page = snapshot.scan(&range, Direction::Ascending, limits)?;
            keys.extend(page.rows.iter().map(|row| original_key(&row.key)));
            rest = page.next;
        }
    }
    Ok(keys)
}

/// Returns the ids that were dropped, as far as either side knows.
fn dropped_ids(snapshot: &dyn Snapshot) -> Result<BTreeSet<u64>> {
    let ids = keys(snapshot, section::DROPPED)?.into_iter().filter_map(|key| {
        let mut rest = key.get(2..)?;
        take_ordered_varint(&mut rest).ok()
    });
    Ok(ids.collect())
}

/// Returns what both sides should hold. What neither side can be read of stays as it is.
fn newer(
    section: u8,
    record: Option<&Bytes>,
    copy: Option<&Bytes>,
    dropped: &BTreeSet<u64>,
) -> Option<Bytes> {
    let either = || record.or(copy).cloned();
    match section {
        section::TABLES => {
            let read = |bytes: Option<&Bytes>| bytes.and_then(|own| TableRecord::decode(own).ok());
            let age = |own: &TableRecord| (own.origin, own.version);
            match (read(record), read(copy)) {
                (Some(one), Some(other)) if age(&other) > age(&one) => copy.cloned(),
                // Of a table that was dropped only one side came back.
                (Some(one), None) if copy.is_none() && dropped.contains(&one.id) => None,
                (None, Some(other)) if record.is_none() && dropped.contains(&other.id) => None,
                (None, Some(_)) => copy.cloned(),
                _ => either(),
            }
        }
        // Larger numbers are later ones, and of equal length.
        section::NEXT_ID => record.max(copy).cloned(),
        section::NAMESPACES => {
            let is_whole = |own: &&Bytes| super::namespace::is_whole(own);
            record.filter(is_whole).or(copy.filter(is_whole)).cloned().or_else(either)
        }
        _ => either(),
    }
}
