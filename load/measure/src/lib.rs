//! What load generators share: requesters, percentiles, processor time, random values.
//!
//! Requesters wait for each answer before they ask again (closed loop), or ask at moments that are
//! given beforehand and count the time from there (open loop, so that a slow answer does not hide
//! the requests that it kept waiting). The result is one line of JSON. What it is not: a judge; the
//! runners beside it start the servers and make the tables.

mod machine;
mod random;

use std::error::Error;
use std::time::{Duration, Instant};

use clap::Args;
use hdrhistogram::Histogram;

use machine::Usage;
pub use random::Random;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// How long to ask, how many at once, and whose processor time to look at.
#[derive(Debug, Clone, Args)]
pub struct Timing {
    /// Requests under way at once.
    #[arg(long, default_value_t = 64)]
    pub in_flight: u32,
    /// Seconds that are measured.
    #[arg(long, default_value_t = 5.0)]
    pub seconds: f64,
    /// Seconds before that.
    #[arg(long, default_value_t = 2.0)]
    pub warm_up: f64,
    /// Requests a second, at moments given beforehand; without it each requester asks as it can.
    #[arg(long)]
    pub rate: Option<f64>,
    /// Process of the server, to see what CPU and memory it takes.
    #[arg(long)]
    pub process: Option<u32>,
}

/// Asks one request after the other.
pub trait Requester: Send + 'static {
    /// Asks once, and checks the answer.
    fn once(&mut self, random: &mut Random) -> impl Future<Output = Result<()>> + Send;
}

/// What one requester saw.
struct Seen {
    micros: Histogram<u64>,
    failed: u64,
    error: Option<String>,
}

/// The stretch of time that is measured, and when this requester asks in it.
#[derive(Clone, Copy)]
struct Plan {
    from: Instant,
    until: Instant,
    first: Instant,
    /// From one request of this requester to its next; none in a closed loop.
    pace: Option<Duration>,
}

/// Lets `in_flight` requesters ask, and prints the line.
pub async fn measure<R: Requester>(
    timing: &Timing,
    mut requester: impl FnMut(u32) -> R,
) -> Result<()> {
    let start = Instant::now();
    let from = start + Duration::from_secs_f64(timing.warm_up);
    let until = from + Duration::from_secs_f64(timing.seconds);
    let pace = timing.rate.map(|rate| Duration::from_secs_f64(f64::from(timing.in_flight) / rate));
    let mut tasks = Vec::new();
    for number in 0..timing.in_flight {
        let share = f64::from(number) / f64::from(timing.in_flight);
        let first = start + pace.unwrap_or_default().mul_f64(share);
        let plan = Plan { from, until, first, pace };
        tasks.push(tokio::spawn(ask(requester(number), u64::from(number), plan)));
    }
    tokio::time::sleep_until(from.into()).await;
    let before = Usage::now(timing.process);
    tokio::time::sleep_until(until.into()).await;
    let used = Usage::now(timing.process).since(&before);
    let mut all = Seen { micros: Histogram::new(3)?, failed: 0, error: None };
    for task in tasks {
        let seen = task.await??;
        all.micros.add(&seen.micros)?;
        all.failed += seen.failed;
        all.error = all.error.or(seen.error);
    }
    println!("{}", line(timing, &all, &used));
    Ok(())
}

fn line(timing: &Timing, all: &Seen, used: &Usage) -> serde_json::Value {
    serde_json::json!({
        "per_second": (all.micros.len() as f64 / timing.seconds).round(),
        "p50_micros": all.micros.value_at_quantile(0.5),
        "p99_micros": all.micros.value_at_quantile(0.99),
        "max_micros": all.micros.max(),
        "failed": all.failed,
        "error": all.error,
        "server_cores": used.server / timing.seconds,
        "client_cores": used.client / timing.seconds,
        "server_megabytes": used.server_megabytes,
    })
}

/// Asks until it is time, one request after the other.
async fn ask<R: Requester>(mut requester: R, seed: u64, plan: Plan) -> Result<Seen> {
    let mut seen = Seen { micros: Histogram::new(3)?, failed: 0, error: None };
    let mut random = Random::new(seed);
    let mut due = plan.first;
    loop {
        let began = match plan.pace {
            None => Instant::now(),
            Some(pace) => {
                let moment = due;
                due += pace;
                wait_for(moment).await
            }
        };
        if began >= plan.until {
            return Ok(seen);
        }
        let outcome = requester.once(&mut random).await;
        let now = Instant::now();
        if began < plan.from || now > plan.until {
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

/// Returns the moment from which a request counts: a timer wakes up to a millisecond late, which is
/// not the server's doing; a requester that is behind its plan is, and counts from the plan.
async fn wait_for(moment: Instant) -> Instant {
    if Instant::now() >= moment {
        return moment;
    }
    tokio::time::sleep_until(moment.into()).await;
    Instant::now()
}
