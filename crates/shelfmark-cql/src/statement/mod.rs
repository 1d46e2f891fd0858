//! Statements: planned once, run many times.

use std::sync::{Arc, RwLock};

use shelfmark_engine::Engine;

use crate::error::CqlError;
use crate::outcome::{Answer, BatchRequest, PreparedStatement, RequestOptions};
use crate::schema::Schema;
use crate::system::VirtualTable;

/// What the executor made of a statement. Opaque to everybody else.
#[derive(Debug)]
pub struct Plan {}

/// Plans and runs statements. Shared by all connections.
pub struct Executor {
    #[allow(dead_code, reason = "the statements that need it are not there yet")]
    engine: Engine,
    #[allow(dead_code, reason = "the statements that need it are not there yet")]
    virtual_tables: Vec<Arc<dyn VirtualTable>>,
    schema: RwLock<Arc<Schema>>,
}

impl Executor {
    /// Creates the executor of an engine's tables and of `virtual_tables`.
    ///
    /// # Errors
    ///
    /// * Those of reading the catalogue: see the engine's.
    pub fn open(
        engine: Engine,
        virtual_tables: Vec<Arc<dyn VirtualTable>>,
    ) -> Result<Self, CqlError> {
        Ok(Self { engine, virtual_tables, schema: RwLock::default() })
    }

    /// Returns the schema as it is now.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        let schema = self.schema.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        Arc::clone(&schema)
    }

    /// Parses and plans a statement. `keyspace` is that of names that have none.
    ///
    /// # Errors
    ///
    /// * `Syntax`, `Invalid`: the statement is wrong.
    pub fn prepare(
        &self,
        _text: &str,
        _keyspace: Option<&str>,
    ) -> Result<Arc<PreparedStatement>, CqlError> {
        Err(CqlError::invalid("statements are not in this build yet"))
    }

    /// Tells whether a statement was planned for a schema that is no more; then it is to be
    /// prepared again from its text.
    #[must_use]
    pub fn is_stale(&self, _statement: &PreparedStatement) -> bool {
        false
    }

    /// Runs a statement.
    pub fn execute(
        &self,
        _statement: &Arc<PreparedStatement>,
        _options: RequestOptions,
        answer: Answer,
    ) {
        answer(Err(CqlError::invalid("statements are not in this build yet")));
    }

    /// Runs a batch; its options' values are not used.
    pub fn batch(&self, _batch: BatchRequest, _options: RequestOptions, answer: Answer) {
        answer(Err(CqlError::invalid("batches are not in this build yet")));
    }
}
