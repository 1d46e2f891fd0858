//! Sends requests to the leaders of regions.
//!
//! What it is not: patient. What stands in the way is forgotten, so that the next try looks it up again.
//!
//! Invariant: an answer is one of the store that led the region of the key; nothing counts as done that
//! no store has answered.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use prost::Message;
use shelfmark_store::Result;
use tonic::transport::Channel;

use crate::placement::{Placement, Route, call};
use crate::shared::Shared;
use crate::wire::{Context, EndResponse, GetResponse, PrewriteResponse, RegionError};

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

/// The outcome of a request to a region.
#[derive(Debug)]
pub(crate) enum Asked<A> {
    /// The leader's answer.
    Answer(A),
    /// Nothing was done: the region is elsewhere, or its store does not take requests now.
    NotDone(String),
    /// Nobody answered, so it may have been done.
    NotKnown(String),
}

/// An answer that may say that the region is elsewhere.
pub(crate) trait OfRegion {
    fn region_error(&self) -> Option<&RegionError>;
}

macro_rules! of_region {
    ($($answer:ty),*) => {
        $(impl OfRegion for $answer {
            fn region_error(&self) -> Option<&RegionError> {
                self.region_error.as_ref()
            }
        })*
    };
}

of_region!(GetResponse, PrewriteResponse, EndResponse);

/// Asks the leader of the region at `route`, where `key` lies.
pub(crate) async fn ask<Q, A>(
    shared: &Shared,
    route: Route,
    key: &[u8],
    method: &'static str,
    request: impl FnOnce(Context) -> Q,
) -> Asked<A>
where
    Q: Message + Send + Sync + 'static,
    A: Message + Default + OfRegion + Send + Sync + 'static,
{
    let Route { region, epoch, peer } = route;
    let store = peer.store_id;
    let most = shared.options.connections;
    let channel = match shared.stores.channel(&shared.placement, store, most).await {
        Ok(channel) => channel,
        Err(error) => {
            shared.regions.forget(key);
            return Asked::NotDone(error.to_string());
        }
    };
    let context = Context { region_id: region, region_epoch: Some(epoch), peer: Some(peer) };
    match call::<Q, A>(channel, method, request(context)).await {
        Ok(answer) => match answer.region_error() {
            Some(RegionError { message, server_is_busy }) => {
                if server_is_busy.is_none() {
                    shared.regions.forget(key);
                }
                Asked::NotDone(message.clone())
            }
            None => Asked::Answer(answer),
        },
        Err(error) => {
            shared.stores.forget(store);
            shared.regions.forget(key);
            Asked::NotKnown(error.to_string())
        }
    }
}
