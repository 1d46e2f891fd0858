//! Places that rows are written to: a file, standard output, the folder of the service's exports.
//!
//! Invariant: what is behind the last synced place is cut off when a transfer goes on, so no row is in an
//! output twice.

mod file;
mod folder;

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

pub use file::FileOutput;
pub use folder::{ExportFolder, ExportedTable};

use crate::error::Result;
use crate::sums::Sums;

/// The way that an output has come, as a position keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Bytes of the file, or of the object that is written.
    pub bytes: u64,
    /// Rows of the object that is written.
    pub rows: u64,
    /// The objects that are whole, in their order.
    #[serde(default)]
    pub objects: Vec<WrittenObject>,
}

/// An object that is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenObject {
    /// Its number, from which its name follows.
    pub number: u64,
    /// Its rows.
    pub rows: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// A place that rows are written to, in chunks that stand for themselves.
pub trait Output {
    /// Opens the place behind what an earlier call wrote, or anew.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Io`]: it cannot be written.
    fn open(&mut self, behind: Option<&Written>) -> Result<()>;

    /// Appends a chunk with its number of rows.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Io`]: it cannot be written.
    fn append(&mut self, chunk: &[u8], rows: u64) -> Result<()>;

    /// Makes durable what was appended, and returns the place to go on from.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Io`]: it cannot be written.
    fn sync(&mut self) -> Result<Written>;

    /// Returns the bytes that were written in all.
    fn bytes(&self) -> u64;

    /// Ends the output at a time in milliseconds since the Unix epoch: the rows are all there.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Io`]: it cannot be written.
    fn finish(&mut self, sums: &Sums, end_ms: u64) -> Result<()>;
}

/// Packs a chunk, so that packed chunks behind each other are one file of gzip.
#[must_use]
pub fn packed(chunk: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    // It goes to memory, which takes everything.
    let _ = packer.write_all(chunk);
    packer.finish().unwrap_or_default()
}
