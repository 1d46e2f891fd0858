//! A reader that follows the table's stream beside a writer, and how late it sees each record.
//!
//! The writer puts the microsecond at which it asks into each item; the reader takes it off the
//! clock when the record arrives. Both run in this process, so one clock is read.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use shelfmark_load_measure::{Random, Result};

use crate::Options;
use crate::connection::Connection;
use crate::items::single;

/// How long the reader rests when there is nothing, as a consumer that polls often does.
const REST: Duration = Duration::from_millis(5);

/// Writes at the rate that is asked for, follows the stream, and prints how late records are.
pub async fn follow(options: &Options) -> Result<()> {
    let until = Instant::now() + Duration::from_secs_f64(options.timing.seconds);
    let mut writers = Vec::new();
    let pace = f64::from(options.timing.in_flight) / options.timing.rate.unwrap_or(5_000.0);
    for number in 0..options.timing.in_flight {
        let options = options.clone();
        let pace = Duration::from_secs_f64(pace);
        writers.push(tokio::spawn(async move { write(&options, number, pace, until).await }));
    }
    let mut lates = read(options, until).await?;
    let mut written = 0;
    for writer in writers {
        written += writer.await??;
    }
    lates.sort_unstable();
    let at = |share: f64| lates.get((lates.len() as f64 * share) as usize).copied();
    let line = serde_json::json!({
        "written_per_second": written as f64 / options.timing.seconds,
        "records": lates.len(),
        "late_p50_micros": at(0.5),
        "late_p99_micros": at(0.99),
        "late_max_micros": lates.last(),
    });
    println!("{line}");
    Ok(())
}

async fn write(options: &Options, number: u32, pace: Duration, until: Instant) -> Result<u64> {
    let (mut connection, mut random) =
        (Connection::new(&options.endpoint), Random::new(u64::from(number)));
    let (mut due, mut written) = (Instant::now() + pace.mul_f64(f64::from(number) / 64.0), 0);
    while due < until {
        tokio::time::sleep_until(due.into()).await;
        due += pace;
        let (key, note, now) = (single(random.below(options.items)), random.text(120), micros()?);
        let body = format!(
            r#"{{"TableName":"{}","Item":{{"pk":{{"S":"{key}"}},"sk":{{"S":"000000"}},"note":{{"S":"{note}"}},"at":{{"N":"{now}"}}}}}}"#,
            options.table
        );
        let answer = connection.ask("PutItem", &body).await?;
        if answer.status != 200 {
            return Err(format!("PutItem: {} {}", answer.status, answer.start()).into());
        }
        written += 1;
    }
    Ok(written)
}

/// Follows every shard that there is from its newest record on.
async fn read(options: &Options, until: Instant) -> Result<Vec<u64>> {
    let mut connection = Connection::new(&options.endpoint);
    let streams = format!(r#"{{"TableName":"{}"}}"#, options.table);
    let streams = ask(&mut connection, "ListStreams", &streams).await?;
    let stream = streams["Streams"][0]["StreamArn"].as_str().ok_or("the table has no stream")?;
    let body = format!(r#"{{"StreamArn":"{stream}"}}"#);
    let described = ask(&mut connection, "DescribeStream", &body).await?;
    let mut iterators = Vec::new();
    for shard in described["StreamDescription"]["Shards"].as_array().ok_or("no shards")? {
        let body = serde_json::json!({
            "StreamArn": stream, "ShardId": shard["ShardId"], "ShardIteratorType": "LATEST",
        });
        let answer = ask(&mut connection, "GetShardIterator", &body.to_string()).await?;
        iterators.push(answer["ShardIterator"].as_str().ok_or("no iterator")?.to_owned());
    }
    let mut lates = Vec::new();
    while Instant::now() < until && !iterators.is_empty() {
        let before = lates.len();
        for iterator in std::mem::take(&mut iterators) {
            let body = format!(r#"{{"ShardIterator":"{iterator}"}}"#);
            let answer = ask(&mut connection, "GetRecords", &body).await?;
            let now = micros()?;
            for record in answer["Records"].as_array().into_iter().flatten() {
                if let Some(at) = record["dynamodb"]["NewImage"]["at"]["N"].as_str() {
                    lates.push(now.saturating_sub(at.parse()?));
                }
            }
            iterators.extend(answer["NextShardIterator"].as_str().map(str::to_owned));
        }
        if lates.len() == before {
            tokio::time::sleep(REST).await;
        }
    }
    Ok(lates)
}

async fn ask(connection: &mut Connection, operation: &str, body: &str) -> Result<Value> {
    let target = format!("DynamoDBStreams_20120810.{operation}");
    let answer = connection.ask_target(&target, body).await?;
    if answer.status != 200 {
        return Err(format!("{operation}: {} {}", answer.status, answer.start()).into());
    }
    Ok(serde_json::from_slice(&answer.body)?)
}

fn micros() -> Result<u64> {
    Ok(u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros())?)
}
