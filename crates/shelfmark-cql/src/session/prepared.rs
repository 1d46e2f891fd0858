//! Prepared statements, shared by all connections and found by the hash of their text.
//!
//! They are not stored: after a restart a client is told that its id is unknown and prepares again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use bytes::Bytes;
use md5::{Digest as _, Md5};
use shelfmark_cql_protocol::frame::Version;
use shelfmark_cql_protocol::message::{ResultMetadataId, metadata_id};
use shelfmark_cql_protocol::{CqlError, ErrorCode, ErrorExtra};
use shelfmark_cql_types::CqlType;

use crate::limits::{
    PREPARED_BYTES_MAX, PREPARED_STATEMENTS_MAX, PREPARED_TEXT_SIZE_BYTES_MAX, planned_bytes,
};
use crate::statement::Executor;
use crate::statement::PreparedStatement;
use shelfmark_engine::locks;

pub(crate) type StatementId = [u8; 16];

/// A prepared statement.
pub(super) struct Prepared {
    pub(super) id: StatementId,
    pub(super) statement: Arc<PreparedStatement>,
    /// The id of the result metadata.
    pub(super) metadata_id: ResultMetadataId,
    /// True if its rows have other columns than when it was prepared first: clients of versions
    /// before 5 cannot be told, so they get the columns with every page.
    pub(super) changed: bool,
    text: String,
    /// The memory that it takes, about, in bytes.
    size_bytes: usize,
    /// The keyspace of names that have none.
    keyspace: Option<Arc<str>>,
    /// Used since the last time that places were needed.
    used: AtomicBool,
}

impl Prepared {
    /// Returns the text of it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the keyspace of its names that have none.
    pub(super) fn keyspace(&self) -> Option<&str> {
        self.keyspace.as_deref()
    }
}

/// A prepared statement as `system.prepared_statements` shows it.
pub(crate) struct Listed {
    pub(crate) id: StatementId,
    pub(crate) keyspace: Option<Arc<str>>,
    pub(crate) text: String,
}

/// The prepared statements.
pub(crate) struct PreparedStatements {
    /// The most bytes that all may take.
    bytes_max: usize,
    known: RwLock<Cache>,
}

/// The prepared statements that are kept, within the limits of number and bytes.
struct Cache {
    by_id: HashMap<StatementId, Arc<Prepared>>,
    /// The bytes that they take together, and the limit.
    bytes: usize,
    bytes_max: usize,
    /// The number of statements that were evicted.
    evicted: u64,
}

impl Cache {
    /// Keeps a statement in place of an older one of its id. Where there is no room, those go that
    /// were not used since room was made last, and all if that is not enough.
    fn put(&mut self, prepared: Arc<Prepared>) {
        if !self.has_room(&prepared) {
            let before = self.by_id.len();
            self.by_id.retain(|_, known| known.used.swap(false, Ordering::Relaxed));
            self.bytes = self.by_id.values().map(|known| known.size_bytes).sum();
            if !self.has_room(&prepared) {
                self.by_id.clear();
                self.bytes = 0;
            }
            self.evicted += (before - self.by_id.len()) as u64;
        }
        self.bytes += prepared.size_bytes;
        if let Some(former) = self.by_id.insert(prepared.id, prepared) {
            self.bytes -= former.size_bytes;
        }
    }

    fn has_room(&self, prepared: &Prepared) -> bool {
        self.by_id.len() < PREPARED_STATEMENTS_MAX
            && self.bytes + prepared.size_bytes <= self.bytes_max
    }
}

impl PreparedStatements {
    /// Creates a list that takes so many bytes, at most [`PREPARED_BYTES_MAX`].
    pub(crate) fn within(bytes_max: usize) -> Self {
        let bytes_max = bytes_max.min(PREPARED_BYTES_MAX);
        let known = Cache { by_id: HashMap::new(), bytes: 0, bytes_max, evicted: 0 };
        Self { bytes_max, known: RwLock::new(known) }
    }

