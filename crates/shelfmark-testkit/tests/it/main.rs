//! Transactions of every driver, judged by the history checker.
//!
//! `SHELFMARK_LONG=1` runs thousands of seeds; `SHELFMARK_SEED=n` runs one.

#[cfg(test)]
mod damage_groups;
#[cfg(test)]
mod half_commits;
#[cfg(test)]
mod histories;
#[cfg(all(test, target_os = "linux"))]
mod powercut;
#[cfg(all(test, target_os = "linux"))]
mod powercut_mark;
#[cfg(all(test, target_os = "linux"))]
mod powercut_recorded;
#[cfg(test)]
mod stores;
