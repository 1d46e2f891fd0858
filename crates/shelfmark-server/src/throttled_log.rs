//! A rate-limited log of reasons for which clients are refused through no fault of theirs.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Time for which a repeated message is suppressed. Source: ours; a full disk refuses every write.
const SAME_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// The last message that was logged.
#[derive(Debug, Default)]
pub(crate) struct ThrottledLog {
    last: Mutex<Option<(String, Instant)>>,
}

impl ThrottledLog {
    /// Logs a reason for refusals, unless it was logged a moment ago.
    pub(crate) fn tell(&self, why: &str) {
        self.warn(&format!("a request was refused: {why}"));
    }

    /// Logs a line, unless it was logged a moment ago.
    pub(crate) fn warn(&self, line: &str) {
        if self.is_new(line) {
            tracing::warn!("{line}");
        }
    }

    fn is_new(&self, why: &str) -> bool {
        let now = Instant::now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_some_and(|(told, at)| told == why && now < *at + SAME_AGAIN_AFTER) {
            return false;
        }
        *last = Some((why.to_owned(), now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_not_told_twice_in_a_row() {
        let throttled_log = ThrottledLog::default();
        assert!(throttled_log.is_new("the disk is full"));
        assert!(!throttled_log.is_new("the disk is full"));
        assert!(throttled_log.is_new("another"));
        assert!(throttled_log.is_new("the disk is full"));
    }
}
