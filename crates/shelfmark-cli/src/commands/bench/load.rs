//! The measured work, done alike by the bare store and by the engine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_engine::{Engine, Get, Query, Table, Write};
use shelfmark_model::{Item, Key, Value};
use shelfmark_store::clock::Clock;
use shelfmark_store::random::SplitMix;
use shelfmark_store::{Commit, Direction, KeyRange, ScanLimits, Store, Write as StoreWrite};

/// Items of one partition.
const PARTITION_ITEMS: u64 = 1_000;
const BODY_BYTES: usize = 200;

/// The system that does the work.
pub(super) enum Target {
    Bare(Arc<dyn Store>),
    Engine(Engine, Arc<Table>),
}

/// Number of turns that the targets take at each work. A machine that is shared gets slower and
/// faster by the second; what is measured in turns meets the same of it.
const TURNS: u32 = 8;

/// Operations per second, and latencies in microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) per_second: f64,
    pub(super) p50_micros: u64,
    pub(super) p99_micros: u64,
}

/// The amount of work and its duration.
pub(super) struct Load {
    pub(super) items: u64,
    pub(super) seconds: u64,
    pub(super) clock: Arc<dyn Clock>,
}

impl Target {
    pub(super) fn bare(store: Arc<dyn Store>) -> Self {
        Self::Bare(store)
    }

    pub(super) fn engine(engine: Engine, table: Arc<Table>) -> Self {
        Self::Engine(engine, table)
    }

    pub(super) fn close(&self) -> anyhow::Result<()> {
        match self {
            Self::Bare(store) => store.close()?,
            Self::Engine(engine, _) => engine.store().close()?,
        }
        Ok(())
    }

    /// Starts a durable put of item `n`.
    fn put(&self, n: u64, done: Box<dyn FnOnce(bool) + Send>) {
        match self {
            Self::Bare(store) => {
                let write = StoreWrite::Put { key: bare_key(n), value: bare_value(n) };
                let commit = Commit::of(vec![write]);
                // A refused commit is counted by the caller as not done.
                let _ = store.submit(commit, Box::new(move |outcome| done(outcome.is_ok())));
            }
            Self::Engine(engine, table) => {
                let item = Item::new()
                    .with("pk", partition(n))
                    .with("sk", sort(n))
                    .with("body", Value::Bytes(body(n)));
                engine.submit_all(
                    vec![Write::put(table, item)],
                    Box::new(move |outcome| done(outcome.is_ok())),
                );
            }
        }
    }

    fn get(&self, n: u64) -> anyhow::Result<bool> {
        Ok(match self {
            Self::Bare(store) => store.snapshot()?.get(&bare_key(n))?.is_some(),
            Self::Engine(engine, table) => {
                let get = Get::new(Key::pair(partition(n), sort(n)));
                engine.get(table, &get)?.item.is_some()
            }
        })
    }

    fn scan(&self, n: u64) -> anyhow::Result<usize> {
        Ok(match self {
            Self::Bare(store) => {
                let limits = ScanLimits { rows_max: 100, ..ScanLimits::default() };
                let range = KeyRange::prefix(bare_partition(n));
                store.snapshot()?.scan(&range, Direction::Ascending, limits)?.rows.len()
            }
            Self::Engine(engine, table) => {
                let query = Query::partition(vec![partition(n).into()]).limit(100);
                engine.query(table, &query)?.items.len()
            }
        })
    }
}

fn partition(n: u64) -> String {
    format!("user#{:08}", n / PARTITION_ITEMS)
}

fn sort(n: u64) -> String {
    format!("message#{n:012}")
}

pub(super) fn body(n: u64) -> Bytes {
    let mut random = SplitMix::new(n);
    let mut body = Vec::with_capacity(BODY_BYTES);
    while body.len() < BODY_BYTES {
        body.extend_from_slice(&random.next_u64().to_be_bytes());
    }
    body.into()
}

/// Returns a key as long as the engine's: tree, id, token, escaped partition, marker, escaped sort
/// key, chunk.
fn bare_key(n: u64) -> Bytes {
    let mut key = bare_partition(n).to_vec();
    key.extend_from_slice(sort(n).as_bytes());
    key.extend_from_slice(&[0, 1, 0]);
    key.into()
}

fn bare_partition(n: u64) -> Bytes {
    let partition = partition(n);
    let mut key = vec![2, 1];
    key.extend_from_slice(&SplitMix::new(n / PARTITION_ITEMS).next_u64().to_be_bytes());
    key.extend_from_slice(partition.as_bytes());
    key.extend_from_slice(&[0, 1, 1]);
    key.into()
}

/// Returns a value as long as the engine's: head, name, length, tag, body.
fn bare_value(n: u64) -> Bytes {
    let mut value = vec![1, 0, 4, b'b', b'o', b'd', b'y', 201, 1, 9];
    value.extend_from_slice(&body(n));
    value.into()
}

/// Counts operations in flight and measures their latencies.
struct Window {
    free: Mutex<usize>,
    freed: Condvar,
    done: AtomicU64,
    micros: Mutex<hdrhistogram::Histogram<u64>>,
}

