//! A face over an engine in memory, and the language of the scripts.
//!
//! ```text
//! > GetItem {"TableName": "Music", "Key": {"Artist": {"S": "Nina"}}}
//! ```
//!
//! sends one request and prints its status and its body. With the tag `[quiet]` an answer without
//! fault is not printed; `Records BODY` gets an iterator with that body and prints the pages of
//! records behind it, up to the first empty one; with `[reads]` the lines below say what the engine read for it. `advance SECONDS` moves the clock; `reopen` opens the engine and the
//! face anew over the same store. `object KEY TEXT` puts an object into the bucket `bucket`, `packed KEY
//! TEXT` a packed one; `packed-zstd` one of Zstandard; `objects PREFIX` prints what is in it, unpacked. `without buckets` goes on without one.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use goldenscript::{Command, Context, Runner};
use shelfmark_dynamo::{Buckets as _, Face, FaceOptions, Reply, RequestHead};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::{Clock, ManualClock};
use shelfmark_store::memory::MemoryStore;

use crate::buckets::MemoryBuckets;

/// 2026-11-02T09:00:00Z in microseconds.
const START_MICROS: u64 = 1_793_610_000_000_000;

pub(crate) struct Server {
    pub(crate) clock: Arc<ManualClock>,
    store: Arc<MemoryStore>,
    buckets: Arc<MemoryBuckets>,
    pub(crate) face: Face,
}

impl Server {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::at_micros(START_MICROS));
        let store = Arc::new(MemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>));
        let buckets = Arc::new(MemoryBuckets::default());
        let face = open(&store, &clock).with_buckets(Arc::clone(&buckets) as _);
        Self { clock, store, buckets, face }
    }

    pub(crate) fn call(&self, operation: &str, body: &str) -> Reply {
        self.face.call(&RequestHead::operation(operation), body.as_bytes())
    }

    /// Opens the store anew, as after a restart.
    pub(crate) fn reopen(&mut self) {
        let face = open(&self.store, &self.clock);
        self.face = face.with_buckets(Arc::clone(&self.buckets) as _);
    }

    fn objects(&self, prefix: &str) -> String {
        let mut out = String::new();
        for (key, bytes) in self.buckets.objects() {
            if !key.starts_with(prefix) {
                continue;
            }
            let mut text = String::new();
            let unpacked = flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text);
            if unpacked.is_err() {
                text = String::from_utf8(bytes).unwrap();
            }
            out.push_str(&format!("{key}\n"));
            text.lines().for_each(|line| out.push_str(&format!("  {line}\n")));
        }
        out
    }

    /// Prints the pages of records behind an iterator that is asked for with `body`.
    fn records(&self, body: &str) -> String {
        let parsed = |reply: &Reply| -> serde_json::Value {
            serde_json::from_slice(&reply.body).expect("every body is JSON")
        };
        let reply = self.call("GetShardIterator", body);
        let mut next = parsed(&reply).get("ShardIterator").cloned();
        if next.is_none() {
            return shown(&reply);
        }
        let mut out = String::new();
        while let Some(iterator) = next.take() {
            let reply = self.call("GetRecords", &format!("{{\"ShardIterator\": {iterator}}}"));
            let page = parsed(&reply);
            let Some(serde_json::Value::Array(records)) = page.get("Records") else {
                return out + &shown(&reply);
            };
            for record in records {
                out.push_str(&format!("{record}\n"));
            }
            next = page.get("NextShardIterator").cloned();
            if records.is_empty() {
                break;
            }
        }
        out + if next.is_some() { "and more may come\n" } else { "the shard ends\n" }
    }
}

fn open(store: &Arc<MemoryStore>, clock: &Arc<ManualClock>) -> Face {
    let environment = Environment {
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        random: Arc::new(SeededRandom::new(1)),
    };
    let engine = Engine::open(Arc::clone(store) as _, environment.clone()).unwrap();
    Face::new(engine, environment, FaceOptions::default())
}

impl Runner for Server {
    type Command = Command;

    fn run(&mut self, command: &Command, context: &Context) -> Result<String, Box<dyn Error>> {
        match command.name.as_str() {
            "advance" => {
                let mut args = command.consume_args();
                let seconds = args.next_pos().ok_or("how many seconds?")?.parse()?;
                self.clock.advance(Duration::from_secs(seconds));
                Ok(String::new())
            }
            "reopen" => {
                self.reopen();
                Ok(String::new())
            }
            "without" => {
                self.face = open(&self.store, &self.clock);
                Ok(String::new())
            }
            "object" | "packed" | "packed-zstd" => {
                let mut args = command.consume_args();
                let key = args.next_pos().ok_or("which key?")?.to_owned();
                let text = args.next_pos().ok_or("which text?")?.to_owned();
                let bytes = match command.name.as_str() {
                    "packed" => {
                        let mut packer =
                            flate2::write::GzEncoder::new(Vec::new(), Default::default());
                        packer.write_all(text.as_bytes())?;
                        packer.finish()?
                    }
                    "packed-zstd" => {
                        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
                        compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
                    }
                    _ => text.into_bytes(),
                };
                self.buckets.put("bucket", &key, &bytes)?;
                Ok(String::new())
            }
            "objects" => {
                let mut args = command.consume_args();
                Ok(self.objects(args.next_pos().unwrap_or_default()))
            }
            request => {
                let (operation, body) = request.split_once(' ').unwrap_or((request, "{}"));
                if operation == "Records" {
                    return Ok(self.records(body));
                }
                let reply = self.call(operation, body);
                if context.tags.contains("quiet") && reply.status == 200 {
                    return Ok(String::new());
                }
                let mut out = shown(&reply);
                if context.tags.contains("reads") {
                    out.push_str(&reads(&reply));
                }
                Ok(out)
            }
        }
    }
}

/// Prints an answer; each element of a list of items has a line of its own.
fn shown(reply: &Reply) -> String {
    assert_eq!(reply.crc32, crc(&reply.body), "the checksum is of the body");
    assert_eq!(reply.request_id.len(), 52);
    let body = std::str::from_utf8(&reply.body).unwrap();
    if !body.is_empty() {
        serde_json::from_str::<serde_json::Value>(body).expect("every body is JSON");
    }
    let body = body.replace("\"Items\":[{", "\"Items\":[\n  {").replace("}},{\"", "}},\n  {\"");
    format!("{} {}\n", reply.status, body.replace("},{\"Code\"", "},\n  {\"Code\""))
}

fn reads(reply: &Reply) -> String {
    let mut out = String::new();
    for step in &reply.report.steps {
        let index = step.index.as_ref().map(|name| format!(", index {name}")).unwrap_or_default();
        out.push_str(&format!(
            "  table {}{index}: {} range(s), {} read, {} returned\n",
            step.table,
            step.ranges.len(),
            step.rows_read,
            step.rows_returned
        ));
    }
    out
}

/// CRC-32 as the standard has it, bit by bit: an oracle that shares nothing with the library.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & (0_u32.wrapping_sub(crc & 1)));
        }
    }
    !crc
}
