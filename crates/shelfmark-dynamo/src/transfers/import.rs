//! The work of an import: the items of all objects into a new table, which is used once it is whole.
//!
//! It is done in slices that end within an object. The place is written down behind each of them; after a restart
//! the object is opened again and read from there, where it is packed unpacked up to there.
//!
//! Invariant: the counts and the place belong together, and items that are put twice replace themselves.

use std::collections::VecDeque;
use std::io;

use shelfmark_engine::{ErrorKind, Result, Table};
use shelfmark_model::{Item, TableName};

use super::readers::Turn;
use super::record::{IMPORTING, IMPORTS, Transfer, table_of};
use super::source::{Compression, InputOptions, Items, Next};
use super::{BucketObject, Slice, Transfers};
use crate::errors::texts;

/// Most objects of one import. Source: Developer Guide, "Quotas", 50,000.
const OBJECTS_MAX: usize = 50_000;

/// Items that are put together, and their bytes as they are read.
const BATCH_ITEMS_MAX: usize = 1_000;
const BATCH_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes, unpacked, with which a slice ends.
const SLICE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Bytes, unpacked, that are skipped in one slice on the way to a place.
const SKIPPED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The objects that an import has not read yet.
pub(super) struct Walk {
    /// The first one is the one that is being read.
    pub(super) objects: VecDeque<BucketObject>,
    pub(super) open: Option<Items>,
    pub(super) turn: Turn,
}

