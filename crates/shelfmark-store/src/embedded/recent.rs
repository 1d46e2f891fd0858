//! Maps the tree's sequence numbers to commit numbers, for the newest groups.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::contract::CommitNumber;

const GROUPS_MAX: usize = 4096;

/// The last commit of each of the newest groups, by sequence number.
#[derive(Default)]
pub(super) struct RecentGroups(Mutex<VecDeque<(u64, CommitNumber)>>);

impl RecentGroups {
    /// Notes that the group at `seqno` ended with `last_commit`.
    pub(super) fn push(&self, seqno: u64, last_commit: CommitNumber) {
        let mut groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if groups.len() == GROUPS_MAX {
            groups.pop_front();
        }
        groups.push_back((seqno, last_commit));
    }

    /// Returns the last commit of the group at `seqno`, if it is one of the newest.
    pub(super) fn last_commit_of(&self, seqno: u64) -> Option<CommitNumber> {
        let groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = groups.binary_search_by_key(&seqno, |(at, _)| *at).ok()?;
        groups.get(index).map(|(_, last)| *last)
    }
}
