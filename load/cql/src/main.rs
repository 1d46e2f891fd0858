//! Load generator for servers that speak the CQL native protocol, through the `scylla` driver.
//!
//! One thread, one connection by default, so many requests under way at once. It prints one line of
//! JSON. What it is not: a judge; the runner beside it starts the servers and makes the table.

mod fill;
mod rows;
mod work;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use scylla::client::PoolSize;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use shelfmark_load_measure::{Result, Timing, measure};

use work::Work;

/// How long the driver may take to connect.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// What is asked, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Operation {
    /// Make the tables and fill them.
    Setup,
    /// Read one row by its key.
    Select,
    /// Read a partition of 100 rows.
    Range,
    /// Write one row.
    Insert,
    /// Write one column if the row exists.
    Lwt,
    /// Write two columns of a row.
    Update,
    /// Write a row without one of its columns.
    Partial,
    /// Write one row that expires in ten days.
    Ttl,
    /// Write 25 rows of one partition in a batch without a log.
    Batch,
    /// Count one up, of a thousand counters.
    Counter,
    /// Write an entry of a map and an element of a set.
    Collection,
    /// Write one row of a table with a secondary index.
    Indexed,
}

/// Asks one CQL server for one kind of work and says how fast it answered.
#[derive(Debug, Parser)]
struct Options {
    /// Address of the server.
    #[arg(long, default_value = "127.0.0.1:9042")]
    endpoint: String,
    #[arg(value_enum)]
    operation: Operation,
    /// Connections for requests.
    #[arg(long, default_value = "1")]
    connections: NonZeroUsize,
    #[command(flatten)]
    timing: Timing,
    /// Rows of the table of single rows.
    #[arg(long, default_value_t = 100_000)]
    rows: u64,
    /// Partitions of the table of partitions.
    #[arg(long, default_value_t = 1_000)]
    partitions: u64,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let session = Arc::new(connect(&options).await?);
        if options.operation == Operation::Setup {
            fill::fill(&session, &options).await
        } else {
            let work = Work::prepare(session, &options).await?;
            measure(&options.timing, |_| work.clone()).await
        }
    })
}

async fn connect(options: &Options) -> Result<Session> {
    let builder = SessionBuilder::new()
        .known_node(&options.endpoint)
        .pool_size(PoolSize::PerHost(options.connections))
        .connection_timeout(CONNECT_MAX)
        .tcp_nodelay(true);
    Ok(builder.build().await?)
}
