//! The suites of the store over a cluster: those of every driver, and what only a cluster has.
//!
//! They need a cluster, whose placement driver `SHELFMARK_TIKV` names; `cargo xtask tikv` starts one
//! and runs them. Each test has a space of its own.

#[cfg(test)]
mod bed;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod counters;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod lanes;
#[cfg(test)]
mod outages;
#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod spaces;
