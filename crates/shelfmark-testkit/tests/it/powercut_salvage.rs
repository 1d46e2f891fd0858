//! Power cuts while a damaged store is salvaged: it can be salvaged again, nothing more is lost,
//! and the damaged files are kept.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use bytes::Bytes;
use shelfmark_store::embedded::{salvage, verify};
use shelfmark_store::{Direction, Durability, KeyRange, ScanLimits, Store as _, vfs};
use shelfmark_testkit::crash::judge::{open, patiently, tight};
use shelfmark_testkit::crash::program::{Bench, Running};
use shelfmark_testkit::crash::promise::Promise;
use shelfmark_testkit::crash::run::Arguments;
use shelfmark_testkit::crash::trial::Trial;
use shelfmark_testkit::powercut::cuts::Effort;
use shelfmark_testkit::powercut::image::Image;

use crate::damage_groups::groups;
use crate::powercut_recorded::{Recorded, binaries, is_long, small};

type Rows = BTreeMap<Bytes, Bytes>;

fn rows(folder: &Path) -> Result<Rows, String> {
    let store = open(folder, tight())?;
    let snapshot = store.snapshot().map_err(|error| error.to_string())?;
    let mut all = Rows::new();
    let mut rest = Some(KeyRange::all());
    while let Some(range) = rest {
        let page = snapshot
            .scan(&range, Direction::Ascending, ScanLimits::default())
            .map_err(|error| error.to_string())?;
        all.extend(page.rows.into_iter().map(|row| (row.key, row.value)));
        rest = page.next;
    }
    Ok(all)
}

fn flip(path: &Path, place: usize) {
    let mut bytes = vfs::read(path).unwrap();
    bytes[place] ^= 0x40;
    vfs::replace(path, &bytes).unwrap();
}

/// A damaged store whose salvage was recorded, what a salvage that nobody disturbs makes of it, and
/// its damaged files.
struct Salvaged {
    recorded: Recorded,
    trial: Trial,
    kept: Kept,
}

/// What must be there after a salvage, however often it was interrupted.
struct Kept {
    rows: Rows,
    damaged: Vec<Vec<u8>>,
    /// Groups that are lost, and how many parts of table files.
    losses: (Vec<RangeInclusive<u64>>, usize),
}

fn salvaged(with_table: bool) -> Salvaged {
    let bench = Bench::new().unwrap();
    let arguments = Arguments {
        commits: 30,
        memory_table_bytes: 12 * 1024,
        ..small(&bench, 11, Durability::Sync)
    };
    let command = binaries().watched(&arguments, &bench.root());
    assert!(Running::start(command).unwrap().end().unwrap().is_well);
    let store = bench.store();
    let mut damaged = Vec::new();
    // A group in the middle of the newest log file that has several.
    let logs = vfs::list(&store.join("log")).unwrap();
    let (log, group) = logs
        .iter()
        .rev()
        .find_map(|path| {
            let groups = groups(&vfs::read(path).unwrap());
            (groups.len() > 2).then(|| (path, groups[1]))
        })
        .unwrap();
    flip(log, usize::try_from(group.offset).unwrap() + 60);
    damaged.push(vfs::read(log).unwrap());
    if with_table {
        let table = vfs::list(&store.join("tree/tables")).unwrap().remove(0);
        flip(&table, 30);
        damaged.push(vfs::read(&table).unwrap());
    }
    let copy = bench.beside("copy");
    Image::read(&bench.root()).unwrap().put(&copy).unwrap();
    let done = patiently(|| salvage(&copy.join("store"))).unwrap();
    assert_eq!(done.commits_lost, Some(1), "{done:?}");
    assert_eq!(done.table_parts_lost.is_empty(), !with_table, "{done:?}");
    let losses = (done.groups_lost, done.table_parts_lost.len());
    let rows = rows(&copy.join("store")).unwrap();
    assert!(rows.len() > 5);
    let recorded = Recorded::of(bench);
    recorded.run(&Arguments { salvages: true, ..arguments.clone() });
    let trial = recorded.trial(arguments.plan, Durability::Sync);
    Salvaged { recorded, trial, kept: Kept { rows, damaged, losses } }
}

