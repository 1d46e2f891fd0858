//! An async program over the embedded store: tasks that write side by side, and a range as a stream.
//!
//! The store blocks, so writes and long ranges run on threads that may; point reads of memory may run
//! in the task. `docs/async.md` says why.
//!
//! Run it with `cargo run -p shelfmark --example async`.

#![expect(clippy::print_stdout, reason = "it shows what it does")]

use shelfmark::{Error, ErrorKind, OrderedTable, Shelfmark};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_blocking};

/// Degrees by sensor and second.
type Readings = OrderedTable<(String, u32), f64>;

/// Some of them, in key order.
type Page = Vec<((String, u32), f64)>;

/// Tasks that write at the same time, and what each writes.
const SENSORS: u32 = 8;
const READINGS: u32 = 25;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shelfmark = Shelfmark::memory()?;
    let readings: Readings = OrderedTable::named(&shelfmark.database("weather")?, "readings")?;

    let mut tasks = JoinSet::new();
    for sensor in 0..SENSORS {
        tasks.spawn(record(readings.clone(), format!("sensor {sensor}")));
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }

    // A point read takes microseconds, so it may run in the task.
    println!("sensor 3 began at {:?} degrees", readings.get(("sensor 3", 0))?);

    let mut stream = stream_of(readings.clone(), "sensor 3".to_owned());
    let (mut count, mut sum) = (0_u32, 0.0);
    while let Some(page) = stream.recv().await {
        for (_, degrees) in page? {
            count += 1;
            sum += degrees;
        }
    }
    println!("{count} readings, {:.1} degrees on average", sum / f64::from(count));
    assert_eq!((count, readings.count()?), (READINGS, u64::from(SENSORS * READINGS)));

    // Closing writes everything out.
    spawn_blocking(move || shelfmark.close()).await??;
    Ok(())
}

/// Writes readings one after the other, each durable before the next.
async fn record(readings: Readings, sensor: String) -> Result<(), Error> {
    for second in 0..READINGS {
        let (readings, sensor) = (readings.clone(), sensor.clone());
        let degrees = 20.0 + f64::from(second) / 10.0;
        let write = spawn_blocking(move || readings.insert((&sensor, second), &degrees));
        write.await.map_err(|_| Error::new(ErrorKind::Internal, "the writer panicked"))??;
    }
    Ok(())
}

/// Returns the readings of a sensor page by page, read ahead by two pages at most.
fn stream_of(readings: Readings, sensor: String) -> mpsc::Receiver<Result<Page, Error>> {
    let (send, receive) = mpsc::channel(2);
    spawn_blocking(move || {
        let range = match readings.prefix(sensor.as_str()) {
            Ok(range) => range,
            Err(error) => return drop(send.blocking_send(Err(error))),
        };
        for page in range.chunks(10) {
            if send.blocking_send(page).is_err() {
                return; // Nobody listens any more.
            }
        }
    });
    receive
}
