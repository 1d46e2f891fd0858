//! Rebuilds from a recording the files that a power cut could leave.
//!
//! `shelfmark-preload`, loaded under a process, writes down every file operation below a folder
//! ([`recording`]). A model of a disk ([`disk`]) plays it up to some point, the *cut*. Everything
//! that was synced by then is there; of the rest, the *pending* changes, anything may be there:
//! none, all, any of them, half of one ([`image`]). [`cuts`] chooses the points and the cases.
//!
//! What it is not: a file system, or a check. [`crate::crash`] knows what must be in a store.
//!
//! Invariant: the model is at least as mean as a disk. A sync of a file makes its bytes and its
//! length durable, not its name; a sync of a folder its names, not what they stand for. A rename is
//! whole or not there, and durable once the folder it leads to is synced. Pending changes are
//! independent of each other, and a write may tear at any byte.

pub mod cuts;
pub mod disk;
pub mod image;
pub mod recording;

#[cfg(test)]
mod tests;
