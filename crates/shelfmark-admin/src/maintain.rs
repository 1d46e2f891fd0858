//! `backup` and `compact`: what is done to a store as a whole.

use std::io::Write;

use serde::{Deserialize, Serialize};
use shelfmark_engine::StoreCopy;

use crate::admin::Admin;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Answer, Writer};
use crate::operation::Operation;

/// The content type of a copy of a store.
const COPY: &str = "application/octet-stream";
/// The trailer with the number of keys of a copy.
pub const COPY_ROWS: &str = "shelfmark-copy-rows";
/// The trailer with the number of bytes of keys and values of a copy.
pub const COPY_BYTES: &str = "shelfmark-copy-bytes";

/// Asks for a copy of the whole store as of one moment, while clients write. Its answer is the copy, with
/// its numbers behind it as trailers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backup {}

impl Backup {
    /// The name in the path.
    pub const NAME: &'static str = "backup";

    /// Writes the copy.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: clients wrote for longer than the store keeps one moment.
    /// * [`ErrorKind::Failed`]: the copy could not be written.
    pub fn write(self, admin: &Admin, out: &mut dyn Write) -> Result<StoreCopy> {
        Ok(admin.engine().write_store_copy(out)?)
    }

    /// Returns the answer that is the copy.
    pub(crate) fn answer(self, admin: &Admin) -> Answer {
        let admin = admin.clone();
        let writer: Writer = Box::new(move |out| {
            let copied = self.write(&admin, out).map_err(std::io::Error::other)?;
            Ok(vec![(COPY_ROWS, copied.rows.to_string()), (COPY_BYTES, copied.bytes.to_string())])
        });
        Answer::written(COPY, writer).with_header("trailer", format!("{COPY_ROWS}, {COPY_BYTES}"))
    }
}

/// Asks for the background work of the store that is due to be done now: memory tables are written to
/// table files, table files merged, log files removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compact {}

/// The work that a compaction did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactAnswer {
    /// Bytes written from memory to table files.
    pub flushed_bytes: u64,
    /// Log files removed.
    pub log_files_removed: usize,
    /// Bytes of rows in table files afterwards.
    pub tree_bytes_on_disk: u64,
}

impl Operation for Compact {
    const NAME: &'static str = "compact";
    type Answer = CompactAnswer;

    fn run(self, admin: &Admin) -> Result<CompactAnswer> {
        let store = admin.engine().store();
        let done = store.maintain().map_err(|error| {
            Error::new(ErrorKind::Failed, format!("the store could not be compacted: {error}"))
        })?;
        Ok(CompactAnswer {
            flushed_bytes: done.flushed_bytes,
            log_files_removed: done.log_files_removed,
            tree_bytes_on_disk: store.stats().tree_bytes_on_disk,
        })
    }
}
