//! Scans as CanDB has them: between two sort keys, both included, with the next key.

use shelfmark_engine::Query;
use shelfmark_model::SortCondition;

use super::{Entity, Partition, SK, text_of};
use crate::error::Result;
use crate::reach::Reach;

/// The bounds, limit and direction of a scan; the lower bound is the smaller one in both
/// directions.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Attributes, EntityTable, ScanOptions};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let chats = EntityTable::named(&database, "chats")?.partition("user#7");
/// for number in 0..5 {
///     chats.put(format!("chat#{number}").as_str(), Attributes::new())?;
/// }
/// let newest = ScanOptions::between("chat#", "chat#9").descending().limit(2);
/// let page = chats.scan(&newest)?;
/// assert_eq!(page.entities[0].sk, "chat#4");
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanOptions {
    /// Smallest sort key, included; it need not exist.
    pub lower: String,
    /// Largest sort key, included; it need not exist.
    pub upper: String,
    /// Most entities; 0 gives none.
    pub limit: usize,
    /// True to scan from the lower bound up, false from the upper bound down.
    pub ascending: bool,
}

impl ScanOptions {
    /// Scans up from `lower` to `upper`, without a limit.
    #[must_use]
    pub fn between(lower: impl Into<String>, upper: impl Into<String>) -> Self {
        Self { lower: lower.into(), upper: upper.into(), limit: usize::MAX, ascending: true }
    }

    /// Limits the scan to `limit` entities.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Scans from the upper bound down.
    #[must_use]
    pub fn descending(mut self) -> Self {
        self.ascending = false;
        self
    }
}

/// The entities that a scan found, and the next key.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Attributes, EntityTable, ScanOptions};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let chats = EntityTable::named(&database, "chats")?.partition("user#7");
/// for key in ["a", "b", "c"] {
///     chats.put(key, Attributes::new())?;
/// }
/// let first = chats.scan(&ScanOptions::between("a", "z").limit(2))?;
/// assert_eq!(first.next_key.as_deref(), Some("c"));
/// let rest = chats.scan(&ScanOptions::between("c", "z").limit(2))?;
/// assert_eq!((rest.entities.len(), rest.next_key), (1, None));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EntityPage {
    /// The entities, in the order of the scan.
    pub entities: Vec<Entity>,
    /// The first sort key that was not returned; `None` when nothing more is in the bounds, also
    /// when exactly `limit` entities were. To go on, pass it as `lower` when ascending and as
    /// `upper` when descending; it stays good when its entity is deleted.
    pub next_key: Option<String>,
}

impl<R: Reach> Partition<R> {
    /// Returns the entities between two sort keys, as of one moment.
    ///
    /// Bounds the wrong way round and a limit of 0 give nothing and no next key, as in CanDB.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn scan(&self, options: &ScanOptions) -> Result<EntityPage> {
        if options.limit == 0 || options.lower > options.upper {
            return Ok(EntityPage { entities: Vec::new(), next_key: None });
        }
        let table = self.table.handle.table()?;
        let bounds = SortCondition::between(options.lower.as_str(), options.upper.as_str());
        let mut query = Query::partition(self.key_values()).sort(bounds).limit(options.limit);
        query.descending = !options.ascending;
        query.peek = true;
        let page = self.table.reach.query(&table, &query)?;
        let next_key = page.next_key.as_ref().map(|item| text_of(item, SK)).transpose()?;
        let entities = page
            .items
            .into_iter()
            .map(|item| self.entity_of(&table, item))
            .collect::<Result<_>>()?;
        Ok(EntityPage { entities, next_key })
    }
}
