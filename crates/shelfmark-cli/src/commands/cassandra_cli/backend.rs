//! Runs the dialect's statements over a connection.

use bytes::Bytes;
use shelfmark_cassandra_cli::{Backend, Table};

use crate::connect::Session;

/// A connection that commands run on.
pub(super) struct Connected(pub(super) Session);

impl Backend for Connected {
    fn run(&mut self, cql: &str) -> Result<Table, String> {
        let answered = self.0.all(cql).map_err(|error| error.to_string())?;
        let page = answered.page.unwrap_or_default();
        let cell = |cell: Option<Bytes>| cell.map(Vec::from);
        Ok(Table {
            types: page.columns.into_iter().map(|column| column.kind).collect(),
            rows: page.rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect(),
        })
    }

    fn now_ms(&mut self) -> u64 {
        self.0.now_ms()
    }
}
