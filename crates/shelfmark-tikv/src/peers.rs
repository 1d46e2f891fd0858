//! The processes on one cluster: leases, what each publishes, and which stamps are settled.
//!
//! Each process keeps a record of its own and renews it. The record promises that the process will
//! commit nothing more with a stamp at or below a timestamp, so that who follows stamped keys knows
//! how far they are whole.
//!
//! What it is not: a lock. Nobody waits for another process but who reads its record.
//!
//! Invariant: a process commits a stamped key only above its own promise and while its lease lasts
//! by its own clock, which ends before the others take it for gone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes};
use shelfmark_store::{Error, ErrorKind, Peer, Peers, Result};
use tikv_client::{BoundRange, CheckLevel, TransactionOptions};

use crate::commit::{Mutations, commit_mutations};
use crate::keys::Keys;
use crate::retry::{self, Patience};
use crate::shared::Shared;
use crate::snapshot::Moment;
use crate::wire::{OP_DELETE, OP_PUT};

/// The time for which a record lasts that is not renewed, by the cluster's clock.
pub(crate) const LEASE: Duration = Duration::from_secs(10);
/// The time by which a process stops earlier, by its own clock.
const MARGIN: Duration = Duration::from_secs(6);
/// The time between two renewals.
const EVERY: Duration = Duration::from_millis(500);
/// The time between two renewals while stamped keys are written.
const EVERY_STAMPED: Duration = Duration::from_millis(50);
/// The time after a stamped commit for which renewals stay that frequent.
const STAMPED_LATELY: Duration = Duration::from_secs(5);
/// Bits of a timestamp below its milliseconds.
const LOGICAL_BITS: u32 = 18;
/// Records that are read at once; more processes than one cluster has servers.
const PROCESSES_MAX: u32 = 10_000;
/// Name of the records among the driver's own keys.
const RECORDS: &str = "peer/";

/// The memory of this process: its facts, its promise, and what is under way.
#[derive(Default)]
pub(crate) struct Membership {
    state: Mutex<State>,
    /// Held over a renewal, so that an older record never replaces a newer one.
    renewing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    facts: BTreeMap<String, Bytes>,
    /// Nothing is committed any more with a stamp at or below it.
    promise: u64,
    /// A timestamp at or below every one that is handed out from now on.
    newest_seen: u64,
    /// Lower bounds of the stamps of commits that are under way, with their number.
    under_way: BTreeMap<u64, usize>,
    /// The end of the lease by the process's own clock.
    lease_until: Duration,
    last_stamped: Option<Duration>,
    /// The greatest timestamp that was told to be settled, and the moment as of which it was.
    told: (u64, u64),
}

/// A stamped commit that is under way; it ends when this is dropped.
pub(crate) struct UnderWay<'a> {
    membership: &'a Membership,
    bound: u64,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.membership.state();
        if let Some(count) = state.under_way.get_mut(&self.bound) {
            *count -= 1;
            if *count == 0 {
                state.under_way.remove(&self.bound);
            }
        }
    }
}

