//! The records of files: lines, or fields between delimiters; packed or not.
//!
//! A folder is read as the service's export where it is one (its manifest names the objects), otherwise file
//! by file in the order of their names. What it is not: it does not know what a record means.
//!
//! Invariant: one record is held at a time, and it is bounded; each knows its file and line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use shelfmark_store::vfs;

use crate::delimited::{Dialect, Field, Reader, Wrong};
use crate::error::{Error, ErrorKind, Result};

/// Longest line in bytes. Source: ours; the largest item takes a tenth of it as JSON.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The first bytes of a file of gzip. Source: RFC 1952.
const PACKED: [u8; 2] = [0x1f, 0x8b];

/// The place of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u64,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)
    }
}

/// A record of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A line without its end.
    Line(Vec<u8>),
    /// The fields of a record of delimited text.
    Fields(Vec<Field>),
}

/// The form of the records.
#[derive(Debug, Clone, Copy)]
pub enum Records {
    /// A record is a line.
    Lines,
    /// A record is delimited text; with a header the first one of each file is that.
    Delimited {
        /// The delimiters.
        dialect: Dialect,
        /// True if each file begins with the names of the columns.
        header: bool,
    },
}

/// Files that are read one after the other.
pub struct Input {
    form: Records,
    /// Those that are left, the next one last; none is standard input.
    left: Vec<Option<PathBuf>>,
    current: Option<Current>,
    header: Option<Vec<Field>>,
    bytes: Arc<AtomicU64>,
}

struct Current {
    name: Arc<str>,
    text: Text,
    line: u64,
}

enum Text {
    Lines(Box<dyn BufRead>),
    Delimited(Reader<Box<dyn BufRead>>),
    Ready(std::vec::IntoIter<(Place, Record)>),
}

impl Input {
    /// Opens a file, a folder, or standard input (`-`), and reads the header if there is one.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`]: something cannot be read.
    /// * [`ErrorKind::Invalid`]: the folder has no file.
    pub fn open(path: &Path, form: Records) -> Result<Self> {
        let mut left = match path.as_os_str() == "-" {
            true => vec![None],
            false => files(path)?.into_iter().map(Some).collect(),
        };
        left.reverse();
        let mut input = Self { form, left, current: None, header: None, bytes: Arc::default() };
        input.advance()?;
        Ok(input)
    }

    /// Returns an input of records that are there already.
    #[must_use]
    pub fn of_records(records: Vec<(Place, Record)>) -> Self {
        let current = Current { name: "".into(), text: Text::Ready(records.into_iter()), line: 0 };
        let (left, header, bytes) = (Vec::new(), None, Arc::default());
        Self { form: Records::Lines, left, current: Some(current), header, bytes }
    }

    /// Returns the names of the columns, if the form has them.
    #[must_use]
    pub fn header(&self) -> Option<&[Field]> {
        self.header.as_deref()
    }

    /// Returns the bytes of files that were read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Reads the next record; none at the end of the last file.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::BadRecord`]: a text is no record, and what follows it cannot be found.
    /// * [`ErrorKind::Io`]: a file cannot be read.
    pub fn record(&mut self) -> Result<Option<(Place, Record)>> {
        loop {
            let Some(current) = &mut self.current else { return Ok(None) };
            if let Some(found) = current.next()? {
                return Ok(Some(found));
            }
            self.current = None;
            self.advance()?;
        }
    }

    /// Opens the next file.
    fn advance(&mut self) -> Result<()> {
        let Some(path) = self.left.pop() else { return Ok(()) };
        let mut current = self.opened(path.as_deref())?;
        if let Records::Delimited { header: true, .. } = self.form {
            let header = match current.next()? {
                Some((_, Record::Fields(fields))) => fields,
                _ => Vec::new(),
            };
            match &self.header {
                Some(first) if *first != header => {
                    let name = &current.name;
                    let why = format!("{name} has another header than the file before it");
                    return Err(Error::invalid(why));
                }
                Some(_) => {}
                None => self.header = Some(header),
            }
        }
        self.current = Some(current);
        Ok(())
    }

