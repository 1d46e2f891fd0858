//! Writes several entities of one partition, all or none.

use shelfmark_engine::Write;

use super::{Attributes, Entity, Partition};
use crate::error::Result;
use crate::reach::WriteReach;

impl<R: WriteReach> Partition<R> {
    /// Puts several entities, all or none; of a repeated sort key the last one counts.
    ///
    /// # Errors
    ///
    /// * As [`Partition::put`]; nothing was written then. In a transaction, return the error.
    #[doc(alias = "batchPut")]
    pub fn batch_put<S: AsRef<str>>(
        &self,
        entities: impl IntoIterator<Item = (S, Attributes)>,
    ) -> Result<()> {
        let table = self.table.handle.table()?;
        let writes = entities
            .into_iter()
            .map(|(sk, attributes)| self.write_of(&table, sk.as_ref(), attributes, None));
        self.table.reach.write_all(writes.collect())?;
        Ok(())
    }

    /// Works as [`Partition::batch_put`]; returns the old entities, by position. For a sort key
    /// that is there twice, the second finds what the first put.
    ///
    /// # Errors
    ///
    /// * As [`Partition::batch_put`].
    #[doc(alias = "batchReplace")]
    pub fn batch_replace<S: AsRef<str>>(
        &self,
        entities: impl IntoIterator<Item = (S, Attributes)>,
    ) -> Result<Vec<Option<Entity>>> {
        let table = self.table.handle.table()?;
        let writes = entities.into_iter().map(|(sk, attributes)| {
            self.write_of(&table, sk.as_ref(), attributes, None).returning_old()
        });
        let written = self.table.reach.write_all(writes.collect())?;
        written.into_iter().map(|written| self.old_of(&table, written)).collect()
    }

    /// Deletes several entities, all or none; returns how many existed.
    ///
    /// # Errors
    ///
    /// * As [`Partition::delete`].
    pub fn batch_delete<S: AsRef<str>>(&self, sks: impl IntoIterator<Item = S>) -> Result<u64> {
        let table = self.table.handle.table()?;
        let writes = sks.into_iter().map(|sk| Write::delete(&table, self.engine_key(sk.as_ref())));
        let written = self.table.reach.write_all(writes.collect())?;
        Ok(written.iter().filter(|written| written.existed == Some(true)).count() as u64)
    }
}
