//! The work of an import: the items of all objects into a new table, which is used once it is whole.
//!
//! An object is read from its beginning again after a stop: its items replace themselves.

use std::io;

use shelfmark_engine::{ErrorKind, Result, Table};
use shelfmark_model::Item;

use super::Transfers;
use super::record::{IMPORTING, IMPORTS, Transfer, table_of};
use super::source::{InputOptions, Items, Next};
use crate::errors::texts;

/// Most objects of one import. Source: Developer Guide, "Quotas", 50,000.
const OBJECTS_MAX: usize = 50_000;

/// Items that are put together, and their bytes as they are read.
const BATCH_ITEMS_MAX: usize = 1_000;
const BATCH_BYTES_MAX: u64 = 1024 * 1024;

/// The counts of an object up to now.
#[derive(Default)]
struct Found {
    bytes: u64,
    items: u64,
    errors: u64,
}

impl Transfers {
    /// Goes on with an import. Tells whether it ended.
    pub(super) fn import(&self, id: &str, should_stop: &dyn Fn() -> bool) -> Result<bool> {
        let engine = &self.engine;
        let Some(mut transfer) = Transfer::find(engine, IMPORTS, id)? else {
            return Transfer::forget(engine, IMPORTING, id).map(|()| false);
        };
        let name = table_of(&transfer.entry);
        let table = match engine.table(&name) {
            Ok(table) => table,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return self.fail_import(transfer, "InternalServerError", "The table is gone");
            }
            Err(error) => return Err(error),
        };
        let bucket = transfer.entry.text("bucket").to_owned();
        if !self.buckets.has(&bucket) {
            let why = format!("The specified bucket does not exist: {bucket}");
            return self.fail_import(transfer, "S3NoSuchBucket", &why);
        }
        let prefix = transfer.entry.text("prefix").to_owned();
        let objects = match self.buckets.list(&bucket, &prefix, OBJECTS_MAX + 1) {
            Ok(objects) => objects,
            Err(error) => return self.fail_import(transfer, "S3Error", &error.to_string()),
        };
        if objects.len() > OBJECTS_MAX {
            let why = format!("There are more than {OBJECTS_MAX} objects");
            return self.fail_import(transfer, "TooManyObjects", &why);
        }
        let done = transfer.entry.text("done").to_owned();
        for object in objects.iter().filter(|object| object.key > done) {
            if should_stop() {
                return Ok(false);
            }
            match self.import_object(&table, &transfer, &object.key)? {
                Ok(found) => {
                    transfer.add("bytes", found.bytes);
                    transfer.add("processed", found.items + found.errors);
                    transfer.add("imported", found.items);
                    transfer.add("errors", found.errors);
                    transfer.entry = transfer.entry.clone().with("done", object.key.as_str());
                    transfer.keep(engine)?;
                }
                Err(error) => {
                    let why = format!("{} cannot be read: {error}", object.key);
                    return self.fail_import(transfer, "InvalidObject", &why);
                }
            }
        }
        engine.end_filling(&name)?;
        // As the service does: what is there stays, and that something is missing shows.
        let is_partial = transfer.entry.number("errors").unwrap_or_default() > 0;
        let failure = ("ItemValidationError", texts::ITEMS_WERE_REFUSED.to_owned());
        transfer.end(engine, self.now_ms(), is_partial.then_some(failure)).map(|()| true)
    }

    /// Ends an import that cannot go on; of its table nothing is left.
    fn fail_import(&self, transfer: Transfer, code: &str, why: &str) -> Result<bool> {
        let name = table_of(&transfer.entry);
        match self.engine.table(&name) {
            Ok(table) if shelfmark_engine::Engine::is_being_filled(&table) => {
                self.engine.drop_table(&name)?;
            }
            _ => {}
        }
        transfer.end(&self.engine, self.now_ms(), Some((code, why.to_owned()))).map(|()| true)
    }

    /// Puts the items of one object.
    fn import_object(
        &self,
        table: &Table,
        transfer: &Transfer,
        key: &str,
    ) -> Result<io::Result<Found>> {
        let entry = &transfer.entry;
        let opened = self.buckets.open(entry.text("bucket"), key);
        let items = opened.and_then(|object| Items::new(object, InputOptions::of(entry), table));
        let mut found = Found::default();
        let mut items = match items {
            Ok(items) => items,
            Err(error) if is_of_content(&error) => {
                return Ok(Ok(Found { errors: 1, ..found }));
            }
            Err(error) => return Ok(Err(error)),
        };
        let mut batch: Vec<Item> = Vec::new();
        let mut batch_bytes = 0;
        loop {
            let is_end = match items.next(table) {
                Ok(Next::Item(item, bytes)) => {
                    batch.push(item);
                    batch_bytes += bytes;
                    found.bytes += bytes;
                    false
                }
                Ok(Next::Refused(bytes)) => {
                    found.errors += 1;
                    found.bytes += bytes;
                    false
                }
                Ok(Next::End) => true,
                Err(error) if is_of_content(&error) => {
                    found.errors += 1;
                    true
                }
                Err(error) => return Ok(Err(error)),
            };
            if is_end || batch.len() >= BATCH_ITEMS_MAX || batch_bytes >= BATCH_BYTES_MAX {
                let left_out = self.engine.fill_items(&table.schema.name, &batch)?.len() as u64;
                found.errors += left_out;
                found.items += batch.len() as u64 - left_out;
                batch.clear();
                batch_bytes = 0;
            }
            if is_end {
                return Ok(Ok(found));
            }
        }
    }
}

/// Returns true if an object was read and is not packed as it was said to be; nothing behind that place
/// can be.
fn is_of_content(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}
