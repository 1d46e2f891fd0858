//! The commit log: files of bounded size, each a header and then groups, one after the other.
//!
//! A group is what one sync makes durable: the newest write of each key of many commits. Groups are
//! numbered consecutively over all files, so that a missing piece is noticed. The layout is drawn
//! in `docs/format.md`, "Store files".
//!
//! What it is not: it does not know which groups are needed, nor what a damaged one means; that is
//! [`super::recovery`].
//!
//! Invariant: groups are only ever appended, over zeros that were written ahead of them, and a file
//! is synced whole before the next is created.

pub(super) mod group;
pub(super) mod header;
pub(super) mod reader;
pub(super) mod writer;

use std::path::{Path, PathBuf};

use crate::contract::Result;
use crate::vfs;

use super::fault;

/// The suffix of a log file's name; before it stands the file's number in 20 digits.
const SUFFIX: &str = ".log";

/// Returns the path of log file `number` in `folder`.
pub(super) fn path_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:020}{SUFFIX}"))
}

/// Parses the file number of a name made by [`path_of`].
pub(super) fn number_of(path: &Path) -> Option<u64> {
    let digits = path.file_name()?.to_str()?.strip_suffix(SUFFIX)?;
    let all_digits = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if all_digits { digits.parse().ok() } else { None }
}

/// Lists the log files of `folder` in the order of their numbers.
pub(super) fn list(folder: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let paths = vfs::list(folder).map_err(|error| fault::io("list", folder, error))?;
    let mut files: Vec<(u64, PathBuf)> = paths
        .into_iter()
        .filter_map(|path| number_of(&path).map(|number| (number, path)))
        .collect();
    files.sort_unstable();
    Ok(files)
}
