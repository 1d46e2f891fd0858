//! Commands on the tables of this process.

use std::sync::{Arc, mpsc};

use shelfmark_cql::{Executor, Face, Outcome, RequestOptions, ResultRows};
use shelfmark_engine::Environment;

use super::backend::{Backend, Table};

/// A [`Backend`] over a face in the same process.
pub struct Local {
    executor: Arc<Executor>,
    environment: Environment,
}

impl Local {
    /// Runs commands where the face runs its statements.
    #[must_use]
    pub fn new(face: &Face) -> Local {
        Local { executor: face.executor(), environment: face.environment() }
    }
}

impl Backend for Local {
    /// Waits until the statement is answered, a write until it is durable.
    fn run(&mut self, cql: &str) -> Result<Table, String> {
        let statement =
            self.executor.prepare(cql, None).map_err(|error| error.message.to_string())?;
        let (sender, receiver) = mpsc::channel();
        let answer = Box::new(move |answered| {
            // Nobody waits any more only when this thread is gone.
            let _ = sender.send(answered);
        });
        self.executor.execute(&statement, RequestOptions::default(), answer);
        let answered = receiver.recv().map_err(|_| "the statement was dropped".to_owned())?;
        match answered.map_err(|error| error.message.to_string())?.outcome {
            Outcome::Rows(rows) => Ok(table(&rows)),
            _ => Ok(Table::default()),
        }
    }

    fn now_ms(&mut self) -> u64 {
        self.environment.clock.now_micros() / 1_000
    }
}

/// Takes rows out of the form in which they go over the wire.
fn table(rows: &ResultRows) -> Table {
    let types: Vec<_> = rows.columns.iter().map(|column| column.kind.clone()).collect();
    let mut rest = rows.rows.bytes();
    let mut table = Table { types, rows: Vec::new() };
    for _ in 0..rows.rows.rows() {
        let row = rows.columns.iter().map(|_| take_cell(&mut rest)).collect();
        table.rows.push(row);
    }
    table
}

fn take_cell(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    *rest = behind;
    let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
    let (cell, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(cell.to_vec())
}