    /// Prepares a statement.
    pub(super) fn prepare(
        &self,
        executor: &Executor,
        text: String,
        keyspace: Option<Arc<str>>,
    ) -> Result<Arc<Prepared>, CqlError> {
        let mut hash = Md5::new();
        hash.update(keyspace.as_deref().unwrap_or_default());
        hash.update(&text);
        let id: StatementId = hash.finalize().into();
        if let Some(known) = self.get(&id).filter(|known| !executor.is_stale(&known.statement)) {
            return Ok(known);
        }
        if text.len() > PREPARED_TEXT_SIZE_BYTES_MAX {
            return Err(too_long(&text));
        }
        let size_bytes = planned_bytes(&text);
        if size_bytes > self.bytes_max {
            return Err(CqlError::overloaded(
                "The memory budget has no room to keep this statement; run it without preparing it",
            ));
        }
        let statement = executor.prepare(&text, keyspace.as_deref())?;
        Ok(self.put(Prepared {
            id,
            metadata_id: metadata_id(&statement.result),
            statement,
            changed: false,
            text,
            size_bytes,
            keyspace,
            used: AtomicBool::new(true),
        }))
    }

    /// Finds a statement and brings it up to date with the schema.
    ///
    /// # Errors
    ///
    /// * `Unprepared`: it is not known here, or its values have other types, or its columns are others
    ///   and the client's version has no way to hear of it: it has to prepare again.
    /// * Those of preparing: it no longer fits the schema.
    pub(super) fn find(
        &self,
        executor: &Executor,
        id: &[u8],
        version: Version,
    ) -> Result<Arc<Prepared>, CqlError> {
        let found = StatementId::try_from(id).ok().and_then(|id| self.get(&id));
        let Some(prepared) = found else { return Err(unprepared(id)) };
        if !executor.is_stale(&prepared.statement) {
            return Ok(prepared);
        }
        let statement = executor.prepare(&prepared.text, prepared.keyspace.as_deref())?;
        // The client writes values by what it was told of the markers.
        if !marker_types(&statement).eq(marker_types(&prepared.statement)) {
            return Err(unprepared(id));
        }
        let metadata_id = metadata_id(&statement.result);
        let changed = metadata_id != prepared.metadata_id;
        let fresh = self.put(Prepared {
            id: prepared.id,
            metadata_id,
            statement,
            changed: changed || prepared.changed,
            text: prepared.text.clone(),
            size_bytes: prepared.size_bytes,
            keyspace: prepared.keyspace.clone(),
            used: AtomicBool::new(true),
        });
        if changed && version < Version::V5 { Err(unprepared(id)) } else { Ok(fresh) }
    }

    /// Returns the id, the keyspace and the text of each that is kept, and how many went to make room.
    pub(crate) fn listed(&self) -> (Vec<Listed>, u64) {
        let known = locks::read(&self.known);
        let listed = known.by_id.values().map(|prepared| Listed {
            id: prepared.id,
            keyspace: prepared.keyspace.clone(),
            text: prepared.text.clone(),
        });
        (listed.collect(), known.evicted)
    }

    fn get(&self, id: &StatementId) -> Option<Arc<Prepared>> {
        let known = locks::read(&self.known);
        let prepared = Arc::clone(known.by_id.get(id)?);
        drop(known);
        // Written only when it changes, so that readers do not share a cache line for it.
        if !prepared.used.load(Ordering::Relaxed) {
            prepared.used.store(true, Ordering::Relaxed);
        }
        Some(prepared)
    }

    fn put(&self, prepared: Prepared) -> Arc<Prepared> {
        let prepared = Arc::new(prepared);
        let mut known = locks::write(&self.known);
        known.put(Arc::clone(&prepared));
        prepared
    }
}

fn marker_types(statement: &PreparedStatement) -> impl Iterator<Item = &CqlType> {
    statement.markers.iter().map(|marker| &marker.kind)
}

fn too_long(text: &str) -> CqlError {
    let begin: String = text.chars().take(200).collect();
    CqlError::invalid(format!(
        "Prepared statement of size {} bytes is larger than allowed maximum of {} MB: {begin}...",
        text.len(),
        PREPARED_TEXT_SIZE_BYTES_MAX / (1024 * 1024)
    ))
}

fn unprepared(id: &[u8]) -> CqlError {
    let hex = hex::encode(id);
    CqlError {
        code: ErrorCode::Unprepared,
        message: format!(
            "Prepared query with ID {hex} not found (either the query was not prepared on this \
             host (maybe the host has been restarted?) or you have prepared too many queries and \
             it has been evicted from the internal cache)"
        ),
        extra: ErrorExtra::Unprepared(Bytes::copy_from_slice(id)),
    }
}
