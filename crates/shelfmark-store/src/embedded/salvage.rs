//! Salvages a damaged store: keeps everything intact, moves everything damaged aside, and reports
//! what is lost.
//!
//! The new parts are built beside the old ones, in `salvage-N/new`; then the old ones are moved to
//! `salvage-N` and the new ones into place, the superblock last. `salvage-N/ready` says that the new
//! parts are complete, so an interrupted salvage is finished by the next one. It also says what is
//! lost, and stays, as `salvage-N/lost`, until whoever holds records that follow from what was lost
//! has seen to them.
//!
//! Invariant: no byte of a damaged file is removed, and losses are told until they were seen to.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use crate::contract::{Durability, Result};
use crate::vfs;

use super::bytes::wide;
use super::log::group::GroupHeader;
use super::log::header::FileHeader;
use super::log::writer::LogWriter;
use super::losses::Losses;
use super::report::{LostPart, Salvage};
use super::superblock::{self, Superblock};
use super::tree::blocks;
use super::tree::identities::Identities;
use super::tree::listing;
use super::tree::{LastGroup, Memory, StopFlag, TABLES_NAME, Tree};
use super::verify::Findings;
use super::{fault, layout, recovery, verify};

/// Bytes of table files that are held in memory at once while they are read back.
const REBUILD_BYTES: u64 = 64 * 1024 * 1024;
/// Size of the memory table while groups are inserted again.
const MEMORY_TABLE_BYTES: u64 = 64 * 1024 * 1024;

const LOG_NAME: &str = "log";
const TREE_NAME: &str = "tree";
const NEW_NAME: &str = "new";
const READY_NAME: &str = "ready";
const LOST_NAME: &str = "lost";

/// Makes a damaged store usable again, keeping everything that is intact.
///
/// Damaged originals are moved into a folder `salvage-N` inside the store's folder and stay there.
/// A store without damage is left alone. Needs free space for a copy of the tree if a table file is
/// damaged. Cost: as [`crate::embedded::verify`], and writing what has to be written anew.
///
/// What is lost is told again by each call until [`end_salvage`] says that it was seen to: records
/// that follow from others, such as entries of indexes, may not do so any more.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: there is no store, or a newer version wrote it.
/// * [`crate::ErrorKind::Unavailable`]: the store is open. Stop it first.
/// * [`crate::ErrorKind::Io`]: the operating system refused; call it again, it goes on.
pub fn salvage(folder: &Path) -> Result<Salvage> {
    let _lock = layout::lock_existing(folder)?;
    let earlier = unfinished(folder)?;
    let mut salvage = match find_ready(folder)? {
        Some(aside) => Salvage {
            commits_lost: Some(0),
            notes: vec!["an interrupted salvage was finished".to_owned()],
            set_aside: Some(aside),
            ..Salvage::default()
        },
        None => prepare(folder)?,
    };
    if let Some(aside) = salvage.set_aside.clone() {
        put_in_place(folder, &aside)?;
    } else if let Some(aside) = earlier.last() {
        salvage.set_aside = Some(aside.clone());
        salvage
            .notes
            .push("a salvage of before was interrupted; what it lost is told again".into());
    }
    for aside in earlier {
        // One without losses has no such file by now.
        let path = aside.join(LOST_NAME);
        if path.exists() {
            Losses::decode(&read(&path)?, folder).add_to(&mut salvage);
        }
    }
    Ok(salvage)
}

/// Marks the losses of this store's salvages as handled, so that they are not reported again.
///
/// # Errors
///
/// * As [`salvage`].
pub fn end_salvage(folder: &Path) -> Result<()> {
    let _lock = layout::lock_existing(folder)?;
    for aside in unfinished(folder)? {
        let lost = aside.join(LOST_NAME);
        if lost.exists() {
            vfs::remove(&lost).map_err(|error| fault::io("remove", &lost, error))?;
        }
    }
    Ok(())
}

/// Returns the folders of salvages that are unfinished or whose losses were not handled yet.
pub(super) fn unfinished(folder: &Path) -> Result<Vec<PathBuf>> {
    let waits = |path: &PathBuf| path.join(READY_NAME).exists() || path.join(LOST_NAME).exists();
    Ok(asides(folder)?.into_iter().filter(waits).collect())
}

/// Builds the replacement of everything damaged, without moving anything.
pub(super) fn prepare(folder: &Path) -> Result<Salvage> {
    let findings = verify::look(folder)?;
    if findings.report.is_clean() {
        return Ok(Salvage { commits_lost: Some(0), ..Salvage::default() });
    }
    let aside = new_aside(folder)?;
    let mut salvage = Salvage {
        set_aside: Some(aside.clone()),
        damages: findings.report.damages.clone(),
        notes: findings.report.notes.clone(),
        ..Salvage::default()
    };
    build(folder, &aside, findings, &mut salvage)?;
    Ok(salvage)
}

