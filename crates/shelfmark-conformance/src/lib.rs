//! The storage contract as cases that any driver is run against, and a checker of histories.
//!
//! [`CONTRACT`] has what every driver must do, case by case; [`HISTORIES`] runs transactions side by
//! side and has what they saw judged ([`history`]). A case is run on a [`Lane`]: a driver and an empty
//! place for a store. The drivers' own tests run them, and the command on a cluster of its user's.
//!
//! What it is not: fault injection, crashes or power cuts, which need a driver or a disk of the
//! tests' own.
//!
//! Invariant: nothing here knows which driver it has, but for what the lane and the driver's
//! capabilities say.

mod case;
#[expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a case fails by a panic, at the first surprise"
)]
mod cases;
mod caught;
mod histories;
pub mod history;
mod lane;
#[expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a case fails by a panic, at the first surprise"
)]
pub mod terse;
pub mod workload;

pub use case::{Case, Outcome, Running};
pub use cases::{CONTRACT, contract};
pub use caught::catch_panics;
pub use histories::HISTORIES;
pub use lane::{Lane, SNAPSHOT_AGE_MAX, SNAPSHOT_BYTES_MAX};
