//! Permissions that change while statements are prepared, read page by page, batched or run by others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use shelfmark_cql::{
    Authorizer, BatchEntry, BatchKind, BatchRequest, CqlError, ErrorCode, Outcome,
    PreparedStatement, RequestOptions, User, Values,
};

use crate::statements::World;

/// A world with the role `ann`, who may do nothing yet, and the tables `t` and `u`.
fn world() -> World {
    let mut world = World::new();
    world.authorize(Authorizer::Cassandra);
    world.log_in("admin");
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}",
        "USE k",
        "CREATE TABLE t (k int PRIMARY KEY, v int)",
        "CREATE TABLE u (k int PRIMARY KEY, v int)",
        "INSERT INTO t (k, v) VALUES (1, 1)",
        "INSERT INTO t (k, v) VALUES (2, 2)",
        "CREATE ROLE ann WITH LOGIN = true",
    ] {
        run(&mut world, text);
    }
    world
}

fn run(world: &mut World, text: &str) -> String {
    world.run(text).unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

fn by_admin(world: &mut World, text: &str) {
    world.log_in("admin");
    run(world, text);
    world.log_in("ann");
}

fn refused<T>(answer: Result<T, CqlError>, needs: &str) {
    let error = answer.err().unwrap();
    assert_eq!(error.code, ErrorCode::Unauthorized, "{}", error.message);
    assert_eq!(error.message, format!("User ann has no {needs} or any of its parents"));
}

fn execute(world: &World, statement: &Arc<PreparedStatement>) -> Result<Outcome, CqlError> {
    world.execute(statement, RequestOptions::default()).map(|answered| answered.outcome)
}

#[test]
fn a_prepared_statement_is_looked_at_each_time_it_runs() {
    let mut world = world();
    world.log_in("ann");
    // Preparing needs nothing: it shows no more than the schema's tables do.
    let read = world.prepare("SELECT * FROM t").unwrap();
    let write = world.prepare("UPDATE t SET v = 3 WHERE k = 1").unwrap();
    refused(execute(&world, &read), "SELECT permission on <table k.t>");
    refused(execute(&world, &write), "MODIFY permission on <table k.t>");
    by_admin(&mut world, "GRANT SELECT ON t TO ann");
    execute(&world, &read).unwrap();
    refused(execute(&world, &write), "MODIFY permission on <table k.t>");
    by_admin(&mut world, "REVOKE SELECT ON t FROM ann");
    refused(execute(&world, &read), "SELECT permission on <table k.t>");
    by_admin(&mut world, "GRANT MODIFY ON KEYSPACE k TO ann");
    execute(&world, &write).unwrap();
    refused(execute(&world, &read), "SELECT permission on <table k.t>");
    // By way of another role, and no more when that is gone.
    by_admin(&mut world, "CREATE ROLE readers");
    by_admin(&mut world, "GRANT SELECT ON ALL KEYSPACES TO readers");
    by_admin(&mut world, "GRANT readers TO ann");
    execute(&world, &read).unwrap();
    by_admin(&mut world, "DROP ROLE readers");
    refused(execute(&world, &read), "SELECT permission on <table k.t>");
}

#[test]
fn the_next_page_is_refused_once_the_permission_is_taken() {
    let mut world = world();
    by_admin(&mut world, "GRANT SELECT ON t TO ann");
    let read = world.prepare("SELECT * FROM t").unwrap();
    let page = |paging| RequestOptions { page_size: Some(1), paging, ..RequestOptions::default() };
    let Outcome::Rows(first) = world.execute(&read, page(None)).unwrap().outcome else {
        panic!("a read answers rows");
    };
    assert!(first.paging.is_some());
    world.execute(&read, page(first.paging.clone())).unwrap();
    by_admin(&mut world, "REVOKE SELECT ON t FROM ann");
    refused(world.execute(&read, page(first.paging)), "SELECT permission on <table k.t>");
}

#[test]
fn a_view_that_is_made_meanwhile_makes_plans_stale() {
    let mut world = world();
    by_admin(&mut world, "GRANT SELECT, MODIFY ON t TO ann");
    let write = world.prepare("UPDATE t SET v = 3 WHERE k = 1").unwrap();
    execute(&world, &write).unwrap();
    assert!(!world.executor().is_stale(&write));
    by_admin(
        &mut world,
        "CREATE MATERIALIZED VIEW seen AS SELECT k, v FROM t WHERE k IS NOT NULL AND v IS NOT NULL \
         PRIMARY KEY (v, k)",
    );
    assert!(world.executor().is_stale(&write), "the connection prepares it again");
    let write = world.prepare("UPDATE t SET v = 3 WHERE k = 1").unwrap();
    refused(execute(&world, &write), "MODIFY permission on <table k.seen>");
    by_admin(&mut world, "DROP MATERIALIZED VIEW seen");
    assert!(world.executor().is_stale(&write));
    let write = world.prepare("UPDATE t SET v = 3 WHERE k = 1").unwrap();
    execute(&world, &write).unwrap();
}

#[test]
fn of_a_batch_every_statement_is_looked_at_before_any_is_run() {
    let mut world = world();
    by_admin(&mut world, "GRANT MODIFY ON t TO ann");
    let texts = ["INSERT INTO t (k, v) VALUES (5, 5)", "INSERT INTO u (k, v) VALUES (5, 5)"];
    let batch = |world: &World| {
        let entries = texts.map(|text| BatchEntry {
            statement: world.prepare(text).unwrap(),
            values: Values::default(),
        });
        let request = BatchRequest { kind: BatchKind::Logged, entries: entries.into() };
        let user = Some(User { name: "ann".into(), start_role: "admin".into() });
        let (sender, receiver) = mpsc::channel();
        let answer = Box::new(move |answered| sender.send(answered).unwrap());
        let options = RequestOptions { user, ..RequestOptions::default() };
        world.executor().batch(request, options, answer);
        receiver.recv().unwrap()
    };
    refused(batch(&world), "MODIFY permission on <table k.u>");
    world.log_in("admin");
    assert_eq!(run(&mut world, "SELECT k FROM t WHERE k = 5"), "k");
    by_admin(&mut world, "GRANT MODIFY ON u TO ann");
    batch(&world).unwrap();
}

#[test]
fn what_was_taken_is_never_remembered() {
    let mut world = world();
    world.log_in("ann");
    let read = world.prepare("SELECT * FROM u").unwrap();
    let admin = User { name: "admin".into(), start_role: "admin".into() };
    let run_as_admin = |text: &str| {
        let options = RequestOptions {
            user: Some(admin.clone()),
            keyspace: Some("k".into()),
            ..RequestOptions::default()
        };
        let statement = world.executor().prepare(text, Some("k")).unwrap();
        let (sender, receiver) = mpsc::channel();
        let answer = Box::new(move |answered| sender.send(answered).unwrap());
        world.executor().execute(&statement, options, answer);
        receiver.recv().unwrap().unwrap();
    };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = execute(&world, &read);
                }
            });
        }
        for _ in 0..200 {
            run_as_admin("GRANT SELECT ON u TO ann");
            let allowed = execute(&world, &read);
            run_as_admin("REVOKE SELECT ON u FROM ann");
            let answer = execute(&world, &read);
            if allowed.is_err() || answer.is_ok() {
                done.store(true, Ordering::Relaxed);
            }
            allowed.unwrap();
            refused(answer, "SELECT permission on <table k.u>");
        }
        done.store(true, Ordering::Relaxed);
    });
}
