//! The change log of an ordered table, typed.

use shelfmark_engine::{ChangePosition, Table};
use shelfmark_model::Item;

use super::{OrderedTable, engine_keys};
use crate::error::{Error, Result};
use crate::key::OrderedKey;
use crate::record::Record;

/// One change of one entry.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{OrderedTable, TableSettings};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let settings = TableSettings { change_log: true, ..TableSettings::default() };
/// let stock: OrderedTable<String, u32> = OrderedTable::with(&database, "stock", &settings)?;
/// stock.write(&"pens".into(), &5)?;
/// stock.write(&"pens".into(), &4)?;
/// let changes = stock.changes(None, 10)?;
/// assert_eq!((changes[1].old, changes[1].new), (Some(5), Some(4)));
/// // The next look goes on behind the last one.
/// assert!(stock.changes(Some(changes[1].position), 10)?.is_empty());
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EntryChange<K, V> {
    /// Its position in the log; the order of positions is the order of commits.
    pub position: ChangePosition,
    /// Time of the write, in microseconds since the Unix epoch.
    pub at_micros: u64,
    /// The key.
    pub key: K,
    /// The value before; `None` when it was created.
    pub old: Option<V>,
    /// The value after; `None` when it was deleted.
    pub new: Option<V>,
    /// True if it was deleted because it had expired.
    pub expired: bool,
}

impl<K: OrderedKey, V: Record> OrderedTable<K, V> {
    /// Returns up to `limit` changes after `after`, oldest first. None appears later between two
    /// that were seen.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the table keeps no change log. Create it with
    ///   [`crate::TableSettings::change_log`].
    /// * [`crate::ErrorKind::Mismatch`]: a stored value does not fit `V`.
    pub fn changes(
        &self,
        after: Option<ChangePosition>,
        limit: usize,
    ) -> Result<Vec<EntryChange<K, V>>> {
        let table = self.handle.table()?;
        let changes = self.reach.outside()?.changes(&table, after, limit)?;
        changes
            .into_iter()
            .map(|change| {
                let either = change.new.as_ref().or(change.old.as_ref());
                let either = either.ok_or_else(|| Error::mismatch("a change has no image"))?;
                Ok(EntryChange {
                    position: change.position,
                    at_micros: change.at_micros,
                    key: engine_keys::key_of(&table, either)?,
                    old: self.image(&table, change.old)?,
                    new: self.image(&table, change.new)?,
                    expired: change.expired,
                })
            })
            .collect()
    }

    fn image(&self, table: &Table, image: Option<Item>) -> Result<Option<V>> {
        image.map(|item| self.value_of(table, item)).transpose()
    }
}
