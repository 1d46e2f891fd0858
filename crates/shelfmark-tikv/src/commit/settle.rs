//! Brings a transaction to an end that is known.
//!
//! The answer to a commit can be lost although the commit happened, and the client then reports
//! that the cluster was unavailable. Committing the same transaction again is harmless: what it did
//! before is found by its own timestamp. If that does not tell, taking it back does, because the
//! cluster refuses to take back what was committed.
//!
//! Invariant: `Ok` means committed, [`ErrorKind::Undetermined`] that nobody could be asked, and any
//! other error that the transaction will never be committed.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::{Error, ErrorKind, Result};
use tikv_client::{Error as ClientError, ProtoKeyError, TimestampExt as _, Transaction};

use crate::retry::{self, Patience};
use crate::store::Shared;

/// The longest time that one attempt to commit takes; one that is given up is made again.
const ATTEMPT_MAX: Duration = Duration::from_secs(4);

/// The meaning of an attempt's error.
enum Told {
    /// The transaction was committed by an attempt before.
    Committed,
    /// It was refused for good.
    Refused(Error),
    /// Neither.
    Unknown(Error),
}

/// Commits `transaction`.
///
/// # Errors
///
/// * [`ErrorKind::Conflict`], [`ErrorKind::Exists`]: another was faster; nothing was written.
/// * [`ErrorKind::Unavailable`]: the cluster did not take it; nothing was written.
/// * [`ErrorKind::Undetermined`]: nobody knows.
pub(super) async fn settle(shared: &Arc<Shared>, mut transaction: Transaction) -> Result<()> {
    let version = transaction.start_timestamp().version();
    let mut patience = Patience::new(shared.options.patience);
    let mut is_first = true;
    loop {
        let unknown = match tokio::time::timeout(ATTEMPT_MAX, transaction.commit()).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => match told(shared, error, version) {
                Told::Committed => return Ok(()),
                // Later ones may have met what the first one wrote before its answer was lost.
                Told::Refused(error) if is_first => {
                    take_back_later(shared, transaction);
                    return Err(error);
                }
                Told::Refused(error) => return take_back(shared, transaction, error).await,
                Told::Unknown(error) => error,
            },
            Err(_) => Error::new(ErrorKind::Unavailable, "the cluster does not answer"),
        };
        is_first = false;
        if !patience.wait().await {
            return take_back(shared, transaction, unknown).await;
        }
    }
}

/// Takes back a transaction that may have been committed, and so finds out.
async fn take_back(shared: &Arc<Shared>, mut transaction: Transaction, why: Error) -> Result<()> {
    let mut patience = Patience::new(shared.options.patience);
    loop {
        match tokio::time::timeout(ATTEMPT_MAX, transaction.rollback()).await {
            Ok(Ok(())) => return Err(why),
            Ok(Err(error)) if retry::key_errors(&error).0.iter().any(says_committed) => {
                return Ok(());
            }
            Ok(Err(_)) | Err(_) => {}
        }
        if !patience.wait().await {
            let message = "the cluster does not tell whether the commit happened";
            return Err(Error::new(ErrorKind::Undetermined, message).with_source(why));
        }
    }
}

/// Removes the locks of a transaction that was refused. Not doing it costs others a wait until the
/// locks expire.
fn take_back_later(shared: &Arc<Shared>, mut transaction: Transaction) {
    shared.bridge.spawn(async move {
        if let Ok(Err(error)) = tokio::time::timeout(ATTEMPT_MAX, transaction.rollback()).await {
            tracing::debug!(%error, "the locks of a refused commit stay until they expire");
        }
    });
}

fn says_committed(error: &ProtoKeyError) -> bool {
    [&error.abort, &error.retryable].iter().any(|text| text.to_lowercase().contains("committed"))
}

fn told(shared: &Shared, error: ClientError, version: u64) -> Told {
    let (errors, has_others) = retry::key_errors(&error);
    let is_own = |error: &ProtoKeyError| {
        // The reason 3 says that it was rolled back, which also names its own timestamp.
        error.conflict.as_ref().is_some_and(|own| own.conflict_ts == version && own.reason != 3)
    };
    if errors.iter().any(is_own) {
        return Told::Committed;
    }
    let inner = |key: &[u8]| shared.keys.inner(key);
    let taken: Vec<Bytes> =
        errors.iter().filter_map(|error| inner(&error.already_exist.as_ref()?.key)).collect();
    if let Some(key) = taken.into_iter().next() {
        return Told::Refused(Error::exists(key).with_source(error));
    }
    if !has_others {
        let keys = errors.iter().filter_map(|error| inner(&error.conflict.as_ref()?.key)).collect();
        return Told::Refused(Error::conflict(keys).with_source(error));
    }
    let message = format!("the cluster answers: {error}");
    Told::Unknown(Error::new(ErrorKind::Unavailable, message).with_source(error))
}
