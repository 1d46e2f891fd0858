//! Counters on a cluster whose servers are killed while clients add to them.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use crate::migrate::cql;
use crate::process::{Server, command, shelfmark, stderr, stdout};

/// Adds one by a client of its own; true if the server said that it is done.
fn add(address: &str) -> bool {
    let statement = "UPDATE k.n SET n = n + 1 WHERE a = 1";
    let output = command().args(["cql", "--server", address, "-e", statement]).output().unwrap();
    output.status.success()
}

fn sum(server: &Server) -> i64 {
    let shown = cql(server, "SELECT n FROM k.n WHERE a = 1");
    let number = |word: &str| word.parse().ok();
    shown.split(|c: char| c.is_whitespace() || c == '|').find_map(number).unwrap()
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_server_that_is_killed_loses_and_doubles_no_addition_on_a_cluster() {
    const CLIENTS: i64 = 4;
    let placement = std::env::var("SHELFMARK_TIKV").unwrap();
    let space = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros();
    let engine = format!("tikv://{placement}/killed-{space:x}");
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [stays, killed] =
        folders.each_ref().map(|folder| Server::start_cql(folder.path(), &["--engine", &engine]));
    cql(
        &stays,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    cql(&stays, "CREATE TABLE k.n (a int PRIMARY KEY, n counter)");
    let (done, perhaps) = (AtomicI64::new(0), AtomicI64::new(0));
    let is_dead = AtomicBool::new(false);
    let addresses = [stays.cql.clone(), killed.cql.clone()];
    std::thread::scope(|scope| {
        for address in &addresses {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    // One that finds its server dead has not added; the one before may have.
                    while !is_dead.load(Ordering::SeqCst) {
                        let counter = if add(address) { &done } else { &perhaps };
                        counter.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        }
        while done.load(Ordering::SeqCst) < 40 {
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(killed.stop("-KILL"));
        std::thread::sleep(Duration::from_millis(300));
        is_dead.store(true, Ordering::SeqCst);
    });
    let (done, perhaps) = (done.into_inner(), perhaps.into_inner());
    let counted = sum(&stays);
    assert!(
        counted >= done && counted <= done + perhaps.min(CLIENTS),
        "{counted}: {done}, {perhaps}"
    );
    // The locks that it left are over, and adding goes on.
    assert!(add(&stays.cql));
    assert_eq!(sum(&stays), counted + 1);
    drop(stays.stop("-TERM"));
    let checked = shelfmark(&["verify", "--engine", &engine]);
    assert!(checked.status.success(), "{}{}", stdout(&checked), stderr(&checked));
}
