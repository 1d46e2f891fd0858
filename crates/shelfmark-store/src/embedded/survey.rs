//! Reads every intact group of a log, skipping damage.
//!
//! What it is not: recovery. It judges nothing and stops at nothing; verifying and salvaging use it.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::contract::Result;

use super::bytes::wide;
use super::log;
use super::log::group::{Entries, GroupHeader};
use super::log::header::{BadHeader, FileHeader};
use super::log::reader::{LogFile, Step};
use super::report::Damage;

/// The intact parts of a log.
#[derive(Default)]
pub(super) struct Survey {
    /// Number of files that were read.
    pub(super) files: usize,
    /// Number of the newest file by its name.
    pub(super) newest_file: u64,
    /// The intact headers.
    pub(super) headers: Vec<FileHeader>,
    /// The intact groups, by rising number.
    pub(super) groups: Vec<(GroupHeader, Bytes)>,
    /// The damages.
    pub(super) damages: Vec<Damage>,
}

/// Reads every log file in `folder`; `store_id` is taken from the first intact header if it is not
/// given.
pub(super) fn survey(folder: &Path, store_id: Option<u128>) -> Result<Survey> {
    let mut survey = Survey::default();
    if !folder.is_dir() {
        survey.damage(folder.to_owned(), None, "the folder of the log is missing");
        return Ok(survey);
    }
    let files = log::list(folder)?;
    let store_id = match store_id {
        Some(store_id) => store_id,
        None => first_store_id(&files)?,
    };
    for (number, path) in files {
        survey.files += 1;
        survey.newest_file = number;
        survey.read(&LogFile::read(&path, store_id)?, store_id);
    }
    survey.groups.sort_by_key(|(group, _)| group.number);
    survey.groups.dedup_by_key(|(group, _)| group.number);
    Ok(survey)
}

/// Returns the store id in the first intact header.
pub(super) fn first_store_id(files: &[(u64, PathBuf)]) -> Result<u128> {
    for (_, path) in files {
        if let Ok(header) = LogFile::read(path, 0)?.header {
            return Ok(header.store_id);
        }
    }
    Ok(0)
}

impl Survey {
    fn damage(&mut self, file: PathBuf, offset: Option<u64>, why: &str) {
        self.damages.push(Damage { file, offset, why: why.to_owned() });
    }

    fn read(&mut self, file: &LogFile, store_id: u128) {
        match file.header {
            Ok(header) if header.store_id == store_id => self.headers.push(header),
            Ok(_) => self.damage(file.path.clone(), Some(0), "the file belongs to another store"),
            Err(BadHeader::Damaged) => {
                self.damage(file.path.clone(), Some(0), "the file's header is damaged");
            }
            Err(BadHeader::Newer(_)) => {
                self.damage(file.path.clone(), Some(0), "a newer version wrote the file");
                return;
            }
        }
        let mut offset = LogFile::first_offset();
        loop {
            match file.step(offset) {
                Step::End => break,
                Step::Group(group, body, next) => {
                    if Entries::new(&body).all(|entry| entry.is_ok()) {
                        self.groups.push((group, body));
                    } else {
                        self.damage(file.path.clone(), Some(wide(offset)), "not a list of writes");
                    }
                    offset = next;
                }
                Step::Damaged(why) => {
                    self.damage(file.path.clone(), Some(wide(offset)), why);
                    match file.find_group(offset + 1, 0) {
                        Some((next, _)) => offset = next,
                        None => break,
                    }
                }
            }
        }
    }
}
