//! Masked columns over restarts, and while permissions change; what Cassandra answers about them is
//! among what was recorded.

use std::sync::Arc;

use shelfmark_cql::{Authorizer, Outcome, PreparedStatement, RequestOptions};
use shelfmark_engine::Share;
use shelfmark_model::TableName;

use crate::statements::World;

fn run(world: &mut World, text: &str) -> String {
    world.run(text).unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

fn by_admin(world: &mut World, text: &str) -> String {
    world.log_in("admin");
    let answer = run(world, text);
    world.log_in("ann");
    answer
}

/// A world with a table of masked columns, and the role `ann`, who may read it and change it.
fn world() -> World {
    let mut world = World::new();
    world.authorize(Authorizer::Cassandra);
    world.log_in("admin");
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}",
        "USE k",
        "CREATE TYPE u (a int)",
        "CREATE TABLE t (k int, c int MASKED WITH DEFAULT, v text MASKED WITH mask_inner(1, null, '#'), \
         w frozen<u> MASKED WITH mask_replace({a: 7}), PRIMARY KEY (k, c))",
        "INSERT INTO t (k, c, v, w) VALUES (1, 2, 'value', {a: 1})",
        "CREATE MATERIALIZED VIEW m AS SELECT * FROM t WHERE k IS NOT NULL AND c IS NOT NULL \
         PRIMARY KEY (c, k)",
        "CREATE ROLE ann WITH LOGIN = true",
        "GRANT SELECT ON KEYSPACE k TO ann",
        "GRANT MODIFY ON KEYSPACE k TO ann",
    ] {
        run(&mut world, text);
    }
    world.log_in("ann");
    world
}

#[test]
fn masks_are_kept_over_restarts() {
    let mut world = world();
    let all = "k | c | v | w\n1 | 0 | 'v####' | {a: 7}";
    assert_eq!(run(&mut world, "SELECT * FROM t"), all);
    let described = by_admin(&mut world, "DESCRIBE TABLE t");
    assert!(
        described.contains("v text MASKED WITH system.mask_inner(1, null, ''#'')"),
        "{described}"
    );
    world.restart();
    assert_eq!(by_admin(&mut world, "DESCRIBE TABLE t"), described);
    assert_eq!(run(&mut world, "SELECT * FROM t"), all);
    assert_eq!(run(&mut world, "SELECT * FROM m"), "c | k | v | w\n0 | 1 | 'v####' | {a: 7}");
    by_admin(&mut world, "ALTER TYPE u ADD b int");
    by_admin(&mut world, "ALTER TABLE t ALTER v DROP MASKED");
    world.restart();
    let fewer = "k | c | v | w\n1 | 0 | 'value' | {a: 7, b: null}";
    assert_eq!(run(&mut world, "SELECT * FROM t"), fewer);
    assert_eq!(run(&mut world, "SELECT v FROM m"), "v\n'value'");
}

/// What a builder of an older build would show unmasked, it does not read.
#[test]
fn records_of_masks_have_a_version_of_their_own() {
    let mut world = world();
    by_admin(&mut world, "CREATE TABLE plain (k int PRIMARY KEY)");
    let version = |world: &World, name: &str| {
        let table = world.engine().table(&TableName::new("k", name)).unwrap();
        let attachment = table.schema.cells.as_ref().unwrap().attachment.to_vec();
        let json: serde_json::Value = serde_json::from_slice(&attachment).unwrap();
        json["version"].as_u64()
    };
    assert_eq!((version(&world, "t"), version(&world, "plain")), (Some(2), Some(1)));
}

/// Other faces know no masks: a masked table is theirs only where its own option says so.
#[test]
fn masked_tables_are_not_shared_unless_they_say_so() {
    let mut world = world();
    let share = |world: &World, name: &str| {
        Share::of_table(&world.engine().table(&TableName::new("k", name)).unwrap().schema)
    };
    assert_eq!((share(&world, "t"), share(&world, "m")), (Some(Share::None), Some(Share::None)));
    by_admin(&mut world, "ALTER TABLE t WITH share = 'read'");
    assert_eq!(share(&world, "t"), Some(Share::Read));
    by_admin(&mut world, "ALTER TABLE t WITH share = ''");
    assert_eq!(share(&world, "t"), Some(Share::None));
    for column in ["c", "v", "w"] {
        by_admin(&mut world, &format!("ALTER TABLE t ALTER {column} DROP MASKED"));
    }
    assert_eq!((share(&world, "t"), share(&world, "m")), (None, None));
}

#[test]
fn a_prepared_statement_shows_what_its_role_may_see_when_it_runs() {
    let mut world = world();
    let read = world.prepare("SELECT v FROM t WHERE k = 1 AND c = 2").unwrap();
    let write = world.prepare("UPDATE t SET v = 'x' WHERE k = 1 AND c = 2 IF v = 'y'").unwrap();
    let shown = |world: &World, statement: &Arc<PreparedStatement>| {
        let answered = world.execute(statement, RequestOptions::default());
        answered.map(|answered| match answered.outcome {
            Outcome::Rows(rows) => String::from_utf8_lossy(rows.rows.bytes()).into_owned(),
            other => panic!("{other:?}"),
        })
    };
    assert!(shown(&world, &read).unwrap_err().message.contains("cannot query masked columns [c]"));
    assert!(shown(&world, &write).unwrap().contains("v####"));
    by_admin(&mut world, "GRANT SELECT_MASKED ON t TO ann");
    assert!(shown(&world, &read).unwrap().contains("v####"));
    by_admin(&mut world, "GRANT UNMASK ON t TO ann");
    assert!(shown(&world, &read).unwrap().contains("value"));
    assert!(shown(&world, &write).unwrap().contains("value"));
    by_admin(&mut world, "REVOKE UNMASK ON t FROM ann");
    assert!(shown(&world, &read).unwrap().contains("v####"));
    assert!(shown(&world, &write).unwrap().contains("v####"));
    // Where nothing is checked, nothing is masked.
    world.authorize(Authorizer::AllowAll);
    assert!(run(&mut world, "SELECT v FROM k.t").contains("value"));
}
