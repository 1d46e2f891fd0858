//! Copies of whole stores, key by key, into one file, from which a store on any driver is made.
//!
//! ```text
//! begin   "shelfmark store", 01
//! block   bytes of the rows (4), checksum of them (8), rows: key and value, each with its length
//! end     0 (4), checksum of the number (8), number of rows (8)
//! ```
//! Numbers are big-endian, lengths of keys and values are varints. The checksum is XXH3 with the number
//! of the block as its seed.
//!
//! What is not in it: change logs, for their order is that of one store's commits, and what servers tell each
//! other. So change streams and continuous backups end with a restore, and are to be started again.
//!
//! Invariant: a copy shows one moment. A file that is cut, or changed anywhere, is refused.

use std::io::{Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::TableName;
use shelfmark_records::catalogue::MigrationMark;
use shelfmark_records::catalogue::keys::{migration_key, section};
use shelfmark_records::cells::tombstones::{self, PURGES, RANGES};
use shelfmark_records::keys::Tree;
use shelfmark_records::varint::{Reader, put_varint};
use shelfmark_store::{
    Commit, Direction, KeyRange, ScanLimits, Snapshot, Store, Write as StoreWrite,
};
use shelfmark_tables::catalogue::{BACKUPS_NAMESPACE, Owner};
use shelfmark_tables::rows::patiently;
use shelfmark_tables::streams::STREAMS_NAMESPACE;
use shelfmark_tables::{Environment, Error, ErrorKind, Result};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::fill::Fill;
use super::history::HISTORIES;
use super::keeper::RUNNING;
use crate::engine::Engine;

const BEGIN: &[u8; 16] = b"shelfmark store\x01";

/// Bytes of rows in a block; a row that is larger has one of its own.
const BLOCK_BYTES: usize = 1024 * 1024;

/// The largest block that is read: the largest row that any driver takes, and a block.
const BLOCK_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The size of a copy of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreCopy {
    /// Keys and their values.
    pub rows: u64,
    /// Bytes of both.
    pub bytes: u64,
}

impl Engine {
    /// Writes a copy of the whole store as of one moment.
    ///
    /// Writers may go on for as long as the driver keeps a moment for a copy
    /// ([`shelfmark_store::Store::snapshot_for_copy`]): the embedded one for a day, the others for as long
    /// as any snapshot ([`shelfmark_store::Caps::snapshot_age_max`]). Without writers it may take any time.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::TooOld`]: the store was written to for longer than that. Stop the writers.
    /// * [`ErrorKind::Io`]: the copy could not be written.
    pub fn write_store_copy(&self, out: &mut dyn Write) -> Result<StoreCopy> {
        let store = &self.inner.store;
        let mut snapshot = store.snapshot_for_copy()?;
        let moment = snapshot.id().commit;
        let mut writer =
            BlockWriter { out, block: Vec::new(), number: 0, copied: StoreCopy::default() };
        writer.put(BEGIN)?;
        let mut rest = Some(KeyRange::all());
        while let Some(range) = rest.take() {
            let view: &dyn Snapshot = &*snapshot;
            let page = view.scan(&range, Direction::Ascending, ScanLimits::default());
            let page = match page.map_err(Error::from) {
                Err(error) if error.kind() == ErrorKind::TooOld => {
                    snapshot = store.snapshot()?;
                    if snapshot.id().commit != moment {
                        let why = "the store is written to for longer than a snapshot lasts; stop the \
                                   writers, and copy it again";
                        return Err(Error::new(ErrorKind::TooOld, why));
                    }
                    rest = Some(range);
                    continue;
                }
                page => page?,
            };
            for row in page.rows.iter().filter(|row| is_copied(&row.key)) {
                writer.row(&row.key, &row.value)?;
            }
            rest = page.next;
        }
        writer.end()
    }

    /// Makes a store what a copy says, and opens it. The store must be empty.
    ///
    /// Durability: it is whole, and there after a crash, once this returns; before that it is of no use.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the store is not empty.
    /// * [`ErrorKind::Corrupt`]: the copy is damaged, or is none. The store is of no use.
    /// * [`ErrorKind::LimitExceeded`]: a key or value of the copy is larger than the driver takes.
    pub fn restore_store_copy(
        store: Arc<dyn Store>,
        environment: Environment,
        input: &mut dyn Read,
    ) -> Result<(Self, StoreCopy)> {
        let limits = ScanLimits { rows_max: 1, keys_only: true, ..ScanLimits::default() };
        let first = store.snapshot()?.scan(&KeyRange::all(), Direction::Ascending, limits)?;
        if !first.rows.is_empty() {
            return Err(Error::invalid("the store is not empty; restore into a new one"));
        }
        let mut reader = BlockReader { input, number: 0 };
        if reader.take(BEGIN.len())? != BEGIN {
            return Err(Error::corrupt("this is no copy of a store"));
        }
        let mut copied = StoreCopy::default();
        let caps = store.caps();
        // Until all is there, no engine opens it.
        let mark = MigrationMark { from: "a backup".to_owned(), next: None };
        commit(&*store, &mut vec![StoreWrite::Put { key: migration_key(), value: mark.encode() }])?;
        let bytes_max = (caps.commit_size_bytes_max / 2).min(BLOCK_BYTES);
        let mut writes = Vec::new();
        let mut bytes = 0;
        while let Some(block) = reader.block(copied.rows)? {
            let mut rows = Reader::new(&block);
            while !rows.is_empty() {
                let (key, value) = (rows.prefixed()?, rows.prefixed()?);
                let (key, value) = (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
                copied.rows += 1;
                copied.bytes += (key.len() + value.len()) as u64;
                // Engines that share a store would not raise it.
                if !caps.is_exclusive && tombstones::is_high_water_key(&key) {
                    continue;
                }
                bytes += key.len() + value.len();
                writes.push(StoreWrite::Put { key, value });
                if bytes >= bytes_max || writes.len() >= caps.commit_writes_max / 2 {
                    commit(&*store, &mut writes)?;
                    bytes = 0;
                }
            }
        }
        writes.push(StoreWrite::Delete { key: migration_key() });
        commit(&*store, &mut writes)?;
        let engine = Self::open(store, environment)?;
        if !caps.is_exclusive {
            engine.tell_of_ranges()?;
        }
        engine.end_what_has_logs()?;
        Ok((engine, copied))
    }

    /// Has tables in which ranges were deleted say so, where several servers share the store.
    fn tell_of_ranges(&self) -> Result<()> {
        let limits = ScanLimits { rows_max: 1, keys_only: true, ..ScanLimits::default() };
        for name in self.inner.catalogue.names(None, None, usize::MAX)? {
            let table = self.inner.catalogue.table(&name)?;
            let snapshot = self.inner.store.snapshot()?;
            for kind in RANGES.into_iter().chain([PURGES]) {
                let range = KeyRange::prefix(tombstones::key(table.id, kind, &[]));
                let page = snapshot.scan(&range, Direction::Ascending, limits)?;
                if !page.rows.is_empty() || page.next.is_some() {
                    patiently(|| self.inner.catalogue.set_ranged(&table))?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Ends change streams, continuous backups and unfinished work, which rest on logs that a copy does not
    /// have.
    fn end_what_has_logs(&self) -> Result<()> {
        for entry in self.ledger_entries(RUNNING, "", None, usize::MAX)? {
            let fill = Fill::read(&entry)?;
            match entry.id.split('/').next() {
                Some(HISTORIES) => self.delete_ledger_entry(RUNNING, &entry.id)?,
                Some(super::restore::RESTORES) => self.abandon_restore(&entry, &fill)?,
                _ => self.abandon_backup(&entry, &fill)?,
            }
        }
        let names = self.inner.catalogue.names(None, None, usize::MAX)?;
        let is_log = |name: &TableName| {
            let is_of_backups = name.namespace == BACKUPS_NAMESPACE
                && ["history/", "read/"].iter().any(|own| name.name.starts_with(own));
            name.namespace == STREAMS_NAMESPACE || is_of_backups
        };
        for name in names {
            if is_log(&name) {
                patiently(|| self.inner.catalogue.drop_table(&name, Owner::Engine))?;
                continue;
            }
            let table = self.inner.catalogue.table(&name)?;
            let options = &table.schema.options;
            if options.stream.is_some() || options.history.is_some() {
                patiently(|| {
                    self.inner.catalogue.alter(&name, |schema| {
                        schema.options.stream = None;
                        schema.options.history = None;
                        Ok(())
                    })
                })?;
            }
        }
        for entry in self.ledger_entries(HISTORIES, "", None, usize::MAX)? {
            self.delete_ledger_entry(HISTORIES, &entry.id)?;
        }
        Ok(())
    }
}

/// Tells whether a key is one that every store has a use for.
fn is_copied(key: &[u8]) -> bool {
    let of_servers = [section::FORMS, section::CHANGE_LOCK];
    match key {
        [tree, section, ..] if *tree == Tree::Catalogue as u8 => !of_servers.contains(section),
        [tree, ..] => ![Tree::Changes as u8, Tree::Guards as u8].contains(tree),
        [] => false,
    }
}

fn commit(store: &dyn Store, writes: &mut Vec<StoreWrite>) -> Result<()> {
    let writes = std::mem::take(writes);
    if writes.is_empty() {
        return Ok(());
    }
    patiently(|| store.commit(Commit::of(writes.clone())).map_err(Error::from)).map(drop)
}

struct BlockWriter<'o> {
    out: &'o mut dyn Write,
    block: Vec<u8>,
    number: u64,
    copied: StoreCopy,
}

impl BlockWriter<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|error| unwritten(&error))
    }

    fn row(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        for part in [key, value] {
            put_varint(&mut self.block, part.len() as u64);
            self.block.extend_from_slice(part);
        }
        self.copied.rows += 1;
        self.copied.bytes += (key.len() + value.len()) as u64;
        if self.block.len() >= BLOCK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let block = std::mem::take(&mut self.block);
        let length = u32::try_from(block.len())
            .map_err(|_| Error::new(ErrorKind::LimitExceeded, "a row is too large for a copy"))?;
        self.put(&length.to_be_bytes())?;
        self.put(&xxh3_64_with_seed(&block, self.number).to_be_bytes())?;
        self.put(&block)?;
        self.number += 1;
        Ok(())
    }

    fn end(mut self) -> Result<StoreCopy> {
        self.flush()?;
        let rows = self.copied.rows.to_be_bytes();
        self.put(&0_u32.to_be_bytes())?;
        self.put(&xxh3_64_with_seed(&rows, self.number).to_be_bytes())?;
        self.put(&rows)?;
        self.out.flush().map_err(|error| unwritten(&error))?;
        Ok(self.copied)
    }
}

struct BlockReader<'i> {
    input: &'i mut dyn Read,
    number: u64,
}

impl BlockReader<'_> {
    fn take(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let taken = (&mut *self.input).take(length as u64).read_to_end(&mut bytes);
        taken.map_err(|error| {
            Error::new(ErrorKind::Io, format!("the copy cannot be read: {error}"))
        })?;
        if bytes.len() < length {
            return Err(Error::corrupt("the copy ends in the middle"));
        }
        Ok(bytes)
    }

    /// Returns the next block; `None` at the end, if so many rows were read.
    fn block(&mut self, rows: u64) -> Result<Option<Vec<u8>>> {
        let length = self.take(4)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        let checksum = self.take(8)?;
        let is_end = length == 0;
        if length > BLOCK_BYTES_MAX {
            return Err(Error::corrupt("a block of the copy has no length"));
        }
        let block = self.take(if is_end { 8 } else { length })?;
        if xxh3_64_with_seed(&block, self.number).to_be_bytes().as_slice() != checksum {
            let why = format!("block {} of the copy is damaged", self.number);
            return Err(Error::corrupt(why));
        }
        self.number += 1;
        if !is_end {
            return Ok(Some(block));
        }
        match block == rows.to_be_bytes() {
            true => Ok(None),
            false => Err(Error::corrupt("the copy lacks rows")),
        }
    }
}

fn unwritten(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("the copy cannot be written: {error}"))
}
