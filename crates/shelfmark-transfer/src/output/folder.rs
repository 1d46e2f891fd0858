//! A folder of objects as `ExportTableToPointInTime` leaves it in a bucket, with its manifests.
//!
//! `AWSDynamoDB/ID/data/NAME.json.gz`, `manifest-files.json` with the objects, `manifest-summary.json`, and
//! their checksums. Source: Developer Guide, "DynamoDB table export output format", read 2026-11.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use shelfmark_dynamo::export_form::{self, DataFile, ObjectSums, Summary};
use shelfmark_store::vfs;

use super::{Output, Written, WrittenObject};
use crate::error::{Error, Result};
use crate::sums::Sums;

/// Packed bytes after which the next object begins. Source: ours; each is read whole for its checksum.
const OBJECT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The table of an export, and the moment at which it began.
#[derive(Debug, Clone)]
pub struct ExportedTable {
    /// The id of the export ([`export_form::id`]).
    pub id: String,
    /// The ARN of the table.
    pub arn: String,
    /// The id of the table.
    pub table_id: String,
    /// The time of the begin, in milliseconds since the Unix epoch.
    pub start_ms: u64,
}

/// A folder of packed objects.
pub struct ExportFolder {
    root: PathBuf,
    table: ExportedTable,
    file: Option<File>,
    written: Written,
    /// Bytes of whole objects.
    bytes: u64,
}

impl ExportFolder {
    /// Names a folder for the export of a table.
    #[must_use]
    pub fn new(root: PathBuf, table: ExportedTable) -> Self {
        Self { root, table, file: None, written: Written::default(), bytes: 0 }
    }

    fn folder(&self) -> String {
        export_form::folder("", &self.table.id)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }

    fn object(&self, number: u64) -> (String, PathBuf) {
        let key = export_form::object_key(&self.folder(), &self.table.id, number, "json.gz");
        let path = self.path(&key);
        (key, path)
    }

    fn number(&self) -> u64 {
        self.written.objects.len() as u64
    }

    fn open_object(&mut self, length: u64) -> Result<()> {
        let path = self.object(self.number()).1;
        let opened = vfs::open_or_create(&path).and_then(|mut file| {
            if file.metadata()?.len() < length {
                return Err(io::Error::other("it is shorter than it was; begin anew"));
            }
            file.set_len(length)?;
            io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
            Ok(file)
        });
        self.file = Some(opened.map_err(|error| Error::io("write", &path, &error))?);
        Ok(())
    }

    fn end_object(&mut self) -> Result<()> {
        let path = self.object(self.number()).1;
        let Some(file) = self.file.take() else { return Ok(()) };
        file.sync_all().map_err(|error| Error::io("write", &path, &error))?;
        let Written { bytes, rows, .. } = self.written;
        self.written.objects.push(WrittenObject { number: self.number(), rows, bytes });
        self.bytes += bytes;
        (self.written.bytes, self.written.rows) = (0, 0);
        Ok(())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(&format!("{}{name}", self.folder()));
        vfs::replace_shared(&path, bytes).map_err(|error| Error::io("write", &path, &error))
    }
}

impl Output for ExportFolder {
    fn open(&mut self, behind: Option<&Written>) -> Result<()> {
        let data = self.path(&format!("{}data", self.folder()));
        vfs::create_folder(&data).map_err(|error| Error::io("create", &data, &error))?;
        self.put("_started", b"")?;
        if let Some(written) = behind {
            self.written = written.clone();
            self.bytes = written.objects.iter().map(|object| object.bytes).sum();
        }
        self.open_object(self.written.bytes)
    }

    fn append(&mut self, chunk: &[u8], rows: u64) -> Result<()> {
        if self.file.is_none() {
            self.open_object(0)?;
        }
        let path = self.object(self.number()).1;
        if let Some(file) = &mut self.file {
            file.write_all(chunk).map_err(|error| Error::io("write", &path, &error))?;
        }
        self.written.bytes += chunk.len() as u64;
        self.written.rows += rows;
        match self.written.bytes >= OBJECT_BYTES_MAX {
            true => self.end_object(),
            false => Ok(()),
        }
    }

    fn sync(&mut self) -> Result<Written> {
        let path = self.object(self.number()).1;
        if let Some(file) = &self.file {
            file.sync_all().map_err(|error| Error::io("write", &path, &error))?;
        }
        Ok(self.written.clone())
    }

    fn bytes(&self) -> u64 {
        self.bytes + self.written.bytes
    }

    fn finish(&mut self, sums: &Sums, end_ms: u64) -> Result<()> {
        if self.written.bytes == 0 && self.number() == 0 {
            // A table without items: one object without lines.
            self.append(&super::packed(b""), 0)?;
        }
        match self.written.bytes {
            // An object that was begun and has nothing.
            0 => drop_empty(self.file.take(), &self.object(self.number()).1)?,
            _ => self.end_object()?,
        }
        let files = self.written.objects.iter().map(|object| {
            let (key, path) = self.object(object.number);
            let bytes = vfs::read(&path).map_err(|error| Error::io("read", &path, &error))?;
            Ok(DataFile { key, sums: ObjectSums::of(&bytes), items: object.rows })
        });
        let files: Vec<DataFile> = files.collect::<Result<_>>()?;
        let summary = Summary {
            id: &self.table.id,
            table_arn: &self.table.arn,
            table_id: &self.table.table_id,
            folder: &self.folder(),
            start_ms: self.table.start_ms,
            end_ms,
            export_ms: self.table.start_ms,
            bytes: self.bytes,
            items: sums.rows,
            format: "DYNAMODB_JSON",
            ..Summary::default()
        };
        for (name, text) in
            [("manifest-files", export_form::files(&files)), ("manifest-summary", summary.text())]
        {
            self.put(&format!("{name}.json"), &text)?;
            self.put(&format!("{name}.md5"), ObjectSums::of(&text).base64.as_bytes())?;
        }
        Ok(())
    }
}

fn drop_empty(file: Option<File>, path: &Path) -> Result<()> {
    if file.is_some() {
        vfs::remove(path).map_err(|error| Error::io("remove", path, &error))?;
    }
    Ok(())
}
