//! One transaction of the cluster, in two phases, to an end that is known.
//!
//! All keys are locked, each with its new value; then the lock of one of them, the primary, becomes the
//! commit, and everybody who meets another lock asks there. The client library is not trusted with it:
//! where it does not find the region of a key, it sends nothing for that key and says that all went well.
//! What it is not: a resolver of others' locks, which the library is.
//!
//! Invariant: `Ok` means that the primary's store said that it is committed;
//! [`ErrorKind::Undetermined`] that it was asked and nobody could say; any other error that the
//! transaction will never be committed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::{Error, ErrorKind, Result};
use tikv_client::{Backoff, TimestampExt as _};
use tokio::task::JoinSet;

use crate::leaders::{Asked, ask};
use crate::placement::Route;
use crate::retry::{self, Patience};
use crate::shared::Shared;
use crate::wire::{
    CommitRequest, EndResponse, KeyError, Mutation, OP_LOCK, PrewriteRequest, PrewriteResponse,
    RollbackRequest,
};

/// The time after which others may take the locks of a transaction for those of a server that is gone.
const LOCKED_MAX: Duration = Duration::from_secs(3);
/// The longest wait for the locks of others in one transaction: two may wait for each other.
const WAIT_FOR_LOCKS_MAX: Duration = Duration::from_millis(1500);
/// Locks that are asked for at one key, which has one.
const LOCKS_AT_ONE_KEY: u32 = 4;
/// Bytes of keys and values that one request locks.
const BYTES_AT_ONCE: usize = 512 * 1024;

const PREWRITE: &str = "/tikvpb.Tikv/KvPrewrite";
const COMMIT: &str = "/tikvpb.Tikv/KvCommit";
const ROLLBACK: &str = "/tikvpb.Tikv/KvBatchRollback";

/// The changes of a transaction: keys of the cluster, an operation and a value for each.
pub(crate) type Mutations = BTreeMap<Vec<u8>, (i32, Bytes)>;

/// Commits `mutations` on what was there at `start`, `age` ago; returns the timestamp of the commit. A
/// start serves one transaction.
///
/// # Errors
///
/// * [`ErrorKind::Conflict`]: a key was written since, or its lock was in the way for too long.
/// * [`ErrorKind::Exists`]: a key that must be absent is there.
/// * [`ErrorKind::Unavailable`]: the cluster did not take it.
/// * [`ErrorKind::Undetermined`]: nobody knows.
pub(crate) async fn commit(
    shared: &Arc<Shared>,
    start: u64,
    age: Duration,
    mutations: Mutations,
) -> Result<u64> {
    let is_change = |(_, (op, _)): &(&Vec<u8>, &(i32, Bytes))| *op != OP_LOCK;
    let primary = mutations.iter().find(is_change).or_else(|| mutations.iter().next());
    let Some(primary) = primary.map(|(key, _)| key.clone()) else { return Ok(start) };
    let transaction = Arc::new(TwoPhase {
        shared: Arc::clone(shared),
        start,
        lock_ttl: millis(LOCKED_MAX + age),
        primary,
        mutations,
    });
    let mut patience = Patience::new(shared.options.patience);
    let ended = match transaction.prewrite(&mut patience).await {
        Ok(()) => transaction.commit_primary(&mut patience).await,
        Err(refused) => Err(refused),
    };
    match ended {
        Ok(at) => {
            shared.bridge.spawn(async move { transaction.commit_others(at).await });
            Ok(at)
        }
        Err(error) => {
            if error.kind() != ErrorKind::Undetermined {
                shared.bridge.spawn(async move { transaction.roll_back().await });
            }
            Err(error)
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The key of the cluster at which a transaction met another.
#[derive(Debug)]
pub(crate) struct MetAt(Vec<u8>);

impl fmt::Display for MetAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "another transaction was met at {:02x?}", self.0)
    }
}

impl std::error::Error for MetAt {}

impl MetAt {
    /// Returns the key at which a transaction that ended so met another, if that is known.
    pub(crate) fn of(error: &Error) -> Option<&[u8]> {
        let source = std::error::Error::source(error)?;
        source.downcast_ref::<Self>().map(|met| &*met.0)
    }
}

/// A transaction under way.
struct TwoPhase {
    shared: Arc<Shared>,
    start: u64,
    /// In milliseconds from the start.
    lock_ttl: u64,
    primary: Vec<u8>,
    mutations: Mutations,
}

/// The outcome of one request of the first phase.
enum Prewritten {
    Done,
    /// To be asked again.
    Again(String),
    /// Another transaction's lock is at this key.
    Locked(Vec<u8>),
    Refused(Error),
}