impl Load {
    /// Keeps `in_flight` durable puts in flight on each target.
    pub(super) fn puts(
        &self,
        targets: &[Target],
        in_flight: usize,
    ) -> anyhow::Result<Vec<Figures>> {
        self.in_turns(targets, |target, turn| self.put_turn(target, in_flight, turn))
    }

    fn put_turn(&self, target: &Target, in_flight: usize, turn: &mut Turn) -> anyhow::Result<()> {
        let window = Arc::new(Window {
            free: Mutex::new(in_flight),
            freed: Condvar::new(),
            done: AtomicU64::new(0),
            micros: Mutex::new(hdrhistogram::Histogram::new(3)?),
        });
        let random = &mut turn.random;
        let started = self.clock.monotonic();
        let until = started + self.turn_length();
        while self.clock.monotonic() < until {
            wait_for_slot(&window);
            let (told, clock) = (Arc::clone(&window), Arc::clone(&self.clock));
            let began = self.clock.monotonic();
            let done = move |ok: bool| {
                let took = u64::try_from((clock.monotonic() - began).as_micros());
                if ok {
                    told.done.fetch_add(1, Ordering::Relaxed);
                    let mut micros = told.micros.lock().unwrap_or_else(PoisonError::into_inner);
                    // A value outside the histogram's range is as good as its end.
                    let _ = micros.record(took.unwrap_or(u64::MAX));
                }
                *told.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                told.freed.notify_one();
            };
            target.put(random.below(self.items), Box::new(done));
        }
        let mut free = window.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free < in_flight {
            free = window.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        drop(free);
        turn.micros.add(&*window.micros.lock().unwrap_or_else(PoisonError::into_inner))?;
        turn.count += window.done.load(Ordering::Relaxed);
        turn.took += self.clock.monotonic() - started;
        Ok(())
    }

    fn turn_length(&self) -> Duration {
        Duration::from_secs(self.seconds) / TURNS
    }

    /// Runs the targets one after the other, each several times.
    fn in_turns(
        &self,
        targets: &[Target],
        work: impl Fn(&Target, &mut Turn) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<Figures>> {
        let mut turns = targets.iter().map(|_| Turn::new()).collect::<anyhow::Result<Vec<_>>>()?;
        for _ in 0..TURNS {
            for (target, turn) in targets.iter().zip(&mut turns) {
                work(target, turn)?;
            }
        }
        Ok(turns.iter().map(Turn::figures).collect())
    }

    /// Puts every item once.
    pub(super) fn fill(&self, targets: &[Target]) -> anyhow::Result<()> {
        for target in targets {
            let window = Arc::new(Window {
                free: Mutex::new(512),
                freed: Condvar::new(),
                done: AtomicU64::new(0),
                micros: Mutex::new(hdrhistogram::Histogram::new(1)?),
            });
            for n in 0..self.items {
                wait_for_slot(&window);
                let told = Arc::clone(&window);
                target.put(
                    n,
                    Box::new(move |_| {
                        *told.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                        told.freed.notify_one();
                    }),
                );
            }
            let mut free = window.free.lock().unwrap_or_else(PoisonError::into_inner);
            while *free < 512 {
                free = window.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
            }
            drop(free);
            match target {
                Target::Bare(store) => store.maintain()?,
                Target::Engine(engine, _) => engine.store().maintain()?,
            };
        }
        Ok(())
    }

    /// Reads random items, one after the other.
    pub(super) fn gets(&self, targets: &[Target]) -> anyhow::Result<Vec<Figures>> {
        self.in_turns(targets, |target, turn| self.timed(turn, |n| target.get(n).map(usize::from)))
    }

    /// Reads 100 items of random partitions, one after the other.
    pub(super) fn scans(&self, targets: &[Target]) -> anyhow::Result<Vec<Figures>> {
        self.in_turns(targets, |target, turn| self.timed(turn, |n| target.scan(n)))
    }

    fn timed(
        &self,
        turn: &mut Turn,
        work: impl Fn(u64) -> anyhow::Result<usize>,
    ) -> anyhow::Result<()> {
        let started = self.clock.monotonic();
        let until = started + self.turn_length();
        loop {
            let began = self.clock.monotonic();
            if began >= until {
                break;
            }
            anyhow::ensure!(work(turn.random.below(self.items))? > 0, "an item is missing");
            turn.micros.record(u64::try_from((self.clock.monotonic() - began).as_micros())?)?;
            turn.count += 1;
        }
        turn.took += self.clock.monotonic() - started;
        Ok(())
    }
}

/// The progress of one target.
struct Turn {
    random: SplitMix,
    count: u64,
    took: Duration,
    micros: hdrhistogram::Histogram<u64>,
}

impl Turn {
    fn new() -> anyhow::Result<Self> {
        let micros = hdrhistogram::Histogram::new(3)?;
        Ok(Self { random: SplitMix::new(7), count: 0, took: Duration::ZERO, micros })
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    fn figures(&self) -> Figures {
        Figures {
            per_second: self.count as f64 / self.took.as_secs_f64(),
            p50_micros: self.micros.value_at_quantile(0.5),
            p99_micros: self.micros.value_at_quantile(0.99),
        }
    }
}

fn wait_for_slot(window: &Window) {
    let mut free = window.free.lock().unwrap_or_else(PoisonError::into_inner);
    while *free == 0 {
        free = window.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
    }
    *free -= 1;
}
