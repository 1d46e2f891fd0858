//! The writing program: writes what a plan says and tells what was acknowledged.
//!
//! It is meant to be killed, cut off and made to fail at any point, so it keeps nothing in mind:
//! each time it opens the store it goes on behind what it finds there.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use shelfmark_store::clock::{Clock, ManualClock, SystemClock};
use shelfmark_store::embedded::{EmbeddedStore, Options, salvage};
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{
    Commit, Committed, Direction, Durability, Error, ErrorKind, KeyRange, Result, ScanLimits,
    Store as _,
};

use super::judge::tight;
use super::plan::Plan;

/// Times that a program opens its store before it gives up: what fails so often fails for ever.
const ATTEMPTS_MAX: usize = 4000;

/// The way in which the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The store is closed.
    Close,
    /// The process goes away without a word to the store.
    Abort,
}

/// The arguments of the program.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// The store's folder.
    pub folder: PathBuf,
    /// The plan of its writes.
    pub plan: Plan,
    /// The durability mode.
    pub durability: Durability,
    /// Commits of each thread, in this run. With 0, all background work that is due is done.
    pub commits: u64,
    /// The first thread has all background work done after so many commits; 0: never.
    pub maintain_every: u64,
    /// If set, time stands still but for this much at each commit.
    pub tick: Option<Duration>,
    /// After an error the store is opened again, until everything is written.
    pub insists: bool,
    /// Salvages the store instead of writing.
    pub salvages: bool,
    /// The way in which it ends.
    pub end: End,
    /// Size at which memory tables are flushed, in bytes.
    pub memory_table_bytes: u64,
    /// Commits are refused below this many free bytes.
    pub disk_free_bytes_min: u64,
}

impl Arguments {
    /// Creates arguments for a short run of `plan` in `folder` that is cut off at its end.
    #[must_use]
    pub fn new(folder: PathBuf, plan: Plan) -> Self {
        Self {
            folder,
            plan,
            durability: Durability::Sync,
            commits: 20,
            maintain_every: 0,
            tick: None,
            insists: false,
            salvages: false,
            end: End::Abort,
            memory_table_bytes: tight().memory_table_bytes,
            disk_free_bytes_min: 0,
        }
    }

    /// Turns the arguments into words for [`Arguments::parse`].
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let interval = match self.durability {
            Durability::Sync => 0,
            Durability::Interval(interval) => interval.as_millis().max(1),
        };
        let Plan { seed, threads, keys, large_bytes } = self.plan;
        let tick = self.tick.map_or(0, |tick| tick.as_millis());
        [
            self.folder.display().to_string(),
            seed.to_string(),
            threads.to_string(),
            keys.to_string(),
            large_bytes.to_string(),
            interval.to_string(),
            self.commits.to_string(),
            self.maintain_every.to_string(),
            tick.to_string(),
            u8::from(self.insists).to_string(),
            u8::from(self.salvages).to_string(),
            u8::from(self.end == End::Close).to_string(),
            self.memory_table_bytes.to_string(),
            self.disk_free_bytes_min.to_string(),
        ]
        .to_vec()
    }

    /// Reads what [`Arguments::words`] made.
    #[must_use]
    pub fn parse(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let folder = PathBuf::from(words.next()?);
        let mut number = || words.next()?.parse::<u64>().ok();
        let plan = Plan {
            seed: number()?,
            threads: number()?,
            keys: number()?,
            large_bytes: usize::try_from(number()?).ok()?,
        };
        let durability = match number()? {
            0 => Durability::Sync,
            interval => Durability::Interval(Duration::from_millis(interval)),
        };
        Some(Self {
            folder,
            plan,
            durability,
            commits: number()?,
            maintain_every: number()?,
            tick: Some(Duration::from_millis(number()?)).filter(|tick| !tick.is_zero()),
            insists: number()? == 1,
            salvages: number()? == 1,
            end: if number()? == 1 { End::Close } else { End::Abort },
            memory_table_bytes: number()?,
            disk_free_bytes_min: number()?,
        })
    }
}

/// Says a line on the standard output, at once.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody listens any more when the test has ended; then this process should end, too.
    if out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(3);
    }
}

/// Does what `arguments` say. Returns whether it could.
#[must_use]
pub fn run(arguments: &Arguments) -> bool {
    if arguments.salvages {
        let salvaged = salvage(&arguments.folder);
        // What was salvaged counts as acknowledged from now on.
        say(&salvaged.as_ref().map_or_else(ToString::to_string, |_| "ack 0 1 1".to_owned()));
        return salvaged.is_ok();
    }
    let mut commits = arguments.commits;
    for _ in 0..ATTEMPTS_MAX {
        match write(arguments, &mut commits) {
            Ok(()) => return true,
            Err(error) => say(&format!("error {:?} {error}", error.kind())),
        }
        if !arguments.insists {
            break;
        }
        pause();
    }
    false
}

