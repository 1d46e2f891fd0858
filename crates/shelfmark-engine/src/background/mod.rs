//! Work that is due some time: garbage of dropped tables, expired items, forgotten tokens.
//!
//! Nothing here starts a thread. Whoever runs the engine calls these now and then; each call does
//! a bounded piece and says whether more is left.

mod purge;
mod sweep;

pub use sweep::SweepPosition;
