//! Load generator for servers that speak DynamoDB's HTTP interface.
//!
//! HTTP/1.1 with connections that are kept, each request signed as an SDK signs it, bodies written
//! as text: what the client costs is small beside the server. It prints one line of JSON. What it
//! is not: a judge; the runner beside it starts the servers and makes the table.

mod connection;
mod fill;
mod follow;
mod items;
mod sign;
mod work;

use clap::{Parser, ValueEnum};
use shelfmark_load_measure::{Result, Timing, measure};

use work::Work;

/// What is asked, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Operation {
    /// Make the table and fill it.
    Setup,
    /// Read one item by its key.
    Get,
    /// Read a partition of 100 items.
    Query,
    /// Write one item.
    Put,
    /// Add one to a number of an item.
    Update,
    /// Write four items in a transaction.
    Transact,
    /// Write 25 items in a batch.
    Batch,
    /// Read 25 items in a batch.
    BatchGet,
    /// Follow the table's stream, and say how late records are.
    Follow,
}

/// Asks one server for one kind of work and says how fast it answered.
#[derive(Debug, Clone, Parser)]
struct Options {
    /// Address of the server.
    #[arg(long, default_value = "127.0.0.1:8000")]
    endpoint: String,
    #[arg(value_enum)]
    operation: Operation,
    #[command(flatten)]
    timing: Timing,
    /// Table that is made and asked.
    #[arg(long, default_value = "load")]
    table: String,
    /// Gives the table a stream with both images, when it is made.
    #[arg(long)]
    stream: bool,
    /// Single items of the table.
    #[arg(long, default_value_t = 100_000)]
    items: u64,
    /// Partitions of 100 items.
    #[arg(long, default_value_t = 1_000)]
    partitions: u64,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match options.operation {
            Operation::Setup => fill::fill(&options).await,
            Operation::Follow => follow::follow(&options).await,
            _ => measure(&options.timing, |_| Work::new(&options)).await,
        }
    })
}
