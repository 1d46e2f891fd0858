//! A commit of the contract as a transaction of the cluster.
//!
//! The transaction begins at the base's timestamp, so that the cluster itself refuses it if a key
//! that it writes or locks was written since: keys that were read are locked without being changed.
//! What it is not: a retry of the caller's work. Only a commit that rests on no read, or met another at a
//! counter that it adds to, is tried again here.
//!
//! Invariant: the number of a commit is the timestamp at which its transaction began, and its
//! stamped keys carry it.

mod additions;
mod changes;
mod two_phase;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::{AddWithin, Commit, Error, ErrorKind, Result, Write};

use self::additions::Additions;
use self::changes::{Added, Change, Changes};
use self::two_phase::MetAt;
pub(crate) use self::two_phase::{Mutations, commit as commit_mutations};
use crate::counters::stored::{Stored, encode_plain};
use crate::keys::Spread;
use crate::retry::Patience;
use crate::shared::Shared;
use crate::snapshot::{self, Moment, TikvSnapshot};
use crate::wire::{OP_DELETE, OP_INSERT, OP_LOCK, OP_PUT};

/// Returns the timestamp of now.
///
/// # Errors
///
/// * Those of [`crate::retry::read`].
pub(crate) async fn begin(shared: &Arc<Shared>) -> Result<Moment> {
    let now = crate::retry::read(shared.options.patience, || {
        let client = shared.clients.next();
        async move { client.current_timestamp().await }
    });
    let moment = Moment::of(now.await?);
    shared.membership.seen(moment.version);
    Ok(moment)
}

/// Commits and returns the number.
///
/// # Errors
///
/// * Those of [`shelfmark_store::Store::submit`] and [`ErrorKind::Undetermined`].
pub(crate) async fn run(
    shared: &Arc<Shared>,
    commit: Commit,
    base: Option<Arc<TikvSnapshot>>,
) -> Result<u64> {
    if commit.writes.is_empty() && commit.validate.is_empty() && commit.additions.is_empty() {
        // It would wait for what is queued, and nothing ever is.
        return Ok(shared.stats.newest());
    }
    let mut patience = Patience::new(shared.options.patience);
    loop {
        let outcome = match &base {
            Some(base) => on_base(shared, &commit, base).await,
            None => now(shared, &commit, None).await,
        };
        let error = match outcome {
            Ok(number) => return Ok(number),
            Err(Refused::AtCounter(error)) => error,
            // It rests on nothing that was read: whoever was faster is no reason to refuse it.
            Err(Refused::Because(error))
                if error.kind() == ErrorKind::Conflict && is_blind(&commit, &error) =>
            {
                error
            }
            Err(Refused::Because(error)) => return Err(error),
        };
        if !patience.wait().await {
            shared.stats.busy();
            let message = "other commits write the same keys all the time";
            return Err(Error::busy(message, Duration::from_millis(100)).with_source(error));
        }
    }
}

/// Returns true if a commit that conflicted rests on nothing that it might have to read again.
fn is_blind(commit: &Commit, error: &Error) -> bool {
    // A value that is not as an addition within it saw it was met nowhere.
    let is_met = commit.additions.is_empty() || MetAt::of(error).is_some();
    commit.validate.is_empty() && is_met
}

/// The number of a commit, or why its transaction did not happen.
type Outcome = std::result::Result<u64, Refused>;

/// The reason why a transaction did not commit.
enum Refused {
    /// It met another at a counter, which no read decides on: it may begin anew.
    AtCounter(Error),
    /// Anything else.
    Because(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Because(error)
    }
}

/// Counters that the commit writes or rests on, and the slots that their values were the sum of.
type Sums = Vec<(Bytes, Spread)>;

