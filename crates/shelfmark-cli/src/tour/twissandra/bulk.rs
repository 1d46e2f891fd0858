//! Groups many commands into a commit, for loading.
//!
//! What it is not: how the original works, where each `set` is a call of its own. A `set` is
//! answered before it is written; whatever reads behind it writes it first.

use std::collections::HashMap;

use shelfmark_cassandra_cli::{Backend, Local, Table};

/// Modifications per commit.
const BATCH: usize = 250;

/// A backend that collects modifications in batches, and remembers the schema.
pub(super) struct Bulk {
    local: Local,
    waiting: Vec<String>,
    schema: HashMap<String, Table>,
}

impl Bulk {
    pub(super) fn new(local: Local) -> Self {
        Self { local, waiting: Vec::new(), schema: HashMap::new() }
    }

    fn flush(&mut self) -> Result<(), String> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.waiting).join("; ");
        self.local.run(&format!("BEGIN UNLOGGED BATCH {batch}; APPLY BATCH")).map(|_| ())
    }
}

impl Backend for Bulk {
    fn run(&mut self, cql: &str) -> Result<Table, String> {
        if cql.starts_with("INSERT") || cql.starts_with("UPDATE") {
            self.waiting.push(cql.to_owned());
            if self.waiting.len() >= BATCH {
                self.flush()?;
            }
            return Ok(Table::default());
        }
        if cql.contains(" FROM system_schema.") {
            if let Some(known) = self.schema.get(cql) {
                return Ok(known.clone());
            }
            let table = self.local.run(cql)?;
            self.schema.insert(cql.to_owned(), table.clone());
            return Ok(table);
        }
        self.flush()?;
        self.schema.clear();
        self.local.run(cql)
    }

    fn now_ms(&mut self) -> u64 {
        self.local.now_ms()
    }
}
