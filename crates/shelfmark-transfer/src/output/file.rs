//! One file, or standard output.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use shelfmark_store::vfs;

use super::{Output, Written, packed};
use crate::error::{Error, ErrorKind, Result};
use crate::sums::Sums;

/// A file that is appended to; without a path it is standard output.
pub struct FileOutput {
    path: Option<PathBuf>,
    /// The text in front of the rows, and the one behind them.
    head: Vec<u8>,
    tail: Vec<u8>,
    is_packed: bool,
    file: Option<File>,
    bytes: u64,
    rows: u64,
}

impl FileOutput {
    /// Names a file; `None` is standard output.
    #[must_use]
    pub fn new(path: Option<PathBuf>, is_packed: bool) -> Self {
        let (head, tail) = (Vec::new(), Vec::new());
        Self { path, head, tail, is_packed, file: None, bytes: 0, rows: 0 }
    }

    /// Sets what stands in front of the rows.
    #[must_use]
    pub fn with_head(self, head: Vec<u8>) -> Self {
        Self { head, ..self }
    }

    /// Sets what stands in front of rows that are members of a list, each with a comma before it, and
    /// behind them.
    #[must_use]
    pub fn with_list(self, head: Vec<u8>, tail: Vec<u8>) -> Self {
        Self { head, tail, ..self }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => io::stdout().write_all(bytes),
        };
        written.map_err(|error| self.cannot(&error))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn write_unpacked(&mut self, bytes: &[u8]) -> Result<()> {
        match (bytes.is_empty(), self.is_packed) {
            (true, _) => Ok(()),
            (false, true) => self.write(&packed(bytes)),
            (false, false) => self.write(bytes),
        }
    }

    fn cannot(&self, error: &io::Error) -> Error {
        match &self.path {
            Some(path) => Error::io("write", path, error),
            None => Error::new(ErrorKind::Io, format!("cannot write standard output: {error}")),
        }
    }
}

impl Output for FileOutput {
    fn open(&mut self, behind: Option<&Written>) -> Result<()> {
        if let Some(path) = &self.path {
            let length = behind.map_or(0, |written| written.bytes);
            let opened = vfs::open_or_create(path).and_then(|file| {
                if file.metadata()?.len() < length {
                    return Err(io::Error::other("it is shorter than it was; begin anew"));
                }
                file.set_len(length)?;
                Ok(file)
            });
            let mut file = opened.map_err(|error| self.cannot(&error))?;
            let end = io::Seek::seek(&mut file, io::SeekFrom::End(0));
            end.map_err(|error| self.cannot(&error))?;
            self.file = Some(file);
        }
        match behind {
            Some(written) => (self.bytes, self.rows) = (written.bytes, written.rows),
            None => {
                let head = std::mem::take(&mut self.head);
                self.write_unpacked(&head)?;
            }
        }
        Ok(())
    }

    fn append(&mut self, chunk: &[u8], rows: u64) -> Result<()> {
        let is_first_of_list = !self.tail.is_empty() && self.rows == 0;
        let chunk = if is_first_of_list { chunk.get(1..).unwrap_or_default() } else { chunk };
        self.write(chunk)?;
        self.rows += rows;
        Ok(())
    }

    fn sync(&mut self) -> Result<Written> {
        let synced = match &mut self.file {
            Some(file) => file.sync_all(),
            None => io::stdout().flush(),
        };
        synced.map_err(|error| self.cannot(&error))?;
        Ok(Written { bytes: self.bytes, rows: self.rows, objects: Vec::new() })
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn finish(&mut self, _: &Sums, _: u64) -> Result<()> {
        let tail = std::mem::take(&mut self.tail);
        self.write_unpacked(&tail)?;
        if self.is_packed && self.bytes == 0 {
            // No rows: a file of gzip all the same.
            self.write(&packed(b""))?;
        }
        self.sync().map(drop)
    }
}
