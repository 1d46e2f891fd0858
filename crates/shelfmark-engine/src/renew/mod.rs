//! Tells after a loss what was lost, in the terms of tables, and makes anew what follows from the
//! rows that are left.
//!
//! A part of a table file that cannot be read takes keys with it, or brings an older state of them
//! back. Whatever follows from rows may then lack, lead nowhere or tell of rows that are gone: entries
//! of indexes, rows of views, counts, shards, due times. All of it is worked out again; what cannot
//! be, such as a row of which a part is lost, is removed and named.
//!
//! What it is not: it neither finds nor repairs damaged files; that is the store's. Nor does it bring
//! back a row that is lost.
//!
//! Invariant: everything here may be done again at any time, so what a stop interrupts is begun anew.
//! Indexes and views are built as any, beside readers and writers; counts, shards, tombstones and high-water marks
//! are for a store that nobody writes to meanwhile.

mod adopt;
mod catalogue;
mod cells;
mod items;
mod live_rows;
mod mended;
mod names;
mod owners;
mod pen;
mod places;
mod remains;
mod rows;
mod shards;
mod survivors;
mod tombstones;

use std::collections::BTreeSet;

use shelfmark_model::TableName;

pub use self::adopt::GivenSchema;
pub(crate) use self::items::put_count;
pub use self::live_rows::LiveRows;
pub use self::mended::Mended;
pub use self::owners::{KeyOwner, KeyOwners};
pub(crate) use self::pen::{Pen, persistently};
pub use self::survivors::{Survivors, TableLoss};
use crate::engine::Engine;
use crate::inner::Inner;
use shelfmark_tables::{ErrorKind, Result};

/// A listener that is told what was done.
type Teller<'t> = dyn FnMut(Mended) + 't;

impl Engine {
    /// Brings back what of the catalogue was lost from its second copy, and the copy from it. To be
    /// done after a loss before anything asks which tables there are.
    ///
    /// Cost: reads the catalogue twice.
    ///
    /// # Errors
    ///
    /// * Those of the store; call again.
    pub fn restore_catalogue(&self, tell: &mut dyn FnMut(Mended)) -> Result<()> {
        let done = persistently(|| self.inner.catalogue.reconcile())?;
        if done.records + done.copies > 0 {
            tell(Mended::Catalogue { records: done.records, copies: done.copies });
        }
        Ok(())
    }

    /// Makes anew what follows from the rows of tables of which keys were lost, removes what is left of
    /// rows that lost a part, and makes the catalogue agree with the rest. `lost` says whose keys may
    /// be concerned ([`KeyOwners::between`]); `None`: anybody's. What was done is told as it happens.
    ///
    /// For an engine that was just opened, over a store that nobody else writes to. Whatever
    /// interrupts it, it may be called again and begins anew; nothing gets worse in between, and
    /// indexes and views that are being built go on as after any stop.
    ///
    /// Cost: reads the tables that are concerned, their counters and tombstones, and writes their indexes
    /// and views.
    ///
    /// # Errors
    ///
    /// * Those of the store; call again.
    pub fn renew_after_loss(
        &self,
        lost: Option<&BTreeSet<KeyOwner>>,
        tell: &mut dyn FnMut(Mended),
    ) -> Result<()> {
        self.restore_catalogue(tell)?;
        // Also where the catalogue is whole: keys that were purged may be back.
        catalogue::mend(&self.inner, tell)?;
        places::separate(&self.inner, tell)?;
        let owners = self.key_owners()?;
        let tables = match lost {
            Some(lost) => owners.tables_of(lost),
            None => owners.all_tables(),
        };
        // First all rows, for views are built from rows of other tables.
        for name in &tables {
            self.inner.renew_beside(name, tell)?;
        }
        let mut built = BTreeSet::new();
        for name in &tables {
            if lost.is_none_or(|lost| lost.iter().any(|owner| owner.is_of_rows_of(name))) {
                self.inner.renew_derived(name, &mut built, tell)?;
            }
        }
        // What a renewal that was interrupted began and nothing of this one concerns.
        owners.all_tables().iter().try_for_each(|name| self.inner.build_rest(name))
    }
}

impl KeyOwner {
    /// Tells whether indexes and views of a table may lack something when keys of this owner do. A
    /// loss among due times, counts or changes alone leaves them as they were.
    fn is_of_rows_of(&self, name: &TableName) -> bool {
        match self {
            Self::Catalogue => true,
            Self::Rows(own)
            | Self::View(own)
            | Self::Deletions(own)
            | Self::Index { table: own, .. } => own == name,
            Self::CatalogueCopy
            | Self::Changes(_)
            | Self::Counts(_)
            | Self::Shards(_)
            | Self::DueTimes
            | Self::Tokens
            | Self::Unknown(_) => false,
        }
    }
}

impl Inner {
    /// Puts right what lies beside the rows of a table: remains of rows, due times, counts, shards,
    /// tombstones, the change log.
    fn renew_beside(&self, name: &TableName, tell: &mut Teller<'_>) -> Result<()> {
        let table = self.catalogue.table(name)?;
        let mut pen = Pen::new(self);
        if table.cells.is_some() {
            return cells::rows(&mut pen, &table, tell);
        }
        items::rows(&mut pen, &table, tell)?;
        items::changes(&mut pen, &table, tell)
    }

    /// Builds the indexes of a table anew and the views of it, or the view that it is. `built` are the
    /// views that were.
    fn renew_derived(
        &self,
        name: &TableName,
        built: &mut BTreeSet<TableName>,
        tell: &mut Teller<'_>,
    ) -> Result<()> {
        let table = self.catalogue.table(name)?;
        let indexes = table.index_ids.len();
        let Some(cells) = &table.schema.cells else {
            if indexes == 0 {
                return Ok(());
            }
            let removed = persistently(|| shelfmark_tables::rows::renew(self, name))?;
            tell(Mended::Indexes { table: name.clone(), indexes: indexes - removed.len() });
            for index in removed {
                tell(Mended::IndexRemoved { table: name.clone(), index });
            }
            return Ok(());
        };
        match &cells.view_of {
            Some(view) => self.renew_view(name, &view.base, built, tell)?,
            None if indexes > 0 => {
                persistently(|| shelfmark_tables::rows::renew(self, name))?;
                tell(Mended::Indexes { table: name.clone(), indexes });
            }
            None => {}
        }
        for view in &cells.views {
            self.renew_view(view, name, built, tell)?;
        }
        Ok(())
    }

    fn renew_view(
        &self,
        name: &TableName,
        base: &TableName,
        built: &mut BTreeSet<TableName>,
        tell: &mut Teller<'_>,
    ) -> Result<()> {
        if built.contains(name) {
            return Ok(());
        }
        match self.catalogue.table(base).and_then(|_| self.catalogue.table(name)) {
            // Where one of the two is gone nothing can be built; that was told with the catalogue.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            found => drop(found?),
        }
        persistently(|| shelfmark_tables::rows::renew(self, name))?;
        tell(Mended::View { view: name.clone(), base: base.clone() });
        built.insert(name.clone());
        Ok(())
    }

    /// Builds what of a table waits to be built.
    fn build_rest(&self, name: &TableName) -> Result<()> {
        match persistently(|| shelfmark_tables::rows::resume(self, name)) {
            // A view without its base, or a unique index that cannot be: nothing waits any more.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) =>
            {
                Ok(())
            }
            built => built,
        }
    }
}