/// Opens the store and writes what is left of `commits`.
fn write(arguments: &Arguments, commits: &mut u64) -> Result<()> {
    let manual = Arc::new(ManualClock::at_micros(1));
    let clock: Arc<dyn Clock> = match arguments.tick {
        Some(_) => manual.clone(),
        None => Arc::new(SystemClock::new()),
    };
    let options = Options {
        durability: arguments.durability,
        memory_table_bytes: arguments.memory_table_bytes,
        disk_free_bytes_min: arguments.disk_free_bytes_min,
        ..tight()
    };
    let store = EmbeddedStore::open(&arguments.folder, options, clock)?;
    let mut first = Vec::new();
    for thread in 0..arguments.plan.threads {
        let last = store.snapshot()?.get(&Plan::last_key(thread))?;
        let last = last.and_then(|value| std::str::from_utf8(&value).ok()?.parse().ok());
        let last: u64 = last.unwrap_or(0);
        say(&format!("found {thread} {last}"));
        first.push(last + 1);
    }
    if arguments.commits == 0 {
        store.maintain()?;
    }
    // With one thread, what was written before an error counts.
    let writer = Writer { arguments, store: &store, clock: &manual };
    if let [first] = first.as_slice() {
        let mut index = *first;
        while *commits > 0 {
            writer.commit(0, index)?;
            index += 1;
            *commits -= 1;
        }
    } else {
        writer.race(&first, *commits)?;
    }
    match arguments.end {
        End::Close => store.close()?,
        End::Abort => std::process::exit(0),
    }
    say("closed");
    Ok(())
}

struct Writer<'a> {
    arguments: &'a Arguments,
    store: &'a EmbeddedStore,
    clock: &'a ManualClock,
}

impl Writer<'_> {
    fn race(&self, first: &[u64], commits: u64) -> Result<()> {
        let outcomes: Vec<Result<()>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..)
                .zip(first)
                .map(|(thread, first)| {
                    let indices = *first..first.saturating_add(commits);
                    scope.spawn(move || {
                        indices.into_iter().try_for_each(|index| self.commit(thread, index))
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(panicked())))
                .collect()
        });
        outcomes.into_iter().collect()
    }

    /// Commits, acknowledges it, and does the maintenance that is due after so many commits.
    fn commit(&self, thread: u64, index: u64) -> Result<()> {
        self.ingest(thread, index)?;
        let writes = self.arguments.plan.writes(thread, index);
        let Committed { number } = self.insist(|| self.store.commit(Commit::of(writes.clone())))?;
        say(&format!("ack {thread} {index} {number}"));
        if let Some(tick) = self.arguments.tick {
            self.clock.advance(tick);
        }
        let every = self.arguments.maintain_every;
        if thread == 0 && every > 0 && index.is_multiple_of(every) {
            self.store.maintain()?;
        }
        Ok(())
    }

    /// Ingests what the plan has before a commit, unless that was done before an interruption.
    fn ingest(&self, thread: u64, index: u64) -> Result<()> {
        let rows = self.arguments.plan.ingested(thread, index);
        let range = KeyRange::prefix(Plan::ingested_prefix(index));
        let there = self.store.snapshot()?;
        let there = there.scan(&range, Direction::Ascending, ScanLimits::default())?;
        if rows.is_empty() || !there.rows.is_empty() {
            return Ok(());
        }
        self.insist(|| self.store.ingest(&mut rows.iter().cloned().map(Ok)))
    }

    /// Tries again while the store is busy, or waits for disk space.
    fn insist<T>(&self, attempt: impl Fn() -> Result<T>) -> Result<T> {
        loop {
            match attempt() {
                Err(error) if error.kind() == ErrorKind::Busy => pause(),
                // Room may return without a reopen; the test says when.
                Err(error)
                    if error.kind() == ErrorKind::ReadOnly && self.waits_for_disk_space(&error) =>
                {
                    say("full");
                    pause();
                }
                outcome => return outcome,
            }
        }
    }

    fn waits_for_disk_space(&self, error: &Error) -> bool {
        self.arguments.disk_free_bytes_min > 0 && std::error::Error::source(error).is_none()
    }
}

fn panicked() -> Error {
    Error::new(ErrorKind::Internal, "a writer panicked")
}

/// Waits for a moment, for something that comes from outside.
fn pause() {
    ThreadSleeper.sleep(Duration::from_millis(5));
}
