//! The tables, made and filled.

use std::sync::Arc;

use scylla::client::session::Session;
use shelfmark_load_measure::{Random, Result};

use crate::work::{KEYSPACE, PARTITION_ROWS, prepared, text};
use crate::{Operation, Options, rows};

/// Writers that fill the tables.
const FILLERS: u64 = 64;

/// Makes the tables and fills them.
pub async fn fill(session: &Arc<Session>, options: &Options) -> Result<()> {
    create(session).await?;
    let wide = Arc::new(prepared(session, text(Operation::Batch)).await?);
    let single = Arc::new(prepared(session, text(Operation::Insert)).await?);
    let (count, partitions) = (options.rows, options.partitions);
    let mut fillers = Vec::new();
    for filler in 0..FILLERS {
        let (session, single, wide) = (Arc::clone(session), Arc::clone(&single), Arc::clone(&wide));
        fillers.push(tokio::spawn(async move {
            let mut random = Random::new(filler);
            for row in (filler..count).step_by(FILLERS as usize) {
                session.execute_unpaged(&single, rows::single(&mut random, row)).await?;
            }
            for of in (filler..partitions).step_by(FILLERS as usize) {
                for clustering in 0..PARTITION_ROWS {
                    let row = rows::wide(&mut random, of, i32::try_from(clustering)?);
                    session.execute_unpaged(&wide, row).await?;
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

async fn create(session: &Session) -> Result<()> {
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
        format!("CREATE TABLE IF NOT EXISTS {KEYSPACE}.counters (id text PRIMARY KEY, n counter)"),
        format!(
            "CREATE TABLE IF NOT EXISTS {KEYSPACE}.collections \
             (id text PRIMARY KEY, m map<text, text>, s set<int>)"
        ),
        format!(
            "CREATE TABLE IF NOT EXISTS {KEYSPACE}.indexed \
             (id text PRIMARY KEY, tag text, {columns})"
        ),
        format!("CREATE INDEX IF NOT EXISTS by_tag ON {KEYSPACE}.indexed (tag)"),
    ] {
        session.query_unpaged(statement, ()).await?;
        session.await_schema_agreement().await?;
    }
    Ok(())
}
