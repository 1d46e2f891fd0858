//! Opens and closes a store with its engine, its registry, and the thread that sweeps in the
//! background.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use shelfmark_engine::{Engine, Environment as EngineEnvironment, Random, Upkeep};
use shelfmark_keycode::{Overflow, UlidGenerator};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::embedded::EmbeddedStore;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Durability, Store};
use shelfmark_typed::{
    DEFAULT, Database, Environment, Error, ErrorKind, Registry, Result, Timestamp, Ulid,
};

use crate::random::SystemRandom;

/// Interval at which expired items are swept and dropped tables purged.
const UPKEEP_PERIOD: Duration = Duration::from_secs(1);

/// Options for opening a store.
///
/// # Examples
///
/// ```
/// use shelfmark::{Durability, Options, Shelfmark};
/// use std::time::Duration;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data");
/// // Writes answer at once, and are on disk a tenth of a second later.
/// let durability = Durability::Interval(Duration::from_millis(100));
/// let shelfmark = Shelfmark::open_with(&path, &Options { durability, ..Options::default() })?;
/// shelfmark.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The durability of a write: it is acknowledged once it is synced (the default), or before,
    /// within an interval.
    pub durability: Durability,
    /// Interval at which expired items are swept and dropped tables purged.
    pub upkeep_period: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { durability: Durability::Sync, upkeep_period: UPKEEP_PERIOD }
    }
}

/// An open store. Share it by reference or in an [`Arc`]; handles to its databases and tables are
/// cheap to clone.
///
/// # Examples
///
/// ```
/// use shelfmark::{OrderedTable, Shelfmark};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data");
/// let shelfmark = Shelfmark::open(&path)?;
/// let counters: OrderedTable<String, u64> =
///     OrderedTable::named(&shelfmark.database("shop")?, "counters")?;
/// counters.update(&"visits".into(), |old| Ok(Some(old.unwrap_or(&0) + 1)))?;
/// shelfmark.close()?;
///
/// let shelfmark = Shelfmark::open(&path)?;
/// let counters: OrderedTable<String, u64> =
///     OrderedTable::named(&shelfmark.database("shop")?, "counters")?;
/// assert_eq!(counters.read(&"visits".into())?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Shelfmark {
    engine: Engine,
    registry: Registry,
    clock: Arc<dyn Clock>,
    random: Arc<SystemRandom>,
    /// The last result of [`Shelfmark::now`].
    last_now: AtomicI64,
    ulids: Mutex<UlidGenerator>,
    upkeep: Mutex<Option<Upkeep>>,
}

impl Shelfmark {
    /// Opens the store in a folder, creating it if it is not there.
    ///
    /// One process at a time; a thread of its own sweeps what expired.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Unavailable`]: this process or another has it open. Stop that one.
    /// * [`ErrorKind::Io`]: the folder cannot be used.
    /// * [`ErrorKind::Corrupt`]: a file is damaged. Nothing was changed; run `shelfmark verify`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &Options::default())
    }

    /// Works as [`Shelfmark::open`], with options.
    ///
    /// # Errors
    ///
    /// * As [`Shelfmark::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let clock = Arc::new(SystemClock::new());
        let store = EmbeddedStore::open(
            path.as_ref(),
            shelfmark_store::embedded::Options {
                durability: options.durability,
                ..Default::default()
            },
            clock.clone(),
        )
        .map_err(shelfmark_engine::Error::from)?;
        Self::over(Arc::new(store), clock, options)
    }

    /// Opens a store in memory. It is forgotten when it is dropped.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`]: the system has no thread or no random numbers to give.
    pub fn memory() -> Result<Self> {
        let clock = Arc::new(SystemClock::new());
        let store = MemoryStore::new(clock.clone());
        Self::over(Arc::new(store), clock, &Options::default())
    }

    fn over(store: Arc<dyn Store>, clock: Arc<SystemClock>, options: &Options) -> Result<Self> {
        let random = Arc::new(SystemRandom::new()?);
        let environment = EngineEnvironment { clock: clock.clone(), random: random.clone() };
        let engine = Engine::open(store, environment)?;
        let registry = Registry::open(&engine)?;
        let upkeep = Upkeep::start(&engine, options.upkeep_period)?;
        Ok(Self {
            registry,
            clock,
            random,
            last_now: AtomicI64::new(i64::MIN),
            ulids: Mutex::new(UlidGenerator::new(Overflow::CarryIntoTime)),
            upkeep: Mutex::new(Some(upkeep)),
            engine,
        })
    }

    /// Opens a database from the environment `default`, creating it if it is not there.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: it is there and belongs to other environments.
    /// * [`ErrorKind::Invalid`]: not a name for a database.
    pub fn database(&self, name: &str) -> Result<Database> {
        self.environment(DEFAULT)?.create_database(name)
    }

    /// Returns an environment, creating it if it is not there.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: not a name for an environment.
    pub fn environment(&self, name: &str) -> Result<Environment> {
        self.registry.environment(name)
    }

    /// Returns the databases and environments, to list, assign and delete them.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the engine underneath.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Makes a ULID, greater than all made before by this store handle, also when the clock steps
    /// back.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the machine's clock stands after the year 10889.
    pub fn ulid(&self) -> Result<Ulid> {
        let mut ulids = self.ulids.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fill = |bytes: &mut [u8]| self.random.fill(bytes);
        ulids
            .next(self.clock.now_millis(), &mut fill)
            .map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))
    }

    /// Returns nanoseconds since the Unix epoch, by the clock that the store goes by, and greater than
    /// all that this store handle returned before. So two entries of one author get two keys, also
    /// when they are written within one tick of the clock, or when the clock steps back.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let micros = i64::try_from(self.clock.now_micros()).unwrap_or(i64::MAX);
        let clock = micros.saturating_mul(1_000);
        let next = |last: i64| Some(clock.max(last.saturating_add(1)));
        let last = self.last_now.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        let last = last.unwrap_or_else(|last| last);
        Timestamp(clock.max(last.saturating_add(1)))
    }

    /// Makes everything durable and stops, so that the next open has nothing to replay. Handles
    /// answer [`ErrorKind::Closed`] from now on.
    ///
    /// Dropping a store without closing it closes it too, but says no errors.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`]: something could not be written; what was acknowledged is still on disk,
    ///   and the next open replays it.
    pub fn close(self) -> Result<()> {
        self.stop()
    }

    fn stop(&self) -> Result<()> {
        let upkeep = self.upkeep.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut upkeep) = upkeep {
            upkeep.stop();
        }
        Ok(self.engine.store().close().map_err(shelfmark_engine::Error::from)?)
    }
}

impl Drop for Shelfmark {
    fn drop(&mut self) {
        // Closing twice is fine; an error here would have nobody to hear it.
        let _ = self.stop();
    }
}
