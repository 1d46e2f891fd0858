//! Counts what the store of the test bed and its placement driver are asked.
//!
//! Leases and collection ask, too, so each call is made several times and the least count holds; tests
//! that count run alone.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

const TRIES: usize = 24;

/// Requests by method.
type Calls = BTreeMap<String, u64>;

fn counted() -> Calls {
    let answer = ask("/calls");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let line = |line: &str| {
        let (method, count) = line.split_once(' ').unwrap();
        (method.to_owned(), count.parse().unwrap())
    };
    let mut calls: Calls = body.lines().map(line).collect();
    calls.insert("Tso".to_owned(), timestamps_asked());
    calls
}

/// Returns how many requests for timestamps the placement driver has had, by its own metrics.
fn timestamps_asked() -> u64 {
    let placement = std::env::var("SHELFMARK_TIKV").unwrap();
    let metrics = ask_at(placement.split(',').next().unwrap(), "/metrics");
    let received = metrics.lines().find(|line| {
        line.starts_with("grpc_server_msg_received_total") && line.contains("\"Tso\"")
    });
    received.unwrap().rsplit_once(' ').unwrap().1.parse().unwrap()
}

/// Returns how many requests of a method the store has had.
pub(crate) fn count_of(method: &str) -> u64 {
    counted().get(method).copied().unwrap_or(0)
}

/// Returns what `call` asks for, at the least, as a text: `1 KvGet, 1 Tso`.
pub(crate) fn asked(mut call: impl FnMut()) -> String {
    // Regions and leaders are looked up once.
    call();
    let tries = (0..TRIES).map(|_| {
        let before = counted();
        call();
        let mut after = counted();
        after.retain(|method, count| {
            *count -= before.get(method).copied().unwrap_or(0);
            *count > 0
        });
        after
    });
    let least = tries.min_by_key(|calls| calls.values().sum::<u64>()).unwrap();
    let texts: Vec<String> =
        least.iter().map(|(method, count)| format!("{count} {method}")).collect();
    texts.join(", ")
}

/// Asks the bed's switch; returns what it says.
pub(crate) fn ask(path: &str) -> String {
    ask_at(&std::env::var("SHELFMARK_TIKV_FAULTS").expect("the fault switch of the bed"), path)
}

/// Sends a request to `address`; returns the answer with its head.
pub(crate) fn ask_at(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
