//! What verifying and salvaging say.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use bytes::Bytes;

use crate::contract::Durability;

/// A file that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file, or the folder if a whole file is missing.
    pub file: PathBuf,
    /// Offset in bytes of the first damaged part, if it is known.
    pub offset: Option<u64>,
    /// What is wrong.
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

/// What opening a store found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Opened {
    /// There was no store in the folder; it was created.
    pub is_new: bool,
    /// The store had been closed in order, so nothing was to be recovered.
    pub was_clean: bool,
    /// Groups of the log that the tree lacked and that were replayed.
    pub groups_replayed: u64,
    /// The log ended in a group that was not written whole, of commits that were never acknowledged;
    /// it was cut off.
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

/// What [`crate::embedded::verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The store was closed in order and not written since.
    pub clean_stop: bool,
    /// What was promised to the commits in the log; unknown without a mark.
    pub durability: Option<Durability>,
    /// Log files read.
    pub log_files: usize,
    /// Whole groups in them.
    pub groups: u64,
    /// Number of the last whole group, in the log or in the tree.
    pub last_group: u64,
    /// Number of its last commit.
    pub last_commit: u64,
    /// Table files read.
    pub table_files: usize,
    /// Their bytes.
    pub table_bytes: u64,
    /// What is unusual and no damage, such as a torn tail that the next open cuts.
    pub notes: Vec<String>,
    /// What is damaged. Empty: every byte that counts is as it was written.
    pub damages: Vec<Damage>,
    /// Folders of salvages whose losses were not seen to yet: records that follow from others may
    /// not do so. The next [`crate::embedded::salvage`] tells of the losses again.
    pub unfinished: Vec<PathBuf>,
}

impl Report {
    /// Tells whether nothing is damaged.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.damages.is_empty()
    }
}

/// A part of a table file that is lost. The keys of a file ascend, so what was in the part lies
/// between those that stand before and behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostPart {
    /// The file, where it was.
    pub file: PathBuf,
    /// Offset in bytes of the part; `None` if the whole file is missing.
    pub offset: Option<u64>,
    /// Bytes of the part; `None` if the whole file is missing.
    pub bytes: Option<u64>,
    /// The last whole key before the part. Nothing that was lost is less. `None`: nobody knows.
    pub after: Option<Bytes>,
    /// The first whole key behind the part. Nothing that was lost is greater. `None`: nobody knows.
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

/// What [`crate::embedded::salvage`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Salvage {
    /// Folder that the damaged originals were moved to, now or by a salvage whose losses are told
    /// again; `None` if nothing was damaged and nothing was done.
    pub set_aside: Option<PathBuf>,
    /// What was damaged.
    pub damages: Vec<Damage>,
    /// Groups of the log that were kept and are in the tree now.
    pub groups_kept: u64,
    /// Groups that are lost, by number.
    pub groups_lost: Vec<RangeInclusive<u64>>,
    /// Commits in those groups; `None` if the mark was lost too and nobody knows.
    pub commits_lost: Option<u64>,
    /// Parts of table files that are lost. What lay in them is lost, or shows an older state.
    pub table_parts_lost: Vec<LostPart>,
    /// Other keys may be lost as well, or show an older state: groups of the log are lost, or the
    /// mark, or the list of table files, and nobody knows what was in them.
    pub lost_anywhere: bool,
    /// What else the operator should know.
    pub notes: Vec<String>,
}

impl Salvage {
    /// Tells whether any key may be lost, or show an older state.
    #[must_use]
    pub fn has_losses(&self) -> bool {
        self.lost_anywhere || !self.table_parts_lost.is_empty() || !self.groups_lost.is_empty()
    }
}