/// Builds the new parts in `aside/new`.
fn build(folder: &Path, aside: &Path, findings: Findings, salvage: &mut Salvage) -> Result<()> {
    let new = aside.join(NEW_NAME);
    let log_folder = new.join(LOG_NAME);
    make_folder(&log_folder)?;
    let superblock = findings.superblock.unwrap_or_else(|| guess_superblock(&findings));
    let tree = if findings.tree_is_whole {
        Tree::open(&layout::tree_folder(folder), Memory::default(), &StopFlag::idle())?
    } else {
        rebuild(&layout::tree_folder(folder), &new.join(TREE_NAME), salvage)?
    };
    let end =
        count_losses(&superblock, findings.superblock.is_some(), &findings.survey.groups, salvage);
    let seqno_max = findings
        .survey
        .groups
        .iter()
        .map(|(group, _)| group.seqno)
        .fold(superblock.seqno_max, u64::max);
    let lacking: Vec<(GroupHeader, Bytes)> = findings
        .survey
        .groups
        .into_iter()
        .filter(|(group, _)| group.number > superblock.flushed_group)
        .collect();
    salvage.groups_kept = wide(lacking.len());
    tree.raise_seqno(seqno_max);
    recovery::replay(&tree, lacking, MEMORY_TABLE_BYTES)?;
    tree.rotate(end);
    tree.flush()?;
    let header = FileHeader {
        store_id: superblock.store_id,
        file: findings.survey.newest_file + 1,
        first_group: end.group + 1,
        first_commit: end.commit + 1,
    };
    LogWriter::create(&log_folder, header, 0)?;
    let superblock = Superblock {
        synced_group: end.group,
        synced_commit: end.commit,
        flushed_group: end.group,
        flushed_commit: end.commit,
        seqno_max: tree.seqno_bound(),
        clean: false,
        ..superblock
    };
    write(&new.join(superblock::SUPERBLOCK_NAME), &superblock::file_of(&superblock))?;
    write(&aside.join(READY_NAME), &Losses::of(salvage).encode(folder))
}

/// Constructs a superblock that acknowledges everything that the log seems to hold.
pub(super) fn guess_superblock(findings: &Findings) -> Superblock {
    let first = findings.survey.headers.iter().min_by_key(|header| header.first_group);
    let last = findings.survey.groups.last().map(|(group, _)| *group);
    Superblock {
        store_id: first.map_or(0, |header| header.store_id),
        durability: Durability::Sync,
        synced_group: last.map_or(0, |group| group.number),
        synced_commit: last.map_or(0, |group| group.last_commit()),
        flushed_group: first.map_or(0, |header| header.first_group.saturating_sub(1)),
        flushed_commit: first.map_or(0, |header| header.first_commit.saturating_sub(1)),
        seqno_max: 0,
        clean: false,
    }
}

/// Computes the missing groups and commits, and returns the last numbers that were ever used.
pub(super) fn count_losses(
    superblock: &Superblock,
    superblock_is_known: bool,
    groups: &[(GroupHeader, Bytes)],
    salvage: &mut Salvage,
) -> LastGroup {
    let mut end = LastGroup { group: superblock.flushed_group, commit: superblock.flushed_commit };
    let mut commits_lost = 0;
    let mut lose = |from: LastGroup, upto: LastGroup| {
        if upto.group > from.group {
            salvage.groups_lost.push(RangeInclusive::new(from.group + 1, upto.group));
            commits_lost += upto.commit.saturating_sub(from.commit);
        }
    };
    for (group, _) in groups.iter().filter(|(group, _)| group.number > superblock.flushed_group) {
        let before =
            LastGroup { group: group.number - 1, commit: group.first_commit.saturating_sub(1) };
        lose(end, before);
        end = LastGroup { group: group.number, commit: group.last_commit() };
    }
    let promised = LastGroup { group: superblock.synced_group, commit: superblock.synced_commit };
    lose(end, promised);
    salvage.lost_anywhere |= !superblock_is_known || !salvage.groups_lost.is_empty();
    if superblock_is_known {
        salvage.commits_lost = Some(commits_lost);
    } else {
        salvage.notes.push(
            "the superblock was lost, so groups missing at either end of the log cannot be counted"
                .to_owned(),
        );
    }
    end.max(promised)
}

/// Writes a new tree in `new` from the intact entries of the one in `old`.
fn rebuild(old: &Path, new: &Path, salvage: &mut Salvage) -> Result<Tree> {
    let tables = table_files(old, salvage)?;
    let tree = Tree::create(new)?;
    let bytes: u64 =
        tables.iter().filter_map(|path| path.metadata().ok()).map(|data| data.len()).sum();
    let rounds = bytes.div_ceil(REBUILD_BYTES).max(1);
    for round in 0..rounds {
        // All versions of a key go into one memory table, which puts them in order.
        let active = tree.active();
        for path in tables.iter().filter(|path| path.exists()) {
            let rescued = blocks::rescue(path)?;
            for version in rescued.versions {
                if xxh3_64(&version.key) % rounds == round {
                    tree.raise_seqno(version.seqno);
                    active.insert(version.key, version.value, version.seqno);
                }
            }
            if round == 0 {
                salvage.table_parts_lost.extend(parts_of(path, rescued.lost));
            }
        }
        tree.rotate(LastGroup { group: 0, commit: 0 });
        tree.flush()?;
    }
    salvage.table_parts_lost.extend(missing_of(&tables));
    Ok(tree)
}

