//! Watches which other servers share the store.

use std::sync::Arc;
use std::time::Duration;

use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Peer, threads};
use shelfmark_tables::{Error, ErrorKind, Result};

use crate::engine::Engine;

/// The time between two looks, much shorter than a lease.
const EVERY: Duration = Duration::from_secs(1);

impl Engine {
    /// Has `watcher` told which other servers share the store, at once and after each change, in a
    /// thread of its own; never where a store has one server. A server that died is listed until its
    /// lease is over.
    ///
    /// Cost: two round trips a second.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`]: the system has no thread to give.
    pub fn on_servers(&self, watcher: impl Fn(&[Peer]) + Send + 'static) -> Result<()> {
        if self.inner.store.peers().is_none() {
            return Ok(());
        }
        let weak = Arc::downgrade(&self.inner);
        let body = move || {
            let mut told: Option<Vec<Peer>> = None;
            while let Some(inner) = weak.upgrade() {
                let Some(peers) = inner.store.peers() else { return };
                match peers.live() {
                    Ok(mut live) => {
                        live.retain(|peer| peer.id != peers.id());
                        if !told.as_ref().is_some_and(|told| are_same(told, &live)) {
                            watcher(&live);
                            told = Some(live);
                        }
                    }
                    Err(error) if error.kind() == shelfmark_store::ErrorKind::Closed => return,
                    // Whoever cannot ask goes on with what it knows.
                    Err(_) => {}
                }
                drop(inner);
                ThreadSleeper.sleep(EVERY);
            }
        };
        threads::spawn("shelfmark-servers", body)
            .map(drop)
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
    }
}

/// Returns true if these are the same servers and say the same.
fn are_same(told: &[Peer], live: &[Peer]) -> bool {
    told.len() == live.len() && told.iter().zip(live).all(|(old, new)| old.says_the_same(new))
}
