//! Writes the server's log: the start, problems of the background work, refused logins.
//!
//! What it is not: a record of requests. One trouble is one line, and its end another.

mod json_lines;
mod refusals;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use shelfmark_engine::BackgroundEvent;
use shelfmark_store::vfs;
use tracing_subscriber::EnvFilter;

use self::json_lines::JsonLines;
pub(crate) use self::refusals::{Refusals, tell_counted};

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
