//! Reads, changes and writes entities at one moment.

use std::sync::Arc;

use shelfmark_engine::{Get, Table, Write};

use super::{Attributes, Entity, Partition};
use crate::error::{Error, ErrorKind, Result};
use crate::reach::{Inside, WriteReach};

/// The behaviour of [`Partition::rename`] when the new sort key exists.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Attributes, EntityTable, Overwrite};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let partition = EntityTable::named(&database, "t")?.partition("p");
/// partition.put("draft#7", Attributes::new().with("title", "On shelves"))?;
/// partition.rename("draft#7", "post#7", Overwrite::Refuse)?;
/// assert!(partition.exists("post#7")? && !partition.exists("draft#7")?);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Overwrite {
    /// Replaces the existing entity (CanDB's `substituteKey`).
    Replace,
    /// Changes nothing and returns [`ErrorKind::AlreadyExists`].
    Refuse,
    /// Replaces the existing entity and adds its attributes to that one's, winning over those of
    /// the same name.
    Merge,
}

impl<R: WriteReach> Partition<R> {
    /// Changes the attributes of an entity by a function, which gets `None` when it is absent and
    /// then creates it. Returns what was there; an expiry stays as it was.
    ///
    /// The function may run several times, when others write the entity meanwhile.
    ///
    /// # Errors
    ///
    /// * As [`Partition::put`].
    pub fn update(
        &self,
        sk: &str,
        mut change: impl FnMut(Option<Attributes>) -> Attributes,
    ) -> Result<Option<Entity>> {
        self.change(sk, |old| Some(change(old.map(|old| old.attributes.clone()))))
    }

    /// Works as [`Partition::update`], for an existing entity; returns `None` if it is absent, and
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// * As [`Partition::put`].
    pub fn update_existing(
        &self,
        sk: &str,
        mut change: impl FnMut(Attributes) -> Attributes,
    ) -> Result<Option<Entity>> {
        self.change(sk, |old| old.map(|old| change(old.attributes.clone())))
    }

    /// Gives an entity another sort key, at one moment; returns it as it was, or `None` when it is
    /// absent: then nothing is changed, whatever is at the new key. Its expiry goes with it.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::AlreadyExists`]: the new key is taken, and that is to be refused.
    /// * As [`Partition::put`].
    #[doc(alias = "substituteKey")]
    pub fn rename(&self, old: &str, new: &str, overwrite: Overwrite) -> Result<Option<Entity>> {
        let table = self.table.handle.table()?;
        self.table.reach.atomically(|inside| {
            let Some(entity) = self.find(inside, &table, old)? else { return Ok(None) };
            if old == new {
                return Ok(Some(entity));
            }
            let mut attributes = entity.attributes.clone();
            if overwrite != Overwrite::Replace
                && let Some(target) = self.find(inside, &table, new)?
            {
                if overwrite == Overwrite::Refuse {
                    return Err(Error::new(
                        ErrorKind::AlreadyExists,
                        format!("there is an entity {new:?} in partition {:?} already", self.pk),
                    ));
                }
                let own = std::mem::replace(&mut attributes, target.attributes);
                attributes.merge(own);
            }
            inside.write(&Write::delete(&table, self.engine_key(old)))?;
            inside.write(&self.write_of(&table, new, attributes, entity.expires_at))?;
            Ok(Some(entity))
        })
    }

    fn change(
        &self,
        sk: &str,
        mut change: impl FnMut(Option<&Entity>) -> Option<Attributes>,
    ) -> Result<Option<Entity>> {
        let table = self.table.handle.table()?;
        self.table.reach.atomically(|inside| {
            let old = self.find(inside, &table, sk)?;
            if let Some(attributes) = change(old.as_ref()) {
                let expires_at = old.as_ref().and_then(|old| old.expires_at);
                inside.write(&self.write_of(&table, sk, attributes, expires_at))?;
            }
            Ok(old)
        })
    }

    fn find(&self, inside: &Inside<'_>, table: &Arc<Table>, sk: &str) -> Result<Option<Entity>> {
        let found = inside.get(table, &Get::new(self.engine_key(sk)))?;
        found.map(|item| self.entity_of(table, item)).transpose()
    }
}
