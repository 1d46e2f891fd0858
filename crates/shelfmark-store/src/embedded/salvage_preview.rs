//! Previews a salvage: lists what it would keep and lose without changing anything.
//!
//! What it is not: a salvage. It reads what a salvage would read, and hands every entry that would be
//! kept to whoever knows what keys mean.
//!
//! Invariant: no file is written, moved or removed.

use std::path::Path;

use bytes::Bytes;

use crate::contract::{Error, ErrorKind, Result};

use super::log::group::Entries;
use super::report::Salvage;
use super::tree::blocks;
use super::{layout, salvage, verify};

/// A version of a key that a salvage would keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptVersion {
    /// The key.
    pub key: Bytes,
    /// The value; `None` for a deletion.
    pub value: Option<Bytes>,
    /// The version number; of several versions of a key the one with the largest is the newest.
    pub version: u64,
}

/// Reads what [`crate::embedded::salvage`] would keep of a damaged store, passes each entry to
/// `see` in no particular order, and returns what would be lost. Of a store without damage nothing
/// is handed over.
///
/// Cost: reads every byte of the store twice; memory for one table file at a time, and for the log.
///
/// # Errors
///
/// * As [`crate::embedded::salvage`]; nothing was changed.
pub fn preview_salvage(folder: &Path, see: &mut dyn FnMut(KeptVersion)) -> Result<Salvage> {
    let _lock = layout::lock_existing(folder)?;
    let findings = verify::look(folder)?;
    let mut lost = Salvage { commits_lost: Some(0), ..Salvage::default() };
    if findings.report.is_clean() {
        return Ok(lost);
    }
    lost.damages.clone_from(&findings.report.damages);
    lost.notes.clone_from(&findings.report.notes);
    let superblock = findings.superblock.unwrap_or_else(|| salvage::guess_superblock(&findings));
    let paths = salvage::table_files(&layout::tree_folder(folder), &mut lost)?;
    for path in paths.iter().filter(|path| path.exists()) {
        let rescued = blocks::rescue(path)?;
        for blocks::Version { key, value, seqno } in rescued.versions {
            see(KeptVersion { key, value, version: seqno });
        }
        lost.table_parts_lost.extend(salvage::parts_of(path, rescued.lost));
    }
    lost.table_parts_lost.extend(salvage::missing_of(&paths));
    let groups = &findings.survey.groups;
    salvage::count_losses(&superblock, findings.superblock.is_some(), groups, &mut lost);
    for (group, body) in groups.iter().filter(|(group, _)| group.number > superblock.flushed_group)
    {
        for entry in Entries::new(body) {
            let entry = entry.map_err(|why| {
                Error::new(ErrorKind::Corrupt, format!("group {}: {why}", group.number))
            })?;
            see(KeptVersion { key: entry.key, value: entry.value, version: group.seqno });
        }
    }
    Ok(lost)
}
