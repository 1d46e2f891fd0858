//! Cells: one named value with a default.

use std::marker::PhantomData;
use std::sync::Arc;

use shelfmark_engine::{Get, Write};

use super::{item_of, key_of, open, record_of};
use crate::database::Database;
use crate::error::Result;
use crate::handle::Handle;
use crate::reach::{Direct, Inside, Reach, WriteReach};
use crate::record::Record;

/// One value under a name; unset, it has its default. Cheap to clone.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::Cell;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let visits = Cell::named(&database, "visits", 0_u64)?;
/// assert_eq!(visits.modify_get(|n| n + 1)?, 1);
/// assert_eq!(visits.read()?, 1);
/// visits.delete()?;
/// assert_eq!(visits.read()?, 0);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct Cell<T, R = Direct> {
    handle: Arc<Handle>,
    reach: R,
    name: Arc<str>,
    default: T,
    types: PhantomData<fn() -> T>,
}

impl<T: Clone, R: Clone> Clone for Cell<T, R> {
    fn clone(&self) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
            reach: self.reach.clone(),
            name: Arc::clone(&self.name),
            default: self.default.clone(),
            types: PhantomData,
        }
    }
}

impl<T: Record + Clone> Cell<T> {
    /// Opens the cell of this name in a database, with a default that is not stored.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Restricted`]: the environment has no right to the database.
    pub fn named(database: &Database, name: &str, default: T) -> Result<Self> {
        let handle = open(database, "_cells", None)?;
        let reach = Direct { engine: handle.engine.clone() };
        Ok(Self { handle, reach, name: name.into(), default, types: PhantomData })
    }
}

impl<T: Record + Clone, R> Cell<T, R> {
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) fn reached<Other>(&self, reach: Other) -> Cell<T, Other> {
        Cell {
            handle: Arc::clone(&self.handle),
            reach,
            name: Arc::clone(&self.name),
            default: self.default.clone(),
            types: PhantomData,
        }
    }
}

impl<T: Record + Clone, R: Reach> Cell<T, R> {
    /// Returns the value.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: the stored value does not fit the type.
    pub fn read(&self) -> Result<T> {
        let table = self.handle.table()?;
        match self.reach.get(&table, &Get::new(key_of(&self.name, None)))? {
            Some(item) => record_of(&self.handle, &table, item),
            None => Ok(self.default.clone()),
        }
    }
}

impl<T: Record + Clone, R: WriteReach> Cell<T, R> {
    /// Sets the value.
    ///
    /// Durability: on disk once this returns; in a transaction, once that has committed.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::LimitExceeded`]: the value is too large.
    pub fn write(&self, value: &T) -> Result<()> {
        let table = self.handle.table()?;
        let item = item_of(&self.handle, &table, &key_of(&self.name, None), value)?;
        self.reach.write(Write::put(&table, item))?;
        Ok(())
    }

    /// Changes the value by a function and returns the new one. The function may run several times.
    ///
    /// # Errors
    ///
    /// * As [`Cell::read`] and [`Cell::write`].
    pub fn modify_get(&self, mut change: impl FnMut(T) -> T) -> Result<T> {
        self.modify(|old| {
            let new = change(old);
            (new.clone(), new)
        })
    }

    /// Changes the value by a function and returns the old one. The function may run several times.
    ///
    /// # Errors
    ///
    /// * As [`Cell::read`] and [`Cell::write`].
    pub fn get_modify(&self, mut change: impl FnMut(T) -> T) -> Result<T> {
        self.modify(|old| (change(old.clone()), old))
    }

    /// Changes the value by a function that returns the new value and a result, which is returned.
    /// The function may run several times.
    ///
    /// # Errors
    ///
    /// * As [`Cell::read`] and [`Cell::write`].
    pub fn modify<A>(&self, mut change: impl FnMut(T) -> (T, A)) -> Result<A> {
        let table = self.handle.table()?;
        let key = key_of(&self.name, None);
        self.reach.atomically(|inside: &Inside<'_>| {
            let old = match inside.get(&table, &Get::new(key.clone()))? {
                Some(item) => record_of(&self.handle, &table, item)?,
                None => self.default.clone(),
            };
            let (new, answer) = change(old);
            inside.write(&Write::put(&table, item_of(&self.handle, &table, &key, &new)?))?;
            Ok(answer)
        })
    }

    /// Removes the value: the cell has its default again.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn delete(&self) -> Result<()> {
        let table = self.handle.table()?;
        self.reach.write(Write::delete(&table, key_of(&self.name, None)))?;
        Ok(())
    }
}
