//! Statements of callers in this process, which have no connection.
//!
//! What it is not: it checks no login. Who calls this may do everything, unless the options name a
//! user.

use std::sync::mpsc;

use shelfmark_cql_protocol::{CqlError, ErrorCode};

use super::face::Face;
use crate::outcome::{Answered, RequestOptions};

impl Face {
    /// Runs one statement and waits for its answer, a write's until it is durable. Clients are told of
    /// a change of the schema as if one of them had made it.
    ///
    /// # Errors
    ///
    /// * Those of the statement.
    pub fn ask(&self, text: &str, options: RequestOptions) -> Result<Answered, CqlError> {
        let statement = self.executor.prepare(text, options.keyspace.as_deref())?;
        let (sender, receiver) = mpsc::sync_channel(1);
        let answer = move |outcome| {
            // The receiver waits below as long as this closure is not called.
            let _ = sender.send(outcome);
        };
        self.executor.execute(&statement, options, Box::new(answer));
        let lost = || Err(CqlError::new(ErrorCode::Server, "the answer was lost"));
        let answered = receiver.recv().unwrap_or_else(|_| lost())?;
        self.events.publish_all(&answered.outcome, &answered.beside);
        Ok(answered)
    }
}
