//! Transactions of every driver, judged by the history checker.
//!
//! `SHELFMARK_LONG=1` runs thousands of seeds; `SHELFMARK_SEED=n` runs one.

#[cfg(test)]
mod half_commits;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod stores;
