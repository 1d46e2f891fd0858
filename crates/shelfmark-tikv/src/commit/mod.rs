//! A commit of the contract as a transaction of the cluster.
//!
//! The transaction begins at the base's timestamp, so that the cluster itself refuses it if a key
//! that it writes or locks was written since: keys that were read are locked without being changed.
//! What it is not: a retry of the caller's work. Only a commit that rests on no read is tried again
//! here.
//!
//! Invariant: the number of a commit is the timestamp at which its transaction began, and its
//! stamped keys carry it.

mod changes;
mod two_phase;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::{Commit, Error, ErrorKind, Result, Write};

use self::changes::{Change, Changes};
pub(crate) use self::two_phase::{Mutations, commit as commit_mutations};
use crate::retry::Patience;
use crate::snapshot::{self, Moment, TikvSnapshot};
use crate::store::Shared;
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
    if commit.writes.is_empty() && commit.validate.is_empty() {
        // It would wait for what is queued, and nothing ever is.
        return Ok(shared.stats.newest());
    }
    let mut patience = Patience::new(shared.options.patience);
    loop {
        let outcome = match &base {
            Some(base) => on_base(shared, &commit, base).await,
            None => now(shared, &commit).await,
        };
        match outcome {
            // It rests on nothing that was read: whoever was faster is no reason to refuse it.
            Err(error) if error.kind() == ErrorKind::Conflict && commit.validate.is_empty() => {
                if !patience.wait().await {
                    shared.stats.busy();
                    let message = "other commits write the same keys all the time";
                    return Err(Error::busy(message, Duration::from_millis(100)).with_source(error));
                }
            }
            outcome => return outcome,
        }
    }
}

/// Commits with the transaction of the base, or with a later one that finds its reads unchanged.
async fn on_base(shared: &Arc<Shared>, commit: &Commit, base: &TikvSnapshot) -> Result<u64> {
    base.check()?;
    if commit.validate.is_empty() {
        return now(shared, commit).await;
    }
    let since = shared.clock.monotonic();
    let under_way =
        is_stamped(commit).then(|| shared.membership.stamping_at(base.moment().version, since));
    // Followers of stamped keys may be past the base's moment.
    let is_passed = matches!(under_way, Some(None));
    if !is_passed && base.take() {
        return attempt(shared, commit, base.moment(), base.age()).await;
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
        .zip(now.iter().zip(&then))
        .filter(|(_, (now, then))| now != then)
        .map(|(key, _)| key.clone())
        .collect();
    if !changed.is_empty() {
        return Err(Error::conflict(changed));
    }
    attempt(shared, commit, &moment, Duration::ZERO).await
}

/// Commits with a transaction that begins now.
async fn now(shared: &Arc<Shared>, commit: &Commit) -> Result<u64> {
    let since = shared.clock.monotonic();
    let _under_way = is_stamped(commit).then(|| shared.membership.stamping(since));
    attempt(shared, commit, &begin(shared).await?, Duration::ZERO).await
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

async fn attempt(
    shared: &Arc<Shared>,
    commit: &Commit,
    moment: &Moment,
    age: Duration,
) -> Result<u64> {
    let changes = Changes::of(&commit.writes, moment.version);
    let before = counters(shared, moment, &changes).await?;
    let mut mutations = Mutations::new();
    for key in &commit.validate {
        mutations.insert(shared.keys.outer(key), (OP_LOCK, Bytes::new()));
    }
    for (key, change) in changes.counted(&before)? {
        let mutation = match change {
            Change::Put(value) => (OP_PUT, value),
            Change::Delete => (OP_DELETE, Bytes::new()),
            Change::Insert(value) => (OP_INSERT, value),
            Change::CheckAbsent => {
                // Locked like a key that was read, because a check alone cannot carry a commit.
                let found = snapshot::get_many(shared, moment, std::slice::from_ref(&key)).await?;
                if found.first().is_some_and(Option::is_some) {
                    return Err(Error::exists(key));
                }
                (OP_LOCK, Bytes::new())
            }
        };
        mutations.insert(shared.keys.outer(&key), mutation);
    }
    check_lease(shared, commit)?;
    two_phase::commit(shared, moment.version, age, mutations).await?;
    Ok(moment.version)
}

/// Returns the values of the counters that the commit adds to.
async fn counters(
    shared: &Arc<Shared>,
    moment: &Moment,
    changes: &Changes,
) -> Result<Vec<Option<Bytes>>> {
    let keys = changes.keys_to_count();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    snapshot::get_many(shared, moment, &keys).await
}
