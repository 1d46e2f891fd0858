//! Names, creates and locks the folder of a store.
//!
//! ```text
//! lock            held while the store is open
//! superblock            created last: a folder without it holds no store yet
//! log/            log files, numbered
//! tree/           the bought tree's files
//! ```
//!
//! Invariant: a power cut at any point of creation leaves a folder that is recognised as begun and
//! is created again; a folder with anything else in it is left alone.

use std::path::{Path, PathBuf};

use crate::contract::{Error, ErrorKind, Result};
use crate::vfs;

use super::fault;
use super::lock::FolderLock;
use super::log::header::{FileHeader, HEADER_BYTES};
use super::log::writer::LogWriter;
use super::log::{self, path_of};
use super::options::Options;
use super::superblock::{self, SUPERBLOCK_NAME, Superblock};
use super::tree::{TABLES_NAME, Tree};

const LOCK_NAME: &str = "lock";
const LOG_NAME: &str = "log";
const TREE_NAME: &str = "tree";
/// The temporary file that an interrupted `vfs::replace` leaves.
const NEW_SUPERBLOCK_NAME: &str = "mark.new";

/// Returns the folder of the log files.
pub(super) fn log_folder(folder: &Path) -> PathBuf {
    folder.join(LOG_NAME)
}

/// Returns the folder of the tree.
pub(super) fn tree_folder(folder: &Path) -> PathBuf {
    folder.join(TREE_NAME)
}

/// Returns the path of the superblock.
pub(super) fn superblock_path(folder: &Path) -> PathBuf {
    folder.join(SUPERBLOCK_NAME)
}

/// Creates the folder if it is missing and locks it.
///
/// # Errors
///
/// * [`ErrorKind::Invalid`]: the path is no folder, or holds something that is no store of ours.
/// * [`ErrorKind::Unavailable`]: another process, or this one, has the store open.
/// * [`ErrorKind::Io`]: the folder cannot be created or written.
pub(super) fn lock_folder(folder: &Path) -> Result<FolderLock> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("{} is not a folder; name a folder for the store", folder.display()),
        ));
    }
    vfs::create_folder(folder).map_err(|error| {
        fault::io("create the folder (check that its parent is writable)", folder, error)
    })?;
    check_names(folder)?;
    FolderLock::take(&folder.join(LOCK_NAME))
}

/// Locks a folder that must hold a store or the remains of one.
///
/// # Errors
///
/// * [`ErrorKind::Invalid`]: there is no store.
/// * [`ErrorKind::Unavailable`]: another process, or this one, has the store open.
/// * [`ErrorKind::Io`]: the folder cannot be written.
pub(super) fn lock_existing(folder: &Path) -> Result<FolderLock> {
    check_there(folder)?;
    FolderLock::take(&folder.join(LOCK_NAME))
}

/// Works as [`lock_existing`], for read-only use: the folder may be one that cannot be written.
///
/// # Errors
///
/// * As [`lock_existing`].
pub(super) fn lock_to_read(folder: &Path) -> Result<Option<FolderLock>> {
    check_there(folder)?;
    FolderLock::take_to_read(&folder.join(LOCK_NAME))
}

fn check_there(folder: &Path) -> Result<()> {
    let parts = [superblock_path(folder), log_folder(folder), tree_folder(folder)];
    if parts.iter().any(|part| part.exists()) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Invalid, format!("there is no store in {}", folder.display())))
}

/// Refuses a folder that holds files of others.
fn check_names(folder: &Path) -> Result<()> {
    let paths = vfs::list(folder).map_err(|error| fault::io("list", folder, error))?;
    if paths.iter().any(|path| path.file_name().is_some_and(|name| name == SUPERBLOCK_NAME)) {
        return Ok(());
    }
    let known = [LOCK_NAME, LOG_NAME, TREE_NAME, NEW_SUPERBLOCK_NAME];
    let stranger = paths.iter().find(|path| {
        !path.file_name().is_some_and(|name| known.iter().any(|known| name == *known))
    });
    match stranger {
        Some(path) => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "{} is not empty and holds no store (there is {}); choose an empty folder or one \
                 of Shelfmark's",
                folder.display(),
                path.display()
            ),
        )),
        None => Ok(()),
    }
}

