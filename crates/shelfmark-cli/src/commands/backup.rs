//! `shelfmark backup` and `shelfmark restore`: copies of whole stores in files.

use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use shelfmark_admin::{COPY_BYTES, COPY_ROWS};
use shelfmark_engine::{Engine, Environment, StoreCopy};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::{Store, vfs};

use crate::arguments::{Data, EngineTls};
use crate::cluster::cluster_store;
use crate::place::{Asked, Place};
use crate::random::SystemRandom;

#[derive(Debug, Args)]
#[command(
    after_help = "A running server is asked with --server; the copy is one moment of it, and clients go \
    on; on a cluster they\nmay write for at most a minute meanwhile. Change streams and point-in-time recovery end with \
    a restore.\n\nExamples:\n  shelfmark backup --data /srv/store --to store.copy\n  shelfmark backup \
    --server 127.0.0.1:8080 store.copy"
)]
pub(crate) struct Backup {
    #[command(flatten)]
    pub(crate) place: Place,
    /// The new file
    #[arg(value_name = "FILE", required_unless_present = "to")]
    pub(crate) file: Option<PathBuf>,
    /// The new file, by a flag
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) to: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A running server has a store already, so there is no --server: restore into a new folder, \
    and start a server on it.\n\nExample:\n  shelfmark restore store.copy --data /srv/new-store"
)]
pub(crate) struct Restore {
    /// The file that `backup` wrote
    #[arg(value_name = "FILE", required_unless_present = "from")]
    pub(crate) file: Option<PathBuf>,
    /// The file that `backup` wrote, by a flag
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) from: Option<PathBuf>,
    /// The new store: a folder that is empty or not there
    #[command(flatten)]
    pub(crate) data: Data,
    /// The cluster that is to hold the store, in place of a folder
    #[arg(long, value_name = "tikv://HOST:PORT,…", conflicts_with = "data")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) tls: EngineTls,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Writes a copy of a store into a new file.
pub(crate) fn backup(backup: &Backup) -> anyhow::Result<()> {
    let Some(to) = backup.file.as_ref().or(backup.to.as_ref()) else { bail!("name the new file") };
    if to.exists() {
        bail!("{} is there already; name a new file", to.display());
    }
    // A file that is not whole must not be taken for one.
    let unfinished = with_suffix(to, ".part");
    vfs::remove(&unfinished)?;
    let copied = backup.place.ask(|asked| write(asked, &unfinished)).inspect_err(|_| {
        let _ = vfs::remove(&unfinished);
    })?;
    vfs::move_to(&unfinished, to)?;
    if backup.json {
        return print_json(to, &copied);
    }
    let size = indicatif::HumanBytes(copied.bytes);
    writeln!(std::io::stdout(), "{}: {} keys, {size}", to.display(), copied.rows)?;
    Ok(())
}

fn write(asked: &Asked, path: &Path) -> anyhow::Result<StoreCopy> {
    let file =
        vfs::create_new(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut out = BufWriter::new(file);
    let copied = match asked {
        Asked::Here(admin) => shelfmark_admin::Backup {}.write(admin, &mut out)?,
        Asked::Server(client) => {
            let request = shelfmark_admin::Backup {};
            let behind = client.receive(shelfmark_admin::Backup::NAME, &request, &mut out)?;
            let number = |name| -> anyhow::Result<u64> {
                let value = behind.get(name).and_then(|value| value.to_str().ok());
                let number = value.and_then(|value| value.parse().ok());
                number.context("the server did not say that its copy is whole")
            };
            StoreCopy { rows: number(COPY_ROWS)?, bytes: number(COPY_BYTES)? }
        }
    };
    out.into_inner()?.sync_all()?;
    Ok(copied)
}

/// Makes a new store of a copy.
pub(crate) fn restore(restore: &Restore) -> anyhow::Result<()> {
    let Some(from) = restore.file.as_ref().or(restore.from.as_ref()) else {
        bail!("name the file")
    };
    let file = vfs::open(from).with_context(|| format!("cannot read {}", from.display()))?;
    let mut input = BufReader::new(file);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let copied = match &restore.engine {
        Some(address) => {
            let tls = restore.tls.files()?;
            fill(cluster_store(address, tls.as_ref(), &clock)?, &clock, &mut input)?
        }
        None => {
            let folder = &restore.data.data;
            if folder.exists() && vfs::list(folder).map_or(true, |paths| !paths.is_empty()) {
                bail!("{} is not empty; restore into a new folder", folder.display());
            }
            // A store that is not whole must not be opened by anybody.
            let unfinished = with_suffix(folder, ".part");
            vfs::remove_tree(&unfinished)?;
            let store = EmbeddedStore::open(&unfinished, Options::default(), Arc::clone(&clock))
                .with_context(|| format!("cannot create a store in {}", unfinished.display()))?;
            let copied = fill(Arc::new(store), &clock, &mut input).inspect_err(|_| {
                let _ = vfs::remove_tree(&unfinished);
            })?;
            vfs::remove_tree(folder)?;
            vfs::move_to(&unfinished, folder)?;
            copied
        }
    };
    if restore.json {
        return print_json(from, &copied);
    }
    let size = indicatif::HumanBytes(copied.bytes);
    writeln!(std::io::stdout(), "{} keys, {size} from {}", copied.rows, from.display())?;
    Ok(())
}

fn print_json(file: &Path, copied: &StoreCopy) -> anyhow::Result<()> {
    let StoreCopy { rows, bytes } = copied;
    let copied =
        serde_json::json!({ "file": file.display().to_string(), "keys": rows, "bytes": bytes });
    writeln!(std::io::stdout(), "{copied:#}")?;
    Ok(())
}

fn fill(
    store: Arc<dyn Store>,
    clock: &Arc<dyn Clock>,
    input: &mut BufReader<std::fs::File>,
) -> anyhow::Result<StoreCopy> {
    let environment = Environment { clock: Arc::clone(clock), random: Arc::new(SystemRandom) };
    let (engine, copied) = Engine::restore_store_copy(store, environment, input)?;
    engine.store().close()?;
    Ok(copied)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}
