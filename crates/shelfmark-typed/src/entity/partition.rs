//! One partition: all entities of one partition key.

use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::{Get, Table, Write, Written};
use shelfmark_model::{Condition, Key, Path, Value};

use super::{Attributes, Entity, EntityTable, PK, SK, entity_of};
use crate::error::{Error, ErrorKind, Result};
use crate::reach::{Direct, Reach, WriteReach};

/// A partition of a table. Cheap to create; nothing is read for it.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Attributes, EntityTable, ScanOptions};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let bob = EntityTable::named(&database, "users")?.partition("user#bob");
/// for day in ["2026-11-01", "2026-11-02", "2026-11-03"] {
///     bob.put(&format!("login#{day}"), Attributes::new().with("ok", true))?;
/// }
/// let page = bob.scan(&ScanOptions::between("login#2026-11-02", "login#2026-11-30").limit(1))?;
/// assert_eq!(page.entities[0].sk, "login#2026-11-02");
/// assert_eq!(page.next_key.as_deref(), Some("login#2026-11-03"));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct Partition<R = Direct> {
    pub(super) table: EntityTable<R>,
    pub(super) pk: String,
}

impl<R: Clone> Clone for Partition<R> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), pk: self.pk.clone() }
    }
}

impl Partition {
    /// Returns how many entities the partition holds. Those that expired and were not swept yet
    /// count.
    ///
    /// Cost: one point read, however large the partition is.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn count(&self) -> Result<u64> {
        let table = self.table.handle.table()?;
        Ok(self.table.reach.outside()?.count_partition(&table, &self.key_values())?)
    }
}

impl<R: Reach> Partition<R> {
    pub(super) fn new(table: EntityTable<R>, pk: String) -> Self {
        Self { table, pk }
    }

    /// Returns the partition key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.pk
    }

    /// Returns the entity of a sort key, or `None`.
    ///
    /// Cost: one point read, however many shards the partition has.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn get(&self, sk: &str) -> Result<Option<Entity>> {
        let table = self.table.handle.table()?;
        let item = self.table.reach.get(&table, &Get::new(self.engine_key(sk)))?;
        item.map(|item| self.entity_of(&table, item)).transpose()
    }

    /// Returns true if there is an entity with this sort key.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    #[doc(alias = "skExists")]
    pub fn exists(&self, sk: &str) -> Result<bool> {
        let table = self.table.handle.table()?;
        Ok(self.table.reach.get(&table, &Get::new(self.engine_key(sk)))?.is_some())
    }

    pub(super) fn key_values(&self) -> Vec<Value> {
        vec![Value::text(self.pk.as_str())]
    }

    pub(super) fn engine_key(&self, sk: &str) -> Key {
        Key::pair(self.pk.as_str(), sk)
    }

    pub(super) fn entity_of(&self, table: &Table, item: shelfmark_model::Item) -> Result<Entity> {
        entity_of(&self.table.handle, table, item)
    }

    /// Returns the write that puts an entity.
    pub(super) fn write_of(
        &self,
        table: &Arc<Table>,
        sk: &str,
        attributes: Attributes,
        expires_at: Option<u64>,
    ) -> Write {
        let columns =
            [(PK.to_owned(), Value::text(self.pk.as_str())), (SK.to_owned(), Value::text(sk))];
        let item = self.table.handle.item(table, columns, attributes.into_item(), expires_at);
        let mut write = Write::put(table, item);
        write.expires_at = expires_at;
        write
    }

    pub(super) fn old_of(&self, table: &Table, written: Written) -> Result<Option<Entity>> {
        written.old.map(|item| self.entity_of(table, item)).transpose()
    }
}

impl<R: WriteReach> Partition<R> {
    /// Creates an entity, or replaces all attributes of an existing one.
    ///
    /// Durability: on disk once this returns; in a transaction, once that has committed.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::LimitExceeded`]: a key or the entity is too large.
    /// * [`ErrorKind::Undetermined`]: read to learn whether it was written.
    pub fn put(&self, sk: &str, attributes: Attributes) -> Result<()> {
        let table = self.table.handle.table()?;
        self.table.reach.write(self.write_of(&table, sk, attributes, None))?;
        Ok(())
    }

    /// Works as [`Partition::put`]; returns the old entity.
    ///
    /// # Errors
    ///
    /// * As [`Partition::put`].
    pub fn replace(&self, sk: &str, attributes: Attributes) -> Result<Option<Entity>> {
        let table = self.table.handle.table()?;
        let write = self.write_of(&table, sk, attributes, None).returning_old();
        let written = self.table.reach.write(write)?;
        self.old_of(&table, written)
    }

    /// Works as [`Partition::put`]; the entity expires after `time_to_live`.
    ///
    /// It is not answered from the second on in which it expires; the sweep removes it later.
    ///
    /// # Errors
    ///
    /// * As [`Partition::put`].
    pub fn put_with_ttl(
        &self,
        sk: &str,
        attributes: Attributes,
        time_to_live: Duration,
    ) -> Result<()> {
        let table = self.table.handle.table()?;
        self.table.reach.atomically(|inside| {
            let second = inside.transaction.now().saturating_add(time_to_live.as_secs());
            inside.write(&self.write_of(&table, sk, attributes.clone(), Some(second)))?;
            Ok(())
        })
    }

    /// Creates an entity, which must be absent.
    ///
    /// Of any number of writers of one sort key exactly one succeeds.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::AlreadyExists`]: it is there; nothing was written.
    /// * As [`Partition::put`].
    #[doc(alias = "putNoDuplicates")]
    pub fn create(&self, sk: &str, attributes: Attributes) -> Result<()> {
        let absent = Condition::NotExists(Path::attribute(PK));
        if self.put_if(sk, attributes, absent)? {
            return Ok(());
        }
        let message = format!("there is an entity {sk:?} in partition {:?} already", self.pk);
        Err(Error::new(ErrorKind::AlreadyExists, message))
    }

    /// Puts an entity if `condition` holds on the existing attributes (none when it is absent), and
    /// returns true if it did.
    ///
    /// # Errors
    ///
    /// * As [`Partition::put`].
    pub fn put_if(&self, sk: &str, attributes: Attributes, condition: Condition) -> Result<bool> {
        let table = self.table.handle.table()?;
        let write = self.write_of(&table, sk, attributes, None).when(condition);
        self.table.reach.atomically(|inside| inside.write_if(&write))
    }

    /// Deletes an entity; succeeds if it is absent.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Undetermined`]: read to learn whether it was deleted.
    pub fn delete(&self, sk: &str) -> Result<()> {
        let table = self.table.handle.table()?;
        self.table.reach.write(Write::delete(&table, self.engine_key(sk)))?;
        Ok(())
    }

    /// Deletes an entity and returns it.
    ///
    /// # Errors
    ///
    /// * As [`Partition::delete`].
    pub fn remove(&self, sk: &str) -> Result<Option<Entity>> {
        let table = self.table.handle.table()?;
        let write = Write::delete(&table, self.engine_key(sk)).returning_old();
        let written = self.table.reach.write(write)?;
        self.old_of(&table, written)
    }
}
