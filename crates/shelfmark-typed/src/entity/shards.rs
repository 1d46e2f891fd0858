//! Lists the shards of partitions, and notifies subscribers of splits.

use shelfmark_engine::{HookResult, Shard, SplitEvent, SplitFailure, SplitSubscription};
use shelfmark_model::Value;

use super::{EntityTable, Partition};
use crate::error::Result;

/// A shard: a contiguous range of a partition's sort keys.
///
/// A partition is split by itself where a shard has more bytes than
/// [`TableSettings::shard_bytes_max`](crate::TableSettings::shard_bytes_max), and by items where that
/// is asked for:
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Attributes, EntityTable, TableSettings};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let settings = TableSettings { shard_items_max: Some(100), ..TableSettings::default() };
/// let partition = EntityTable::with(&database, "t", &settings)?.partition("p");
/// partition.batch_put((0..250).map(|n| (format!("{n:03}"), Attributes::new())))?;
/// let counts: Vec<u64> = partition.shards()?.iter().map(|shard| shard.count).collect();
/// assert_eq!(counts.iter().sum::<u64>(), 250);
/// assert!(counts.iter().all(|count| *count <= 100));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityShard {
    /// Its id in the partition; never used again.
    pub id: u64,
    /// Smallest sort key that may be in it; `None` for the first shard.
    pub lower: Option<String>,
    /// Smallest sort key of the next shard; `None` for the last shard.
    pub upper: Option<String>,
    /// Number of its entities, exactly; expired ones that were not swept yet included.
    pub count: u64,
    /// Size in bytes of their keys and records as they are stored, exactly; `None` if the table
    /// does not count them, or has not counted all from before it did.
    pub bytes: Option<u64>,
    /// True while it is split and the subscribers are notified.
    pub splitting: bool,
}

/// A split of a shard, before it takes effect.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Attributes, EntityTable, TableSettings};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let settings = TableSettings { shard_items_max: Some(2), ..TableSettings::default() };
/// let table = EntityTable::with(&database, "t", &settings)?;
/// let _told = table.on_split(|split| match split.pk.as_str() {
///     "p" => Ok(()),
///     other => Err(format!("nobody knows {other}").into()),
/// });
/// for sk in ["a", "b", "c"] {
///     table.partition("p").put(sk, Attributes::new())?;
///     table.partition("q").put(sk, Attributes::new())?;
/// }
/// assert_eq!(table.partition("p").shards()?.len(), 2);
/// // The entities of `q` are all there; only its split waits.
/// assert_eq!(table.split_failures()[0].error, "nobody knows q");
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntitySplit {
    /// The partition's key.
    pub pk: String,
    /// The shard that is split.
    pub shard: u64,
    /// The ids of its left and right halves.
    pub halves: (u64, u64),
    /// First sort key of the right half.
    pub at: String,
}

/// A partition whose split has failed so far; its entities are intact, and writes go on.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Attributes, EntityTable, TableSettings};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let settings = TableSettings { shard_items_max: Some(2), ..TableSettings::default() };
/// let logs = EntityTable::with(&database, "logs", &settings)?;
/// for key in ["a", "b", "c"] {
///     logs.partition("today").put(key, Attributes::new())?;
/// }
/// for failure in logs.split_failures() {
///     println!("{}, tried {} times: {}", failure.pk, failure.attempts, failure.error);
/// }
/// assert!(logs.split_failures().is_empty(), "nothing was in its way");
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntitySplitFailure {
    /// The partition's key.
    pub pk: String,
    /// Number of attempts.
    pub attempts: u32,
    /// The error of the last attempt.
    pub error: String,
}

impl Partition {
    /// Returns the shards of the partition in the order of sort keys, as of one moment. Splits
    /// change no answer of any read; this is for statistics and for spreading work.
    ///
    /// Cost: two point reads per shard.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    #[doc(alias = "getCanistersByPK")]
    pub fn shards(&self) -> Result<Vec<EntityShard>> {
        let table = self.table.handle.table()?;
        let shards = self.table.reach.outside()?.shards(&table, &self.key_values())?;
        Ok(shards.into_iter().map(shard_of).collect())
    }
}

impl EntityTable {
    /// Calls `hook` for every split of a shard of this table until the subscription is dropped.
    ///
    /// It is called from the thread whose write made a shard too large, or from the upkeep thread,
    /// once per split and before the split takes effect. It is called again where it, or another
    /// subscriber, failed, and where the process ended before the split did. While it fails, the split
    /// waits and is tried again; the write that caused it is done, and
    /// [`EntityTable::split_failures`] shows the error.
    #[doc(alias = "autoScalingHook")]
    pub fn on_split(
        &self,
        hook: impl Fn(&EntitySplit) -> HookResult + Send + Sync + 'static,
    ) -> SplitSubscription {
        let name = self.handle.name.clone();
        self.reach.engine.on_split(move |event: &SplitEvent| {
            if event.table == name { hook(&split_of(event)) } else { Ok(()) }
        })
    }

    /// Retries the splits that failed, and returns how many were done. Later writes and the upkeep
    /// thread do so too.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn split_due(&self) -> Result<usize> {
        Ok(self.reach.outside()?.split_due(&self.handle.table()?)?)
    }

    /// Returns the partitions whose splits have failed so far, with the errors.
    #[must_use]
    pub fn split_failures(&self) -> Vec<EntitySplitFailure> {
        let failures = self.reach.engine.split_failures();
        let own = failures.into_iter().filter(|failure| failure.table == self.handle.name);
        own.map(failure_of).collect()
    }
}

fn shard_of(shard: Shard) -> EntityShard {
    let text = |values: Option<Vec<Value>>| values.map(|values| first_text(&values));
    EntityShard {
        id: shard.id,
        lower: text(shard.lower),
        upper: text(shard.upper),
        count: shard.items,
        bytes: shard.bytes,
        splitting: shard.splitting,
    }
}

fn split_of(event: &SplitEvent) -> EntitySplit {
    EntitySplit {
        pk: first_text(&event.partition),
        shard: event.shard,
        halves: (event.left, event.right),
        at: first_text(&event.at),
    }
}

fn failure_of(failure: SplitFailure) -> EntitySplitFailure {
    EntitySplitFailure {
        pk: first_text(&failure.partition),
        attempts: failure.attempts,
        error: failure.error,
    }
}

/// Returns the first value as text: both keys of an entity are one text each.
fn first_text(values: &[Value]) -> String {
    values.first().and_then(Value::as_text).unwrap_or_default().to_owned()
}
