//! Recovery: checks the log, truncates a torn tail, and replays what the tree lacks.
//!
//! The rules, by the durability that the superblock records:
//!
//! * A damaged group with nothing whole behind it, above the superblock's number, is a torn tail: it was
//!   never acknowledged. It is cut.
//! * Under [`Durability::Sync`], a damaged group with a whole one behind it, a gap in the numbers, a
//!   missing file, or an end below the superblock's number is corruption. Nothing is changed then.
//! * Under [`Durability::Interval`], groups above the superblock's number were never promised: the first
//!   damaged one ends the log, whatever follows. Below it the rules of `Sync` hold.
//!
//! Invariant: nothing on disk is changed before the whole log was checked.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::contract::{Durability, Error, ErrorKind, Result};
use crate::vfs;

use super::bytes::wide;
use super::fault;
use super::inner::{Log, LogFileInfo};
use super::log;
use super::log::group::{Entries, GroupHeader};
use super::log::header::{BadHeader, FileHeader};
use super::log::reader::{LogFile, Step};
use super::log::writer::LogWriter;
use super::report::Opened;
use super::superblock::Superblock;
use super::tree::{LastGroup, Tree};

/// A checked log: its valid groups, and what is to be cut.
pub(super) struct CheckedLog {
    /// The files that stay, oldest first, with the end of their valid groups.
    pub(super) files: Vec<(LogFileInfo, FileHeader, u64)>,
    /// The last valid group, or the one before the first if there is none.
    pub(super) last_group: u64,
    /// Last commit of that group.
    pub(super) last_commit: u64,
    /// Highest sequence number of a group.
    pub(super) last_seqno: u64,
    /// The valid groups that the tree lacks, in order.
    pub(super) groups: Vec<(GroupHeader, Bytes)>,
    /// True if the last file that stays has bytes behind its last valid group.
    torn: bool,
    /// True if the store was closed in order, so that everything is synced.
    clean: bool,
    /// Files behind the end of the log.
    stale: Vec<PathBuf>,
}

impl CheckedLog {
    /// Returns the summary of this recovery.
    pub(super) fn opened(&self, is_new: bool) -> Opened {
        Opened {
            is_new,
            was_clean: self.clean,
            groups_replayed: wide(self.groups.len()),
            tail_was_cut: self.torn,
        }
    }
}

struct Judge<'a> {
    superblock: &'a Superblock,
    files: Vec<(u64, PathBuf)>,
    checked: CheckedLog,
}

/// Reads and checks the log in `folder`.
///
/// # Errors
///
/// * [`ErrorKind::Corrupt`]: see the module. Nothing was changed.
pub(super) fn check_log(folder: &Path, superblock: &Superblock) -> Result<CheckedLog> {
    let files = if folder.is_dir() { log::list(folder)? } else { Vec::new() };
    let checked = CheckedLog {
        files: Vec::new(),
        last_group: 0,
        last_commit: 0,
        last_seqno: superblock.seqno_max,
        groups: Vec::new(),
        torn: false,
        clean: superblock.clean,
        stale: Vec::new(),
    };
    let mut check_log = Judge { superblock, files, checked };
    check_log.run(folder)?;
    Ok(check_log.checked)
}