impl Membership {
    /// Begins a stamped commit whose transaction begins later.
    pub(crate) fn stamping(&self, now: Duration) -> UnderWay<'_> {
        let bound = self.state().newest_seen;
        self.under_way(bound, now)
    }

    /// Begins a stamped commit with the timestamp of a base; `None` if the promise has passed it.
    pub(crate) fn stamping_at(&self, version: u64, now: Duration) -> Option<UnderWay<'_>> {
        let is_free = self.state().promise < version;
        let under_way = self.under_way(version, now);
        // Asked again: a promise that is made from now on knows of this commit.
        (is_free && self.state().promise < version).then_some(under_way)
    }

    fn under_way(&self, bound: u64, now: Duration) -> UnderWay<'_> {
        let mut state = self.state();
        *state.under_way.entry(bound).or_insert(0) += 1;
        state.last_stamped = Some(now);
        UnderWay { membership: self, bound }
    }

    /// Notes a timestamp that the cluster has handed out.
    pub(crate) fn seen(&self, version: u64) {
        let mut state = self.state();
        state.newest_seen = state.newest_seen.max(version);
    }

    /// Promises to commit nothing with a stamp at or below `now` but what is under way.
    fn promise(&self, now: u64) -> u64 {
        let mut state = self.state();
        let below = state.under_way.keys().next().map_or(now, |first| first.saturating_sub(1));
        let settled = below.min(now);
        state.promise = state.promise.max(settled);
        settled
    }

    /// Returns a timestamp at or below which this process has nothing under way and will have nothing:
    /// a snapshot that begins after this call shows all of it.
    pub(crate) fn settled(&self) -> u64 {
        let newest_seen = self.state().newest_seen;
        self.promise(newest_seen)
    }

    /// Returns the time until this process must stop acting for others.
    pub(crate) fn lease_left(&self, now: Duration) -> Duration {
        self.state().lease_until.saturating_sub(now)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment or a count; a panic leaves it whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Renews the record until the store is gone.
pub(crate) async fn run(shared: Weak<Shared>) {
    loop {
        let Some(strong) = shared.upgrade() else { return };
        if strong.check_open().is_err() {
            return;
        }
        if let Err(error) = renew(&strong).await {
            tracing::warn!(%error, "the lease of this server was not renewed");
            // Clients that lost a restarted cluster do not always find it again.
            if let Err(error) = strong.clients.renew().await {
                tracing::debug!(%error, "the cluster is not there");
            }
        }
        let lately = strong.membership.state().last_stamped;
        let is_lately =
            lately.is_some_and(|at| strong.clock.monotonic().saturating_sub(at) < STAMPED_LATELY);
        drop(strong);
        tokio::time::sleep(if is_lately { EVERY_STAMPED } else { EVERY }).await;
    }
}

/// Writes the record of this process anew.
pub(crate) async fn renew(shared: &Arc<Shared>) -> Result<()> {
    let membership = &shared.membership;
    let _renewing = membership.renewing.lock().await;
    let begun = shared.clock.monotonic();
    let key = record_key(shared, shared.id);
    let mut patience = Patience::new(LEASE.saturating_sub(MARGIN));
    loop {
        let now = crate::commit::begin(shared).await?.version;
        let promise = membership.promise(now);
        let until = (now >> LOGICAL_BITS) + millis(LEASE);
        let record = encode(until, promise, &membership.state().facts);
        let mutations = Mutations::from([(key.clone(), (OP_PUT, record.into()))]);
        match commit_mutations(shared, now, Duration::ZERO, mutations).await {
            Ok(_) => break,
            Err(error) if !patience.wait().await => return Err(error),
            Err(_) => {}
        }
    }
    membership.state().lease_until = begun + LEASE.saturating_sub(MARGIN);
    Ok(())
}

/// Removes the record, so that nobody waits for this process any more.
pub(crate) async fn leave(shared: &Arc<Shared>) -> Result<()> {
    let _renewing = shared.membership.renewing.lock().await;
    let now = crate::commit::begin(shared).await?.version;
    let deletion = (OP_DELETE, Bytes::new());
    let mutations = Mutations::from([(record_key(shared, shared.id), deletion)]);
    commit_mutations(shared, now, Duration::ZERO, mutations).await.map(drop)
}

/// Returns the greatest stamp that is settled as of `moment`: this process had nothing at or below `own`
/// under way before the moment, and every other one has promised it.
///
/// What settles between a moment and this call was committed after the moment, which does not show it;
/// so `own` is what [`Membership::settled`] said before the moment began.
pub(crate) async fn settled(shared: &Arc<Shared>, moment: &Moment, own: u64) -> Result<u64> {
    let mut through = own.min(moment.version);
    for (id, record) in records(shared, &shared.keys, moment).await? {
        if id != shared.id && record.is_live(moment.version, MARGIN) {
            through = through.min(record.promise);
        }
    }
    let mut state = shared.membership.state();
    // What an earlier moment had whole, this one has, too.
    if state.told.1 <= moment.version {
        through = through.max(state.told.0);
        state.told = (through, moment.version);
    }
    Ok(through)
}

/// The processes on the cluster, for the contract.
pub(crate) struct ClusterPeers {
    shared: Arc<Shared>,
}

impl ClusterPeers {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

impl Peers for ClusterPeers {
    fn id(&self) -> u64 {
        self.shared.id
    }

    fn publish(&self, name: &str, value: Bytes) -> Result<()> {
        self.shared.check_open()?;
        self.shared.membership.state().facts.insert(name.to_owned(), value);
        let shared = Arc::clone(&self.shared);
        self.shared.call(async move { renew(&shared).await })
    }

    fn live(&self) -> Result<Vec<Peer>> {
        self.shared.check_open()?;
        let shared = Arc::clone(&self.shared);
        self.shared.call(async move {
            let moment = crate::commit::begin(&shared).await?;
            let records = records(&shared, &shared.keys, &moment).await?;
            let live = records.into_iter().filter(|(id, record)| {
                *id == shared.id || record.is_live(moment.version, Duration::ZERO)
            });
            let peer = |(id, record): (u64, Record)| {
                let renewed_ago = record.renewed_ago(moment.version);
                Peer { id, facts: record.facts, renewed_ago }
            };
            Ok(live.map(peer).collect())
        })
    }

    fn monotonic(&self) -> Duration {
        self.shared.clock.monotonic()
    }

    fn lease_left(&self) -> Duration {
        self.shared.membership.lease_left(self.shared.clock.monotonic())
    }
}

struct Record {
    /// Milliseconds of the cluster's clock.
    until: u64,
    promise: u64,
    facts: Vec<(String, Bytes)>,
}

impl Record {
    /// Returns true if the lease is not over at `version`, nor was longer than `margin` before.
    fn is_live(&self, version: u64, margin: Duration) -> bool {
        self.until + millis(margin) > version >> LOGICAL_BITS
    }

    /// Returns the time from the last renewal to `version`.
    fn renewed_ago(&self, version: u64) -> Duration {
        let renewed = self.until.saturating_sub(millis(LEASE));
        Duration::from_millis((version >> LOGICAL_BITS).saturating_sub(renewed))
    }
}

/// Returns true if a process has the space of `keys` open at `moment`, as far as leases say.
pub(crate) async fn is_anyone(shared: &Arc<Shared>, keys: &Keys, moment: &Moment) -> Result<bool> {
    let records = records(shared, keys, moment).await?;
    Ok(records.iter().any(|(_, record)| record.is_live(moment.version, Duration::ZERO)))
}

async fn records(shared: &Arc<Shared>, keys: &Keys, moment: &Moment) -> Result<Vec<(u64, Record)>> {
    let start = keys.own(RECORDS);
    let mut end = start.clone();
    end.extend([0xFF; 9]);
    let pairs = retry::read(shared.options.patience, || {
        let options = TransactionOptions::new_optimistic().drop_check(CheckLevel::None);
        let mut snapshot = shared.clients.next().snapshot(moment.at.clone(), options);
        let range = BoundRange::from(start.clone()..end.clone());
        async move { Ok(snapshot.scan(range, PROCESSES_MAX).await?.collect::<Vec<_>>()) }
    })
    .await?;
    pairs
        .into_iter()
        .map(|pair| {
            let key: Vec<u8> = pair.0.into();
            let id = key.get(start.len()..).and_then(|id| id.try_into().ok());
            let record = decode(Bytes::from(pair.1));
            let damaged = || Error::new(ErrorKind::Corrupt, "the record of a server is damaged");
            Ok((id.map(u64::from_be_bytes).ok_or_else(damaged)?, record.ok_or_else(damaged)?))
        })
        .collect()
}

fn record_key(shared: &Shared, id: u64) -> Vec<u8> {
    let mut key = shared.keys.own(RECORDS);
    key.extend(id.to_be_bytes());
    key
}

/// Encodes a record: `until ‖ promise ‖ (length of name ‖ name ‖ length of value ‖ value) …`, with
/// lengths in two bytes.
fn encode(until: u64, promise: u64, facts: &BTreeMap<String, Bytes>) -> Vec<u8> {
    let mut record = Vec::new();
    record.put_u64(until);
    record.put_u64(promise);
    for (name, value) in facts {
        for part in [name.as_bytes(), value] {
            record.put_u16(u16::try_from(part.len()).unwrap_or(u16::MAX));
            record.extend(part.iter().take(usize::from(u16::MAX)));
        }
    }
    record
}

fn decode(mut record: Bytes) -> Option<Record> {
    if record.len() < 16 {
        return None;
    }
    let (until, promise) = (record.get_u64(), record.get_u64());
    let mut facts = Vec::new();
    while record.has_remaining() {
        let name = take(&mut record)?;
        facts.push((String::from_utf8(name.to_vec()).ok()?, take(&mut record)?));
    }
    Some(Record { until, promise, facts })
}

fn take(record: &mut Bytes) -> Option<Bytes> {
    let length = (record.len() >= 2).then(|| usize::from(record.get_u16()))?;
    (record.len() >= length).then(|| record.split_to(length))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_and_damaged_ones_do_not() {
        let facts = BTreeMap::from([
            ("addresses".to_owned(), Bytes::from_static(b"127.0.0.1:1")),
            ("schema".to_owned(), Bytes::from_static(&[0, 7])),
        ]);
        let record = encode(1, 2, &facts);
        let read = decode(record.clone().into()).unwrap();
        assert_eq!((read.until, read.promise), (1, 2));
        assert_eq!(read.facts, Vec::from_iter(facts));
        let renewed = Record { until: 12_000, promise: 0, facts: Vec::new() };
        assert_eq!(renewed.renewed_ago(2_300 << LOGICAL_BITS), Duration::from_millis(300));
        assert_eq!(renewed.renewed_ago(1_900 << LOGICAL_BITS), Duration::ZERO);
        for length in [0, 8, 15, 17, 20, record.len() - 1] {
            assert!(decode(Bytes::copy_from_slice(&record[..length])).is_none(), "{length}");
        }
    }

    #[test]
    fn a_promise_stays_below_what_is_under_way() {
        let membership = Membership::default();
        let now = Duration::from_secs(1);
        membership.seen(100);
        let first = membership.stamping(now);
        assert_eq!(membership.promise(200), 99);
        // A commit on an older base must take a newer timestamp.
        assert!(membership.stamping_at(99, now).is_none());
        assert_eq!(membership.settled(), 99);
        let second = membership.stamping_at(150, now).unwrap();
        drop(first);
        assert_eq!(membership.promise(200), 149);
        drop(second);
        assert_eq!(membership.promise(200), 200);
        assert!(membership.stamping_at(200, now).is_none());
    }
}
