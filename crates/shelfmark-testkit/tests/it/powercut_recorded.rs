//! Recorded runs of the writing program, for the tests of power cuts and of faults.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use shelfmark_store::{Durability, vfs};
use shelfmark_testkit::crash::plan::Plan;
use shelfmark_testkit::crash::program::{Bench, Binaries, Running};
use shelfmark_testkit::crash::run::{Arguments, End};
use shelfmark_testkit::crash::trial::Trial;
use shelfmark_testkit::powercut::disk::Disk;
use shelfmark_testkit::powercut::recording;

/// Returns the programs, built once.
pub(crate) fn binaries() -> &'static Binaries {
    static BINARIES: OnceLock<Binaries> = OnceLock::new();
    BINARIES.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        Binaries::build(target).unwrap()
    })
}

/// Whether the long mode was asked for.
pub(crate) fn is_long() -> bool {
    std::env::var("SHELFMARK_LONG").is_ok_and(|value| value == "1")
}

/// A bench whose runs are recorded one behind the other.
pub(crate) struct Recorded {
    pub(crate) bench: Bench,
    start: Disk,
}

impl Recorded {
    /// A bench without a store.
    pub(crate) fn new() -> Self {
        Self::of(Bench::new().unwrap())
    }

    /// A bench whose root is as it is now.
    pub(crate) fn of(bench: Bench) -> Self {
        let start = Disk::of(&bench.root()).unwrap();
        Self { bench, start }
    }

    /// Records one run that ends well.
    pub(crate) fn run(&self, arguments: &Arguments) {
        self.run_with(arguments, None);
    }

    /// Records one run that is killed when it asks for the `count`-th sync of a file whose path ends
    /// with `path_end`: what it did last is known to the kernel only.
    pub(crate) fn run_until_sync(&self, arguments: &Arguments, path_end: &str, count: u32) {
        self.run_with(arguments, Some((path_end, count)));
    }

    fn run_with(&self, arguments: &Arguments, kill: Option<(&str, u32)>) {
        let mut command = binaries().watched(arguments, &self.bench.root());
        command.env("SHELFMARK_RECORD", self.bench.recording()).env("SHELFMARK_RECORD_SITES", "1");
        if let Some((path_end, count)) = kill {
            command.env("SHELFMARK_FAULT", format!("sync:{count}:kill"));
            command.env("SHELFMARK_FAULT_PATH", path_end);
        }
        let ended = Running::start(command).unwrap().end().unwrap();
        assert_eq!(ended.is_well, kill.is_none(), "{ended:?}");
        assert_eq!(ended.errors, "");
    }

    /// Ends the recording.
    pub(crate) fn trial(&self, plan: Plan, durability: Durability) -> Trial {
        let events = recording::read(&self.bench.recording(), &self.bench.root()).unwrap();
        let scratch = self.scratch();
        let trial = Trial::new(plan, durability, self.start.clone(), events, scratch);
        trial.check_complete(&self.bench.root()).unwrap();
        trial
    }

    fn scratch(&self) -> PathBuf {
        let scratch = self.bench.beside("images");
        vfs::create_folder(&scratch).unwrap();
        scratch
    }

    /// Fails with what was found, and leaves the files to be looked at.
    pub(crate) fn fail(self, why: &str) -> ! {
        panic!("{why}\nthe files are in {}", self.bench.keep().display());
    }
}

/// Arguments of a small run in which time passes with the commits only, so that superblocks are synced
/// every few of them.
pub(crate) fn small(bench: &Bench, seed: u64, durability: Durability) -> Arguments {
    Arguments {
        durability,
        tick: Some(Duration::from_millis(30)),
        maintain_every: 9,
        ..Arguments::new(bench.store(), Plan::small(seed))
    }
}

/// Records a store's life: it is created, killed between a write and its sync, opened and flushed,
/// twice opened and closed in order, and opened and cut off.
pub(crate) fn life(seed: u64, durability: Durability) -> (Recorded, Trial) {
    let recorded = Recorded::new();
    let arguments = small(&recorded.bench, seed, durability);
    let syncs = if durability == Durability::Sync { 31 } else { 12 };
    recorded.run_until_sync(&Arguments { commits: 60, ..arguments.clone() }, ".log", syncs);
    recorded.run(&Arguments { commits: 0, ..arguments.clone() });
    recorded.run(&Arguments { commits: 6, end: End::Close, ..arguments.clone() });
    let quiet = Arguments { maintain_every: 0, ..arguments.clone() };
    recorded.run(&Arguments { commits: 3, end: End::Close, ..quiet });
    recorded.run(&Arguments { commits: 4, ..arguments.clone() });
    let trial = recorded.trial(arguments.plan, durability);
    (recorded, trial)
}

/// Records a store that is killed at the `count`-th sync of the folder or file that `path_end`
/// names, and then opened, written and cut off.
pub(crate) fn killed(path_end: &str, count: u32) -> (Recorded, Trial) {
    let recorded = Recorded::new();
    let arguments = small(&recorded.bench, 7, Durability::Sync);
    recorded.run_until_sync(&Arguments { commits: 60, ..arguments.clone() }, path_end, count);
    recorded.run(&Arguments { commits: 2, ..arguments.clone() });
    recorded.run(&Arguments { commits: 0, ..arguments.clone() });
    let trial = recorded.trial(arguments.plan, Durability::Sync);
    (recorded, trial)
}

/// Records a store that a power cut left with a torn tail and an unfinished log file, and that is
/// then opened, written and cut off.
pub(crate) fn torn() -> (Recorded, Trial) {
    let bench = Bench::new().unwrap();
    let arguments = small(&bench, 3, Durability::Sync);
    let mut command = binaries().watched(&arguments, &bench.root());
    command.env("SHELFMARK_FAULT", "sync:8:kill").env("SHELFMARK_FAULT_PATH", ".log");
    Running::start(command).unwrap().end().unwrap();
    let logs = vfs::list(&bench.store().join("log")).unwrap();
    let last = logs.last().unwrap();
    let length = last.metadata().unwrap().len();
    vfs::truncate(last, length - 10).unwrap();
    let number: u64 = last.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let next = last.with_file_name(format!("{:020}.log", number + 1));
    vfs::replace(&next, b"SHELF").unwrap();
    let recorded = Recorded::of(bench);
    recorded.run(&Arguments { commits: 3, ..arguments.clone() });
    let trial = recorded.trial(arguments.plan, Durability::Sync);
    (recorded, trial)
}