impl TwoPhase {
    /// Locks every key.
    async fn prewrite(self: &Arc<Self>, patience: &mut Patience) -> Result<()> {
        let mut left: Vec<Vec<u8>> = self.mutations.keys().cloned().collect();
        let mut for_locks = Patience::new(WAIT_FOR_LOCKS_MAX);
        loop {
            let (parts, unknown) = self.by_region(&left).await;
            let mut trouble = (!unknown.is_empty()).then(|| "a region is not known".to_owned());
            let mut requests = JoinSet::new();
            for (route, keys) in parts {
                let own = Arc::clone(self);
                requests.spawn(async move { (own.prewrite_part(route, &keys).await, keys) });
            }
            left = unknown;
            let mut refused = None;
            // All are waited for: a lock that comes late would stay.
            while let Some(done) = requests.join_next().await {
                let (done, keys) = done.map_err(|error| {
                    Error::new(ErrorKind::Unavailable, "a request was given up").with_source(error)
                })?;
                match done {
                    Prewritten::Done => {}
                    Prewritten::Again(why) => {
                        trouble = Some(why);
                        left.extend(keys);
                    }
                    Prewritten::Locked(key) => {
                        if !self.wait_for_lock(&key, &mut for_locks).await {
                            refused = Some(self.conflict(&key));
                        }
                        left.extend(keys);
                    }
                    Prewritten::Refused(error) => refused = Some(error),
                }
            }
            match refused {
                Some(error) => return Err(error),
                None if left.is_empty() => return Ok(()),
                None => {}
            }
            if trouble.is_some() && !patience.wait().await {
                return Err(unavailable(&trouble.unwrap_or_default()));
            }
        }
    }

    async fn prewrite_part(&self, route: Route, keys: &[Vec<u8>]) -> Prewritten {
        let Some(first) = keys.first() else { return Prewritten::Done };
        let mutation = |key: &Vec<u8>| {
            let (op, value) = self.mutations.get(key)?;
            Some(Mutation { op: *op, key: key.clone(), value: value.clone() })
        };
        let request = |context| PrewriteRequest {
            context: Some(context),
            mutations: keys.iter().filter_map(mutation).collect(),
            primary_lock: self.primary.clone(),
            start_version: self.start,
            lock_ttl: self.lock_ttl,
            txn_size: self.mutations.len() as u64,
        };
        let asked = ask::<_, PrewriteResponse>(&self.shared, route, first, PREWRITE, request).await;
        let errors = match asked {
            Asked::Answer(answer) => answer.errors,
            // Locking twice is locking once.
            Asked::NotDone(why) | Asked::NotKnown(why) => return Prewritten::Again(why),
        };
        if errors.is_empty() {
            return Prewritten::Done;
        }
        let locked = errors.iter().find_map(|error| error.locked.as_ref());
        let refused = errors.iter().find_map(|error| self.refusal(error));
        match (refused, locked) {
            (Some(error), _) => Prewritten::Refused(error),
            (None, Some(lock)) => Prewritten::Locked(lock.key.clone()),
            (None, None) => Prewritten::Refused(Error::conflict(Vec::new())),
        }
    }

    /// Returns the error of a key that decides, if it does.
    fn refusal(&self, error: &KeyError) -> Option<Error> {
        if let Some(there) = &error.already_exist {
            return Some(Error::exists(self.shared.keys.inner(&there.key)?));
        }
        error.conflict.as_ref().map(|conflict| self.conflict(&conflict.key))
    }

    fn conflict(&self, key: &[u8]) -> Error {
        let keys = self.shared.keys.inner(key).into_iter().collect();
        Error::conflict(keys).with_source(MetAt(key.to_vec()))
    }

    /// Does what is to be done about another's lock, and waits a moment; false when that took too long.
    async fn wait_for_lock(&self, key: &[u8], patience: &mut Patience) -> bool {
        if let Err(error) = self.resolve(key).await {
            tracing::debug!(%error, "a lock could not be looked at");
        }
        // Also where it is gone: whoever took it may not be done with other keys of ours.
        patience.wait().await
    }

    /// Has the library end what a lock at `key` is of, if that has ended or its server is gone. Readers
    /// would pass over locks that change nothing.
    async fn resolve(&self, key: &[u8]) -> Result<()> {
        let shared = &self.shared;
        retry::read(WAIT_FOR_LOCKS_MAX, || {
            let (client, start) = (shared.clients.next(), key.to_vec());
            let end = [key, &[0]].concat();
            async move {
                let now = client.current_timestamp().await?;
                let locks = client.scan_locks(&now, start..end, LOCKS_AT_ONE_KEY).await?;
                client.resolve_locks(locks, now, Backoff::no_backoff()).await.map(drop)
            }
        })
        .await
    }

    /// Commits the primary; returns the timestamp.
    async fn commit_primary(&self, patience: &mut Patience) -> Result<u64> {
        let mut at = self.timestamp(patience).await?;
        let mut may_be_done = false;
        loop {
            let why = match self.end_part(COMMIT, &self.primary, at).await {
                Asked::Answer(EndResponse { error: None, .. }) => return Ok(at),
                Asked::Answer(EndResponse { error: Some(error), .. }) => {
                    if error.commit_ts_expired.is_none() && may_be_done {
                        return self.find_out(at, &error.abort).await;
                    }
                    if error.commit_ts_expired.is_none() {
                        // Whoever found the lock too old has rolled it back.
                        return Err(self.conflict(&self.primary));
                    }
                    at = self.timestamp(patience).await?;
                    continue;
                }
                Asked::NotDone(why) => why,
                Asked::NotKnown(why) => {
                    may_be_done = true;
                    why
                }
            };
            if patience.wait().await {
                continue;
            }
            if may_be_done {
                return self.find_out(at, &why).await;
            }
            return Err(unavailable(&why));
        }
    }

