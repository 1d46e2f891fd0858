//! Work that is due some time: garbage of dropped tables, expired items, forgotten tokens.
//!
//! Whoever runs the engine calls these now and then, or starts an [`Upkeep`]; each call does
//! a bounded piece and says whether more is left.

mod purge;
mod sweep;
mod upkeep;

pub use sweep::SweepPosition;
pub use upkeep::Upkeep;
