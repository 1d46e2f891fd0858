//! Transactions of every driver, judged by the history checker.
//!
//! `SHELFMARK_LONG=1` runs thousands of seeds; `SHELFMARK_SEED=n` runs one.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

#[cfg(test)]
mod crash;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod damage_groups;
#[cfg(all(test, target_os = "linux"))]
mod faults;
#[cfg(test)]
mod half_commits;
#[cfg(test)]
mod histories;
#[cfg(all(test, target_os = "linux"))]
mod powercut;
#[cfg(all(test, target_os = "linux"))]
mod powercut_recorded;
#[cfg(all(test, target_os = "linux"))]
mod powercut_recorder;
#[cfg(all(test, target_os = "linux"))]
mod powercut_salvage;
#[cfg(all(test, target_os = "linux"))]
mod powercut_superblock;
#[cfg(test)]
mod stores;
