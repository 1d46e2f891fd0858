//! Leaves behind what another driver's engine must not believe, and adds what it must know.
//!
//! * The records of the format are the last that a target gets.
//! * Numbers and locks by which servers follow each other stay behind.
//! * Keys that only exclude transactions from each other stay behind.
//! * High-water marks are kept by an engine that is alone; another would not raise them, so they go no
//!   further than to stores of one engine.
//! * Where several servers share the target, tables in which ranges were deleted say so.
//!
//! Invariant: everything else is carried over as it is.

use std::collections::BTreeSet;

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::catalogue::keys::{catalogue_key, section};
use shelfmark_records::cells::tombstones::{self, RANGES};
use shelfmark_records::keys::Tree;
use shelfmark_store::{Direction, KeyRange, ScanLimits, Store};

use crate::error::Result;

/// The rules for each key on its way.
#[derive(Debug, Clone)]
pub struct Translation {
    /// Several servers may share the target.
    to_shared: bool,
    /// The tables in which ranges were deleted.
    ranged: BTreeSet<u64>,
}

impl Translation {
    /// Looks at both stores.
    ///
    /// # Errors
    ///
    /// * [`crate::Error::Store`]: a side failed.
    /// * [`crate::Error::Record`]: a table's record is damaged.
    pub fn of(from: &dyn Store, to: &dyn Store) -> Result<Self> {
        let to_shared = !to.caps().is_exclusive;
        let ranged = if to_shared { ranged(from)? } else { BTreeSet::new() };
        Ok(Self { to_shared, ranged })
    }

    /// Returns what the target has under `key`; `None`: nothing.
    ///
    /// # Errors
    ///
    /// * [`crate::Error::Record`]: a table's record is damaged.
    pub fn value_of(&self, key: &[u8], value: Bytes) -> Result<Option<Bytes>> {
        let &[tree, ref rest @ ..] = key else { return Ok(None) };
        let stays = match tree {
            tree if tree == Tree::Guards as u8 => true,
            tree if is_catalogue(tree) => stays_behind(rest),
            _ => self.to_shared && tombstones::is_high_water_key(key),
        };
        if stays {
            return Ok(None);
        }
        if is_catalogue(tree) && rest.first() == Some(&section::TABLES) {
            return self.table(value).map(Some);
        }
        Ok(Some(value))
    }

    /// Returns the record of a table, which says whether ranges were deleted in it.
    fn table(&self, value: Bytes) -> Result<Bytes> {
        if self.ranged.is_empty() {
            return Ok(value);
        }
        let mut record = TableRecord::decode(&value)?;
        if record.ranged || !self.ranged.contains(&record.id) {
            return Ok(value);
        }
        record.ranged = true;
        Ok(record.encode_checked()?)
    }

    /// Returns what people know a key by, for messages.
    pub(crate) fn named(key: &[u8]) -> String {
        let &[tree, ref rest @ ..] = key else { return "nothing".to_owned() };
        let mut rest = rest;
        match take_ordered_varint(&mut rest) {
            Ok(id) if tree == Tree::Rows as u8 => format!("table number {id}"),
            Ok(id) if tree == Tree::Index as u8 => format!("index number {id}"),
            _ => "the store's own records".to_owned(),
        }
    }
}

fn is_catalogue(tree: u8) -> bool {
    tree == Tree::Catalogue as u8 || tree == Tree::CatalogueCopy as u8
}

fn stays_behind(rest: &[u8]) -> bool {
    let of = [section::FORMAT, section::FORMS, section::CHANGE_LOCK, section::MIGRATION];
    rest.first().is_some_and(|own| of.contains(own))
}

/// Returns the tables of a store that have deletions of ranges.
fn ranged(from: &dyn Store) -> Result<BTreeSet<u64>> {
    let mut found = BTreeSet::new();
    let mut rest = Some(KeyRange::prefix(catalogue_key(section::TABLES)));
    while let Some(range) = rest {
        let snapshot = from.snapshot()?;
        let page = snapshot.scan(&range, Direction::Ascending, ScanLimits::default())?;
        for row in &page.rows {
            let id = TableRecord::decode(&row.value)?.id;
            if has_ranges(from, id)? {
                found.insert(id);
            }
        }
        rest = page.next;
    }
    Ok(found)
}

fn has_ranges(from: &dyn Store, table: u64) -> Result<bool> {
    let one = ScanLimits { rows_max: 1, keys_only: true, ..ScanLimits::default() };
    for kind in RANGES.into_iter().chain([tombstones::PURGES]) {
        let mut rest = Some(KeyRange::prefix(tombstones::key(table, kind, &[])));
        while let Some(range) = rest {
            let page = from.snapshot()?.scan(&range, Direction::Ascending, one)?;
            if !page.rows.is_empty() {
                return Ok(true);
            }
            rest = page.next;
        }
    }
    Ok(false)
}
