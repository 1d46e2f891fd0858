//! `shelfmark backup` and `shelfmark restore`: copies of whole stores in files.

use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use shelfmark_engine::{Engine, Environment};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::{Store, vfs};

use crate::arguments::{Data, EngineTls};
use crate::cluster::{cluster, cluster_store};
use crate::random::SystemRandom;
use crate::store::open;

#[derive(Debug, Args)]
#[command(
    after_help = "The store of a folder is copied while no server has it open. Servers of a cluster may \
    run, and write for at\nmost a minute meanwhile. Change streams and point-in-time recovery end with a \
    restore.\n\nExample:\n  shelfmark backup --data /srv/store --to store.copy"
)]
pub(crate) struct Backup {
    #[command(flatten)]
    pub(crate) data: Data,
    /// The cluster that holds the store, in place of a folder
    #[arg(long, value_name = "tikv://HOST:PORT,…", conflicts_with = "data")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) tls: EngineTls,
    /// The new file
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  shelfmark restore --from store.copy --data /srv/new-store")]
pub(crate) struct Restore {
    /// The file that `backup` wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) from: PathBuf,
    /// The new store: a folder that is empty or not there
    #[command(flatten)]
    pub(crate) data: Data,
    /// The cluster that is to hold the store, in place of a folder
    #[arg(long, value_name = "tikv://HOST:PORT,…", conflicts_with = "data")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) tls: EngineTls,
}

/// Writes a copy of a store into a new file.
pub(crate) fn backup(backup: &Backup) -> anyhow::Result<()> {
    if backup.to.exists() {
        bail!("{} is there already; name a new file", backup.to.display());
    }
    let engine = match &backup.engine {
        Some(address) => cluster(address, backup.tls.files()?.as_ref())?,
        None => open(&backup.data.data, Options::default(), false)?,
    };
    // A file that is not whole must not be taken for one.
    let unfinished = with_suffix(&backup.to, ".part");
    vfs::remove(&unfinished)?;
    let copied = write(&engine, &unfinished).inspect_err(|_| {
        let _ = vfs::remove(&unfinished);
    });
    engine.store().close()?;
    let copied = copied?;
    vfs::move_to(&unfinished, &backup.to)?;
    let size = indicatif::HumanBytes(copied.bytes);
    writeln!(std::io::stdout(), "{}: {} keys, {size}", backup.to.display(), copied.rows)?;
    Ok(())
}

fn write(engine: &Engine, path: &Path) -> anyhow::Result<shelfmark_engine::StoreCopy> {
    let file =
        vfs::create_new(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut out = BufWriter::new(file);
    let copied = engine.write_store_copy(&mut out)?;
    out.into_inner()?.sync_all()?;
    Ok(copied)
}

/// Makes a new store of a copy.
pub(crate) fn restore(restore: &Restore) -> anyhow::Result<()> {
    let file = vfs::open(&restore.from)
        .with_context(|| format!("cannot read {}", restore.from.display()))?;
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
    let size = indicatif::HumanBytes(copied.bytes);
    writeln!(std::io::stdout(), "{} keys, {size} from {}", copied.rows, restore.from.display())?;
    Ok(())
}

fn fill(
    store: Arc<dyn Store>,
    clock: &Arc<dyn Clock>,
    input: &mut BufReader<std::fs::File>,
) -> anyhow::Result<shelfmark_engine::StoreCopy> {
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
