//! The statements, and one request.

use std::sync::Arc;

use scylla::client::session::Session;
use scylla::response::PagingState;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;

use crate::rows::{Random, id, partition};
use crate::{Operation, Options, Result};

const KEYSPACE: &str = "shelfmark_load";
/// Rows of a partition.
const PARTITION_ROWS: i32 = 100;
/// Writers that fill the tables.
const FILLERS: u64 = 64;

/// One kind of request, prepared.
pub struct Work {
    session: Arc<Session>,
    statement: PreparedStatement,
    operation: Operation,
    rows: u64,
    partitions: u64,
}

fn text(operation: Operation) -> String {
    match operation {
        Operation::Setup => String::new(),
        Operation::Select => format!("SELECT id, a, b, n, d FROM {KEYSPACE}.single WHERE id = ?"),
        Operation::Range => format!("SELECT p, c, a, b, n, d FROM {KEYSPACE}.wide WHERE p = ?"),
        Operation::Insert => {
            format!("INSERT INTO {KEYSPACE}.single (id, a, b, n, d) VALUES (?, ?, ?, ?, ?)")
        }
        Operation::Lwt => format!("UPDATE {KEYSPACE}.single SET a = ? WHERE id = ? IF EXISTS"),
    }
}

async fn prepared(session: &Session, text: String) -> Result<PreparedStatement> {
    let mut statement = session.prepare(text).await?;
    statement.set_consistency(Consistency::One);
    Ok(statement)
}

impl Work {
    pub async fn prepare(session: Arc<Session>, options: &Options) -> Result<Self> {
        let statement = prepared(&session, text(options.operation)).await?;
        let Options { operation, rows, partitions, .. } = *options;
        Ok(Self { session, statement, operation, rows, partitions })
    }

    /// Asks once, and checks that the answer has the rows it should have.
    pub async fn once(&self, random: &mut Random) -> Result<()> {
        let row = random.below(self.rows);
        match self.operation {
            Operation::Setup => Ok(()),
            Operation::Select => self.expect_rows(id(row), 1).await,
            Operation::Range => {
                let of = partition(random.below(self.partitions));
                self.expect_rows(of, PARTITION_ROWS as usize).await
            }
            Operation::Insert => {
                let row = random.single(row);
                self.session.execute_unpaged(&self.statement, row).await?;
                Ok(())
            }
            Operation::Lwt => {
                let values = (random.text(40), id(row));
                self.session.execute_unpaged(&self.statement, values).await?;
                Ok(())
            }
        }
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

/// Makes the tables and fills them.
pub async fn fill(session: &Arc<Session>, options: &Options) -> Result<()> {
    let columns = "a text, b text, n bigint, d blob";
    for statement in [
        format!(
            "CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication = \
             {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
        ),
        format!("CREATE TABLE IF NOT EXISTS {KEYSPACE}.single (id text PRIMARY KEY, {columns})"),
        format!(
            "CREATE TABLE IF NOT EXISTS {KEYSPACE}.wide \
             (p text, c int, {columns}, PRIMARY KEY (p, c))"
        ),
    ] {
        session.query_unpaged(statement, ()).await?;
        session.await_schema_agreement().await?;
    }
    let wide = format!("INSERT INTO {KEYSPACE}.wide (p, c, a, b, n, d) VALUES (?, ?, ?, ?, ?, ?)");
    let wide = Arc::new(prepared(session, wide).await?);
    let single = Arc::new(prepared(session, text(Operation::Insert)).await?);
    let (rows, partitions) = (options.rows, options.partitions);
    let mut fillers = Vec::new();
    for filler in 0..FILLERS {
        let (session, single, wide) = (Arc::clone(session), Arc::clone(&single), Arc::clone(&wide));
        fillers.push(tokio::spawn(async move {
            let mut random = Random::new(filler);
            for row in (filler..rows).step_by(FILLERS as usize) {
                session.execute_unpaged(&single, random.single(row)).await?;
            }
            for of in (filler..partitions).step_by(FILLERS as usize) {
                for clustering in 0..PARTITION_ROWS {
                    session.execute_unpaged(&wide, random.wide(of, clustering)).await?;
                }
            }
            Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
        }));
    }
    for filler in fillers {
        filler.await??;
    }
    Ok(())
}
