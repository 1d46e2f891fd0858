//! Verifies every checksum of a store that is not open.
//!
//! Invariant: nothing is changed, whatever is found.

use std::path::Path;

use crate::contract::Result;

use super::report::{Damage, Report};
use super::survey::{Survey, survey};
use super::tree::listing;
use super::{layout, recovery, salvage, superblock};

/// Verifies the whole store in `folder` and reports the damage.
///
/// Reads every byte of the log and of the table files; changes nothing, so that the disk may be full or
/// one that cannot be written. The store must not be open.
/// Cost: one sequential read of the folder.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: there is no store, or a newer version wrote it.
/// * [`crate::ErrorKind::Unavailable`]: the store is open. Stop it first.
/// * [`crate::ErrorKind::Io`]: the operating system refused to read something at all.
///
/// Damage is no error of this function: it is in the [`Report`].
pub fn verify(folder: &Path) -> Result<Report> {
    let _lock = layout::lock_to_read(folder)?;
    Ok(look(folder)?.report)
}

/// The findings, with what a salvage needs of them.
pub(super) struct Findings {
    pub(super) report: Report,
    /// The superblock, if one of its slots is intact.
    pub(super) superblock: Option<superblock::Superblock>,
    pub(super) survey: Survey,
    /// True if all files of the tree are intact.
    pub(super) tree_is_whole: bool,
}

/// Verifies everything; the caller holds the folder's lock.
pub(super) fn look(folder: &Path) -> Result<Findings> {
    let mut report = Report {
        clean_stop: false,
        durability: None,
        log_files: 0,
        groups: 0,
        last_group: 0,
        last_commit: 0,
        table_files: 0,
        table_bytes: 0,
        notes: Vec::new(),
        damages: Vec::new(),
        unfinished: salvage::unfinished(folder)?,
    };
    if layout::is_unfinished(folder)? {
        report.notes.push("its creation was interrupted; the next open begins it again".to_owned());
        return Ok(Findings {
            report,
            superblock: None,
            survey: Survey::default(),
            tree_is_whole: true,
        });
    }
    let superblock = look_at_superblock(folder, &mut report)?;
    let survey = look_at_log(folder, superblock.as_ref(), &mut report)?;
    let tree_is_whole = look_at_tree(&layout::tree_folder(folder), &mut report)?;
    Ok(Findings { report, superblock, survey, tree_is_whole })
}

fn look_at_superblock(
    folder: &Path,
    report: &mut Report,
) -> Result<Option<superblock::Superblock>> {
    let path = layout::superblock_path(folder);
    let missing = |why: &str| Damage { file: path.clone(), offset: None, why: why.to_owned() };
    if !path.exists() {
        report.damages.push(missing("the superblock (the file `mark`) is missing"));
        return Ok(None);
    }
    match superblock::read(&path) {
        Ok(read) => {
            if read.whole_slots < 2 {
                report.notes.push(format!(
                    "one of the two slots of {} is torn, as a power cut may leave it",
                    path.display()
                ));
            }
            report.clean_stop = read.superblock.clean;
            report.durability = Some(read.superblock.durability);
            report.last_group = read.superblock.flushed_group;
            report.last_commit = read.superblock.flushed_commit;
            Ok(Some(read.superblock))
        }
        Err(error) if error.kind() == crate::ErrorKind::Corrupt => {
            report.damages.push(missing("neither slot of the superblock is whole"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn look_at_log(
    folder: &Path,
    superblock: Option<&superblock::Superblock>,
    report: &mut Report,
) -> Result<Survey> {
    let log_folder = layout::log_folder(folder);
    let survey = survey(&log_folder, superblock.map(|superblock| superblock.store_id))?;
    report.log_files = survey.files;
    report.groups = super::bytes::wide(survey.groups.len());
    if let Some((group, _)) = survey.groups.last()
        && group.number > report.last_group
    {
        report.last_group = group.number;
        report.last_commit = group.last_commit();
    }
    let verdict = match superblock {
        Some(superblock) => recovery::check_log(&log_folder, superblock).map(|_| ()),
        // Without a superblock nobody knows what was promised, so whatever is not whole is damage.
        _ => {
            report.damages.extend(survey.damages.iter().cloned());
            return Ok(survey);
        }
    };
    match verdict {
        Ok(()) => report.notes.extend(
            survey.damages.iter().map(|damage| format!("never promised, so it is cut: {damage}")),
        ),
        Err(error) if error.kind() == crate::ErrorKind::Corrupt => {
            if survey.damages.is_empty() {
                let why = error.to_string();
                report.damages.push(Damage { file: log_folder, offset: None, why });
            }
            report.damages.extend(survey.damages.iter().cloned());
        }
        Err(error) => return Err(error),
    }
    Ok(survey)
}

fn look_at_tree(folder: &Path, report: &mut Report) -> Result<bool> {
    let before = report.damages.len();
    match listing::read(folder) {
        Ok(listed) => {
            for table in listed {
                report.table_files += 1;
                match listing::check_whole(&table) {
                    Ok(bytes) => report.table_bytes += bytes,
                    Err(flaw) => report.damages.push(Damage {
                        file: table.path,
                        offset: flaw.offset,
                        why: flaw.why,
                    }),
                }
            }
        }
        Err(error) if error.kind() == crate::ErrorKind::Corrupt => {
            let why = error.to_string();
            report.damages.push(Damage { file: folder.to_owned(), offset: None, why });
        }
        Err(error) => return Err(error),
    }
    Ok(report.damages.len() == before)
}
