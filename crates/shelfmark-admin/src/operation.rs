//! The interface of an operation, and the list of all.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::admin::Admin;
use crate::config::Config;
use crate::error::Result;
use crate::maintain::{Backup, Compact};
use crate::read::{Get, Query, Scan};
use crate::stats::Stats;
use crate::tables::Tables;
use crate::verify::Verify;
use crate::watch::{Connections, Slow};
use crate::watched::{WatchClose, WatchModel, WatchOpen, WatchReset};
use crate::write::{Delete, Put};

/// A request that has an answer.
pub trait Operation: Serialize + DeserializeOwned {
    /// Its name in a path: `POST /api/v1/NAME`.
    const NAME: &'static str;

    /// The answer.
    type Answer: Serialize + DeserializeOwned;

    /// Does it; may wait for the store.
    ///
    /// # Errors
    ///
    /// * Its own: what is wrong with the request, or with the store.
    fn run(self, admin: &Admin) -> Result<Self::Answer>;
}

/// The names of the operations, in the order of the help.
pub const OPERATIONS: [&str; 17] = [
    Tables::NAME,
    Stats::NAME,
    Get::NAME,
    Scan::NAME,
    Query::NAME,
    Put::NAME,
    Delete::NAME,
    Verify::NAME,
    Backup::NAME,
    Compact::NAME,
    Connections::NAME,
    Slow::NAME,
    Config::NAME,
    WatchModel::NAME,
    WatchOpen::NAME,
    WatchReset::NAME,
    WatchClose::NAME,
];
