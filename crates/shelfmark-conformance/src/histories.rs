//! Transactions on few hot keys, run side by side: what they saw must be explained by one order.
//!
//! What it is not: the judge. [`crate::history`] says what is wrong, [`crate::workload`] makes the
//! transactions.

use std::mem::discriminant;
use std::sync::Arc;

use shelfmark_store::Store;

use crate::case::Case;
use crate::history::{Anomaly, History, Outcome, check};
use crate::lane::Lane;
use crate::workload::{Workload, interleave, race, race_on};

/// Workloads of each case; the seed of a case is that of its first.
const SEEDS: u64 = 5;
/// Servers that share a store, where the driver lets them.
const SERVERS: usize = 3;
/// The cases that judge histories.
pub const HISTORIES: &[Case] = &[
    Case::seeded("histories", "transactions_by_turns_are_in_one_order", by_turns),
    Case::seeded("histories", "transactions_in_a_race_are_in_one_order", in_a_race),
    Case::seeded("histories", "transactions_of_several_servers_are_in_one_order", on_servers),
];

fn by_turns(lane: &dyn Lane, seed: u64) {
    let store = lane.open();
    each(seed, Workload::new, |workload| interleave(&*store, workload));
}

fn in_a_race(lane: &dyn Lane, seed: u64) {
    let store = lane.open();
    let longer = |seed| Workload { transactions: 40, ..Workload::new(seed) };
    each(seed, longer, |workload| race(&*store, workload));
}

fn on_servers(lane: &dyn Lane, seed: u64) {
    let count = if lane.is_shared() { SERVERS } else { 1 };
    let stores: Vec<Arc<dyn Store>> = (0..count).map(|_| lane.open()).collect();
    let servers: Vec<&dyn Store> = stores.iter().map(|store| &**store).collect();
    let longer = |seed| Workload { clients: 6, transactions: 30, ..Workload::new(seed) };
    each(seed, longer, |workload| race_on(&servers, workload));
}

/// Runs the workloads of `seed` and those after it, and judges each.
fn each(
    seed: u64,
    workload: impl Fn(u64) -> Workload,
    run: impl Fn(Workload) -> shelfmark_store::Result<History>,
) {
    let (mut tried, mut committed) = (0, 0);
    for seed in (0..SEEDS).map(|further| seed.wrapping_add(further)) {
        let workload = workload(seed);
        let history = run(workload).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let anomalies = check(&history);
        assert!(anomalies.is_empty(), "seed {seed}: {}", told(&anomalies));
        tried += workload.clients * workload.transactions;
        let is_committed = |outcome| matches!(outcome, Outcome::Committed(_));
        committed += history.records.iter().filter(|one| is_committed(one.outcome)).count();
    }
    // Whoever refuses everything is in order, too.
    assert!(committed > tried / 5, "of {tried} transactions {committed} committed");
}

/// Tells the first anomaly of each kind: many follow from one.
fn told(anomalies: &[Anomaly]) -> String {
    let mut kinds = Vec::new();
    let mut told = Vec::new();
    for anomaly in anomalies {
        let kind = discriminant(anomaly);
        if !kinds.contains(&kind) {
            kinds.push(kind);
            told.push(anomaly.to_string());
        }
    }
    told.join("; ")
}