/// Commits with the transaction of the base, or with a later one that finds its reads unchanged.
async fn on_base(shared: &Arc<Shared>, commit: &Commit, base: &TikvSnapshot) -> Outcome {
    base.check()?;
    if commit.validate.is_empty() && commit.additions.is_empty() {
        return now(shared, commit, Some(base)).await;
    }
    let since = shared.clock.monotonic();
    let under_way =
        is_stamped(commit).then(|| shared.membership.stamping_at(base.moment().version, since));
    // Followers of stamped keys may be past the base's moment.
    let is_passed = matches!(under_way, Some(None));
    if !is_passed && base.take() {
        let sums = sums_of(commit, base);
        let begun = Begun { moment: base.moment(), age: base.age(), base: Some(base) };
        return attempt(shared, commit, begun, &sums).await;
    }
    drop(under_way);
    // What was read must be as it was when the new transaction begins; from there on the cluster
    // watches.
    let _under_way = is_stamped(commit).then(|| shared.membership.stamping(since));
    let moment = begin(shared).await?;
    let now = snapshot::get_many(shared, &moment, &commit.validate).await?;
    let then = snapshot::get_many(shared, base.moment(), &commit.validate).await?;
    let changed: Vec<Bytes> = commit
        .validate
        .iter()
        .zip(now.values.iter().zip(&then.values))
        .filter(|(_, (now, then))| now != then)
        .map(|(key, _)| key.clone())
        .collect();
    if !changed.is_empty() {
        return Err(Error::conflict(changed).into());
    }
    let validated = now.spread.into_iter();
    let mut sums: Sums = validated
        .filter_map(|(at, spread)| Some((commit.validate.get(at)?.clone(), spread)))
        .collect();
    sums.extend(written_sums(shared, commit, base, &moment).await?);
    attempt(shared, commit, Begun::now(&moment), &sums).await
}

/// Commits with a transaction that begins now.
async fn now(shared: &Arc<Shared>, commit: &Commit, base: Option<&TikvSnapshot>) -> Outcome {
    let since = shared.clock.monotonic();
    let _under_way = is_stamped(commit).then(|| shared.membership.stamping(since));
    let moment = begin(shared).await?;
    let sums = match base {
        Some(base) => written_sums(shared, commit, base, &moment).await?,
        None => Sums::new(),
    };
    attempt(shared, commit, Begun::now(&moment), &sums).await
}

/// Returns the counters among the keys of a commit that its base showed as sums.
fn sums_of(commit: &Commit, base: &TikvSnapshot) -> Sums {
    let spread = base.spread();
    if spread.is_empty() {
        return Sums::new();
    }
    let keys = commit.validate.iter().chain(commit.writes.iter().filter_map(replaced));
    keys.filter_map(|key| Some((key.clone(), *spread.get(key)?))).collect()
}

/// Returns the counters that a commit writes over and its base showed as sums, as they are at `moment`.
async fn written_sums(
    shared: &Arc<Shared>,
    commit: &Commit,
    base: &TikvSnapshot,
    moment: &Moment,
) -> Result<Sums> {
    let keys: Vec<Bytes> = sums_of(commit, base).into_iter().map(|(key, _)| key).collect();
    if keys.is_empty() {
        return Ok(Sums::new());
    }
    let stored = snapshot::stored_many(shared, moment, &keys).await?;
    let sums = keys.into_iter().zip(stored).filter_map(|(key, stored)| match stored {
        Some(Stored::Spread(spread, _)) => Some((key, spread)),
        _ => None,
    });
    Ok(sums.collect())
}

/// Returns the key that a write replaces, whatever it holds.
fn replaced(write: &Write) -> Option<&Bytes> {
    match write {
        Write::Put { key, .. } | Write::Delete { key } | Write::PutIfAbsent { key, .. } => {
            Some(key)
        }
        Write::PutStamped { .. } | Write::Add { .. } => None,
    }
}

fn is_stamped(commit: &Commit) -> bool {
    commit.writes.iter().any(|write| matches!(write, Write::PutStamped { .. }))
}

/// Refuses a stamped commit once the others may have gone on without this process.
fn check_lease(shared: &Shared, commit: &Commit) -> Result<()> {
    if is_stamped(commit) && shared.membership.lease_left(shared.clock.monotonic()).is_zero() {
        let message = "this server has lost touch with the cluster; try again";
        return Err(Error::new(ErrorKind::Unavailable, message));
    }
    Ok(())
}

