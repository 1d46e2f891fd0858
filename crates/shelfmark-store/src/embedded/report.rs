//! What verifying and salvaging say.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

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
}

impl Report {
    /// Tells whether nothing is damaged.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.damages.is_empty()
    }
}

/// What [`crate::embedded::salvage`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Salvage {
    /// Folder that the damaged originals were moved to; `None` if nothing was damaged and nothing
    /// was done.
    pub set_aside: Option<PathBuf>,
    /// What was damaged.
    pub damages: Vec<Damage>,
    /// Groups of the log that were kept and are in the tree now.
    pub groups_kept: u64,
    /// Groups that are lost, by number.
    pub groups_lost: Vec<RangeInclusive<u64>>,
    /// Commits in those groups; `None` if the mark was lost too and nobody knows.
    pub commits_lost: Option<u64>,
    /// Parts of table files that are lost. Rows in them are lost, or show an older state.
    pub table_parts_lost: Vec<Damage>,
    /// What else the operator should know.
    pub notes: Vec<String>,
}
