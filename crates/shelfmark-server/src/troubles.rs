//! Telling the log why clients are refused for no fault of theirs, without filling it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long the same trouble is not told again. Source: ours; a full disk refuses every write.
const SAME_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// The last trouble that was told.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    last: Mutex<Option<(String, Instant)>>,
}

impl Troubles {
    /// Writes a trouble to the log, unless it was told a moment ago.
    pub(crate) fn tell(&self, why: &str) {
        self.warn(&format!("a request was refused: {why}"));
    }

    /// Writes a line to the log, unless it was written a moment ago.
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
        let troubles = Troubles::default();
        assert!(troubles.is_new("the disk is full"));
        assert!(!troubles.is_new("the disk is full"));
        assert!(troubles.is_new("another"));
        assert!(troubles.is_new("the disk is full"));
    }
}
