//! Rate-limited log lines about refusals: the first of a burst at once, the others counted.
//!
//! What it is not: a list. Of those that were counted the last few names are told.
//!
//! Invariant: every refusal is in the log, by a line of its own or in a count, before the server ends.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use shelfmark_store::clock::{Clock as _, SystemClock};

use super::REFUSALS_EVERY;

/// Characters of a name that are shown.
const NAME_CHARS_MAX: usize = 120;
/// Names of refusals that were counted, of which the log has the last.
const NAMES_MAX: usize = 3;

/// All of them, to be told what was counted; a server has one for each face.
static ALL: Mutex<Vec<Arc<Refusals>>> = Mutex::new(Vec::new());

/// Refusals of one kind.
pub(crate) struct Refusals {
    what: &'static str,
    clock: SystemClock,
    state: Mutex<Refused>,
}

#[derive(Default)]
struct Refused {
    /// The time of the last line.
    logged_at: Option<Duration>,
    /// Refusals since then.
    counted: u64,
    /// The names of the last of them, each once.
    names: VecDeque<String>,
}

impl Refusals {
    /// Creates the rate-limited lines that say `what` is refused.
    pub(crate) fn of(what: &'static str) -> Arc<Self> {
        let own = Arc::new(Self { what, clock: SystemClock::new(), state: Mutex::default() });
        ALL.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&own));
        own
    }

    /// Logs a refusal, or counts it if one was logged a moment ago.
    pub(crate) fn tell(&self, why: &str) {
        // What a stranger sent stands in quotes, and is short.
        let why: String = why.chars().take(NAME_CHARS_MAX).collect();
        if let Some(line) = self.line_of(&why, self.clock.monotonic()) {
            tracing::warn!("{line}");
        }
    }

    fn line_of(&self, why: &str, now: Duration) -> Option<String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_quiet(now) {
            state.counted += 1;
            state.names.retain(|name| name != why);
            state.names.push_back(why.to_owned());
            if state.names.len() > NAMES_MAX {
                state.names.pop_front();
            }
            return None;
        }
        // Those that were counted come first.
        let before = state.take_counted(self.what);
        state.logged_at = Some(now);
        let line = format!("{} was refused: {why:?}", self.what);
        Some(before.map_or(line.clone(), |before| format!("{before}; {line}")))
    }

    /// Returns the line of those that were counted, once a line is due again or `at_once`.
    fn counted_line(&self, now: Duration, at_once: bool) -> Option<String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_quiet(now) && !at_once {
            return None;
        }
        let line = state.take_counted(self.what)?;
        state.logged_at = Some(now);
        Some(line)
    }
}

impl Refused {
    /// Returns true while a line was logged a moment ago.
    fn is_quiet(&self, now: Duration) -> bool {
        self.logged_at.is_some_and(|at| now < at + REFUSALS_EVERY)
    }

    fn take_counted(&mut self, what: &str) -> Option<String> {
        let counted = std::mem::take(&mut self.counted);
        let names: Vec<String> = self.names.drain(..).map(|name| format!("{name:?}")).collect();
        let times = if counted == 1 { "time" } else { "times" };
        (counted > 0).then(|| {
            format!(
                "{what} was refused {counted} more {times} since the last line; the last of them: {}",
                names.join(", ")
            )
        })
    }
}

/// Logs the refusals that were counted, where a line is due again; at the end of the server all of them.
pub(crate) fn tell_counted(at_end: bool) {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    for own in &*all {
        if let Some(line) = own.counted_line(own.clock.monotonic(), at_end) {
            tracing::warn!("{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_one_line_in_ten_seconds_and_are_counted() {
        let refusals = Refusals::of("a login");
        let at = |why, seconds| refusals.line_of(why, Duration::from_secs(seconds));
        let counted = |seconds, at_end| refusals.counted_line(Duration::from_secs(seconds), at_end);
        assert_eq!(at("root", 1).unwrap(), "a login was refused: \"root\"");
        for name in ["ann", "bob", "carl", "bob", "dan"] {
            assert_eq!(at(name, 2), None);
        }
        assert_eq!(counted(10, false), None, "the burst may go on");
        let line = counted(11, false).unwrap();
        assert!(line.starts_with("a login was refused 5 more times since"), "{line}");
        assert!(line.ends_with("the last of them: \"carl\", \"bob\", \"dan\""), "{line}");
        assert_eq!(at("eve", 12), None);
        let line = counted(12, true).unwrap();
        assert!(line.contains("1 more time since") && line.ends_with("\"eve\""), "{line}");
        assert_eq!(counted(30, true), None);
        assert_eq!(at("root", 31).unwrap(), "a login was refused: \"root\"");
    }
}
