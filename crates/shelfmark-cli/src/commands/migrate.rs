//! `shelfmark migrate`: copies a store to another engine, and compares both.
//!
//! The tables of a live server are `super::transfer::migrate`'s.
//!
//! What it is not: the copying, which `shelfmark-migrate` does over any two stores. Here places are
//! opened, progress is shown, and the outcome is told.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use serde_json::json;
use shelfmark_migrate::{Phase, Progress, Report, Side, migrate};
use shelfmark_store::Store;
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::embedded::{EmbeddedStore, Options};

use super::transfer::migrate::is_server;
use crate::arguments::Migrate;
use crate::cluster::{ClusterTls, cluster, cluster_store};
use crate::store::open;

/// A place where a store lies, as people write it.
enum Place {
    Folder(PathBuf),
    Cluster(String),
}

impl Place {
    fn parse(text: &str, flag: &str) -> anyhow::Result<Self> {
        match text.split_once("://") {
            Some(("tikv", _)) => Ok(Self::Cluster(text.to_owned())),
            Some((scheme, _)) => {
                bail!("{flag} {text}: a place is a folder or tikv://HOST:PORT,…, not {scheme}://")
            }
            None => Ok(Self::Folder(PathBuf::from(text))),
        }
    }

    /// Returns the same text for the same place, wherever the command is called.
    fn name(&self) -> String {
        match self {
            Self::Folder(folder) => {
                std::path::absolute(folder).unwrap_or_else(|_| folder.clone()).display().to_string()
            }
            Self::Cluster(address) => address.clone(),
        }
    }
}

pub(crate) fn run(migrate: &Migrate) -> anyhow::Result<()> {
    if is_server(&migrate.from) {
        return super::transfer::migrate::run(migrate);
    }
    if !migrate.only.is_empty() || migrate.rate.is_some() {
        bail!("--only and --rate are for servers: a store is copied whole");
    }
    let (from, to) = (Place::parse(&migrate.from, "--from")?, Place::parse(&migrate.to, "--to")?);
    if from.name() == to.name() {
        bail!("--from and --to are the same place");
    }
    let tls = migrate.tls.files()?;
    // The engine brings stores of earlier builds into this build's format.
    let source = match &from {
        Place::Folder(folder) => open(folder, Options::default(), false)?,
        Place::Cluster(address) => cluster(address, tls.as_ref())?,
    };
    let outcome = copy(migrate, (source.store(), from.name()), &to, tls.as_ref());
    source.store().close()?;
    outcome
}

fn copy(
    options: &Migrate,
    (source, from): (&Arc<dyn Store>, String),
    to: &Place,
    tls: Option<&ClusterTls>,
) -> anyhow::Result<()> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let target: Arc<dyn Store> = match to {
        Place::Folder(folder) => {
            // Stamps of the source stay below those that the copy gives.
            let commits_after = source.snapshot()?.id().commit;
            Arc::new(open_folder(folder, commits_after, &clock)?)
        }
        Place::Cluster(address) => cluster_store(address, tls, &clock)?,
    };
    let began = clock.monotonic();
    let bar = progress_bar();
    let outcome = migrate(
        &Side { store: &**source, name: from },
        &Side { store: &*target, name: to.name() },
        &mut |progress| bar.set_message(progress_text(progress)),
    );
    bar.finish_and_clear();
    let closed = target.close();
    let report = outcome?;
    closed?;
    tell(options, &report, (clock.monotonic() - began).as_secs_f64())
}

fn open_folder(
    folder: &Path,
    commits_after: u64,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<EmbeddedStore> {
    let options = Options { commits_after, ..Options::default() };
    EmbeddedStore::open(folder, options, Arc::clone(clock))
        .with_context(|| format!("cannot open {}", folder.display()))
}

fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(100));
    bar
}

fn progress_text(progress: Progress) -> String {
    let verb = match progress.phase {
        Phase::Copying => "copying",
        Phase::Comparing => "comparing",
    };
    format!("{verb}: {} keys, {}", HumanCount(progress.keys), HumanBytes(progress.bytes))
}

fn tell(options: &Migrate, report: &Report, seconds: f64) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    if options.json {
        let text = serde_json::to_string_pretty(&json!({
            "keys": report.keys,
            "bytes": report.bytes,
            "checksum": format!("{:016x}", report.checksum),
            "copied": report.copied,
            "mended": report.mended,
        }))?;
        writeln!(out, "{text}")?;
        return Ok(());
    }
    writeln!(
        out,
        "both sides have {} keys, {}, checksum {:016x}; {} copied by this call in {seconds:.1} s",
        HumanCount(report.keys),
        HumanBytes(report.bytes),
        report.checksum,
        HumanCount(report.copied)
    )?;
    if report.mended > 0 {
        writeln!(
            out,
            "note: {} keys had changed since an earlier call copied them",
            HumanCount(report.mended)
        )?;
    }
    let serve = match Place::parse(&options.to, "--to")? {
        Place::Folder(folder) => format!("--data {}", folder.display()),
        Place::Cluster(address) => format!("--engine {address}"),
    };
    writeln!(out, "go on with: shelfmark serve {serve}")?;
    Ok(())
}
