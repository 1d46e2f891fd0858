//! Entities: partition key, sort key, named attributes, as CanDB has them, in partitions that grow
//! without being cut.
//!
//! What it is not: a group of containers with one partition key. A partition is one ordered whole;
//! each sort key is in it once, a read of one is one read, and splits of its shards change no
//! answer.

mod attribute;
mod attributes;
mod batch;
mod partition;
mod scan;
mod shards;
mod stream;
mod update;

use std::sync::Arc;

use shelfmark_engine::{Get, Scan, Table};
use shelfmark_model::{Item, Key, KeyColumn, KeyType, Path, Projection, SortColumn, Value};

use crate::database::Database;
use crate::error::{Error, Result};
use crate::handle::{Handle, Shape, TableSettings};
use crate::reach::{Direct, Moment, Reach};

pub use attribute::Attribute;
pub use attributes::Attributes;
pub use partition::Partition;
pub use scan::{EntityPage, ScanOptions};
pub use shards::{EntityShard, EntitySplit, EntitySplitFailure};
pub use stream::Entities;
pub use update::Overwrite;

/// The face that the catalogue names for such tables.
const FACE: &str = "entities";

/// Key columns.
const PK: &str = "pk";
const SK: &str = "sk";

/// One record.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Attributes, EntityTable};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let users = EntityTable::named(&database, "users")?;
/// users.partition("users").put("ada", Attributes::new().with("name", "Ada"))?;
/// let ada = users.partition("users").get("ada")?;
/// let ada = ada.expect("it was just put");
/// assert_eq!((ada.pk.as_str(), ada.sk.as_str(), ada.expires_at), ("users", "ada", None));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    /// Partition key: which partition it is in.
    pub pk: String,
    /// Sort key: its position in the partition, unique there.
    pub sk: String,
    /// Its attributes.
    pub attributes: Attributes,
    /// Second since the Unix epoch at which it expires, if it does.
    pub expires_at: Option<u64>,
}

/// A table of entities. Cheap to clone.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Attributes, EntityTable};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let chats = EntityTable::named(&database, "chats")?;
/// let alice = chats.partition("user#alice");
/// alice.put("chat#7", Attributes::new().with("name", "Böcher & Bücher"))?;
/// let chat = alice.get("chat#7")?.ok_or("it was just put")?;
/// assert_eq!(chat.attributes.text("name"), Some("Böcher & Bücher"));
/// // Every chat of Alice, without a sentinel such as `~`.
/// assert_eq!(alice.begins_with("chat#").count()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EntityTable<R = Direct> {
    handle: Arc<Handle>,
    reach: R,
}

impl<R: Clone> Clone for EntityTable<R> {
    fn clone(&self) -> Self {
        Self { handle: Arc::clone(&self.handle), reach: self.reach.clone() }
    }
}

impl EntityTable {
    /// Opens the table of this name in a database, creating it if it is not there.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Restricted`]: the environment has no right to the database.
    /// * [`crate::ErrorKind::Mismatch`]: the table is there and holds no entities.
    /// * [`crate::ErrorKind::Invalid`]: not a name for a table.
    pub fn named(database: &Database, name: &str) -> Result<Self> {
        Self::with(database, name, &TableSettings::default())
    }

    /// Works as [`EntityTable::named`], with settings for a table that does not exist yet.
    ///
    /// # Errors
    ///
    /// * As [`EntityTable::named`].
    pub fn with(database: &Database, name: &str, settings: &TableSettings) -> Result<Self> {
        let pk = KeyColumn::new(PK, KeyType::Text);
        let sk = SortColumn::new(SK, KeyType::Text, shelfmark_model::Direction::Ascending);
        let shape = Shape { face: FACE, partition: pk, sort: vec![sk], fields: Vec::new() };
        let handle = Handle::open(database, name, shape, settings)?;
        let reach = Direct { engine: handle.engine.clone() };
        Ok(Self { handle, reach })
    }

    /// Returns how many entities the table holds. Those that expired and were not swept yet count.
    ///
    /// Cost: one point read, however large the table is.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn count(&self) -> Result<u64> {
        Ok(self.reach.outside()?.count(&*self.handle.table()?)?)
    }

    /// Returns the table as of now, for several reads of one moment. See
    /// [`crate::OrderedTable::snapshot`].
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn snapshot(&self) -> Result<EntityTable<Moment>> {
        self.handle.table()?;
        let view = Arc::new(self.reach.engine.snapshot()?);
        Ok(self.reached(Moment { view }))
    }
}

impl<R> EntityTable<R> {
    pub(crate) fn reached<Other>(&self, reach: Other) -> EntityTable<Other> {
        EntityTable { handle: Arc::clone(&self.handle), reach }
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.handle.name.name
    }
}

impl<R: Reach> EntityTable<R> {
    /// Returns a partition, which exists as soon as an entity is in it.
    #[must_use]
    pub fn partition(&self, pk: impl Into<String>) -> Partition<R> {
        Partition::new(self.clone(), pk.into())
    }

    /// Returns entities of any partitions in the order of `keys`. Outside a transaction they are of
    /// one moment.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn get_many(&self, keys: &[(&str, &str)]) -> Result<Vec<Option<Entity>>> {
        let table = self.handle.table()?;
        let gets: Vec<(Arc<Table>, Get)> = keys
            .iter()
            .map(|(pk, sk)| (Arc::clone(&table), Get::new(Key::pair(*pk, *sk))))
            .collect();
        let found = self.reach.get_many(&gets)?.into_iter();
        found
            .map(|item| item.map(|item| entity_of(&self.handle, &table, item)).transpose())
            .collect()
    }

    /// Returns partition keys in order, those after `after`, at most `limit`.
    ///
    /// Cost: one descent per partition, however large the partitions are.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    #[doc(alias = "getCanistersByPK")]
    pub fn partitions(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>> {
        let table = self.handle.table()?;
        let mut found: Vec<String> = Vec::new();
        let mut last = after.map(str::to_owned);
        while found.len() < limit {
            // The text right behind the last one: no text lies between them.
            let lower = last.map(|last| vec![Value::text(last + "\0")]).unwrap_or_default();
            let scan = Scan {
                partitions: Some((lower, Vec::new())),
                limit: Some(1),
                projection: Projection::Paths(vec![Path::attribute(PK)]),
                ..Scan::default()
            };
            let page = self.reach.scan(&table, &scan)?;
            let Some(item) = page.items.into_iter().next() else { break };
            let pk = text_of(&item, PK)?;
            found.push(pk.clone());
            last = Some(pk);
        }
        Ok(found)
    }
}

fn text_of(item: &Item, column: &str) -> Result<String> {
    item.get(column)
        .and_then(Value::as_text)
        .map(str::to_owned)
        .ok_or_else(|| Error::mismatch(format!("an entity has no key {column}")))
}

/// Converts an item of the engine to an entity.
fn entity_of(handle: &Handle, table: &Table, item: Item) -> Result<Entity> {
    let (pk, sk) = (text_of(&item, PK)?, text_of(&item, SK)?);
    let (own, expires_at) = handle.own(table, item);
    let attributes = own.into_iter().collect();
    Ok(Entity { pk, sk, attributes, expires_at })
}
