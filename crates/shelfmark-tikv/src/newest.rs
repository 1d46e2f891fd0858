//! Reads one key as it was committed last, without a timestamp.
//!
//! The service answers a read at the greatest of all timestamps with what was committed last, and does
//! not take it for the time of anything. The client library cannot say that timestamp, so this driver
//! sends the request itself. What it is not: patient. Whatever stands in the way (a lock, a region that
//! has moved, a store that is gone) is left to a read at a timestamp by the library.
//!
//! Invariant: what is answered was committed, and nothing later was committed before the request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use shelfmark_store::lazy::Source;
use shelfmark_store::{Result, Snapshot};
use tonic::transport::Channel;

use crate::options::KEY_BYTES_MAX;
use crate::placement::{PeerMeta, Placement, RegionEpoch, Route, call};
use crate::snapshot::TikvSnapshot;
use crate::store::Shared;

/// The timestamp behind every other one.
const NEWEST: u64 = u64::MAX;

/// Connections to stores, by their ids.
#[derive(Default)]
pub(crate) struct Stores {
    /// Several for each, taken in turns.
    channels: Mutex<HashMap<u64, (usize, Vec<Channel>)>>,
}

impl Stores {
    async fn channel(&self, placement: &Placement, id: u64, most: usize) -> Result<Channel> {
        if let Some(channel) = self.known(id, most) {
            return Ok(channel);
        }
        let channel = placement.store(id).await?;
        self.channels().entry(id).or_default().1.push(channel.clone());
        Ok(channel)
    }

    /// Returns the next connection, unless there are still to be more.
    fn known(&self, id: u64, most: usize) -> Option<Channel> {
        let mut channels = self.channels();
        let (turn, known) = channels.get_mut(&id)?;
        if known.len() < most.max(1) {
            return None;
        }
        *turn = (*turn + 1) % known.len();
        known.get(*turn).cloned()
    }

    fn forget(&self, id: u64) {
        self.channels().remove(&id);
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<u64, (usize, Vec<Channel>)>> {
        // One insertion or removal each: whole, whatever panicked.
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cluster, as views that draw their timestamps late read it.
pub(crate) struct Newest(pub(crate) Arc<Shared>);

impl Source for Newest {
    fn newest(&self, key: &Bytes) -> Result<Option<Option<Bytes>>> {
        self.0.check_open()?;
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            // What cannot have been written is absent.
            return Ok(Some(None));
        }
        let (shared, outer) = (Arc::clone(&self.0), self.0.keys.outer(key));
        self.0.call(async move { Ok(newest(&shared, &outer).await) })
    }

    fn now(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(TikvSnapshot::begin(&self.0)?)
    }

    fn lifetime(&self) -> Duration {
        self.0.options.snapshot_age_max
    }
}

/// Returns the value of a key of the cluster, or of none if it is absent; `None` if a read at a
/// timestamp has to be asked.
async fn newest(shared: &Shared, key: &[u8]) -> Option<Option<Bytes>> {
    let Route { region, epoch, peer } = shared.regions.route(&shared.placement, key).await?;
    let store = peer.store_id;
    let most = shared.options.connections;
    let channel = shared.stores.channel(&shared.placement, store, most).await.ok()?;
    let context = Context { region_id: region, region_epoch: Some(epoch), peer: Some(peer) };
    let request = GetRequest { context: Some(context), key: key.to_vec(), version: NEWEST };
    let answer: GetResponse = match call(channel, "/tikvpb.Tikv/KvGet", request).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::debug!(%error, "a store does not answer");
            shared.stores.forget(store);
            shared.regions.forget(key);
            return None;
        }
    };
    if answer.region_error.is_some() {
        shared.regions.forget(key);
        return None;
    }
    if answer.error.is_some() {
        return None;
    }
    // No value is empty.
    Some((!answer.value.is_empty()).then_some(answer.value))
}

#[derive(Clone, PartialEq, Message)]
struct Context {
    #[prost(uint64, tag = "1")]
    region_id: u64,
    #[prost(message, optional, tag = "2")]
    region_epoch: Option<RegionEpoch>,
    #[prost(message, optional, tag = "3")]
    peer: Option<PeerMeta>,
}

#[derive(Clone, PartialEq, Message)]
struct GetRequest {
    #[prost(message, optional, tag = "1")]
    context: Option<Context>,
    #[prost(bytes = "vec", tag = "2")]
    key: Vec<u8>,
    #[prost(uint64, tag = "3")]
    version: u64,
}

#[derive(Clone, PartialEq, Message)]
struct GetResponse {
    #[prost(message, optional, tag = "1")]
    region_error: Option<Trouble>,
    #[prost(message, optional, tag = "2")]
    error: Option<Trouble>,
    #[prost(bytes = "bytes", tag = "3")]
    value: Bytes,
}

/// An error, of which it matters only that it is there.
#[derive(Clone, PartialEq, Message)]
struct Trouble {}