/// Opens, and salvages first if that is refused and the salvage had not ended; then everything that
/// could be kept must be there, the damaged files somewhere, and what was lost must be told.
fn judge(folder: &Path, promise: &Promise, kept: &Kept) -> Result<(), String> {
    let had_ended = promise.number > 0;
    let was_clean = patiently(|| verify(folder)).map_err(|error| error.to_string())?.is_clean();
    match open(folder, tight()) {
        Ok(store) if was_clean => drop(store),
        Err(why) if had_ended || !why.contains("is damaged") => return Err(why),
        Ok(_) if had_ended => return Err("damaged again".to_owned()),
        // Damage in a table file shows when it is read only.
        Ok(_) | Err(_) => {
            patiently(|| salvage(folder)).map_err(|error| format!("not salvaged: {error}"))?;
        }
    }
    let report = patiently(|| verify(folder)).map_err(|error| error.to_string())?;
    if !report.is_clean() {
        return Err(format!("damaged after a salvage: {:?}", report.damages));
    }
    let found = rows(folder)?;
    if found != kept.rows {
        return Err(format!("{} rows instead of {}", found.len(), kept.rows.len()));
    }
    let told = patiently(|| salvage(folder)).map_err(|error| error.to_string())?;
    let losses = (told.groups_lost, told.table_parts_lost.len());
    if losses != kept.losses {
        return Err(format!("{losses:?} is told to be lost"));
    }
    let files = Image::read(folder).map_err(|error| error.to_string())?;
    for bytes in &kept.damaged {
        if !files.0.values().flatten().any(|file| file == bytes) {
            return Err("a damaged file was not kept".to_owned());
        }
    }
    Ok(())
}

/// Places whose sync may be left out.
const COVERED: [&str; 7] = [
    // The folders that these names are in are synced again before anything relies on them.
    "new: vfs::sync_folder < vfs::create_folder < salvage::make_folder < salvage::build",
    "salvage-: vfs::sync_folder < vfs::create_folder < salvage::make_folder < salvage::build",
    // What is not in place is put there by the next salvage, until the folder is synced with its
    // new superblock. The other folder of a move is synced for systems on which a move is not durable
    // with the folder that it leads to.
    "new: vfs::sync_folder < vfs::move_to < salvage::move_to < salvage::put_in_place",
    "store: vfs::sync_folder < vfs::move_to < salvage::move_to < salvage::put_in_place",
    // A copy of a whole superblock, for people.
    "mark.new: vfs::replace_with < vfs::replace < salvage::write < salvage::put_in_place",
    "salvage-: vfs::sync_folder < vfs::replace_with < vfs::replace < salvage::write < salvage::put_in_place",
    // Everything is in place: to find it ready once more changes nothing.
    "salvage-: vfs::sync_folder < vfs::remove_tree < salvage::put_in_place",
];

#[test]
fn a_salvage_survives_every_cut() {
    for with_table in [false, true] {
        let Salvaged { recorded, mut trial, kept } = salvaged(with_table);
        let effort = if is_long() { Effort::long(1) } else { Effort::short(1) };
        let outcome = trial
            .run_with(|_| false, effort, |folder, _, promise| judge(folder, promise, &kept))
            .unwrap();
        if let Some(why) = outcome.failure {
            recorded.fail(&why);
        }
        assert!(outcome.judged > 30, "{outcome:?}");
    }
}

#[test]
fn leaving_out_any_sync_of_a_salvage_is_noticed() {
    let Salvaged { recorded: _recorded, mut trial, kept } = salvaged(true);
    let sites = trial.sites();
    let ours =
        |site: &&String| !site.contains("lsm_tree") && !site.contains("Tree::open_unchecked");
    let mut unnoticed = Vec::new();
    for site in sites.iter().filter(ours) {
        let outcome = trial
            .run_with(
                |own| own == site,
                Effort::short(3),
                |folder, _, promise| judge(folder, promise, &kept),
            )
            .unwrap();
        if outcome.failure.is_none() && !COVERED.iter().any(|covered| site.starts_with(covered)) {
            unnoticed.push(site);
        }
    }
    assert!(unnoticed.is_empty(), "left out and not noticed: {unnoticed:#?}");
    assert!(sites.iter().filter(ours).count() > 10, "{sites:#?}");
}
