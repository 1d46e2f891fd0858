//! Opens stores for commands.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use shelfmark_engine::{Engine, Environment, Share, Table};
use shelfmark_model::{RowKind, TableName};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Store, vfs};

use crate::random::SystemRandom;

/// The namespace of the typed layer's registry.
pub(crate) const REGISTRY_NAMESPACE: &str = "shelfmark";

/// The namespace of a table that is named without one: the DynamoDB face's.
pub(crate) const DEFAULT_NAMESPACE: &str = "dynamodb";

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

/// Parses a table's name as people write it.
pub(crate) fn table_name(text: &str) -> TableName {
    match text.split_once('.') {
        Some((namespace, name)) => TableName::new(namespace, name),
        None => TableName::new(DEFAULT_NAMESPACE, text),
    }
}

/// Returns a table of items of the store in `folder`, or an error that names the right command.
pub(crate) fn items(engine: &Engine, folder: &Path, name: &str) -> anyhow::Result<Arc<Table>> {
    let table = table(engine, name)?;
    if table.schema.rows == RowKind::Cells {
        bail!(
            "{own} is a table of CQL; look at it with: shelfmark cql --data {} -e 'SELECT * FROM {own} \
             LIMIT 10'",
            folder.display(),
            own = table.schema.name
        );
    }
    Ok(table)
}

/// Returns a table, or an error that names the existing ones.
fn table(engine: &Engine, name: &str) -> anyhow::Result<Arc<Table>> {
    let wanted = table_name(name);
    // A DynamoDB table's name may have dots in it.
    let dotted = TableName::new(DEFAULT_NAMESPACE, name);
    engine.table(&wanted).or_else(|_| engine.table(&dotted)).or_else(|error| {
        let names = engine.table_names(None, None, 20)?;
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        if names.is_empty() {
            bail!("{error}; the store has no tables yet");
        }
        bail!("{error}; there are: {}", names.join(", "))
    })
}
