//! The state that all clones of one engine share: the tables of a store, and the work on them.
//!
//! What it is not: the calls. Those are in `calls`, and in the folders of what is built from them.

use std::ops::Deref;
use std::sync::Arc;

use shelfmark_store::Store;
use shelfmark_tables::{Environment, Result, Tables};

use crate::background::State as BackgroundState;
use crate::backups::State as BackupState;

/// The tables of a store, and what an engine remembers of the work on them.
pub(crate) struct Inner {
    tables: Arc<Tables>,
    /// The state of the background work.
    pub(crate) background: BackgroundState,
    /// The state of the work on backups.
    pub(crate) backups: BackupState,
}

impl Inner {
    /// Opens the engine's part of a store; a new store gets its catalogue.
    ///
    /// # Errors
    ///
    /// * As [`Tables::open`].
    pub(crate) fn open(store: Arc<dyn Store>, environment: Environment) -> Result<Self> {
        Ok(Self {
            tables: Tables::open(store, environment)?,
            background: BackgroundState::default(),
            backups: BackupState::default(),
        })
    }
}

impl Deref for Inner {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}
