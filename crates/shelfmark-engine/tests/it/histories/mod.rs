//! Concurrent transactions over items, tables and indexes: what they saw must be explained by one
//! order of them.
//!
//! The checker is that of `shelfmark-conformance`, which judges the store in the same way. Here the versions are in
//! items, written by transactions, by several writes at once, by patches and by conditional puts,
//! and read by point, at snapshots and through an index. Beside the histories it is checked that at
//! every snapshot the indexes and counts agree with the items, and that the change log is one
//! unbroken chain.
//!
//! Two ways of being concurrent: *nested*, where the body of a transaction runs others to their end
//! between its own steps, in one thread, so that a seed does the same again; and in a *race* of
//! threads.

mod act;
mod ranged;
mod world;

use shelfmark_store::fault_injection::FaultOptions;
use shelfmark_testkit::seeds;

use self::world::{Sum, World};
use crate::drivers::{Bed, embedded, meaner, memory, restless};

fn mean(seed: u64, late: u16) -> Bed {
    let options = FaultOptions::new(seed);
    meaner(FaultOptions { conflict: 100, busy: 50, undetermined: 80, late, ..options })
}

fn nested(seed: u64, transactions: usize, bed: Bed, sum: &mut Sum) {
    let world = World::new(bed, 0);
    world.nested(seed, transactions);
    sum.add(world.judged());
}

fn race(seed: u64, transactions: usize, filler_bytes: usize, bed: Bed, sum: &mut Sum) {
    let world = World::new(bed, filler_bytes);
    world.race(seed, 4, transactions);
    sum.add(world.judged());
}

#[test]
fn nested_in_memory() {
    let mut sum = Sum::default();
    seeds::each(60, 3_000, |seed| nested(seed, 25, memory(), &mut sum));
    sum.is_fair();
}

#[test]
fn nested_on_the_meanest_driver() {
    let mut sum = Sum::default();
    seeds::each(60, 3_000, |seed| nested(seed, 25, mean(seed, 0), &mut sum));
    sum.is_fair();
    assert!(sum.unknown > 0 || sum.committed < 1_000, "{sum:?}");
}

#[test]
fn nested_on_disk() {
    let mut sum = Sum::default();
    seeds::each(1, 300, |seed| nested(seed, 25, embedded(), &mut sum));
    sum.is_fair();
}

#[test]
fn in_a_race_in_memory() {
    let mut sum = Sum::default();
    seeds::each(12, 2_000, |seed| race(seed, 30, 0, memory(), &mut sum));
    sum.is_fair();
}

#[test]
fn in_a_race_on_the_meanest_driver() {
    let mut sum = Sum::default();
    seeds::each(8, 1_000, |seed| race(seed, 30, 0, mean(seed, 150), &mut sum));
    sum.is_fair();
}

#[test]
fn in_a_race_on_disk_while_it_is_written_out() {
    let mut sum = Sum::default();
    seeds::each(3, 500, |seed| race(seed, 30, 12_000, restless(), &mut sum));
    sum.is_fair();
}
