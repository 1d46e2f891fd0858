//! Validates a commit and queues it.
//!
//! What may need the disk is looked at before the queue's lock is taken; under the lock the stripes
//! tell whether it still holds. So the common commit takes one short lock and reads nothing.
//!
//! Invariant: a commit that got a number was valid in the state of all commits with lower numbers.

use std::collections::HashMap;

use bytes::{BufMut as _, Bytes, BytesMut};

use crate::contract::{
    Commit, CommitNumber, Committed, Completion, Error, ErrorKind, KeyRange, Queued, Result,
    Snapshot, Write,
};

use super::inner::{Counters, Inner};
use super::log::group::GroupWriter;
use super::options::{COMMIT_BYTES_MAX, COMMIT_WRITES_MAX, KEY_BYTES_MAX, VALUE_BYTES_MAX};
use super::pending::{Last, Layer};
use super::queue::QueueState;
use super::written::Found;

/// Attempts to validate without the lock before validating under it.
const TRIES_WITHOUT_LOCK: usize = 3;

/// A condition that a key must meet.
enum Demand<'a> {
    /// The key was not written since the base.
    Unwritten(&'a dyn Snapshot),
    /// The key is absent.
    Absent,
    /// The key is absent or holds a counter.
    Counter,
}

struct Check<'a> {
    key: &'a Bytes,
    demand: Demand<'a>,
    /// The highest commit for which the condition is known to hold.
    holds_upto: Option<CommitNumber>,
}

/// Validates `commit` and queues it, as [`crate::Store::submit`] describes.
pub(super) fn submit(inner: &Inner, commit: Commit, done: Completion) -> Result<Queued> {
    let bytes = check_limits(&commit)?;
    if !commit.writes.is_empty() {
        inner.space.check(commit.is_accepted_on_a_full_disk())?;
    }
    let mut checks = checks_of(&commit)?;
    let mut ranges = RangeCheck::of(&commit);
    ranges.look(inner)?;
    let mut tries = 0;
    let mut state = loop {
        if tries < TRIES_WITHOUT_LOCK {
            look(inner, &mut checks, None)?;
        }
        let mut state = inner.queue.lock();
        state.check_open()?;
        if still_hold(inner, &checks) {
            break state;
        }
        if tries >= TRIES_WITHOUT_LOCK {
            look(inner, &mut checks, Some(&mut state))?;
            break state;
        }
        tries += 1;
    };
    ranges.look_under_lock(inner, &state)?;
    drop(checks);
    if commit.writes.is_empty() {
        let number = state.last_commit();
        let waiting = state.wait_for_all(done);
        drop(state);
        if let Some(done) = waiting {
            done(Ok(Committed { number }));
        }
        return Ok(Queued { number });
    }
    if let Err(error) = inner.admission(&state, bytes) {
        Counters::add(&inner.counters.busy, 1);
        return Err(error);
    }
    let (number, layer) = state.admit(bytes, done);
    enter(inner, &layer, number, commit.writes);
    inner.queue.release(state);
    Ok(Queued { number })
}

/// The ranges that must be unwritten since the base, and the commit up to which that was checked.
struct RangeCheck<'a> {
    ranges: &'a [KeyRange],
    base: CommitNumber,
    /// No commit up to this one wrote to the ranges since the base.
    holds_upto: CommitNumber,
}

impl<'a> RangeCheck<'a> {
    fn of(commit: &'a Commit) -> Self {
        let base = commit.base.as_deref().map_or(0, |base| base.id().commit);
        Self { ranges: &commit.validate_ranges, base, holds_upto: base }
    }

    /// Checks the published groups.
    fn look(&mut self, inner: &Inner) -> Result<()> {
        if self.ranges.is_empty() {
            return Ok(());
        }
        match inner.written.find(self.ranges, self.base, self.holds_upto) {
            Found::Nothing { upto } => {
                self.holds_upto = upto;
                Ok(())
            }
            Found::Key(key) => Err(Error::conflict(vec![key])),
            Found::TooOld => Err(too_old()),
        }
    }

    /// Checks what was published since and what is queued: with the queue's lock held, that is
    /// everything.
    fn look_under_lock(&mut self, inner: &Inner, state: &QueueState) -> Result<()> {
        self.look(inner)?;
        for range in self.ranges {
            let key = state.layers().find_map(|layer| layer.written_since(range, self.base));
            if let Some(key) = key {
                return Err(Error::conflict(vec![key]));
            }
        }
        Ok(())
    }
}

