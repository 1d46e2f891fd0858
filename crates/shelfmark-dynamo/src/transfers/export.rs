//! The work of an export: a copy of the table as of the moment, or the items that changed in a span of
//! time, written as packed lines of JSON or Ion.
//!
//! Invariant: an object is named by its number, so that one that is written again after a stop replaces
//! itself; where it ends is written down behind it.

use std::io::{self, Write as _};
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use shelfmark_engine::{ErrorKind, HistoryWindow, LedgerEntry, Result};
use shelfmark_model::{Value, item_size_bytes};

use super::filter::ExportFilter;
use super::lines::{self, Form};
use super::manifest::{self, DataFile};
use super::record::{EXPORTING, EXPORTS, Transfer, options_of};
use super::{Slice, Transfers};
use crate::errors::texts;
use crate::table::table_arn;

/// Bytes of lines in one object, before they are packed.
const OBJECT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Time for which changes are gathered in one slice.
const GATHER_TIME_MAX: Duration = Duration::from_millis(500);

/// Bytes that are read at once.
const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// Returns the kind of entries about the objects of an export.
fn files_of(id: &str) -> String {
    format!("export-files/{id}")
}

/// Items as an object, and what is behind them.
struct Written {
    packed: Vec<u8>,
    items: u64,
    bytes: u64,
    next: Option<Bytes>,
}

