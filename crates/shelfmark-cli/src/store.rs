//! Opens stores for commands.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use shelfmark_engine::{Engine, Environment, Share};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Store, vfs};

use crate::random::SystemRandom;

/// Opens the store of a folder, creating it if asked.
pub(crate) fn open(folder: &Path, options: Options, create: bool) -> anyhow::Result<Engine> {
    if !create && is_absent(folder) {
        bail!(
            "there is no store in {}; pass --data DIR, or create one with `shelfmark serve`",
            folder.display()
        );
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let store = EmbeddedStore::open(folder, options, Arc::clone(&clock))
        .map_err(|error| {
            let is_taken = error.kind() == shelfmark_store::ErrorKind::Unavailable;
            let told = anyhow::Error::from(error);
            match is_taken && !create {
                true => told.context(
                    "a running server is asked with --server ADDR, the address of its --console",
                ),
                false => told,
            }
        })
        .with_context(|| format!("cannot open the store in {}", folder.display()))?;
    tracing::info!("the store in {} is open: {}", folder.display(), store.opened());
    engine(Arc::new(store), clock)
}

/// Returns true if a folder does not exist or is empty: reading it must not create a store.
pub(crate) fn is_absent(folder: &Path) -> bool {
    !folder.exists() || vfs::list(folder).is_ok_and(|paths| paths.is_empty())
}

/// Opens a store that lives in memory.
pub(crate) fn memory() -> anyhow::Result<Engine> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    engine(Arc::new(MemoryStore::new(Arc::clone(&clock))), clock)
}

pub(crate) fn engine(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> anyhow::Result<Engine> {
    Ok(Engine::open(store, Environment { clock, random: Arc::new(SystemRandom) })?)
}

/// Returns an engine on which faces share tables by a grant: each knows what the others' values are.
pub(crate) fn shared(engine: &Engine, grant: Share) -> Engine {
    engine
        .sharing(grant)
        .writing_attributes(Arc::new(shelfmark_dynamo::AttributesJson))
        .checking_columns(Arc::new(shelfmark_cql::ColumnTypes))
        .checking_items(Arc::new(shelfmark_dynamo::VectorIndexChecks))
}

/// Runs a command over the store of a folder, and closes it.
pub(crate) fn with_engine<T>(
    folder: &Path,
    command: impl FnOnce(&Engine) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let engine = open(folder, Options::default(), false)?;
    let outcome = command(&engine);
    engine.store().close()?;
    outcome
}