/// Returns true if no key was written since its condition was checked; called under the queue's
/// lock.
fn still_hold(inner: &Inner, checks: &[Check<'_>]) -> bool {
    checks.iter().all(|check| {
        check.holds_upto.is_some_and(|upto| inner.high_water_marks.get(check.key) <= upto)
    })
}

/// Adds the writes of commit `number` to its layer and raises the high-water marks.
fn enter(inner: &Inner, layer: &Layer, number: CommitNumber, writes: Vec<Write>) {
    let mut pending = layer.write();
    for write in writes {
        let (key, value) = match write {
            Write::Put { key, value } | Write::PutIfAbsent { key, value } => (key, Some(value)),
            Write::Delete { key } => (key, None),
            Write::PutStamped { prefix, suffix, value } => {
                (stamped(&prefix, number, &suffix), Some(value))
            }
            Write::Add { key, delta } => {
                inner.high_water_marks.raise(&key, number);
                pending.add(number, key, delta);
                continue;
            }
        };
        inner.high_water_marks.raise(&key, number);
        pending.set(number, key, value);
    }
}

fn stamped(prefix: &[u8], number: CommitNumber, suffix: &[u8]) -> Bytes {
    let mut key = BytesMut::with_capacity(prefix.len() + 8 + suffix.len());
    key.put_slice(prefix);
    key.put_u64(number);
    key.put_slice(suffix);
    key.freeze()
}

/// Refuses what is over a limit or not for this driver, and returns the approximate size of the writes in a group.
fn check_limits(commit: &Commit) -> Result<usize> {
    if !commit.additions.is_empty() {
        return Err(Error::new(ErrorKind::Invalid, "this driver does not add within values"));
    }
    if commit.writes.len() > COMMIT_WRITES_MAX {
        return Err(over("writes in a commit", commit.writes.len(), COMMIT_WRITES_MAX));
    }
    let mut bytes = 0_usize;
    for write in &commit.writes {
        let (key_bytes, value) = match write {
            Write::Put { key, value } | Write::PutIfAbsent { key, value } => {
                (key.len(), Some(value))
            }
            Write::Delete { key } => (key.len(), None),
            Write::Add { key, .. } => (key.len(), None),
            Write::PutStamped { prefix, suffix, value } => {
                (prefix.len() + 8 + suffix.len(), Some(value))
            }
        };
        let value_bytes = value.map_or(8, Bytes::len);
        check_row(key_bytes, value_bytes)?;
        bytes = bytes.saturating_add(key_bytes + value_bytes + GroupWriter::overhead());
    }
    let payload = bytes.saturating_sub(commit.writes.len() * GroupWriter::overhead());
    if payload > COMMIT_BYTES_MAX {
        return Err(over("bytes in a commit", payload, COMMIT_BYTES_MAX));
    }
    Ok(bytes)
}

/// Checks the sizes of a row that is written.
pub(super) fn check_row(key_bytes: usize, value_bytes: usize) -> Result<()> {
    if key_bytes == 0 {
        return Err(Error::new(ErrorKind::Invalid, "a key is never empty"));
    }
    if key_bytes > KEY_BYTES_MAX {
        return Err(over("bytes in a key", key_bytes, KEY_BYTES_MAX));
    }
    if value_bytes == 0 {
        return Err(Error::new(ErrorKind::Invalid, "a value is never empty; delete the key"));
    }
    if value_bytes > VALUE_BYTES_MAX {
        return Err(over("bytes in a value", value_bytes, VALUE_BYTES_MAX));
    }
    Ok(())
}

fn over(what: &str, is: usize, max: usize) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("{is} {what}, at most {max} are possible"))
}

/// Lists the conditions of `commit`.
fn checks_of(commit: &Commit) -> Result<Vec<Check<'_>>> {
    let mut checks = Vec::new();
    if !commit.validate.is_empty() || !commit.validate_ranges.is_empty() {
        let Some(base) = commit.base.as_deref() else {
            return Err(Error::new(
                ErrorKind::Invalid,
                "a commit that validates what was read names the snapshot it was read from",
            ));
        };
        checks.extend(commit.validate.iter().map(|key| Check {
            key,
            demand: Demand::Unwritten(base),
            holds_upto: None,
        }));
    }
    let adds = commit.writes.iter().any(|write| matches!(write, Write::Add { .. }));
    // What the commit made of its keys so far; kept only where an `Add` may need it.
    let mut so_far: HashMap<&Bytes, Option<&Bytes>> = HashMap::new();
    for write in &commit.writes {
        let (key, made, demand) = match write {
            Write::PutIfAbsent { key, value } => (key, Some(value), Some(Demand::Absent)),
            Write::Put { key, value } => (key, Some(value), None),
            Write::Delete { key } => (key, None, None),
            Write::Add { key, .. } => {
                match so_far.get(key) {
                    Some(Some(value)) => drop(Write::counter(value)?),
                    Some(None) => {}
                    None => checks.push(Check { key, demand: Demand::Counter, holds_upto: None }),
                }
                continue;
            }
            Write::PutStamped { .. } => continue,
        };
        if adds {
            so_far.insert(key, made);
        }
        checks.extend(demand.map(|demand| Check { key, demand, holds_upto: None }));
    }
    if let Some(base) = commit.base.as_deref()
        && base.time_left().is_some_and(|left| left.is_zero())
    {
        return Err(too_old());
    }
    Ok(checks)
}