impl Transfers {
    /// Goes on with an export for a slice: up to one object.
    pub(super) fn export(&self, id: &str, should_stop: &dyn Fn() -> bool) -> Result<Slice> {
        let engine = &self.engine;
        let Some(mut transfer) = Transfer::find(engine, EXPORTS, id)? else {
            return Transfer::forget(engine, EXPORTING, id).map(|()| Slice::Ended);
        };
        if !self.buckets.has(transfer.entry.text("bucket")) {
            let why = texts::no_such_bucket(transfer.entry.text("bucket"));
            return self.end_export(transfer, Some(("S3NoSuchBucket", why)));
        }
        match self.unready(&mut transfer, should_stop) {
            Ok(None) => {}
            Ok(Some(slice)) => return Ok(slice),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::TooOld) => {
                let why = "Point in time recovery was disabled while the export ran".to_owned();
                return self.end_export(transfer, Some(("PointInTimeRecoveryUnavailable", why)));
            }
            Err(error) => return Err(error),
        }
        if transfer.entry.number("files").is_none() {
            // As the service does, to show that it may write there.
            let key = format!("{}_started", folder_of(&transfer.entry));
            if let Err(error) = self.buckets.put(transfer.entry.text("bucket"), &key, b"") {
                return self.end_export(transfer, Some(("S3Error", error.to_string())));
            }
        }
        if !transfer.entry.flag("is_written") {
            let written = self.next_object(&transfer.entry, should_stop)?;
            return match self.put_data(&mut transfer, written)? {
                Ok(()) => Ok(Slice::Moved),
                Err(error) => self.end_export(transfer, Some(("S3Error", error.to_string()))),
            };
        }
        let files = engine.ledger_entries(&files_of(id), "", None, usize::MAX)?;
        if files.len() as u64 != transfer.entry.number("files").unwrap_or_default() {
            // Another server has ended it since it was found, and what it kept of its objects is going.
            return Ok(Slice::Waits);
        }
        match self.put_manifests(&transfer.entry, &files) {
            Ok(()) => self.end_export(transfer, None),
            Err(error) => self.end_export(transfer, Some(("S3Error", error.to_string()))),
        }
    }

    /// Returns `None` if everything that the export shows lies ready, else what came of waiting or gathering.
    fn unready(
        &self,
        transfer: &mut Transfer,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Option<Slice>> {
        let id = transfer.entry.id.clone();
        let Some(mut window) = HistoryWindow::read(&transfer.entry) else {
            // Another server is about to make the copy, or to write down which changes they are.
            let is_about_to = !transfer.entry.flag("is_prepared") && self.is_new(transfer);
            let is_whole = !is_about_to && self.engine.is_copy_whole(&id)?;
            return Ok((!is_whole).then_some(Slice::Waits));
        };
        if transfer.entry.flag("is_gathered") {
            return Ok(None);
        }
        let clock = &self.engine.environment().clock;
        let end = clock.monotonic() + GATHER_TIME_MAX;
        let is_over = || should_stop() || clock.monotonic() > end;
        let is_whole = self.engine.gather_window(&id, &mut window, &is_over)?;
        transfer.entry = window.put(transfer.entry.clone()).with("is_gathered", is_whole);
        transfer.keep(&self.engine).map(|()| (!is_whole).then_some(Slice::Moved))
    }

    fn end_export(&self, transfer: Transfer, failure: Option<(&str, String)>) -> Result<Slice> {
        let id = transfer.entry.id.clone();
        transfer.end(&self.engine, self.now_ms(), failure)?;
        self.engine.drop_copy(&id)?;
        for file in self.engine.ledger_entries(&files_of(&id), "", None, usize::MAX)? {
            self.engine.delete_ledger_entry(&file.kind, &file.id)?;
        }
        Ok(Slice::Ended)
    }

    /// Reads the items of the next object, fewer if it should stop.
    fn next_object(&self, entry: &LedgerEntry, should_stop: &dyn Fn() -> bool) -> Result<Written> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        let mut written = Written { packed: Vec::new(), items: 0, bytes: 0, next: None };
        let (filter, form) = (ExportFilter::of(entry), Form::of(entry));
        let mut behind = entry.bytes("behind");
        let mut length = 0;
        loop {
            let mut put = |line: Option<Vec<u8>>| {
                let Some(line) = line else { return };
                length += line.len();
                written.items += 1;
                // It goes to memory, which takes everything.
                let _ = packer.write_all(&line);
            };
            behind = match form.view {
                None => {
                    let page = self.engine.read_copy(&entry.id, behind.as_ref(), PAGE_BYTES_MAX)?;
                    for item in page.items {
                        written.bytes += item_size_bytes(&item) as u64;
                        put(lines::of_item(item, &filter, form));
                    }
                    page.next
                }
                Some(view) => {
                    let read =
                        self.engine.read_window(&entry.id, behind.as_ref(), PAGE_BYTES_MAX)?;
                    for change in read.changes {
                        let images = [&change.old, &change.new].into_iter().flatten();
                        written.bytes += images.map(item_size_bytes).sum::<usize>() as u64;
                        put(lines::of_change(change, view, &filter, form));
                    }
                    read.next
                }
            };
            if behind.is_none() || length >= OBJECT_BYTES_MAX || should_stop() {
                written.next = behind;
                written.packed = packer.finish().unwrap_or_default();
                return Ok(written);
            }
        }
    }

    /// Puts an object of items, and writes down that it is there. Items that the filter left out make none, but
    /// at the end.
    fn put_data(&self, transfer: &mut Transfer, written: Written) -> Result<io::Result<()>> {
        if written.items > 0 || written.next.is_none() {
            if let Err(error) = self.put_object(transfer, &written)? {
                return Ok(Err(error));
            }
            transfer.add("files", 1);
        }
        transfer.add("items", written.items);
        transfer.add("bytes", written.bytes);
        transfer.entry = match written.next {
            Some(next) => transfer.entry.clone().with("behind", Value::Bytes(next)),
            None => transfer.entry.clone().with("is_written", true),
        };
        transfer.keep(&self.engine).map(Ok)
    }

    fn put_object(&self, transfer: &Transfer, written: &Written) -> Result<io::Result<()>> {
        let entry = &transfer.entry;
        let number = entry.number("files").unwrap_or_default();
        let form = Form::of(entry);
        let folder = match form.view {
            None => folder_of(entry),
            // Changes of several exports lie beside each other, and the manifests tell them apart.
            Some(_) => manifest::common_folder(entry.text("prefix")),
        };
        let key = manifest::object_key(&folder, &entry.id, number, form.ending());
        if let Err(error) = self.buckets.put(entry.text("bucket"), &key, &written.packed) {
            return Ok(Err(error));
        }
        let sums = manifest::ObjectSums::of(&written.packed);
        let file = LedgerEntry::new(files_of(&entry.id), format!("{number:012}"))
            .with("key", key)
            .with("md5", sums.base64)
            .with("etag", sums.etag)
            .with_number("items", written.items);
        self.engine.put_ledger_entry(file).map(Ok)
    }

    fn put_manifests(&self, entry: &LedgerEntry, files: &[LedgerEntry]) -> io::Result<()> {
        let files: Vec<DataFile> = files
            .iter()
            .map(|file| DataFile {
                key: file.text("key").to_owned(),
                sums: manifest::ObjectSums {
                    base64: file.text("md5").to_owned(),
                    etag: file.text("etag").to_owned(),
                },
                items: file.number("items").unwrap_or_default(),
            })
            .collect();
        let folder = folder_of(entry);
        let bucket = entry.text("bucket");
        let put =
            |name: &str, bytes: &[u8]| self.buckets.put(bucket, &format!("{folder}{name}"), bytes);
        let put_summed = |name: &str, bytes: &[u8]| {
            put(&format!("{name}.json"), bytes)?;
            put(&format!("{name}.md5"), manifest::ObjectSums::of(bytes).base64.as_bytes())
        };
        let listed = manifest::files(&files);
        let number = |name: &str| entry.number(name).unwrap_or_default();
        let summary = manifest::Summary {
            id: &entry.id,
            table_arn: &table_arn(&options_of(&self.options, entry), entry.text("table")),
            table_id: entry.text("table_id"),
            bucket: entry.text("bucket"),
            prefix: entry.text("prefix"),
            folder: &folder,
            start_ms: number("start_ms"),
            end_ms: self.now_ms(),
            export_ms: number("export_ms"),
            bytes: number("bytes"),
            items: number("items"),
            format: Form::of(entry).name(),
            window: Form::of(entry).view.map(|view| manifest::Window {
                from_ms: number("from_ms"),
                to_ms: number("to_ms"),
                view: view.name(),
            }),
        }
        .text();
        put_summed("manifest-files", &listed)?;
        put_summed("manifest-summary", &summary)
    }
}

/// Returns what the keys of an export's objects begin with.
pub(crate) fn folder_of(entry: &LedgerEntry) -> String {
    manifest::folder(entry.text("prefix"), &entry.id)
}