    /// Takes back the primary, whose store refuses that if it is committed.
    async fn find_out(&self, at: u64, why: &str) -> Result<u64> {
        let mut patience = Patience::new(self.shared.options.patience);
        loop {
            match self.end_part(ROLLBACK, &self.primary, 0).await {
                Asked::Answer(EndResponse { error: None, .. }) => return Err(unavailable(why)),
                Asked::Answer(EndResponse { error: Some(error), .. }) if says_committed(&error) => {
                    return Ok(at);
                }
                _ => {}
            }
            if !patience.wait().await {
                let message = "the cluster does not tell whether the commit happened";
                let source = unavailable(why);
                return Err(Error::new(ErrorKind::Undetermined, message).with_source(source));
            }
        }
    }

    async fn timestamp(&self, patience: &Patience) -> Result<u64> {
        let client = || self.shared.clients.next();
        let at = retry::read(patience.left(), || {
            let client = client();
            async move { client.current_timestamp().await }
        });
        Ok(at.await?.version())
    }

    async fn end_part(&self, method: &'static str, key: &[u8], at: u64) -> Asked<EndResponse> {
        let found = self.shared.regions.route(&self.shared.placement, key).await;
        let Some((route, _)) = found else {
            return Asked::NotDone("a region is not known".to_owned());
        };
        self.end_region(method, route, &[key.to_vec()], at).await
    }

    async fn end_region(
        &self,
        method: &'static str,
        route: Route,
        keys: &[Vec<u8>],
        at: u64,
    ) -> Asked<EndResponse> {
        let Some(first) = keys.first() else { return Asked::NotDone(String::new()) };
        let (start, keys) = (self.start, keys.to_vec());
        if method == ROLLBACK {
            let request = |context| RollbackRequest {
                context: Some(context),
                start_version: start,
                keys: keys.clone(),
            };
            return ask(&self.shared, route, first, method, request).await;
        }
        let request = |context| CommitRequest {
            context: Some(context),
            start_version: start,
            keys: keys.clone(),
            commit_version: at,
        };
        ask(&self.shared, route, first, method, request).await
    }

    /// Commits the other keys. What it does not reach, whoever meets it does.
    async fn commit_others(&self, at: u64) {
        let left = self.mutations.keys().filter(|key| **key != self.primary).cloned().collect();
        self.end_all(COMMIT, left, at).await;
    }

    /// Removes the locks of a transaction that will not be committed. Not doing it costs others a wait
    /// until the locks are too old.
    async fn roll_back(&self) {
        self.end_all(ROLLBACK, self.mutations.keys().cloned().collect(), 0).await;
    }

    async fn end_all(&self, method: &'static str, mut left: Vec<Vec<u8>>, at: u64) {
        let mut patience = Patience::new(self.shared.options.patience);
        while !left.is_empty() {
            let (parts, mut again) = self.by_region(&left).await;
            for (route, keys) in parts {
                match self.end_region(method, route, &keys, at).await {
                    Asked::Answer(EndResponse { error: None, .. }) => {}
                    Asked::Answer(EndResponse { error: Some(error), .. }) => {
                        tracing::debug!(?error, "locks stay until somebody meets them");
                    }
                    Asked::NotDone(_) | Asked::NotKnown(_) => again.extend(keys),
                }
            }
            left = again;
            if !left.is_empty() && !patience.wait().await {
                tracing::debug!("locks stay until somebody meets them");
                return;
            }
        }
    }

    /// Groups keys by their regions, in requests of a size; returns also those whose regions are not known.
    async fn by_region(&self, keys: &[Vec<u8>]) -> (Vec<(Route, Vec<Vec<u8>>)>, Vec<Vec<u8>>) {
        let mut parts: Vec<(Route, Vec<Vec<u8>>)> = Vec::new();
        let mut unknown = Vec::new();
        let mut open: Option<(Vec<u8>, usize)> = None;
        let mut sorted = keys.to_vec();
        sorted.sort_unstable();
        for key in sorted {
            let bytes = key.len() + self.mutations.get(&key).map_or(0, |(_, value)| value.len());
            if let (Some((end, size)), Some((_, part))) = (&mut open, parts.last_mut())
                && (end.is_empty() || key < *end)
                && *size + bytes <= BYTES_AT_ONCE
            {
                *size += bytes;
                part.push(key);
                continue;
            }
            match self.shared.regions.route(&self.shared.placement, &key).await {
                Some((route, end)) => {
                    open = Some((end, bytes));
                    parts.push((route, vec![key]));
                }
                None => {
                    open = None;
                    unknown.push(key);
                }
            }
        }
        (parts, unknown)
    }
}

fn says_committed(error: &KeyError) -> bool {
    [&error.abort, &error.retryable].iter().any(|text| text.to_lowercase().contains("committed"))
}

fn unavailable(why: &str) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the cluster does not take the commit: {why}"))
}
