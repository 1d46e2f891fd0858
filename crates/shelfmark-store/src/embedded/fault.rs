//! Constructs the errors of this driver, so that every message names its file.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::contract::{Error, ErrorKind};

/// Returns an error for a failed system call on `path`.
pub(super) fn io(what: &str, path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("could not {what} {}: {error}", path.display()))
        .with_source(error)
}

/// Returns an error for damaged bytes at `offset` of `path`.
pub(super) fn corrupt(path: &Path, offset: u64, why: impl Display) -> Error {
    Error::new(
        ErrorKind::Corrupt,
        format!(
            "{} is damaged at byte {offset}: {why}; nothing was changed. Restore a backup, or run \
             `shelfmark verify --data FOLDER --salvage` to see what is lost and go on with the rest",
            path.display()
        ),
    )
}

/// Returns an error for a folder whose files contradict each other.
pub(super) fn corrupt_store(path: &Path, why: impl Display) -> Error {
    Error::new(
        ErrorKind::Corrupt,
        format!(
            "{} is damaged: {why}; nothing was changed. Restore a backup, or run \
             `shelfmark verify --data FOLDER --salvage` to see what is lost and go on with the rest",
            path.display()
        ),
    )
}

/// Returns the error of a closed store.
pub(super) fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the store was closed; open it again")
}

/// Returns true if `error` says that the disk is full.
pub(super) fn is_full(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    source.and_then(|source| source.downcast_ref::<io::Error>()).is_some_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    })
}