impl Judge<'_> {
    fn run(&mut self, folder: &Path) -> Result<()> {
        let mut ended = false;
        for index in 0..self.files.len() {
            let Some((number, path)) = self.files.get(index).cloned() else { break };
            if ended {
                self.checked.stale.push(path);
                continue;
            }
            let file = LogFile::read(&path, self.superblock.store_id)?;
            match self.check_header(&file, number, index)? {
                Some(header) => ended = self.read_groups(&file, header, index)?,
                None => {
                    self.checked.stale.push(path);
                    ended = true;
                }
            }
        }
        let Some((info, _, end)) = self.checked.files.last() else {
            return Err(fault::corrupt_store(folder, "there is no log file"));
        };
        if self.checked.last_group < self.superblock.synced_group {
            let why = format!(
                "the log ends here with group {}, but group {} was synced",
                self.checked.last_group, self.superblock.synced_group
            );
            return Err(fault::corrupt(&info.path, *end, why));
        }
        Ok(())
    }

    /// Returns the header if the file belongs to this log, `None` if it is an unfinished last file.
    fn check_header(
        &mut self,
        file: &LogFile,
        number: u64,
        index: usize,
    ) -> Result<Option<FileHeader>> {
        let path = &file.path;
        let header = match file.header {
            Ok(header) => header,
            Err(BadHeader::Newer(format)) => {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    format!(
                        "{} has log format {format}, which this version does not know; open the \
                         store with a newer version",
                        path.display()
                    ),
                ));
            }
            Err(BadHeader::Damaged) => {
                // A file is used only after its header was synced: one without groups is unfinished.
                self.refuse_if_promised(file, 0, index, "the file's header is damaged")?;
                if self.checked.files.is_empty() {
                    return Err(fault::corrupt(path, 0, "the first log file has no header"));
                }
                return Ok(None);
            }
        };
        if header.store_id != self.superblock.store_id {
            return Err(fault::corrupt(path, 0, "the file belongs to another store"));
        }
        if header.file != number {
            return Err(fault::corrupt(path, 0, "the file's name and its number differ"));
        }
        let expected = self.checked.files.last().map(|(_, last, _)| last.file + 1);
        if let Some(expected) = expected
            && number != expected
        {
            return self.gap(path, format!("log file {expected} before it is missing"));
        }
        if self.checked.files.is_empty() {
            if header.first_group > self.superblock.flushed_group.saturating_add(1) {
                return Err(fault::corrupt(
                    path,
                    0,
                    format!(
                        "it begins with group {}, but groups from {} on are needed: a log file is \
                         missing",
                        header.first_group,
                        self.superblock.flushed_group + 1
                    ),
                ));
            }
            self.checked.last_group = header.first_group.saturating_sub(1);
            self.checked.last_commit = header.first_commit.saturating_sub(1);
        } else if header.first_group != self.checked.last_group + 1 {
            let why = format!(
                "it begins with group {}, but the file before it ends with group {}",
                header.first_group, self.checked.last_group
            );
            return self.gap(path, why);
        }
        Ok(Some(header))
    }

    /// Handles a gap before a file: corruption, unless nothing from here on was acknowledged.
    fn gap(&self, path: &Path, why: String) -> Result<Option<FileHeader>> {
        if self.promised_more() { Err(fault::corrupt(path, 0, why)) } else { Ok(None) }
    }

    /// Returns true if groups after the last valid one were acknowledged.
    fn promised_more(&self) -> bool {
        self.superblock.durability == Durability::Sync
            || self.checked.last_group < self.superblock.synced_group
    }

    /// Reads the groups of a file and returns true if the log ends in it.
    fn read_groups(&mut self, file: &LogFile, header: FileHeader, index: usize) -> Result<bool> {
        let mut offset = LogFile::first_offset();
        let mut ended = false;
        loop {
            let why = match file.step(offset) {
                Step::End => break,
                Step::Group(group, body, next) => match self.numbers_fit(&group) {
                    Ok(()) => {
                        self.checked.last_group = group.number;
                        self.checked.last_commit = group.last_commit();
                        self.checked.last_seqno = self.checked.last_seqno.max(group.seqno);
                        if group.number > self.superblock.flushed_group {
                            self.checked.groups.push((group, body));
                        }
                        offset = next;
                        continue;
                    }
                    Err(why) if self.promised_more() => {
                        return Err(fault::corrupt(&file.path, wide(offset), why));
                    }
                    Err(why) => why,
                },
                Step::Damaged(why) => why.to_owned(),
            };
            self.refuse_if_promised(file, offset, index, &why)?;
            self.checked.torn = true;
            ended = true;
            break;
        }
        let info = LogFileInfo {
            path: file.path.clone(),
            first_group: header.first_group,
            bytes: wide(offset),
        };
        self.checked.files.push((info, header, wide(offset)));
        Ok(ended)
    }

    fn numbers_fit(&self, group: &GroupHeader) -> std::result::Result<(), String> {
        let (group_expected, commit_expected) =
            (self.checked.last_group + 1, self.checked.last_commit + 1);
        if group.number != group_expected {
            return Err(format!("group {} stands where {group_expected} should", group.number));
        }
        if group.first_commit != commit_expected {
            return Err(format!(
                "group {} begins with commit {} instead of {commit_expected}",
                group.number, group.first_commit
            ));
        }
        Ok(())
    }

    /// Fails if damage at `offset` of `file` is more than a torn tail.
    fn refuse_if_promised(
        &self,
        file: &LogFile,
        offset: usize,
        index: usize,
        why: &str,
    ) -> Result<()> {
        let last = self.checked.last_group;
        if last < self.superblock.synced_group {
            let why =
                format!("{why}, and groups up to {} were synced", self.superblock.synced_group);
            return Err(fault::corrupt(&file.path, wide(offset), why));
        }
        if !self.promised_more() {
            return Ok(());
        }
        if let Some((at, group)) = file.find_group(offset.saturating_add(1), last) {
            let why = format!("{why}, yet group {} stands whole at byte {at}", group.number);
            return Err(fault::corrupt(&file.path, wide(offset), why));
        }
        for (_, path) in self.files.iter().skip(index + 1) {
            let later = LogFile::read(path, self.superblock.store_id)?;
            // A file is created only once the one before it is synced whole.
            let begun = later.header.is_ok_and(|header| header.first_group > last);
            if begun || later.find_group(0, last).is_some() {
                let why = format!("{why}, yet {} follows it", path.display());
                return Err(fault::corrupt(&file.path, wide(offset), why));
            }
        }
        Ok(())
    }
}