/// Returns the table files of the tree in `old`: those of its list, or all files if the list is
/// lost. A file of another store under the name of one of the list is lost, and not read.
pub(super) fn table_files(old: &Path, salvage: &mut Salvage) -> Result<Vec<PathBuf>> {
    match listing::read(old) {
        Ok(listed) => {
            let identities = Identities::read(old);
            let (foreign, own): (Vec<_>, Vec<_>) =
                listed.into_iter().partition(|table| identities.is_foreign(table));
            for table in foreign {
                salvage.notes.push(format!("{} is of another store", table.path.display()));
                salvage.table_parts_lost.push(whole(table.path));
            }
            Ok(own.into_iter().map(|table| table.path).collect())
        }
        Err(_) => {
            salvage.lost_anywhere = true;
            salvage.notes.push(
                "the list of table files was lost: all of them were read, so rows that were \
                 deleted long ago may be back"
                    .to_owned(),
            );
            numbered_files(&old.join(TABLES_NAME))
        }
    }
}

/// Returns the lost parts of a table file.
pub(super) fn parts_of(path: &Path, lost: Vec<blocks::Lost>) -> impl Iterator<Item = LostPart> {
    lost.into_iter().map(|part| LostPart {
        file: path.to_owned(),
        offset: Some(part.place.start),
        bytes: Some(part.place.end - part.place.start),
        after: part.after,
        before: part.before,
    })
}

/// Returns the missing table files as lost parts.
pub(super) fn missing_of(paths: &[PathBuf]) -> impl Iterator<Item = LostPart> {
    paths.iter().filter(|path| !path.exists()).map(|path| whole(path.clone()))
}

/// Returns a table file that is lost as a whole.
fn whole(file: PathBuf) -> LostPart {
    LostPart { file, offset: None, bytes: None, after: None, before: None }
}

fn numbered_files(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let paths = vfs::list(folder).map_err(|error| fault::io("list", folder, error))?;
    let is_number = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.parse::<u64>().is_ok())
    };
    Ok(paths.into_iter().filter(is_number).collect())
}

/// Moves the old parts to `aside` and the new ones into place; safe to repeat after a failure.
fn put_in_place(folder: &Path, aside: &Path) -> Result<()> {
    let new = aside.join(NEW_NAME);
    for name in [LOG_NAME, TREE_NAME] {
        let (old, fresh, kept) = (folder.join(name), new.join(name), aside.join(name));
        if fresh.exists() {
            if old.exists() && !kept.exists() {
                move_to(&old, &kept)?;
            }
            move_to(&fresh, &old)?;
        }
    }
    let superblock = new.join(superblock::SUPERBLOCK_NAME);
    if superblock.exists() {
        let kept = aside.join(superblock::SUPERBLOCK_NAME);
        let old = layout::superblock_path(folder);
        if old.exists() && !kept.exists() {
            write(&kept, &read(&old)?)?;
        }
        layout::write_superblock(folder, &read(&superblock)?)?;
    }
    let ready = aside.join(READY_NAME);
    if Losses::decode(&read(&ready)?, folder).is_nothing() {
        vfs::remove(&ready).map_err(|error| fault::io("remove", &ready, error))?;
    } else {
        move_to(&ready, &aside.join(LOST_NAME))?;
    }
    vfs::remove_tree(&new).map_err(|error| fault::io("remove", &new, error))
}

/// Finds a salvage that was interrupted after all replacements were complete.
fn find_ready(folder: &Path) -> Result<Option<PathBuf>> {
    Ok(asides(folder)?.into_iter().find(|path| path.join(READY_NAME).exists()))
}

fn asides(folder: &Path) -> Result<Vec<PathBuf>> {
    let paths = vfs::list(folder).map_err(|error| fault::io("list", folder, error))?;
    Ok(paths.into_iter().filter(|path| is_aside(path)).collect())
}

fn is_aside(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("salvage-"))
}

fn new_aside(folder: &Path) -> Result<PathBuf> {
    let mut number = 1_u32;
    loop {
        let aside = folder.join(format!("salvage-{number}"));
        if !aside.exists() {
            make_folder(&aside)?;
            return Ok(aside);
        }
        number += 1;
    }
}

fn make_folder(path: &Path) -> Result<()> {
    vfs::create_folder(path).map_err(|error| fault::io("create the folder", path, error))
}

fn move_to(from: &Path, to: &Path) -> Result<()> {
    vfs::move_to(from, to).map_err(|error| fault::io("move", from, error))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    vfs::read(path).map_err(|error| fault::io("read", path, error))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    vfs::replace(path, bytes).map_err(|error| fault::io("write", path, error))
}
