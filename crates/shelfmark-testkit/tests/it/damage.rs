//! Damage: found, named by file and byte, never touched; and a salvage says what is lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use shelfmark_store::embedded::{EmbeddedStore, Options, salvage, verify};
use shelfmark_store::{Direction, Error, ErrorKind, KeyRange, ScanLimits, Store as _, vfs};
use shelfmark_testkit::crash::judge::{open, open_error, patiently, tight};
use shelfmark_testkit::crash::plan::{INGESTED, Plan};
use shelfmark_testkit::crash::program::{Bench, Running, plain};
use shelfmark_testkit::crash::run::{Arguments, End};
use shelfmark_testkit::powercut::image::Image;

use crate::damage_groups::{GROUP_HEADER_BYTES, Group, groups};

const COMMITS: u64 = 40;

/// Options that leave everything in the log.
fn in_the_log() -> Options {
    Options { memory_table_bytes: 64 * 1024 * 1024, ..tight() }
}

/// A store of one commit per group in several log files, killed; and its log.
struct Damaged {
    bench: Bench,
    plan: Plan,
    whole: Image,
    log: Vec<(PathBuf, Vec<Group>)>,
}

impl Damaged {
    fn new() -> Self {
        let bench = Bench::new().unwrap();
        let plan = Plan::small(31);
        let arguments = Arguments {
            commits: COMMITS,
            memory_table_bytes: in_the_log().memory_table_bytes,
            ..Arguments::new(bench.store(), plan)
        };
        run(&arguments);
        let paths = vfs::list(&bench.store().join("log")).unwrap();
        let log: Vec<_> = paths
            .into_iter()
            .map(|path| (path.clone(), groups(&vfs::read(&path).unwrap())))
            .collect();
        assert!(log.len() > 3, "{log:?}");
        let count: usize = log.iter().map(|(_, groups)| groups.len()).sum();
        assert_eq!(u64::try_from(count).unwrap(), COMMITS);
        assert!(log.iter().flat_map(|(_, groups)| groups).all(|group| group.commits == 1));
        let whole = Image::read(&bench.root()).unwrap();
        Self { bench, plan, whole, log }
    }

    fn restore(&self) {
        vfs::remove_tree(&self.bench.root()).unwrap();
        self.whole.put(&self.bench.root()).unwrap();
    }

    /// Expects the damage that was done to be refused at `file`, from byte `from` on, and nothing
    /// to be changed; then salvages, and expects exactly `lost` to be lost.
    fn check(&self, what: &str, file: &Path, from: u64, lost: &[u64]) {
        let store = self.bench.store();
        let before = Image::read(&store).unwrap();
        let error = refused(&store, what);
        let named = format!("{} is damaged at byte {from}", file.display());
        assert!(error.to_string().contains(&named), "{what}: {named} is not in: {error}");
        let report = patiently(|| verify(&store)).unwrap();
        let is_named = report.damages.iter().any(|damage| damage.to_string().contains(&named))
            || report.damages.iter().any(|damage| damage.file == file);
        assert!(is_named, "{what}: {report:?}");
        assert!(Image::read(&store).unwrap() == before, "{what}: something was changed");
        let salvaged = patiently(|| salvage(&store)).unwrap();
        assert_eq!(salvaged.commits_lost, Some(lost.len() as u64), "{what}: {salvaged:?}");
        let groups: Vec<u64> = salvaged.groups_lost.iter().cloned().flatten().collect();
        assert_eq!(groups, lost, "{what}: {salvaged:?}");
        assert!(!salvaged.damages.is_empty(), "{what}");
        assert!(patiently(|| verify(&store)).unwrap().is_clean(), "{what}");
        assert_eq!(rows(&open(&store, in_the_log()).unwrap()), self.without(lost), "{what}");
        self.restore();
    }

    /// What is left of the plan without some commits.
    fn without(&self, lost: &[u64]) -> BTreeMap<Bytes, Bytes> {
        let mut state = BTreeMap::new();
        for index in (1..=COMMITS).filter(|index| !lost.contains(index)) {
            self.plan.apply(0, index, &mut state);
        }
        state
    }

    fn flip(&self, file: &Path, place: u64) {
        let mut bytes = vfs::read(file).unwrap();
        bytes[usize::try_from(place).unwrap()] ^= 0x04;
        overwrite(file, &bytes);
    }
}

