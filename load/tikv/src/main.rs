//! Load generator that asks a TiKV cluster for the rows that Shelfmark keeps there.
//!
//! It reads the same keys as requests to a server do, by the cluster's client library alone: what a
//! server costs beside that is the difference. It prints one line of JSON. What it is not: a writer, nor
//! a judge of what it reads beyond its presence.

use std::sync::Arc;

use clap::{Parser, ValueEnum};
use shelfmark_load_measure::{Random, Requester, Result, Timing, measure};
use tikv_client::{BoundRange, CheckLevel, Key, Snapshot, TransactionClient, TransactionOptions};

/// Rows of a page.
const PAGE_ROWS: u32 = 100;
/// Keys that are listed with one request.
const KEYS_AT_ONCE: u32 = 5_000;
/// Behind the space's name: the keys of the storage contract (`docs/format.md`).
const CONTRACT: [u8; 2] = [0, 1];

/// What is asked, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Operation {
    /// Read one row by its key.
    Get,
    /// Read 100 rows that follow each other.
    Page,
}

/// Asks the stores of a cluster for one kind of work and says how fast they answered.
#[derive(Debug, Clone, Parser)]
struct Options {
    #[arg(value_enum)]
    operation: Operation,
    /// Addresses of placement drivers, separated by commas.
    #[arg(long)]
    placement: String,
    /// Name of the space on the cluster.
    #[arg(long, default_value = "")]
    space: String,
    /// Clients of the library; each has a connection to each store.
    #[arg(long, default_value_t = 2)]
    clients: usize,
    /// Least bytes of a value: shorter ones are not rows of the load.
    #[arg(long, default_value_t = 150)]
    value_bytes_min: usize,
    #[command(flatten)]
    timing: Timing,
}

/// One requester.
struct Reader {
    operation: Operation,
    client: Arc<TransactionClient>,
    keys: Arc<Vec<Key>>,
}

impl Requester for Reader {
    async fn once(&mut self, random: &mut Random) -> Result<()> {
        let mut snapshot = now(&self.client).await?;
        let pages = self.keys.len().saturating_sub(PAGE_ROWS as usize);
        match self.operation {
            Operation::Get => {
                let at = usize::try_from(random.below(self.keys.len() as u64))?;
                let key = self.keys.get(at).ok_or("no rows")?.clone();
                snapshot.get(key).await?.map(drop).ok_or_else(|| "a row is gone".into())
            }
            Operation::Page => {
                let at = usize::try_from(random.below(pages as u64))?;
                let ends = (self.keys.get(at), self.keys.get(at + PAGE_ROWS as usize));
                let (Some(first), Some(end)) = ends else {
                    return Err("fewer rows than a page has".into());
                };
                let range = BoundRange::from(first.clone()..end.clone());
                let rows = snapshot.scan(range, PAGE_ROWS).await?.count();
                if rows == PAGE_ROWS as usize { Ok(()) } else { Err("rows are gone".into()) }
            }
        }
    }
}

async fn now(client: &TransactionClient) -> Result<Snapshot> {
    let options = TransactionOptions::new_optimistic().drop_check(CheckLevel::None);
    Ok(client.snapshot(client.current_timestamp().await?, options))
}

/// Lists the keys of the space whose values are as long as the rows of the load.
async fn keys(client: &TransactionClient, options: &Options) -> Result<Vec<Key>> {
    let prefix = [b"x", options.space.as_bytes(), &CONTRACT].concat();
    let mut end = prefix.clone();
    end.pop();
    end.push(CONTRACT[1] + 1);
    let (mut start, mut keys) = (prefix, Vec::new());
    loop {
        let range = BoundRange::from(start.clone()..end.clone());
        let rows: Vec<_> = now(client).await?.scan(range, KEYS_AT_ONCE).await?.collect();
        let Some(last) = rows.last() else { return Ok(keys) };
        start = [<&[u8]>::from(&last.0), &[0]].concat();
        let long = rows.into_iter().filter(|row| row.1.len() >= options.value_bytes_min);
        keys.extend(long.map(|row| row.0));
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let placement: Vec<&str> = options.placement.split(',').collect();
        let mut clients = Vec::new();
        for _ in 0..options.clients.max(1) {
            clients.push(Arc::new(TransactionClient::new(placement.clone()).await?));
        }
        let first = clients.first().ok_or("no client")?;
        let keys = Arc::new(keys(first, &options).await?);
        measure(&options.timing, |number| Reader {
            operation: options.operation,
            client: Arc::clone(&clients[number as usize % clients.len()]),
            keys: Arc::clone(&keys),
        })
        .await
    })
}
