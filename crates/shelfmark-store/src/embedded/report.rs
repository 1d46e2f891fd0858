//! Reports of opening, verifying and salvaging.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use bytes::Bytes;

use crate::contract::Durability;

/// A damaged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file, or the folder if a whole file is missing.
    pub file: PathBuf,
    /// Offset in bytes of the first damaged part, if it is known.
    pub offset: Option<u64>,
    /// The reason.
    pub why: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} at byte {offset}: {}", self.file.display(), self.why),
            None => write!(f, "{}: {}", self.file.display(), self.why),
        }
    }
}

/// The result of recovery at open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Opened {
    /// True if the store was created: there was none in the folder.
    pub is_new: bool,
    /// True if the store had been closed in order, so that nothing was recovered.
    pub was_clean: bool,
    /// Groups of the log that the tree lacked and that were replayed.
    pub groups_replayed: u64,
    /// True if a torn tail was cut off: a group that was not fully written, of commits that were
    /// never acknowledged.
    pub tail_was_cut: bool,
}

impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_new {
            return f.write_str("it is new");
        }
        if self.was_clean {
            return f.write_str("it was stopped in good order");
        }
        write!(f, "it was stopped by a crash; {} groups were replayed", self.groups_replayed)?;
        if self.tail_was_cut {
            f.write_str(", and an unfinished one at the end of the log was cut off")?;
        }
        Ok(())
    }
}

/// The result of [`crate::embedded::verify`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// True if the store was closed in order and not written since.
    pub clean_stop: bool,
    /// The durability mode of the commits in the log; unknown without a superblock.
    pub durability: Option<Durability>,
    /// Log files read.
    pub log_files: usize,
    /// Valid groups in them.
    pub groups: u64,
    /// Number of the last valid group, in the log or in the tree.
    pub last_group: u64,
    /// Number of its last commit.
    pub last_commit: u64,
    /// Table files read.
    pub table_files: usize,
    /// Their bytes.
    pub table_bytes: u64,
    /// Unusual findings that are no damage, such as a torn tail that the next open cuts.
    pub notes: Vec<String>,
    /// The damages; empty if every byte that counts is as it was written.
    pub damages: Vec<Damage>,
    /// Folders of salvages whose losses were not handled yet: derived records may be wrong. The
    /// next [`crate::embedded::salvage`] tells of the losses again.
    pub unfinished: Vec<PathBuf>,
}

impl Report {
    /// Returns true if nothing is damaged.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.damages.is_empty()
    }
}

/// A lost part of a table file; since keys ascend, what it held lies between the keys before and
/// behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostPart {
    /// The file, where it was.
    pub file: PathBuf,
    /// Offset in bytes of the part; `None` if the whole file is missing.
    pub offset: Option<u64>,
    /// Bytes of the part; `None` if the whole file is missing.
    pub bytes: Option<u64>,
    /// The last intact key before the part: a lower bound of the lost keys, if it is known.
    pub after: Option<Bytes>,
    /// The first intact key behind the part: an upper bound of the lost keys, if it is known.
    pub before: Option<Bytes>,
}

impl fmt::Display for LostPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match (self.offset, self.bytes) {
            (Some(offset), Some(bytes)) => write!(f, " at byte {offset}: {bytes} bytes"),
            _ => write!(f, ": the whole file"),
        }
    }
}

/// The result of [`crate::embedded::salvage`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Salvage {
    /// Folder that the damaged originals were moved to, now or by an earlier salvage whose losses
    /// are reported again; `None` if nothing was damaged and nothing was done.
    pub set_aside: Option<PathBuf>,
    /// The damages.
    pub damages: Vec<Damage>,
    /// Groups of the log that were kept and are in the tree now.
    pub groups_kept: u64,
    /// Groups that are lost, by number.
    pub groups_lost: Vec<RangeInclusive<u64>>,
    /// Commits in those groups; `None` if the superblock was lost too, so that the number is
    /// unknown.
    pub commits_lost: Option<u64>,
    /// Lost parts of table files; their keys are lost or show an older state.
    pub table_parts_lost: Vec<LostPart>,
    /// True if any other key may be lost or stale too: groups of the log, the superblock, or the
    /// list of table files is lost, with unknown contents.
    pub lost_anywhere: bool,
    /// Further notes for the operator.
    pub notes: Vec<String>,
}

impl Salvage {
    /// Returns true if any key may be lost or stale.
    #[must_use]
    pub fn has_losses(&self) -> bool {
        self.lost_anywhere || !self.table_parts_lost.is_empty() || !self.groups_lost.is_empty()
    }
}
