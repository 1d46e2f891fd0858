//! The processes that share one store, and what each tells the others.
//!
//! What it is not: a channel. A process publishes small facts about itself, which replace what it
//! published before, and reads those of the others.
//!
//! Invariant: a process that is not listed any more knows by its own clock that its lease is over.

use std::time::Duration;

use bytes::Bytes;

use super::Result;

/// A process with a lease, and the facts that it published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Tells it apart from every other process, also from earlier ones on the same machine.
    pub id: u64,
    /// Its facts by their names, ascending.
    pub facts: Vec<(String, Bytes)>,
    /// The time since it renewed its lease, by the store's clock.
    pub renewed_ago: Duration,
}

impl Peer {
    /// Returns a fact, if the process published it.
    #[must_use]
    pub fn fact(&self, name: &str) -> Option<&Bytes> {
        self.facts.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Returns true if `other` is the same process with the same facts, whenever it renewed its lease.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.id == other.id && self.facts == other.facts
    }
}

/// The processes that share a store.
pub trait Peers: Send + Sync {
    /// Returns the id of this process.
    fn id(&self) -> u64;

    /// Replaces a fact of this process; returns once the others can read it.
    ///
    /// # Errors
    ///
    /// * [`super::ErrorKind::Unavailable`]: the store does not answer. Call it again.
    fn publish(&self, name: &str, value: Bytes) -> Result<()>;

    /// Returns every process whose lease is not over, this one included, by id.
    ///
    /// # Errors
    ///
    /// * [`super::ErrorKind::Unavailable`]: the store does not answer. Call it again.
    fn live(&self) -> Result<Vec<Peer>>;

    /// Returns the time since some fixed moment, by the clock that leases are measured with.
    fn monotonic(&self) -> Duration;

    /// Returns how long this process may still act as one that the others wait for; zero once it
    /// must not, because they may have gone on without it.
    fn lease_left(&self) -> Duration;
}