/// A failure that an import ends with: its code and its message.
type Failure = (&'static str, String);

/// Says how a slice ended.
enum Read {
    /// There is more.
    Part,
    /// All objects were read.
    Everything,
}

/// The counts of a batch.
#[derive(Default)]
struct Found {
    /// Bytes of whole records, and all bytes that were read.
    bytes: u64,
    read: u64,
    items: u64,
    errors: u64,
    /// Nothing of the object is left.
    is_end: bool,
}

impl Walk {
    /// Tells whether it stands where an import was written down to be, or on the way there.
    fn is_at(&self, transfer: &Transfer) -> bool {
        let key = self.objects.front().map_or("", |object| &object.key);
        let entry = &transfer.entry;
        match (&self.open, entry.text("part")) {
            (None, "") => key.is_empty() || key > entry.text("done"),
            (None, part) => key == part,
            (Some(_), "") => false,
            (Some(items), part) => key == part && items.place() <= place_of(transfer),
        }
    }
}

impl Transfers {
    /// Goes on with an import for a slice.
    pub(super) fn import(&self, id: &str, should_stop: &dyn Fn() -> bool) -> Result<Slice> {
        let engine = &self.engine;
        let Some(transfer) = Transfer::find(engine, IMPORTS, id)? else {
            return Transfer::forget(engine, IMPORTING, id).map(|()| Slice::Ended);
        };
        let name = table_of(&transfer.entry);
        let table = match engine.table(&name) {
            Ok(table) => table,
            Err(error) if error.kind() == ErrorKind::NotFound && self.is_new(&transfer) => {
                return Ok(Slice::Waits);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let gone = ("InternalServerError", "The table is gone".to_owned());
                return self.fail_import(transfer, gone);
            }
            Err(error) => return Err(error),
        };
        if !self.readers.enter(id, Compression::read(transfer.entry.text("compression"))) {
            return Ok(Slice::Waits);
        }
        let mut kept = None;
        let slice = self.import_part(&table, transfer, &mut kept, should_stop);
        self.readers.leave(id, kept);
        slice
    }

    /// Reads a slice of what is left, and leaves what is to be kept open for the next one in `kept`.
    fn import_part(
        &self,
        table: &Table,
        mut transfer: Transfer,
        kept: &mut Option<Walk>,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Slice> {
        let mut walk = match self.walk(&transfer) {
            Ok(walk) => walk,
            Err(failure) => return self.fail_import(transfer, failure),
        };
        match self.import_slice(table, &mut transfer, &mut walk, should_stop)? {
            Ok(Read::Part) => {
                transfer.keep(&self.engine)?;
                *kept = Some(walk);
                Ok(Slice::Moved)
            }
            Ok(Read::Everything) => {
                // If building the indexes is cut off, nothing is read again for it.
                transfer.keep(&self.engine)?;
                self.complete_import(transfer, &table.schema.name)
            }
            Err(failure) => self.fail_import(transfer, failure),
        }
    }

    /// Returns what is left to read: as the slice before left it, or found anew.
    fn walk(&self, transfer: &Transfer) -> std::result::Result<Walk, Failure> {
        let entry = &transfer.entry;
        let bucket = entry.text("bucket");
        if !self.buckets.has(bucket) {
            return Err(("S3NoSuchBucket", texts::no_such_bucket(bucket)));
        }
        if let Some(walk) = self.readers.take(&entry.id).filter(|walk| walk.is_at(transfer)) {
            return Ok(walk);
        }
        let listed = self.buckets.list(bucket, entry.text("prefix"), OBJECTS_MAX + 1);
        let objects = listed.map_err(|error| ("S3Error", error.to_string()))?;
        if objects.len() > OBJECTS_MAX {
            let why = format!("There are more than {OBJECTS_MAX} objects");
            return Err(("TooManyObjects", why));
        }
        // What came before the object that was begun was not there when that was.
        let (done, part) = (entry.text("done"), entry.text("part"));
        let is_left = |own: &BucketObject| own.key.as_str() > done && own.key.as_str() >= part;
        let objects: VecDeque<BucketObject> = objects.into_iter().filter(is_left).collect();
        if !part.is_empty() {
            match objects.front().filter(|object| object.key == part) {
                Some(object) if is_as_it_was(object, entry.text("part_version")) => {}
                Some(_) => {
                    let why = format!("{part} was changed while it was read");
                    return Err(("InvalidObject", why));
                }
                None => {
                    let why = format!("{part} is gone, of which a part was read");
                    return Err(("InvalidObject", why));
                }
            }
        }
        let turn = Turn { skipped: place_of(transfer), read: 0 };
        Ok(Walk { objects, open: None, turn })
    }

    /// Reads up to a slice's bytes, and puts their items.
    fn import_slice(
        &self,
        table: &Table,
        transfer: &mut Transfer,
        walk: &mut Walk,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<std::result::Result<Read, Failure>> {
        let mut read = 0;
        while let Some(object) = walk.objects.front() {
            let (key, version) = (object.key.clone(), object.version.clone());
            if should_stop() || read >= SLICE_BYTES_MAX {
                return Ok(Ok(Read::Part));
            }
            let found =
                match self.import_batch(table, transfer, (&key, &mut walk.open), should_stop)? {
                    Ok(Some(found)) => found,
                    Ok(None) => return Ok(Ok(Read::Part)),
                    Err(error) => {
                        return Ok(Err((
                            "InvalidObject",
                            format!("{key} cannot be read: {error}"),
                        )));
                    }
                };
            read += found.read;
            walk.turn.read += found.read;
            transfer.add("bytes", found.bytes);
            transfer.add("processed", found.items + found.errors);
            transfer.add("imported", found.items);
            transfer.add("errors", found.errors);
            let entry = transfer.entry.clone();
            if found.is_end {
                (walk.open, _) = (None, walk.objects.pop_front());
                transfer.entry = entry.with("done", key).with("part", "").with_number("place", 0);
            } else {
                let place = walk.open.as_ref().map(Items::place).unwrap_or_default();
                let entry = entry.with("part", key).with("part_version", version);
                transfer.entry = entry.with_number("place", place);
            }
        }
        Ok(Ok(Read::Everything))
    }

    /// Puts the next items of an object, which is opened if it is not. Returns `None` if it was stopped on the
    /// way to its place.
    fn import_batch(
        &self,
        table: &Table,
        transfer: &Transfer,
        (key, open): (&str, &mut Option<Items>),
        should_stop: &dyn Fn() -> bool,
    ) -> Result<io::Result<Option<Found>>> {
        let is_part = transfer.entry.text("part") == key;
        let place = if is_part { place_of(transfer) } else { 0 };
        let mut found = Found::default();
        let mut batch = Vec::new();
        let read = self
            .opened(table, transfer, key, open)
            .and_then(|items| read_batch(items, table, place, &mut batch, should_stop));
        match read {
            Ok(None) => return Ok(Ok(None)),
            Ok(Some(read)) => found = read,
            Err(error) if is_of_content(&error) => (found.errors, found.is_end) = (1, true),
            Err(error) => return Ok(Err(error)),
        }
        if let Some(items) = open {
            found.bytes = items.place().saturating_sub(place);
        }
        if !batch.is_empty() {
            let left_out = self.engine.fill_items(&table.schema.name, &batch)?.len() as u64;
            found.errors += left_out;
            found.items += batch.len() as u64 - left_out;
        }
        Ok(Ok(Some(found)))
    }

    /// Opens an object, unless it is open.
    fn opened<'o>(
        &self,
        table: &Table,
        transfer: &Transfer,
        key: &str,
        open: &'o mut Option<Items>,
    ) -> io::Result<&'o mut Items> {
        let entry = &transfer.entry;
        let items = match open.take() {
            Some(items) => items,
            None => {
                let object = self.buckets.open(entry.text("bucket"), key)?;
                Items::new(object, InputOptions::of(entry), table)?
            }
        };
        Ok(open.insert(items))
    }

    /// Ends an import of which everything was read.
    fn complete_import(&self, transfer: Transfer, name: &TableName) -> Result<Slice> {
        self.engine.end_filling(name)?;
        // As the service does: what is there stays, and that something is missing shows.
        let is_partial = transfer.entry.number("errors").unwrap_or_default() > 0;
        let failure = ("ItemValidationError", texts::ITEMS_WERE_REFUSED.to_owned());
        let failure = is_partial.then_some(failure);
        transfer.end(&self.engine, self.now_ms(), failure).map(|()| Slice::Ended)
    }

    /// Ends an import that cannot go on; of its table nothing is left.
    fn fail_import(&self, transfer: Transfer, failure: Failure) -> Result<Slice> {
        let name = table_of(&transfer.entry);
        match self.engine.table(&name) {
            Ok(table) if shelfmark_engine::Engine::is_being_filled(&table) => {
                self.engine.drop_table(&name)?;
            }
            _ => {}
        }
        transfer.end(&self.engine, self.now_ms(), Some(failure)).map(|()| Slice::Ended)
    }
}

/// Tells whether an object is the one whose version was noted; builds from before noted none.
fn is_as_it_was(object: &BucketObject, version: &str) -> bool {
    version.is_empty() || object.version == version
}

/// Returns the place in the object that was begun.
fn place_of(transfer: &Transfer) -> u64 {
    transfer.entry.number("place").unwrap_or_default()
}

/// Reads the next items of an object behind a place. What is wrong with the packing is counted, too, and
/// ends the object; what was read before it stays. Returns `None` if it is still on the way to the place.
fn read_batch(
    items: &mut Items,
    table: &Table,
    place: u64,
    batch: &mut Vec<Item>,
    should_stop: &dyn Fn() -> bool,
) -> io::Result<Option<Found>> {
    let near = place.min(items.place() + SKIPPED_BYTES_MAX);
    if !items.skip_to(near, should_stop)? || near < place {
        return Ok(None);
    }
    let mut found = Found::default();
    let begun = items.read();
    while batch.len() < BATCH_ITEMS_MAX && items.read() - begun < BATCH_BYTES_MAX {
        match items.next(table) {
            Ok(Next::Item(item)) => batch.push(item),
            Ok(Next::Nothing) => {}
            Ok(Next::Refused) => found.errors += 1,
            Ok(Next::End) => {
                found.is_end = true;
                break;
            }
            Err(error) if is_of_content(&error) => {
                (found.errors, found.is_end) = (found.errors + 1, true);
                break;
            }
            Err(error) => return Err(error),
        }
    }
    found.read = items.read() - begun;
    Ok(Some(found))
}

/// Returns true if an object was read and is not packed as it was said to be; nothing behind that place
/// can be.
fn is_of_content(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}