    fn opened(&self, path: Option<&Path>) -> Result<Current> {
        let (name, raw): (Arc<str>, Box<dyn Read>) = match path {
            None => ("<stdin>".into(), Box::new(io::stdin().lock())),
            Some(path) => {
                let file: File =
                    vfs::open(path).map_err(|error| Error::io("read", path, &error))?;
                (path.display().to_string().into(), Box::new(file))
            }
        };
        let counted = Counted { inner: raw, bytes: Arc::clone(&self.bytes) };
        let mut bytes: Box<dyn BufRead> = Box::new(BufReader::with_capacity(64 * 1024, counted));
        let begin = bytes.fill_buf().map_err(|error| cannot(&name, &error))?;
        if begin.starts_with(&PACKED) {
            let unpacked = MultiGzDecoder::new(bytes);
            bytes = Box::new(BufReader::with_capacity(64 * 1024, unpacked));
        }
        let text = match self.form {
            Records::Lines => Text::Lines(bytes),
            Records::Delimited { dialect, .. } => Text::Delimited(Reader::new(bytes, dialect, 1)),
        };
        Ok(Current { name, text, line: 0 })
    }
}

impl Current {
    fn next(&mut self) -> Result<Option<(Place, Record)>> {
        let place = |line| Place { file: Arc::clone(&self.name), line };
        match &mut self.text {
            Text::Ready(records) => Ok(records.next()),
            Text::Delimited(reader) => match reader.record() {
                Ok(None) => Ok(None),
                Ok(Some((line, fields))) => Ok(Some((place(line), Record::Fields(fields)))),
                Err(Wrong::Io(error)) => Err(cannot(&self.name, &error)),
                Err(wrong) => {
                    Err(Error::new(ErrorKind::BadRecord, format!("{}, {wrong}", self.name)))
                }
            },
            Text::Lines(reader) => loop {
                let mut line = Vec::new();
                let most = LINE_BYTES_MAX as u64 + 1;
                let read = reader.take(most).read_until(b'\n', &mut line);
                if read.map_err(|error| cannot(&self.name, &error))? == 0 {
                    return Ok(None);
                }
                self.line += 1;
                if line.len() > LINE_BYTES_MAX {
                    let why = format!("{}: the line is longer than 16 MiB", place(self.line));
                    return Err(Error::new(ErrorKind::BadRecord, why));
                }
                let length = line.trim_ascii_end().len();
                if length > 0 {
                    line.truncate(length);
                    return Ok(Some((place(self.line), Record::Line(line))));
                }
            },
        }
    }
}

fn cannot(name: &str, error: &io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot read {name}: {error}"))
}

/// Counts what is read.
struct Counted {
    inner: Box<dyn Read>,
    bytes: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(into)?;
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// Returns the files of a path: itself, the objects of an export, or what is in a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    if let Some(objects) = exported(path)? {
        return Ok(objects);
    }
    let is_data = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_other = ["_", "."].iter().any(|begin| name.starts_with(begin))
            || [".position", ".table.json", ".table.cql"].iter().any(|end| name.ends_with(end));
        path.is_file() && !is_other
    };
    let found: Vec<PathBuf> = listed(path)?.into_iter().filter(is_data).collect();
    match found.is_empty() {
        true => Err(Error::invalid(format!("there is no file in {}", path.display()))),
        false => Ok(found),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    data_file_s3_key: String,
}

/// Returns the objects that the manifest of an export names, if the folder is one.
fn exported(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    const LIST: &str = "manifest-files.json";
    let above = path.join("AWSDynamoDB");
    let found: Vec<PathBuf> = if path.join(LIST).is_file() {
        vec![path.to_path_buf()]
    } else if above.is_dir() {
        listed(&above)?.into_iter().filter(|folder| folder.join(LIST).is_file()).collect()
    } else {
        Vec::new()
    };
    let folder = match found.as_slice() {
        [] if above.is_dir() => {
            let why = format!("the export in {} did not end: it has no {LIST}", path.display());
            return Err(Error::invalid(why));
        }
        [] => return Ok(None),
        [one] => one,
        _ => {
            let why = format!("there are several exports in {}: name one", above.display());
            return Err(Error::invalid(why));
        }
    };
    let list = folder.join(LIST);
    let text = vfs::read(&list).map_err(|error| Error::io("read", &list, &error))?;
    let mut objects = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let listed: Listed = serde_json::from_slice(line).map_err(|error| {
            Error::invalid(format!("{} is no list of objects: {error}", list.display()))
        })?;
        // Wherever the bucket was copied to: the objects are in `data` beside the list.
        let name = listed.data_file_s3_key.rsplit('/').next().unwrap_or_default().to_owned();
        objects.push(folder.join("data").join(name));
    }
    Ok(Some(objects))
}

fn listed(path: &Path) -> Result<Vec<PathBuf>> {
    vfs::list(path).map_err(|error| Error::io("list", path, &error))
}
