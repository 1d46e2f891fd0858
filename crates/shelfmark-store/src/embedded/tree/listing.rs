//! Reads the list of the tree's table files, and verifies them.
//!
//! The library keeps a checksum of every table file and of the list of them, but compares neither
//! when it opens a tree. We do: the list always, whole table files when asked to verify. The
//! formats are the library's, little-endian, and drawn in `docs/format.md`.
//!
//! Invariant: nothing here changes a file, and no damaged length makes it allocate much.

#![expect(clippy::little_endian_bytes, reason = "the library writes its files little-endian")]

use std::fs::File;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use crate::contract::Result;
use crate::vfs;

use super::super::bytes::{array, wide};
use super::super::fault;
use super::TABLES_NAME;

/// The file that names the current list and its checksum.
const CURRENT_NAME: &str = "current";
/// Size of the trailer of every file of the library; it locates the table of contents.
const TRAILER_BYTES: usize = 38;
const TRAILER_MAGIC: [u8; 4] = *b"SFA!";
const CONTENTS_MAGIC: [u8; 4] = *b"TOC!";
/// Largest table of contents that is accepted; it has a few named sections.
const CONTENTS_BYTES_MAX: u64 = 64 * 1024;
const READ_BYTES: usize = 1024 * 1024;

/// A table file of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Listed {
    /// Its path.
    pub(in super::super) path: PathBuf,
    /// Its checksum when it was written.
    pub(super) checksum: u128,
}

/// The list of table files that is the tree's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Current {
    /// Its number.
    pub(super) number: u64,
    /// The checksum of its file.
    pub(super) checksum: u128,
}

/// A defect of a file, with its offset, if that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Flaw {
    /// Offset of the first damaged part.
    pub(in super::super) offset: Option<u64>,
    /// The reason.
    pub(in super::super) why: String,
}

impl Flaw {
    fn new(offset: Option<u64>, why: impl Into<String>) -> Self {
        Self { offset, why: why.into() }
    }
}

/// Reads the list of the table files of the tree in `folder`.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: the list is missing or damaged.
/// * [`crate::ErrorKind::Io`]: the operating system refused.
pub(in super::super) fn read(folder: &Path) -> Result<Vec<Listed>> {
    let Current { number, checksum } = current(folder)?;
    let path = folder.join(format!("v{number}"));
    if !path.exists() {
        let why = format!("it names the list {}, which is missing", path.display());
        return Err(fault::corrupt(&folder.join(CURRENT_NAME), 0, why));
    }
    let list = vfs::read(&path).map_err(|error| fault::io("read", &path, error))?;
    if xxh3_128(&list) != checksum {
        return Err(fault::corrupt(&path, 0, "the list of tables does not match its checksum"));
    }
    let tables = folder.join(TABLES_NAME);
    parse(&list, &tables)
        .ok_or_else(|| fault::corrupt(&path, 0, "the list of tables cannot be read"))
}

/// Reads which list of table files is the tree's in `folder`.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: the file that says it is missing or damaged.
/// * [`crate::ErrorKind::Io`]: the operating system refused.
pub(super) fn current(folder: &Path) -> Result<Current> {
    let path = folder.join(CURRENT_NAME);
    if !path.exists() {
        return Err(fault::corrupt_store(folder, "the tree's file `current` is missing"));
    }
    let bytes = vfs::read(&path).map_err(|error| fault::io("read", &path, error))?;
    let (Some(number), Some(checksum), Some([0])) =
        (le_u64(&bytes, 0), le_u128(&bytes, 8), array::<1>(&bytes, 24))
    else {
        return Err(fault::corrupt(&path, 0, "it does not name a list of tables"));
    };
    Ok(Current { number, checksum })
}

fn parse(list: &[u8], tables: &Path) -> Option<Vec<Listed>> {
    let (_, section) = sections(list)?.into_iter().find(|(name, _)| *name == b"tables")?;
    let mut listed = Vec::new();
    let mut at = 1;
    for _ in 0..*section.first()? {
        let runs = *section.get(at)?;
        at += 1;
        for _ in 0..runs {
            let count = le_u32(section, at)?;
            at += 4;
            for _ in 0..count {
                let number = le_u64(section, at)?;
                // A byte for the kind of checksum stands between.
                let checksum = le_u128(section, at + 9)?;
                listed.push(Listed { path: tables.join(number.to_string()), checksum });
                at += 33;
            }
        }
    }
    Some(listed)
}

/// Returns the named sections of a file that is in memory.
fn sections(file: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let trailer = file.get(file.len().checked_sub(TRAILER_BYTES)?..)?;
    let (start, length) = contents_of(trailer)?;
    let start = usize::try_from(start).ok()?;
    let contents = file.get(start..start.checked_add(usize::try_from(length).ok()?)?)?;
    let mut all = Vec::new();
    for (name, from, bytes) in places(contents)? {
        let (from, bytes) = (usize::try_from(from).ok()?, usize::try_from(bytes).ok()?);
        all.push((name, file.get(from..from.checked_add(bytes)?)?));
    }
    Some(all)
}

