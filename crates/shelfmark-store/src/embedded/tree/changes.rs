//! Ends changes of the list of table files once the list on disk may be another than the one in memory.
//!
//! The library replaces the file `current` and then syncs its folder. If that sync fails, it reports an
//! error and keeps the old list, but the disk already names the new one.
//!
//! Invariant: from then on no file that the list on disk names is changed or removed; the next open
//! goes on from that list.

use std::path::Path;
use std::sync::OnceLock;

use crate::contract::{Error, ErrorKind, Result};

use super::listing;

/// Says whether the list of table files may be changed.
#[derive(Default)]
pub(super) struct Changes {
    /// The reason why not.
    ended: OnceLock<Error>,
}

impl Changes {
    /// Refuses a change if the list on disk may be another than the one in memory.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Undetermined`]: it may be; open the store again.
    pub(super) fn check(&self) -> Result<()> {
        self.ended.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Compares the list on disk with list `number`, the one in memory, after a change of it failed
    /// with `cause`. Returns the error to report.
    pub(super) fn failed(&self, folder: &Path, number: u64, cause: Error) -> Error {
        if listing::current(folder).is_ok_and(|current| current.number == number) {
            return cause;
        }
        self.ended.get_or_init(|| ended(folder, &cause)).clone()
    }
}

fn ended(folder: &Path, cause: &Error) -> Error {
    Error::new(
        ErrorKind::Undetermined,
        format!(
            "the list of table files in {} was replaced, but it is unknown whether durably: {cause}; \
             open the store again",
            folder.display()
        ),
    )
    .with_source(cause.clone())
}
