//! Feeds records to threads that keep them, many at once, and notes up to where all of them are kept.
//!
//! Invariant: the position is behind a record only when that record and all before it are durable, or were
//! passed over as bad. What is fed again after an interruption replaces itself.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::control::{Control, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::input::{Input, Place, Record};
use crate::position::PositionFile;
use crate::sums::Sums;

/// Bytes of a batch, after which it is handed on. Source: ours.
const BATCH_BYTES_MAX: usize = 1024 * 1024;
/// Time between two positions.
const POSITION_PERIOD: Duration = Duration::from_secs(2);
/// Bad records that are told one by one.
const BAD_TOLD_MAX: usize = 20;

/// A record that cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// Its place.
    pub place: Place,
    /// The reason.
    pub why: String,
}

/// The outcome of a batch.
#[derive(Debug, Default)]
pub struct Kept {
    /// The rows that are durable.
    pub sums: Sums,
    /// The records that cannot be kept.
    pub bad: Vec<Bad>,
}

/// The outcome of a feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// The rows that were kept, those of earlier calls included.
    pub sums: Sums,
    /// The number of records that were passed over.
    pub bad: u64,
    /// The first of them, of this call.
    pub bad_told: Vec<Bad>,
    /// Records that an earlier call had kept.
    pub earlier: u64,
    /// Bytes of files that were read.
    pub bytes: u64,
}

/// The settings of a feed.
#[derive(Debug, Clone, Copy)]
pub struct Feeding {
    /// Threads that keep records.
    pub threads: usize,
    /// Records of a batch.
    pub batch_records: usize,
    /// Bad records that are passed over.
    pub skip_bad: u64,
}

/// Keeps a batch of records.
pub type Keep<'k> = Box<dyn FnMut(&[(Place, Record)]) -> Result<Kept> + 'k>;

#[derive(Clone, Default, Serialize, Deserialize)]
struct FeedPosition {
    records: u64,
    sums: Sums,
    bad: u64,
}

struct Batch {
    number: u64,
    records: Vec<(Place, Record)>,
}

/// Feeds all records of an input; `begin` makes what keeps them, on each thread.
///
/// # Errors
///
/// * [`ErrorKind::BadRecord`]: more records are bad than may be; the first is told with its place.
/// * Those of the input and of whoever keeps records. What was kept before stays, and the position is
///   noted.
pub fn feed<'k>(
    input: &mut Input,
    feeding: Feeding,
    position: &PositionFile,
    control: &Control<'_>,
    begin: &(dyn Fn() -> Result<Keep<'k>> + Sync + 'k),
) -> Result<Imported> {
    let behind: FeedPosition = position.load()?.unwrap_or_default();
    let mut collected = Collected::new(behind.clone(), feeding, position, control);
    skip(input, behind.records)?;
    let failed = AtomicBool::new(false);
    let (send, batches) = mpsc::sync_channel::<Batch>(feeding.threads.max(1));
    let batches = Mutex::new(batches);
    let (done, results) = mpsc::channel();
    let outcome = std::thread::scope(|scope| {
        for _ in 0..feeding.threads.max(1) {
            let (done, batches, failed) = (done.clone(), &batches, &failed);
            scope.spawn(move || {
                if let Err(error) = keep_all(batches, failed, &done, begin) {
                    failed.store(true, Ordering::Relaxed);
                    // The one who listens ends after the threads.
                    let _ = done.send((0, 0, Err(error)));
                    // The reader must not wait for room.
                    while next_batch(batches).is_some() {}
                }
            });
        }
        drop(done);
        let read = read_all(input, feeding, (&send, &results), &failed, &mut collected);
        drop(send);
        // Whoever failed is not waited for by the others.
        if read.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        // All of them, also behind an error: the position is behind what they kept.
        let mut rest = Ok(());
        for result in results {
            rest = rest.and(collected.take(result, 0));
        }
        read.and(rest)
    });
    let outcome = collected.failure.take().map_or(outcome, Err);
    collected.end(outcome, input.bytes())
}

type Outcome = (u64, u64, Result<Kept>);

/// Reads batches and hands them on until there are none, or something failed.
fn read_all(
    input: &mut Input,
    feeding: Feeding,
    (send, results): (&mpsc::SyncSender<Batch>, &mpsc::Receiver<Outcome>),
    failed: &AtomicBool,
    collected: &mut Collected<'_>,
) -> Result<()> {
    for number in 0.. {
        collected.control.go_on()?;
        let records = read_batch(input, feeding.batch_records)?;
        if records.is_empty() || failed.load(Ordering::Relaxed) {
            break;
        }
        collected.control.pace(records.len())?;
        if send.send(Batch { number, records }).is_err() {
            break;
        }
        for result in results.try_iter() {
            collected.take(result, input.bytes())?;
        }
    }
    Ok(())
}