/// The beginning of a transaction.
struct Begun<'a> {
    moment: &'a Moment,
    age: Duration,
    /// The snapshot of the same moment, if there is one.
    base: Option<&'a TikvSnapshot>,
}

impl<'a> Begun<'a> {
    fn now(moment: &'a Moment) -> Self {
        Self { moment, age: Duration::ZERO, base: None }
    }
}

async fn attempt(
    shared: &Arc<Shared>,
    commit: &Commit,
    Begun { moment, age, base }: Begun<'_>,
    sums: &[(Bytes, Spread)],
) -> Outcome {
    let changes = Changes::of(&commit.writes, moment.version);
    let added: Vec<Added> = changes.added().chain(within(commit)).collect();
    let mut mutations = Mutations::new();
    for key in &commit.validate {
        mutations.insert(shared.keys.outer(key), (OP_LOCK, Bytes::new()));
    }
    let changes = changes.others()?;
    for (key, spread) in sums {
        let is_replaced = changes.iter().any(|(changed, _)| changed == key);
        let op = if is_replaced { OP_DELETE } else { OP_LOCK };
        let slots = shared.keys.all_of(*spread, is_replaced);
        mutations.extend(slots.map(|slot| (slot, (op, Bytes::new()))));
    }
    let planned = Additions::plan(shared, (moment, base), &added, &mut mutations).await?;
    let Some(additions) = planned else {
        let keys = added.iter().map(|added| added.key().clone()).collect();
        return Err(Refused::AtCounter(Error::conflict(keys)));
    };
    for (key, change) in changes {
        let mutation = mutation(shared, moment, &key, change).await?;
        mutations.insert(shared.keys.outer(&key), mutation);
    }
    check_lease(shared, commit)?;
    match two_phase::commit(shared, moment.version, age, mutations).await {
        Ok(at) => {
            additions.committed(shared, at);
            Ok(moment.version)
        }
        Err(error) if error.kind() == ErrorKind::Conflict && additions.met(shared, &error) => {
            Err(Refused::AtCounter(error))
        }
        Err(error) => Err(named(shared, error, sums).into()),
    }
}

/// Has the error of a commit that met another at a slot name the counter.
fn named(shared: &Shared, error: Error, sums: &[(Bytes, Spread)]) -> Error {
    let met = MetAt::of(&error).and_then(|met| shared.keys.slot_of(met));
    let Some((spread, _)) = met else { return error };
    let keys = sums.iter().filter(|(_, own)| *own == spread).map(|(key, _)| key.clone());
    Error::conflict(keys.collect()).with_source(error)
}

/// Returns the additions within values, one for each key.
fn within(commit: &Commit) -> Vec<Added> {
    let mut by_key: BTreeMap<&Bytes, AddWithin> = BTreeMap::new();
    for addition in &commit.additions {
        match by_key.entry(&addition.key) {
            Entry::Vacant(entry) => drop(entry.insert(addition.clone())),
            Entry::Occupied(mut entry) => entry.get_mut().deltas.extend(&addition.deltas),
        }
    }
    by_key.into_values().map(Added::Within).collect()
}

/// Returns the cluster's form of the change of a key.
async fn mutation(
    shared: &Arc<Shared>,
    moment: &Moment,
    key: &Bytes,
    change: Change,
) -> Result<(i32, Bytes)> {
    Ok(match change {
        Change::Put(value) => (OP_PUT, encode_plain(value)),
        Change::Delete => (OP_DELETE, Bytes::new()),
        Change::Insert(value) => (OP_INSERT, encode_plain(value)),
        Change::CheckAbsent => {
            // Locked like a key that was read, because a check alone cannot carry a commit.
            let found = snapshot::stored_many(shared, moment, std::slice::from_ref(key)).await?;
            if found.first().is_some_and(Option::is_some) {
                return Err(Error::exists(key.clone()));
            }
            (OP_LOCK, Bytes::new())
        }
    })
}