fn run(arguments: &Arguments) {
    let program = Path::new(env!("CARGO_BIN_EXE_powercut-workload"));
    let ended = Running::start(plain(program, arguments)).unwrap().end().unwrap();
    assert!(ended.is_well, "{ended:?}");
}

fn overwrite(file: &Path, bytes: &[u8]) {
    vfs::truncate(file, 0).unwrap();
    vfs::write_all_at(&vfs::open_rw(file).unwrap(), bytes, 0).unwrap();
}

fn refused(store: &Path, what: &str) -> Error {
    let error = open_error(store, in_the_log()).unwrap_or_else(|| panic!("{what}: it opened"));
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
    error
}

/// All rows of the first thread.
fn rows(store: &EmbeddedStore) -> BTreeMap<Bytes, Bytes> {
    rows_with(store, Plan::prefix(0))
}

/// Rows of commits, and those that were ingested.
fn all_rows(store: &EmbeddedStore) -> BTreeMap<Bytes, Bytes> {
    let mut all = rows(store);
    all.append(&mut rows_with(store, Bytes::from_static(INGESTED)));
    all
}

fn rows_with(store: &EmbeddedStore, prefix: Bytes) -> BTreeMap<Bytes, Bytes> {
    let snapshot = store.snapshot().unwrap();
    let limits = ScanLimits { rows_max: 100_000, bytes_max: usize::MAX, keys_only: false };
    let range = KeyRange::prefix(prefix);
    let page = snapshot.scan(&range, Direction::Ascending, limits).unwrap();
    assert_eq!(page.next, None);
    page.rows.into_iter().map(|row| (row.key, row.value)).collect()
}

/// All rows behind some commits.
fn rows_of(plan: &Plan, commits: u64) -> BTreeMap<Bytes, Bytes> {
    let mut rows = plan.state(0, commits);
    rows.append(&mut plan.all_ingested(commits));
    rows
}

#[test]
fn a_flipped_byte_in_a_log_is_refused_and_loses_its_group_only() {
    let damaged = Damaged::new();
    let (sealed, sealed_groups) = &damaged.log[1];
    let (active, active_groups) = damaged.log.last().unwrap();
    let cases = [
        ("sealed", sealed, sealed_groups[1]),
        ("active", active, active_groups[0]),
        ("the last group", active, *active_groups.last().unwrap()),
    ];
    for (what, file, group) in cases {
        // The header of the group, and the last byte of its last value.
        let header = GROUP_HEADER_BYTES as u64;
        for place in [0, 9, header - 1, header, group.bytes - 1] {
            damaged.flip(file, group.offset + place);
            let what = format!("{what}, byte {place} of group {}", group.number);
            damaged.check(&what, file, group.offset, &[group.number]);
        }
    }
    // The header of the file: all its groups are whole.
    damaged.flip(sealed, 20);
    damaged.check("file header", sealed, 0, &[]);
}

#[test]
fn a_log_cut_short_is_refused_and_loses_what_was_cut() {
    let damaged = Damaged::new();
    let numbers = |groups: &[Group]| groups.iter().map(|group| group.number).collect::<Vec<_>>();
    for (at, what) in [(1, "sealed"), (damaged.log.len() - 1, "active")] {
        let (file, groups) = &damaged.log[at];
        let group = groups[groups.len() - 1];
        // Within the last group.
        vfs::truncate(file, group.offset + 70).unwrap();
        damaged.check(&format!("{what}, cut in a group"), file, group.offset, &[group.number]);
        // Between groups: the next file shows it, or the superblock.
        vfs::truncate(file, group.offset).unwrap();
        let (named, from) = match damaged.log.get(at + 1) {
            Some((next, _)) => (next, 0),
            None => (file, group.offset),
        };
        damaged.check(&format!("{what}, cut between groups"), named, from, &[group.number]);
        // To nothing.
        vfs::truncate(file, 0).unwrap();
        damaged.check(&format!("{what}, emptied"), file, 0, &numbers(groups));
    }
}

