//! The statements, and one request.

use std::sync::Arc;

use scylla::client::session::Session;
use scylla::response::PagingState;
use scylla::serialize::row::SerializeRow;
use scylla::statement::Consistency;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;

use shelfmark_load_measure::{Random, Requester, Result};

use crate::rows::{self, id, partition};
use crate::{Operation, Options};

pub const KEYSPACE: &str = "shelfmark_load";
/// Rows of a partition.
pub const PARTITION_ROWS: u64 = 100;
/// Rows of a batch, all of one partition.
const BATCH_ROWS: u64 = 25;
/// Counters, few enough that requests meet.
const COUNTERS: u64 = 1_000;

/// One kind of request, prepared.
#[derive(Clone)]
pub struct Work {
    session: Arc<Session>,
    statement: PreparedStatement,
    batch: Batch,
    operation: Operation,
    rows: u64,
    partitions: u64,
}

pub fn text(operation: Operation) -> String {
    let single = format!("INSERT INTO {KEYSPACE}.single (id, a, b, n, d) VALUES (?, ?, ?, ?, ?)");
    match operation {
        Operation::Setup => String::new(),
        Operation::Select => format!("SELECT id, a, b, n, d FROM {KEYSPACE}.single WHERE id = ?"),
        Operation::Range => format!("SELECT p, c, a, b, n, d FROM {KEYSPACE}.wide WHERE p = ?"),
        Operation::Insert => single,
        Operation::Lwt => format!("UPDATE {KEYSPACE}.single SET a = ? WHERE id = ? IF EXISTS"),
        Operation::Update => format!("UPDATE {KEYSPACE}.single SET a = ?, n = ? WHERE id = ?"),
        Operation::Partial => {
            format!("INSERT INTO {KEYSPACE}.single (id, a, b, n) VALUES (?, ?, ?, ?)")
        }
        Operation::Ttl => format!("{single} USING TTL 864000"),
        Operation::Batch => {
            format!("INSERT INTO {KEYSPACE}.wide (p, c, a, b, n, d) VALUES (?, ?, ?, ?, ?, ?)")
        }
        Operation::Counter => format!("UPDATE {KEYSPACE}.counters SET n = n + 1 WHERE id = ?"),
        Operation::Collection => {
            format!("UPDATE {KEYSPACE}.collections SET m[?] = ?, s = s + ? WHERE id = ?")
        }
        Operation::Indexed => {
            let columns = "(id, tag, a, b, n, d) VALUES (?, ?, ?, ?, ?, ?)";
            format!("INSERT INTO {KEYSPACE}.indexed {columns}")
        }
    }
}

pub async fn prepared(session: &Session, text: String) -> Result<PreparedStatement> {
    let mut statement = session.prepare(text).await?;
    statement.set_consistency(Consistency::One);
    Ok(statement)
}

impl Work {
    pub async fn prepare(session: Arc<Session>, options: &Options) -> Result<Self> {
        let statement = prepared(&session, text(options.operation)).await?;
        let mut batch = Batch::new(BatchType::Unlogged);
        batch.set_consistency(Consistency::One);
        for _ in 0..BATCH_ROWS {
            batch.append_statement(statement.clone());
        }
        let Options { operation, rows, partitions, .. } = *options;
        Ok(Self { session, statement, batch, operation, rows, partitions })
    }

    async fn write(&self, values: impl SerializeRow) -> Result<()> {
        self.session.execute_unpaged(&self.statement, values).await?;
        Ok(())
    }

    async fn write_batch(&self, random: &mut Random) -> Result<()> {
        let of = random.below(self.partitions);
        let first = random.below(PARTITION_ROWS / BATCH_ROWS) * BATCH_ROWS;
        let mut rows = Vec::new();
        for clustering in first..first + BATCH_ROWS {
            rows.push(rows::wide(random, of, i32::try_from(clustering)?));
        }
        self.session.batch(&self.batch, rows).await?;
        Ok(())
    }

    async fn expect_rows(&self, key: String, expected: usize) -> Result<()> {
        let start = PagingState::start();
        let (answer, _) = self.session.execute_single_page(&self.statement, (key,), start).await?;
        let found = answer.into_rows_result()?.rows_num();
        if found == expected {
            return Ok(());
        }
        Err(format!("{found} rows instead of {expected}").into())
    }
}

impl Requester for Work {
    async fn once(&mut self, random: &mut Random) -> Result<()> {
        let row = random.below(self.rows);
        match self.operation {
            Operation::Setup => Ok(()),
            Operation::Select => self.expect_rows(id(row), 1).await,
            Operation::Range => {
                let of = partition(random.below(self.partitions));
                self.expect_rows(of, PARTITION_ROWS as usize).await
            }
            Operation::Insert | Operation::Ttl => self.write(rows::single(random, row)).await,
            Operation::Lwt => self.write((random.text(40), id(row))).await,
            Operation::Update => {
                self.write((random.text(40), random.number().cast_signed(), id(row))).await
            }
            Operation::Partial => {
                let (key, a, b, n, _) = rows::single(random, row);
                self.write((key, a, b, n)).await
            }
            Operation::Batch => self.write_batch(random).await,
            Operation::Counter => self.write((id(row % COUNTERS),)).await,
            Operation::Collection => {
                let name = format!("k{}", random.below(8));
                let element = vec![i32::try_from(random.below(8))?];
                self.write((name, random.text(20), element, id(row))).await
            }
            Operation::Indexed => self.write(rows::indexed(random, row)).await,
        }
    }
}