/// Creates an empty store, over the remains of a creation that was interrupted.
///
/// # Errors
///
/// * [`ErrorKind::Corrupt`]: the remains hold data, so the superblock was lost rather than not yet made.
pub(super) fn create(folder: &Path, store_id: u128, options: &Options) -> Result<()> {
    let log_folder = log_folder(folder);
    let tree_folder = tree_folder(folder);
    refuse_data(folder, &log_folder, &tree_folder)?;
    // The folder itself may be new, and a kill may have come before its name was synced.
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    vfs::sync_folder(parent).map_err(|error| fault::io("sync", parent, error))?;
    let remove = |path: &Path| {
        vfs::remove_tree(path).map_err(|error| fault::io("remove the unfinished", path, error))
    };
    remove(&log_folder)?;
    remove(&tree_folder)?;
    vfs::create_folder(&log_folder)
        .map_err(|error| fault::io("create the folder", &log_folder, error))?;
    let commits_after = options.commits_after;
    let header = FileHeader {
        store_id,
        file: 1,
        first_group: 1,
        first_commit: commits_after.saturating_add(1),
    };
    LogWriter::create(&log_folder, header, 0)?;
    // The tree syncs its own files and folder when it is created.
    drop(Tree::create(&tree_folder)?);
    vfs::sync_folder(folder).map_err(|error| fault::io("sync", folder, error))?;
    let superblock = Superblock {
        store_id,
        durability: options.durability,
        synced_group: 0,
        synced_commit: commits_after,
        flushed_group: 0,
        flushed_commit: commits_after,
        seqno_max: 0,
        // Not before a close: a kill now may leave the superblock's name unsynced.
        clean: false,
    };
    write_superblock(folder, &superblock::file_of(&superblock))
}

/// Writes the superblock file by an atomic replace.
pub(super) fn write_superblock(folder: &Path, bytes: &[u8]) -> Result<()> {
    let path = superblock_path(folder);
    vfs::replace(&path, bytes).map_err(|error| fault::io("replace", &path, error))
}

/// Returns true if `folder` holds the remains of an interrupted creation, which the next open
/// creates again.
///
/// # Errors
///
/// * [`ErrorKind::Io`]: the folder cannot be read.
pub(super) fn is_unfinished(folder: &Path) -> Result<bool> {
    if superblock_path(folder).exists() {
        return Ok(false);
    }
    let looked = check_names(folder)
        .and_then(|()| refuse_data(folder, &log_folder(folder), &tree_folder(folder)));
    match looked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::Io => Err(error),
        Err(_) => Ok(false),
    }
}

/// Fails if a folder without a superblock holds groups or tables.
fn refuse_data(folder: &Path, log_folder: &Path, tree_folder: &Path) -> Result<()> {
    let lost = |what: &Path| {
        Err(fault::corrupt_store(
            folder,
            format!(
                "the superblock (the file `mark`) is missing, yet {} holds data",
                what.display()
            ),
        ))
    };
    if log_folder.is_dir() {
        for (_, path) in log::list(log_folder)? {
            let length = path.metadata().map_err(|error| fault::io("read", &path, error))?.len();
            if length > super::bytes::wide(HEADER_BYTES) || path != path_of(log_folder, 1) {
                return lost(&path);
            }
        }
    }
    let tables = tree_folder.join(TABLES_NAME);
    if tables.is_dir() {
        let files = vfs::list(&tables).map_err(|error| fault::io("list", &tables, error))?;
        if !files.is_empty() {
            return lost(&tables);
        }
    }
    Ok(())
}
