//! Clients of all faces on the rows of one table: what they saw must be explained by one order of
//! their requests.
//!
//! The checker is that of `shelfmark-conformance`. Each row lists the versions it went through; clients append to it by
//! conditional writes of single rows, by conditional batches and transactions of several, and read
//! rows, partitions and rows of several partitions at one moment. DynamoDB clients and CQL clients
//! come over sockets, others through transactions of the embedded engine.
//!
//! Invariant: a request that was refused changed nothing, and what it was told is a read like others.

mod cql;
mod dynamodb;
mod embedded;
pub(crate) mod world;

use std::sync::Arc;
use std::thread;

use shelfmark_conformance::history::check;
use shelfmark_store::Store;
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::memory::MemoryStore;
use shelfmark_testkit::seeds;

use self::world::{Log, World};

/// Requests of each client.
const REQUESTS: usize = 40;

/// Has two clients of each kind work at once, and judges what they saw.
fn judge(world: &World, seed: u64) {
    judge_beside(std::slice::from_ref(world), seed, || ());
}

/// Has two clients of each kind work on each server at once, and `meanwhile` run beside them.
fn judge_beside(worlds: &[World], seed: u64, meanwhile: impl FnOnce() + Send) {
    let log = Log::default();
    thread::scope(|scope| {
        for (number, world) in (0u64..).zip(worlds.iter().chain(worlds)) {
            let seed = seed.wrapping_mul(64).wrapping_add(number);
            let log = &log;
            scope.spawn(move || dynamodb::work(world, log, seed));
            scope.spawn(move || cql::work(world, log, seed + 16));
            scope.spawn(move || embedded::work(world, log, seed + 32));
        }
        scope.spawn(meanwhile);
    });
    let history = log.ended(&worlds[0]);
    let sum = log.sum();
    assert!(sum.values().all(|count| *count > 0), "what some kind of client never did: {sum:?}");
    assert_eq!(check(&history), [], "seed {seed}: {sum:?}");
}

#[test]
fn in_memory() {
    seeds::each(6, 300, |seed| {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        judge(&World::new(Arc::new(MemoryStore::new(clock))), seed);
    });
}

#[test]
fn on_disk_and_after_a_restart() {
    seeds::each(1, 60, |seed| {
        let folder = tempfile::tempdir().unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let open = || -> Arc<dyn Store> {
            let options = Options::default();
            Arc::new(EmbeddedStore::open(folder.path(), options, Arc::clone(&clock)).unwrap())
        };
        let world = World::new(open());
        judge(&world, seed);
        let rows = world.rows();
        world.stop();
        // What was acknowledged is there, by every face.
        let world = World::again(open());
        assert_eq!(world.rows(), rows);
        assert_eq!(dynamodb::rows(&world), rows);
        assert_eq!(embedded::rows(&world), rows);
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn three_servers_on_a_cluster_while_the_schema_changes() {
    seeds::each(1, 20, |seed| {
        let space = format!("histories-{:x}", SystemClock::new().now_micros());
        let first = World::new(cluster(&space));
        let worlds = [first, World::again(cluster(&space)), World::again(cluster(&space))];
        judge_beside(&worlds, seed, || cql::change_schema(&worlds[1], 6));
        let rows = worlds[0].rows();
        for world in &worlds {
            assert_eq!(world.rows(), rows);
            assert_eq!(dynamodb::rows(world), rows);
            assert_eq!(embedded::rows(world), rows);
        }
        worlds.into_iter().for_each(World::stop);
    });
}

/// Opens a space of the cluster that `SHELFMARK_TIKV` names.
pub(crate) fn cluster(space: &str) -> Arc<dyn Store> {
    let placement = std::env::var("SHELFMARK_TIKV").unwrap();
    let mut options =
        shelfmark_tikv::Options::new(placement.split(',').map(str::to_owned).collect());
    space.clone_into(&mut options.space);
    Arc::new(shelfmark_tikv::TikvStore::open(options, Arc::new(SystemClock::new())).unwrap())
}
