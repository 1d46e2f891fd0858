//! A power cut, and then damage to the log: what the superblock covers is missed when it is gone.
//!
//! Without the superblock, a log that ends early is a torn tail, as any power cut leaves it.

use std::path::{Path, PathBuf};

use shelfmark_store::{Durability, ErrorKind, vfs};
use shelfmark_testkit::crash::judge::{open_error, tight};
use shelfmark_testkit::crash::plan::Plan;
use shelfmark_testkit::crash::promise::Promise;
use shelfmark_testkit::powercut::cuts::Effort;
use shelfmark_testkit::powercut::image::Image;

use crate::damage_groups::{Group, groups};
use crate::powercut_recorded::life;

/// The log files of a store and their groups, in order.
fn log(store: &Path) -> Vec<(PathBuf, Vec<Group>)> {
    let paths = vfs::list(&store.join("log")).unwrap_or_default();
    paths.into_iter().map(|path| (path.clone(), groups(&vfs::read(&path).unwrap()))).collect()
}

/// Cuts the log off before the last group that the superblock covers, and expects the store to be
/// refused, naming the place, and left as it is.
fn judge(store: &Path, _: &Plan, promise: &Promise) -> Result<bool, String> {
    let log = log(store);
    let covered = |group: &&Group| {
        (group.first_commit..group.first_commit + group.commits)
            .contains(&promise.superblock_commit)
    };
    let found = log.iter().enumerate().find_map(|(at, (path, groups))| {
        groups.iter().find(covered).map(|group| (at, path, group.offset))
    });
    // It was flushed, and its log file removed.
    let Some((at, path, offset)) = found else { return Ok(false) };
    for (later, _) in &log[at + 1..] {
        vfs::remove(later).unwrap();
    }
    vfs::truncate(path, offset).unwrap();
    vfs::replace(&store.join("lock"), b"").unwrap();
    let before = Image::read(store).unwrap();
    let Some(error) = open_error(store, tight()) else {
        return Err(format!("the loss of commit {} is not noticed", promise.superblock_commit));
    };
    let text = error.to_string();
    if error.kind() != ErrorKind::Corrupt || !text.contains(&path.display().to_string()) {
        return Err(format!("{} at {offset}: {:?}: {text}", path.display(), error.kind()));
    }
    if Image::read(store).unwrap() != before {
        return Err("something was changed".to_owned());
    }
    Ok(true)
}

#[test]
fn a_log_that_ends_below_the_superblock_is_refused_after_a_power_cut() {
    let (recorded, mut trial) = life(5, Durability::Sync);
    let mut refused = 0;
    let outcome = trial
        .run_with(
            |_| false,
            Effort::all_lost(),
            |store, plan, promise| {
                judge(store, plan, promise).inspect(|was| refused += usize::from(*was))
            },
        )
        .unwrap();
    if let Some(why) = outcome.failure {
        recorded.fail(&why);
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn leaving_out_the_syncs_of_the_superblock_is_noticed() {
    let (_recorded, mut trial) = life(6, Durability::Sync);
    let sites: Vec<String> = trial
        .sites()
        .into_iter()
        .filter(|site| site.starts_with("mark: SuperblockFile::sync"))
        .collect();
    assert!(sites.iter().any(|site| site.contains("run_due_work")), "{sites:#?}");
    // One alone is made up for by the next of another; the loss shows at once if none is asked for.
    let skip = |site: &str| sites.iter().any(|own| own == site);
    let outcome = trial.run_with(skip, Effort::all_lost(), judge).unwrap();
    let why = outcome.failure.unwrap();
    assert!(why.contains("is not noticed"), "{why}");
    let skip = |site: &str| site.contains("SuperblockFile::sync < Committer::run_due_work");
    let outcome = trial.run_with(skip, Effort::all_lost(), judge).unwrap();
    assert!(outcome.failure.is_some());
}
