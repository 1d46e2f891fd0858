//! The first 64 bytes of a log file.
//!
//! Invariant: a header that parses was written whole; it names the store, so that a file of another
//! store is never taken for ours.

use xxhash_rust::xxh3::xxh3_64;

use super::super::bytes::{array, be_u32, be_u64, be_u128};
use super::group::NUMBER_MAX;

/// Size of a file header in bytes.
pub(in super::super) const HEADER_BYTES: usize = 64;
/// The first bytes of a log file.
const MAGIC: [u8; 8] = *b"SHELFLOG";
/// Version of the layout of log files.
pub(in super::super) const LOG_FORMAT: u32 = 1;

/// The header of a log file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct FileHeader {
    /// The id of the store it belongs to.
    pub(in super::super) store_id: u128,
    /// Its own number; the first file of a store is 1.
    pub(in super::super) file: u64,
    /// Number that its first group has or will have.
    pub(in super::super) first_group: u64,
    /// Number that its first commit has or will have.
    pub(in super::super) first_commit: u64,
}

/// The reason why a header was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum BadHeader {
    /// Too short, wrong magic or wrong checksum.
    Damaged,
    /// Whole, but of a layout that this version does not know.
    Newer(u32),
}

impl FileHeader {
    /// Encodes the header.
    pub(in super::super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&LOG_FORMAT.to_be_bytes());
        out.extend_from_slice(&0_u32.to_be_bytes());
        out.extend_from_slice(&self.store_id.to_be_bytes());
        out.extend_from_slice(&self.file.to_be_bytes());
        out.extend_from_slice(&self.first_group.to_be_bytes());
        out.extend_from_slice(&self.first_commit.to_be_bytes());
        let checksum = xxh3_64(&out);
        out.extend_from_slice(&checksum.to_be_bytes());
        array(&out, 0).unwrap_or([0; HEADER_BYTES])
    }

    /// Decodes the header at the start of `bytes`.
    pub(in super::super) fn decode(bytes: &[u8]) -> Result<Self, BadHeader> {
        Self::parse(bytes).unwrap_or(Err(BadHeader::Damaged))
    }

    fn parse(bytes: &[u8]) -> Option<Result<Self, BadHeader>> {
        let covered = bytes.get(..HEADER_BYTES - 8)?;
        if !covered.starts_with(&MAGIC) || be_u64(bytes, HEADER_BYTES - 8)? != xxh3_64(covered) {
            return None;
        }
        let format = be_u32(bytes, 8)?;
        if format > LOG_FORMAT {
            return Some(Err(BadHeader::Newer(format)));
        }
        if (32..56).step_by(8).any(|at| be_u64(bytes, at).is_none_or(|number| number > NUMBER_MAX))
        {
            return None;
        }
        Some(Ok(Self {
            store_id: be_u128(bytes, 16)?,
            file: be_u64(bytes, 32)?,
            first_group: be_u64(bytes, 40)?,
            first_commit: be_u64(bytes, 48)?,
        }))
    }
}