/// Decodes the offset and length of the table of contents from a trailer.
fn contents_of(trailer: &[u8]) -> Option<(u64, u64)> {
    let whole = trailer.starts_with(&TRAILER_MAGIC) && trailer.get(4..6)? == [1, 0];
    if whole { Some((le_u64(trailer, 22)?, le_u64(trailer, 30)?)) } else { None }
}

/// Verifies that a table file exists and that its table of contents is intact: the library believes
/// lengths in it before it verifies its checksum.
pub(in super::super) fn check_contents(listed: &Listed) -> std::result::Result<(), Flaw> {
    contents(listed).map(drop)
}

/// Computes the identity of a table file from its length, its table of contents, and its
/// description of itself. Cost: three small reads.
pub(super) fn identity(listed: &Listed) -> std::result::Result<u128, Flaw> {
    let (file, length, contents) = contents(listed)?;
    let mut told = length.to_be_bytes().to_vec();
    told.extend_from_slice(&contents);
    let own = places(&contents).into_iter().flatten().find(|(name, ..)| *name == b"meta");
    if let Some((_, from, bytes)) = own {
        let bytes = bytes.min(CONTENTS_BYTES_MAX);
        told.extend(read_part(&file, from, usize::try_from(bytes).unwrap_or(0))?);
    }
    Ok(xxh3_128(&told))
}

/// Returns the sections that a table of contents names: name, offset, length.
fn places(contents: &[u8]) -> Option<Vec<(&[u8], u64, u64)>> {
    let mut at = 8;
    let mut all = Vec::new();
    for _ in 0..le_u32(contents, 4)? {
        let (from, bytes) = (le_u64(contents, at)?, le_u64(contents, at + 8)?);
        let name_bytes = usize::from(u16::from_le_bytes(array(contents, at + 16)?));
        all.push((contents.get(at + 18..at + 18 + name_bytes)?, from, bytes));
        at += 18 + name_bytes;
    }
    Some(all)
}

/// Opens a table file and returns it with its length and its table of contents, which is intact.
fn contents(listed: &Listed) -> std::result::Result<(File, u64, Vec<u8>), Flaw> {
    let path = &listed.path;
    let file = vfs::open(path).map_err(|error| cannot_read(&error))?;
    let length = file.metadata().map_err(|error| cannot_read(&error))?.len();
    let damaged = |offset| Flaw::new(Some(offset), "the table of contents is damaged");
    let trailer_at = length.checked_sub(wide(TRAILER_BYTES)).ok_or_else(|| damaged(0))?;
    let trailer = read_part(&file, trailer_at, TRAILER_BYTES)?;
    let (start, bytes) = contents_of(&trailer).ok_or_else(|| damaged(trailer_at))?;
    let fits = start.checked_add(bytes) == Some(trailer_at) && bytes <= CONTENTS_BYTES_MAX;
    if !fits {
        return Err(damaged(trailer_at));
    }
    let contents = read_part(&file, start, usize::try_from(bytes).unwrap_or(0))?;
    let whole =
        contents.starts_with(&CONTENTS_MAGIC) && le_u128(&trailer, 6) == Some(xxh3_128(&contents));
    if whole { Ok((file, length, contents)) } else { Err(damaged(start)) }
}

fn read_part(file: &File, offset: u64, bytes: usize) -> std::result::Result<Vec<u8>, Flaw> {
    let mut part = vec![0; bytes];
    let read = vfs::read_at(file, &mut part, offset).map_err(|error| cannot_read(&error))?;
    part.truncate(read);
    Ok(part)
}

/// Reads a whole table file and verifies its checksum.
pub(in super::super) fn check_whole(listed: &Listed) -> std::result::Result<u64, Flaw> {
    let file = vfs::open(&listed.path).map_err(|error| cannot_read(&error))?;
    let mut hasher = Xxh3Default::new();
    let mut buffer = vec![0; READ_BYTES];
    let mut offset = 0;
    loop {
        let read = vfs::read_at(&file, &mut buffer, offset).map_err(|error| cannot_read(&error))?;
        if read == 0 {
            break;
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
        offset += wide(read);
    }
    if hasher.digest128() == listed.checksum {
        return Ok(offset);
    }
    check_contents(listed)?;
    let offset = super::blocks::first_damaged(&listed.path);
    Err(Flaw::new(offset, "the file does not match its checksum"))
}

fn cannot_read(error: &std::io::Error) -> Flaw {
    Flaw::new(None, format!("it cannot be read: {error}"))
}

/// Reads 4 bytes at `offset`.
pub(super) fn le_u32(bytes: &[u8], offset: usize) -> Option<u32> {
    array(bytes, offset).map(u32::from_le_bytes)
}

fn le_u64(bytes: &[u8], offset: usize) -> Option<u64> {
    array(bytes, offset).map(u64::from_le_bytes)
}

/// Reads 16 bytes at `offset`.
pub(super) fn le_u128(bytes: &[u8], offset: usize) -> Option<u128> {
    array(bytes, offset).map(u128::from_le_bytes)
}