/// Inserts the groups that the tree lacks into its memory table, sealing it whenever it is full.
pub(super) fn replay(
    tree: &Tree,
    groups: Vec<(GroupHeader, Bytes)>,
    memory_table_bytes: u64,
) -> Result<()> {
    let mut active = tree.active();
    for (group, body) in groups {
        for entry in Entries::new(&body) {
            let entry = entry.map_err(|why| {
                Error::new(ErrorKind::Corrupt, format!("group {}: {why}", group.number))
            })?;
            active.insert(entry.key, entry.value, group.seqno);
        }
        tree.raise_seqno(group.seqno);
        if active.size() >= memory_table_bytes {
            tree.rotate(LastGroup { group: group.number, commit: group.last_commit() });
            active = tree.active();
        }
    }
    Ok(())
}

/// Truncates the torn tail, and leaves the log with a file that can be appended to.
///
/// Every cut is durable before anything new is written. `ahead` is as in [`LogWriter::create`].
pub(super) fn settle(
    folder: &Path,
    checked: CheckedLog,
    ahead: u64,
) -> Result<(Log, Vec<LogFileInfo>)> {
    for path in &checked.stale {
        vfs::remove(path).map_err(|error| fault::io("remove the unfinished", path, error))?;
    }
    let Some((info, header, end)) = checked.files.last().cloned() else {
        return Err(fault::corrupt_store(folder, "there is no log file"));
    };
    if checked.torn {
        vfs::truncate(&info.path, end).map_err(|error| fault::io("cut", &info.path, error))?;
    }
    let mut files: Vec<LogFileInfo> = checked.files.into_iter().map(|(info, ..)| info).collect();
    if !checked.clean {
        // After a kill the tail may be written and not synced, or not even the file's header and
        // name; from now on they count as promised.
        let file =
            vfs::open_rw(&info.path).map_err(|error| fault::io("open", &info.path, error))?;
        file.sync_all().map_err(|error| fault::io("sync", &info.path, error))?;
        vfs::sync_folder(folder).map_err(|error| fault::io("sync", folder, error))?;
    }
    let writer = if end == wide(LogFile::first_offset()) {
        LogWriter::reuse(info.path, header, ahead)?
    } else {
        let next = FileHeader {
            store_id: header.store_id,
            file: header.file + 1,
            first_group: checked.last_group + 1,
            first_commit: checked.last_commit + 1,
        };
        let writer = LogWriter::create(folder, next, ahead)?;
        files.push(LogFileInfo {
            path: log::path_of(folder, next.file),
            first_group: next.first_group,
            bytes: writer.length(),
        });
        writer
    };
    let log = Log {
        writer,
        last_group: checked.last_group,
        last_commit: checked.last_commit,
        last_seqno: checked.last_seqno,
    };
    Ok((log, files))
}
