//! `shelfmark verify --engine tikv://… --suites`: the storage contract and histories of transactions, tried
//! on a cluster of the user's.
//!
//! What it is not: the cases, which `shelfmark-conformance` has, nor faults: nothing is broken here to see
//! what happens.
//!
//! Invariant: nothing is written but to key spaces of this run, and none of them stays.

#[cfg(feature = "tikv")]
mod ground;
#[cfg(feature = "tikv")]
mod run;
#[cfg(feature = "tikv")]
mod show;
#[cfg(feature = "tikv")]
mod space;

#[cfg(feature = "tikv")]
pub(super) use self::run::run;

/// Says that this build knows no cluster.
#[cfg(not(feature = "tikv"))]
pub(super) fn run(_verify: &crate::arguments::Verify, _address: &str) -> anyhow::Result<()> {
    anyhow::bail!("this build has no driver for TiKV; build it with the feature `tikv`")
}
