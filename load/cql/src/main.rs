//! Load generator for servers that speak the CQL native protocol, through the `scylla` driver.
//!
//! One thread, one connection by default, so many requests under way at once; each waits for its
//! answer before the next is sent. It prints one line of JSON. What it is not: a judge; the runner
//! beside it starts the servers and makes the table.

mod machine;
mod rows;
mod work;

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use hdrhistogram::Histogram;
use scylla::client::PoolSize;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;

use machine::Usage;
use work::Work;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

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
    /// Requests under way at once.
    #[arg(long, default_value_t = 64)]
    in_flight: usize,
    /// Seconds that are measured.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Seconds before that.
    #[arg(long, default_value_t = 2.0)]
    warm_up: f64,
    /// Rows of the table of single rows.
    #[arg(long, default_value_t = 100_000)]
    rows: u64,
    /// Partitions of the table of partitions.
    #[arg(long, default_value_t = 1_000)]
    partitions: u64,
    /// Process of the server, to see what CPU and memory it takes.
    #[arg(long)]
    process: Option<u32>,
}

fn main() -> Result<()> {
    let options = Arc::new(Options::parse());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let session = Arc::new(connect(&options).await?);
        if options.operation == Operation::Setup {
            work::fill(&session, &options).await
        } else {
            let work = Arc::new(Work::prepare(session, &options).await?);
            measure(&options, work).await
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

/// What one requester saw.
struct Seen {
    micros: Histogram<u64>,
    failed: u64,
    error: Option<String>,
}

async fn measure(options: &Arc<Options>, work: Arc<Work>) -> Result<()> {
    let from = Instant::now() + Duration::from_secs_f64(options.warm_up);
    let until = from + Duration::from_secs_f64(options.seconds);
    let requesters: Vec<_> = (0..options.in_flight)
        .map(|number| tokio::spawn(ask_on(Arc::clone(&work), number as u64, from, until)))
        .collect();
    tokio::time::sleep_until(from.into()).await;
    let before = Usage::now(options.process);
    tokio::time::sleep_until(until.into()).await;
    let used = Usage::now(options.process).since(&before);
    let mut all = Seen { micros: Histogram::new(3)?, failed: 0, error: None };
    for requester in requesters {
        let seen = requester.await??;
        all.micros.add(&seen.micros)?;
        all.failed += seen.failed;
        all.error = all.error.or(seen.error);
    }
    let line = serde_json::json!({
        "per_second": (all.micros.len() as f64 / options.seconds).round(),
        "p50_micros": all.micros.value_at_quantile(0.5),
        "p99_micros": all.micros.value_at_quantile(0.99),
        "failed": all.failed,
        "error": all.error,
        "server_cores": used.server / options.seconds,
        "client_cores": used.client / options.seconds,
        "server_megabytes": used.server_megabytes,
    });
    println!("{line}");
    Ok(())
}

/// Asks until it is time, one request after the other.
async fn ask_on(work: Arc<Work>, seed: u64, from: Instant, until: Instant) -> Result<Seen> {
    let mut seen = Seen { micros: Histogram::new(3)?, failed: 0, error: None };
    let mut random = rows::Random::new(seed);
    loop {
        let began = Instant::now();
        if began >= until {
            return Ok(seen);
        }
        let outcome = work.once(&mut random).await;
        let now = Instant::now();
        if began < from || now > until {
            continue;
        }
        match outcome {
            Ok(()) => seen.micros.record(u64::try_from((now - began).as_micros())?)?,
            Err(error) => {
                seen.failed += 1;
                seen.error.get_or_insert_with(|| error.to_string());
            }
        }
    }
}