#[test]
fn a_missing_log_file_is_refused_and_loses_its_groups() {
    let damaged = Damaged::new();
    let last = damaged.log.len() - 1;
    for missing in [vec![0], vec![1], vec![1, 2], vec![last], vec![0, last]] {
        let mut lost = Vec::new();
        for at in &missing {
            vfs::remove(&damaged.log[*at].0).unwrap();
            lost.extend(damaged.log[*at].1.iter().map(|group| group.number));
        }
        let what = format!("log files {missing:?} of {last}");
        // The first file behind the gap is named, or the end of the log.
        let behind = (0..=last)
            .find(|at| !missing.contains(at) && (0..*at).any(|before| missing.contains(&before)));
        match behind {
            Some(at) => damaged.check(&what, &damaged.log[at].0, 0, &lost),
            None => {
                let (file, groups) = &damaged.log[last - 1];
                let end = groups.last().map_or(0, |group| group.offset + group.bytes);
                damaged.check(&what, file, end, &lost);
            }
        }
    }
}

#[test]
fn a_lost_superblock_is_refused_and_salvaged() {
    let damaged = Damaged::new();
    let store = damaged.bench.store();
    let superblock = store.join("mark");
    for broken in [None, Some(vec![0_u8; 8192]), Some(Vec::new())] {
        match &broken {
            Some(bytes) => overwrite(&superblock, bytes),
            None => vfs::remove(&superblock).unwrap(),
        }
        let what = format!("superblock of {:?} bytes", broken.as_ref().map(Vec::len));
        let error = refused(&store, &what);
        assert!(error.to_string().contains("mark"), "{what}: {error}");
        let salvaged = patiently(|| salvage(&store)).unwrap();
        // Nobody knows how much was promised, and all that is there is kept.
        assert_eq!(salvaged.commits_lost, None, "{what}");
        assert_eq!(rows(&open(&store, in_the_log()).unwrap()), damaged.without(&[]), "{what}");
        damaged.restore();
    }
}

/// A closed store whose rows are in table files.
fn with_tables() -> (Bench, Plan, Vec<PathBuf>) {
    let bench = Bench::new().unwrap();
    let plan = Plan { keys: 400, large_bytes: 900, ..Plan::small(32) };
    let arguments =
        Arguments { commits: 150, end: End::Close, ..Arguments::new(bench.store(), plan) };
    run(&arguments);
    // A merge that was going on at the end left files; the next open removes them.
    run(&Arguments { commits: 0, ..arguments });
    let tables = vfs::list(&bench.store().join("tree/tables")).unwrap();
    (bench, plan, tables)
}

#[test]
fn a_flipped_byte_in_a_table_file_is_found_by_verify() {
    let (bench, plan, tables) = with_tables();
    let store = bench.store();
    let whole = Image::read(&bench.root()).unwrap();
    let table = tables.iter().max_by_key(|path| path.metadata().unwrap().len()).unwrap();
    let length = table.metadata().unwrap().len();
    // In a value of the first block, in the middle, and in the table of contents.
    for place in [200, length / 2, length - 60, length - 1] {
        let mut bytes = vfs::read(table).unwrap();
        bytes[usize::try_from(place).unwrap()] ^= 0x10;
        overwrite(table, &bytes);
        let report = patiently(|| verify(&store)).unwrap();
        let [damage] = report.damages.as_slice() else { panic!("byte {place}: {report:?}") };
        assert_eq!(&damage.file, table, "byte {place}");
        assert!(damage.offset.is_none_or(|offset| offset <= place), "byte {place}: {damage:?}");
        assert!(place > length / 2 || damage.offset.is_some(), "byte {place}: {damage:?}");
        let salvaged = patiently(|| salvage(&store)).unwrap();
        assert_eq!(salvaged.commits_lost, Some(0), "byte {place}: {salvaged:?}");
        assert!(patiently(|| verify(&store)).unwrap().is_clean(), "byte {place}");
        let left = all_rows(&open(&store, tight()).unwrap());
        let all = rows_of(&plan, 150);
        if salvaged.table_parts_lost.is_empty() {
            assert_eq!(left, all, "byte {place}");
        } else {
            assert!(left != all, "byte {place}: said to be lost and not: {salvaged:?}");
            assert!(left.len() > all.len() / 3, "byte {place}: {} of {}", left.len(), all.len());
        }
        vfs::remove_tree(&bench.root()).unwrap();
        whole.put(&bench.root()).unwrap();
    }
    assert_eq!(all_rows(&open(&store, tight()).unwrap()), rows_of(&plan, 150));
}
