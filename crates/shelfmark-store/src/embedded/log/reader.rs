//! Reads a log file group by group.
//!
//! What it is not: a check_log. It says where the whole groups end and why, and whether a whole group
//! stands anywhere behind; what follows from that is [`super::super::recovery`]'s decision.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::contract::Result;
use crate::vfs;

use super::super::fault;
use super::group::{self, GROUP_MAGIC, GroupHeader};
use super::header::{BadHeader, FileHeader, HEADER_BYTES};

/// A log file in memory; writes decoded from it share its memory.
pub(in super::super) struct LogFile {
    /// The path that it was read from.
    pub(in super::super) path: PathBuf,
    /// Its header.
    pub(in super::super) header: std::result::Result<FileHeader, BadHeader>,
    bytes: Bytes,
    seed: u64,
}

/// The result of decoding at an offset of a log file.
pub(in super::super) enum Step {
    /// An intact group; the next one begins at the last number.
    Group(GroupHeader, Bytes, usize),
    /// The groups end here: with the file, or before zeros to its end.
    End,
    /// Bytes that are no intact group, and the reason.
    Damaged(&'static str),
}

impl LogFile {
    /// Reads a whole file.
    pub(in super::super) fn read(path: &Path, store_id: u128) -> Result<Self> {
        let bytes = vfs::read(path).map_err(|error| fault::io("read", path, error))?;
        Ok(Self {
            path: path.to_owned(),
            header: FileHeader::decode(&bytes),
            bytes: Bytes::from(bytes),
            seed: group::seed_of(store_id),
        })
    }

    /// Returns the offset of the first group.
    pub(in super::super) fn first_offset() -> usize {
        HEADER_BYTES
    }

    /// Decodes the group that should begin at `offset`.
    pub(in super::super) fn step(&self, offset: usize) -> Step {
        match group::parse(&self.bytes, offset, self.seed) {
            Ok((_, body)) if !group::Entries::new(&body).all(|entry| entry.is_ok()) => {
                Step::Damaged("a group's body is not a list of writes")
            }
            Ok((header, body)) => {
                let next = offset + group::GROUP_HEADER_BYTES + body.len();
                Step::Group(header, body, next)
            }
            Err(_) if self.is_unused(offset) => Step::End,
            Err(why) => Step::Damaged(why),
        }
    }

    /// Returns true if only zeros, as they are preallocated, follow from an offset on.
    fn is_unused(&self, offset: usize) -> bool {
        self.bytes.get(offset..).is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
    }

    /// Finds an intact group with a number above `number` that begins at `offset` or anywhere
    /// behind it.
    pub(in super::super) fn find_group(
        &self,
        mut offset: usize,
        number: u64,
    ) -> Option<(usize, GroupHeader)> {
        while let Some(rest) = self.bytes.get(offset..) {
            let skip = rest.windows(GROUP_MAGIC.len()).position(|window| window == GROUP_MAGIC)?;
            offset += skip;
            if let Ok((header, _)) = group::parse(&self.bytes, offset, self.seed)
                && header.number > number
            {
                return Some((offset, header));
            }
            offset += 1;
        }
        None
    }
}
