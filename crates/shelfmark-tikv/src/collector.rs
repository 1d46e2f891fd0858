//! Has the cluster collect replaced versions, which without another user of it nobody does.
//!
//! One of all processes at a time does it, by a lease that lies in the cluster. What it is not: the
//! collection itself, which the stores do.
//!
//! Invariant: nothing younger than [`crate::Options::history`] is collected, nor anything that
//! another service of the cluster holds.

use std::sync::{Arc, Weak};
use std::time::Duration;

use shelfmark_store::Result;
use tikv_client::{Timestamp, TimestampExt as _};

use crate::commit::{Mutations, commit_mutations};
use crate::counters::fold;
use crate::retry;
use crate::shared::Shared;
use crate::snapshot::reading;
use crate::wire::OP_PUT;

/// The time between two looks whether it is this process's turn.
const EVERY: Duration = Duration::from_secs(60);
/// The name under which this service holds versions.
const SERVICE: &str = "shelfmark";
/// The name of the lease among the driver's own keys.
const LEASE: &str = "collector";
/// Bits of a timestamp below its milliseconds.
const LOGICAL_BITS: u32 = 18;

/// Collects until the store is gone.
pub(crate) async fn run(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let Some(shared) = shared.upgrade() else { return };
        match collect(&shared).await {
            Ok(true) => {
                if let Err(error) = fold::run(&shared).await {
                    tracing::debug!(%error, "counters stay spread; trying again in a minute");
                }
            }
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, "old versions were not collected; trying again in a minute");
            }
        }
    }
}

/// Collects if the lease is free; returns true if it did.
pub(crate) async fn collect(shared: &Arc<Shared>) -> Result<bool> {
    if !take_lease(shared).await? {
        return Ok(false);
    }
    let now = retry::read(shared.options.patience, || {
        let client = shared.clients.next();
        async move { client.current_timestamp().await }
    })
    .await?;
    let history = u64::try_from(shared.options.history.as_millis()).unwrap_or(u64::MAX);
    let point = now.version().saturating_sub(history << LOGICAL_BITS);
    let least = shared.placement.hold(SERVICE, point, shared.options.history * 2).await?;
    let point = Timestamp::from_version(point.min(least));
    retry::read(shared.options.history, || {
        let (client, point) = (shared.clients.next(), point.clone());
        async move { client.gc(point).await }
    })
    .await?;
    Ok(true)
}

/// Takes or renews the lease; false while another process has it.
async fn take_lease(shared: &Arc<Shared>) -> Result<bool> {
    let (key, id) = (shared.keys.own(LEASE), shared.id);
    let moment = crate::commit::begin(shared).await?;
    let held = retry::read(shared.options.patience, || {
        let mut snapshot = shared.clients.next().snapshot(moment.at.clone(), reading());
        let key = key.clone();
        async move { snapshot.get(key).await }
    });
    let held = held.await?.and_then(|value| lease(&value));
    let now = moment.version >> LOGICAL_BITS;
    if held.is_some_and(|(holder, until)| holder != id && until > now) {
        return Ok(false);
    }
    let until = now + u64::try_from(EVERY.as_millis()).unwrap_or(0) * 2;
    let value = [id.to_be_bytes(), until.to_be_bytes()].concat();
    let mutations = Mutations::from([(key, (OP_PUT, value.into()))]);
    // A conflict is another process that was faster; it is asked again in a minute.
    Ok(commit_mutations(shared, moment.version, Duration::ZERO, mutations).await.is_ok())
}

/// Decodes a lease: who has it, and until when, in milliseconds of the cluster's clock.
fn lease(value: &[u8]) -> Option<(u64, u64)> {
    let (holder, until) = value.split_at_checked(8)?;
    Some((u64::from_be_bytes(holder.try_into().ok()?), u64::from_be_bytes(until.try_into().ok()?)))
}
