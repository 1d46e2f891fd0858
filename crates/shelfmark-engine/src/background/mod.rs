//! Work that is due some time: garbage of dropped tables, expired items, forgotten tokens.
//!
//! Whoever runs the engine calls these now and then, or starts an [`Upkeep`]; each call does
//! a bounded piece and says whether more is left. What fails and what is set aside is counted
//! ([`Engine::background`](crate::Engine::background)).

mod engine;
mod leader;
mod purge;
mod servers;
mod status;
mod sweep;
mod upkeep;

pub(crate) use status::State;
pub use status::{BackgroundEvent, BackgroundStatus, LastError, SetAside, Work, WorkStatus};
pub use sweep::SweepPosition;
pub use upkeep::Upkeep;
