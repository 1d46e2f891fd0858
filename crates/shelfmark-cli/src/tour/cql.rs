//! Runs CQL over the protocol: both ends of one connection, in this process.

use std::sync::Arc;

use anyhow::bail;
use bytes::Bytes;
use shelfmark_cql_protocol::client::{Page, Query};
use shelfmark_cql_types::to_text;

use super::Stage;
use super::asker::Answer;
use super::face::open_face;
use super::meter::Meter;
use crate::connect::{Failure, Session};

/// Statements per batch while loading.
const BATCH: usize = 250;

/// A connection to a face of its own.
pub(crate) struct Cql {
    session: Session,
    meter: Meter,
}

impl Cql {
    /// Connects to the face.
    pub(crate) fn open(stage: &Stage<'_>) -> anyhow::Result<Self> {
        let meter = Meter::default();
        let session = Session::over(Arc::new(open_face(stage, &meter)?))?;
        Ok(Self { session, meter })
    }

    /// Runs a statement, a write until it is durable; the inner error is the face's refusal.
    pub(crate) fn run(&mut self, text: &str) -> anyhow::Result<Result<Page, String>> {
        match self.session.ask(&Query { text, ..Query::default() }) {
            Ok(result) => Ok(Ok(result.page.unwrap_or_default())),
            Err(Failure::Refused(refusal)) => Ok(Err(refusal.message)),
            Err(failure @ Failure::Interrupted) => Err(anyhow::anyhow!("{failure}")),
            Err(Failure::Lost(error)) => Err(error),
        }
    }

    /// Runs a statement that must succeed, and returns its rows as text.
    pub(crate) fn must(&mut self, text: &str) -> anyhow::Result<Vec<String>> {
        match self.run(text)? {
            Ok(page) => Ok(shown(&page)),
            Err(refusal) => bail!("{text} was refused: {refusal}"),
        }
    }

    /// Creates a keyspace.
    pub(crate) fn keyspace(&mut self, name: &str) -> anyhow::Result<()> {
        self.must(&format!(
            "CREATE KEYSPACE {name} WITH replication = {{'class': 'SimpleStrategy', \
             'replication_factor': 1}}"
        ))?;
        Ok(())
    }

    /// Runs modifications in large batches.
    pub(crate) fn load(&mut self, statements: &[String]) -> anyhow::Result<()> {
        for batch in statements.chunks(BATCH) {
            self.must(&format!("BEGIN UNLOGGED BATCH {}; APPLY BATCH", batch.join("; ")))?;
        }
        self.meter.take();
        Ok(())
    }

    /// Runs a statement and returns its rows and costs, or the face's refusal.
    pub(crate) fn read(&mut self, text: &str) -> anyhow::Result<Answer> {
        let meter = self.meter.clone();
        meter.answer(|| {
            Ok(match self.run(text)? {
                Ok(page) => (shown(&page), None),
                Err(refusal) => (Vec::new(), Some(refusal)),
            })
        })
    }

    /// Runs statements and returns their costs together, without rows. `body` returns the first
    /// refusal, if there was one.
    pub(crate) fn work(
        &mut self,
        body: impl FnOnce(&mut Self) -> anyhow::Result<Option<String>>,
    ) -> anyhow::Result<Answer> {
        let meter = self.meter.clone();
        meter.answer(|| Ok((Vec::new(), body(self)?)))
    }
}

/// Formats rows as text, with bars between their columns.
fn shown(page: &Page) -> Vec<String> {
    let cell = |(at, value): (usize, &Option<Bytes>)| match (page.columns.get(at), value) {
        (Some(column), Some(value)) => to_text(&column.kind, value),
        _ => "null".to_owned(),
    };
    let row =
        |row: &Vec<Option<Bytes>>| row.iter().enumerate().map(cell).collect::<Vec<_>>().join(" | ");
    page.rows.iter().map(row).collect()
}
