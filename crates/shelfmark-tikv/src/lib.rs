//! The storage contract over a TiKV cluster.
//!
//! A [`TikvStore`] speaks to placement drivers and stores through the bought client and keeps what
//! [`shelfmark_store::Store`] promises: snapshots of one moment, commits that happen wholly or not
//! at all, and an acknowledgement only once a commit is replicated. Any number of processes may
//! share one cluster.
//!
//! What it is not: replication, consensus or placement, which are the cluster's; and no part of it
//! knows tables or rows. It is synchronous like the contract: a call blocks its thread, while the
//! round trips run on threads of the driver's own.
//!
//! Invariant: an error is told as [`shelfmark_store::ErrorKind::Undetermined`] only if the cluster
//! could not be asked; whoever gets another error can rely on nothing having been written.

mod blocking;
mod clients;
mod collector;
mod commit;
mod counters;
mod keys;
mod leaders;
mod newest;
mod options;
mod peers;
mod placement;
mod regions;
mod retry;
mod shared;
mod snapshot;
mod spaces;
mod stats;
mod store;
mod wire;

pub use options::{Options, Tls};
pub use spaces::Spaces;
pub use store::TikvStore;
