//! Errors of this driver, made in one place so that every message names what it is about.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::contract::{Error, ErrorKind};

/// The operating system refused to do `what` with `path`.
pub(super) fn io(what: &str, path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("could not {what} {}: {error}", path.display()))
        .with_source(error)
}

/// Stored bytes at `offset` of `path` are not what was written.
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

/// The folder as a whole is not what was left behind.
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

/// The store was closed.
pub(super) fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the store was closed; open it again")
}

/// Tells whether `error` says that there is no room on the disk.
pub(super) fn is_full(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    source.and_then(|source| source.downcast_ref::<io::Error>()).is_some_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    })
}