fn too_old() -> Error {
    Error::new(
        ErrorKind::TooOld,
        "the snapshot that the commit builds on was held too long; read again and retry",
    )
}

/// Checks every key whose condition is not known to hold; `queue` is given when its lock is held.
fn look(inner: &Inner, checks: &mut [Check<'_>], mut queue: Option<&mut QueueState>) -> Result<()> {
    let mut conflicts = Vec::new();
    for check in checks {
        let stripe = inner.high_water_marks.get(check.key);
        if check.holds_upto.is_some_and(|upto| stripe <= upto) {
            continue;
        }
        let holds = match &check.demand {
            Demand::Unwritten(base) => {
                let id = base.id();
                if stripe <= id.commit {
                    check.holds_upto = Some(id.commit);
                    continue;
                }
                unwritten(inner, check.key, *base, queue.as_deref_mut())?
            }
            Demand::Absent => {
                if !absent(inner, check.key, queue.as_deref_mut())? {
                    return Err(Error::exists(check.key.clone()));
                }
                true
            }
            Demand::Counter => {
                counter(inner, check.key, queue.as_deref_mut())?;
                true
            }
        };
        if !holds {
            conflicts.push(check.key.clone());
        }
        check.holds_upto = Some(stripe);
    }
    if conflicts.is_empty() { Ok(()) } else { Err(Error::conflict(conflicts)) }
}

/// The newest write of a key.
enum Newest {
    /// A pending put or deletion.
    Pending(CommitNumber, Option<Bytes>),
    /// A pending addition.
    PendingSum(CommitNumber),
    /// The tree's newest entry: its sequence number and value.
    Stored(u64, Option<Bytes>),
    /// There is no entry.
    Nothing,
}

fn newest(inner: &Inner, key: &[u8], queue: Option<&mut QueueState>) -> Result<Newest> {
    let in_queue = |state: &QueueState| {
        state.layers().find_map(|layer| {
            let writes = layer.read();
            writes.last(key).map(|(commit, last)| match last {
                Last::Value(value) => Newest::Pending(commit, Some(value.clone())),
                Last::Deleted => Newest::Pending(commit, None),
                Last::Added => Newest::PendingSum(commit),
            })
        })
    };
    let pending = match queue {
        Some(state) => in_queue(state),
        None => in_queue(&inner.queue.lock()),
    };
    if let Some(pending) = pending {
        return Ok(pending);
    }
    // The queue first and the tree afterwards: what left the queue in between is in the tree.
    let view = inner.snapshots.view();
    Ok(match view.newest(key, u64::MAX)? {
        Some(entry) => Newest::Stored(entry.seqno, entry.value),
        None => Newest::Nothing,
    })
}

fn unwritten(
    inner: &Inner,
    key: &[u8],
    base: &dyn Snapshot,
    queue: Option<&mut QueueState>,
) -> Result<bool> {
    let id = base.id();
    Ok(match newest(inner, key, queue)? {
        Newest::Pending(commit, _) | Newest::PendingSum(commit) => commit <= id.commit,
        Newest::Stored(seqno, _) => {
            seqno < id.position
                || inner.recent.last_commit_of(seqno).is_some_and(|last| last <= id.commit)
        }
        // A deletion vanishes from the tree once nothing is below it.
        Newest::Nothing => base.get(key)?.is_none(),
    })
}

fn absent(inner: &Inner, key: &[u8], queue: Option<&mut QueueState>) -> Result<bool> {
    Ok(match newest(inner, key, queue)? {
        Newest::Pending(_, value) | Newest::Stored(_, value) => value.is_none(),
        Newest::PendingSum(_) => false,
        Newest::Nothing => true,
    })
}

fn counter(inner: &Inner, key: &[u8], queue: Option<&mut QueueState>) -> Result<()> {
    match newest(inner, key, queue)? {
        Newest::Pending(_, Some(value)) | Newest::Stored(_, Some(value)) => {
            Write::counter(&value).map(|_| ())
        }
        Newest::Pending(_, None)
        | Newest::Stored(_, None)
        | Newest::PendingSum(_)
        | Newest::Nothing => Ok(()),
    }
}

#[cfg(test)]
mod tests;
