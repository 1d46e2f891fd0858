//! Writes the server's log: the start, problems of the background work, refused logins.
//!
//! What it is not: a record of requests. One trouble is one line, and its end another.

mod json_lines;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use shelfmark_engine::BackgroundEvent;
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::vfs;
use tracing_subscriber::EnvFilter;

use self::json_lines::JsonLines;

/// Least time between two lines about refused logins of one face. Source: ours; who guesses
/// passwords makes thousands a minute.
const REFUSALS_EVERY: Duration = Duration::from_secs(10);

/// The levels where none are set.
const LEVELS: &str = "info";

/// Changes the levels of the log that was started.
pub(crate) struct Reloader {
    levels: Mutex<String>,
    set: Box<dyn Fn(EnvFilter) -> anyhow::Result<()> + Send + Sync>,
}

impl Reloader {
    /// Sets the levels; false if they are as they were.
    pub(crate) fn set(&self, levels: Option<&str>) -> anyhow::Result<bool> {
        let new = levels.unwrap_or(LEVELS);
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        if *levels == new {
            return Ok(false);
        }
        (self.set)(filter(new)?)?;
        new.clone_into(&mut levels);
        Ok(true)
    }
}

/// Starts to write the log to standard error: its levels as `info` or `info,shelfmark_server=debug`, its
/// lines as text or as JSON.
pub(crate) fn start(levels: Option<&str>, format: Option<&str>) -> anyhow::Result<Reloader> {
    use std::io::IsTerminal as _;
    let levels = levels.unwrap_or(LEVELS);
    let log = tracing_subscriber::fmt()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let set: Box<dyn Fn(EnvFilter) -> anyhow::Result<()> + Send + Sync> = match format {
        None | Some("text") => {
            let log = log.with_env_filter(filter(levels)?).with_filter_reloading();
            let handle = log.reload_handle();
            log.init();
            Box::new(move |filter| Ok(handle.reload(filter)?))
        }
        Some("json") => {
            let log = log.event_format(JsonLines);
            let log = log.with_env_filter(filter(levels)?).with_filter_reloading();
            let handle = log.reload_handle();
            log.init();
            Box::new(move |filter| Ok(handle.reload(filter)?))
        }
        Some(other) => bail!("log_format is text or json, not {other:?}"),
    };
    Ok(Reloader { levels: Mutex::new(levels.to_owned()), set })
}

fn filter(levels: &str) -> anyhow::Result<EnvFilter> {
    EnvFilter::try_new(levels).with_context(|| {
        format!("log is error, warn, info or debug, or levels by target such as info,shelfmark_cql=debug, \
                 not {levels:?}")
    })
}

/// Logs an event of the background work.
pub(crate) fn background(event: &BackgroundEvent) {
    match event {
        BackgroundEvent::Failed { work, error } => {
            tracing::warn!("background work fails ({}): {error}", work.name());
        }
        BackgroundEvent::Recovered { work, failures } => {
            tracing::info!("background work goes on ({}) after {failures} failures", work.name());
        }
        BackgroundEvent::SetAside(aside) => tracing::warn!(
            "background work ({}) goes on without the record {}: {}; it is tried again every minute",
            aside.work.name(),
            aside.key.escape_ascii(),
            aside.error.message
        ),
        BackgroundEvent::Handled { work, key } => tracing::info!(
            "background work ({}) has handled the record {}",
            work.name(),
            key.escape_ascii()
        ),
    }
}

/// Warns of a file or folder that every user of the machine can read.
pub(crate) fn warn_if_open_to_all(what: &str, path: &Path) {
    if vfs::is_open_to_all(path).unwrap_or(false) {
        let rights = if path.is_dir() { "700" } else { "600" };
        tracing::warn!(
            "every user of this machine can read {what} {path}; to change that: chmod {rights} {path}",
            path = path.display()
        );
    }
}

/// Rate-limits the log lines about refusals.
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
    suppressed: u64,
}

impl Refusals {
    /// Creates the rate-limited lines that say `what` is refused.
    pub(crate) fn of(what: &'static str) -> Arc<Self> {
        Arc::new(Self { what, clock: SystemClock::new(), state: Mutex::default() })
    }

    /// Counts a refusal, and logs it unless one was logged a moment ago.
    pub(crate) fn tell(&self, why: &str) {
        if let Some(suppressed) = self.count(self.clock.monotonic()) {
            let what = self.what;
            // What a stranger sent stands in quotes, and is short.
            let why: String = why.chars().take(120).collect();
            match suppressed {
                0 => tracing::warn!("{what} was refused: {why:?}"),
                _ => {
                    tracing::warn!(
                        "{what} was refused: {why:?}; {suppressed} more since the last line"
                    )
                }
            }
        }
    }

    /// Returns how many refusals were not logged, if one is to be logged now.
    fn count(&self, now: Duration) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.logged_at.is_some_and(|at| now < at + REFUSALS_EVERY) {
            state.suppressed += 1;
            return None;
        }
        state.logged_at = Some(now);
        Some(std::mem::take(&mut state.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_one_line_in_ten_seconds_and_are_counted() {
        let refusals = Refusals::of("a login");
        let at = |seconds| refusals.count(Duration::from_secs(seconds));
        assert_eq!([at(1), at(1), at(5), at(10)], [Some(0), None, None, None]);
        assert_eq!([at(11), at(12)], [Some(3), None]);
        assert_eq!(at(30), Some(1));
    }
}