fn read_batch(input: &mut Input, most: usize) -> Result<Vec<(Place, Record)>> {
    let (mut records, mut bytes) = (Vec::new(), 0);
    while records.len() < most && bytes < BATCH_BYTES_MAX {
        let Some((place, record)) = input.record()? else { break };
        bytes += match &record {
            Record::Line(line) => line.len(),
            Record::Fields(fields) => fields.iter().map(|field| field.text.len()).sum(),
        };
        records.push((place, record));
    }
    Ok(records)
}

fn skip(input: &mut Input, records: u64) -> Result<()> {
    for _ in 0..records {
        if input.record()?.is_none() {
            return Err(Error::invalid(
                "the input has fewer records than an earlier call kept of it; remove the position to begin \
                 anew",
            ));
        }
    }
    Ok(())
}

/// Keeps batches until there are no more.
fn keep_all<'k>(
    batches: &Mutex<mpsc::Receiver<Batch>>,
    failed: &AtomicBool,
    done: &mpsc::Sender<Outcome>,
    begin: &(dyn Fn() -> Result<Keep<'k>> + Sync + 'k),
) -> Result<()> {
    let mut keep = begin()?;
    loop {
        let Some(batch) = next_batch(batches) else { return Ok(()) };
        if failed.load(Ordering::Relaxed) {
            // Drained, so that the reader does not wait.
            continue;
        }
        let kept = keep(&batch.records)?;
        if done.send((batch.number, batch.records.len() as u64, Ok(kept))).is_err() {
            return Ok(());
        }
    }
}

fn next_batch(batches: &Mutex<mpsc::Receiver<Batch>>) -> Option<Batch> {
    batches.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// The outcome of the batches up to now.
struct Collected<'c> {
    feeding: Feeding,
    file: &'c PositionFile,
    control: &'c Control<'c>,
    /// All before is kept.
    position: FeedPosition,
    next: u64,
    /// Batches that are kept, with one before them that is not.
    ahead: BTreeMap<u64, (u64, Kept)>,
    imported: Imported,
    noted_at: Duration,
    rows: u64,
    failure: Option<Error>,
}

impl<'c> Collected<'c> {
    fn new(
        position: FeedPosition,
        feeding: Feeding,
        file: &'c PositionFile,
        control: &'c Control<'c>,
    ) -> Self {
        let imported = Imported { earlier: position.records, ..Imported::default() };
        let (noted_at, rows) = (control.clock.monotonic(), position.sums.rows);
        let (next, ahead, failure) = (0, BTreeMap::new(), None);
        Self { feeding, file, control, position, next, ahead, imported, noted_at, rows, failure }
    }

    fn take(&mut self, (number, records, kept): Outcome, bytes: u64) -> Result<()> {
        let kept = match kept {
            Ok(kept) => kept,
            Err(error) => {
                self.failure.get_or_insert_with(|| error.clone());
                return Err(error);
            }
        };
        self.rows += kept.sums.rows;
        if bytes > 0 {
            (self.control.progress)(Progress { rows: self.rows, bytes });
        }
        self.ahead.insert(number, (records, kept));
        while let Some((records, kept)) = self.ahead.remove(&self.next) {
            let bad = self.position.bad + kept.bad.len() as u64;
            if bad > self.feeding.skip_bad {
                // Not passed over: the next call meets it again.
                self.ahead.clear();
                self.next = u64::MAX;
                let error = too_bad(&kept.bad, self.feeding.skip_bad);
                self.failure.get_or_insert_with(|| error.clone());
                return Err(error);
            }
            self.next += 1;
            self.position.records += records;
            self.position.sums.merge(kept.sums);
            self.position.bad = bad;
            let room = BAD_TOLD_MAX.saturating_sub(self.imported.bad_told.len());
            self.imported.bad_told.extend(kept.bad.into_iter().take(room));
        }
        let now = self.control.clock.monotonic();
        if now.saturating_sub(self.noted_at) >= POSITION_PERIOD {
            self.noted_at = now;
            self.file.save(&self.position)?;
        }
        Ok(())
    }

    fn end(self, outcome: Result<()>, bytes: u64) -> Result<Imported> {
        match outcome {
            Ok(()) => {
                self.file.forget()?;
                let FeedPosition { sums, bad, .. } = self.position;
                Ok(Imported { sums, bad, bytes, ..self.imported })
            }
            Err(error) => {
                self.file.save(&self.position)?;
                Err(error)
            }
        }
    }
}

fn too_bad(bad: &[Bad], skip_bad: u64) -> Error {
    // Those of the batch, of which some were still allowed.
    let first = bad.iter().map(|own| format!("{}: {}", own.place, own.why)).next();
    let hint = match skip_bad {
        0 => "; correct it and call again, or pass bad records over with --skip-bad N".to_owned(),
        most => format!("; more than {most} records are bad"),
    };
    Error::new(ErrorKind::BadRecord, format!("{}{hint}", first.unwrap_or_default()))
}
