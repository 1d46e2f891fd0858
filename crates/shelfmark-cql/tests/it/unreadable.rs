//! Records that cannot be read: one of them is one table, type or keyspace that cannot be used.

use shelfmark_cql::ErrorCode;
use shelfmark_engine::CatalogueChange;
use shelfmark_model::TableName;

use crate::statements::World;

fn run(world: &mut World, text: &str) -> String {
    world.run(text).unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

fn refused(world: &mut World, text: &str, message: &str) {
    let error = world.run(text).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Server, message), "{text}");
}

fn world() -> World {
    let mut world = World::new();
    for keyspace in ["a", "b"] {
        run(
            &mut world,
            &format!("CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy'}}"),
        );
        run(&mut world, &format!("CREATE TYPE {keyspace}.u (x int)"));
        for table in ["t", "o"] {
            run(&mut world, &format!("CREATE TABLE {keyspace}.{table} (k int PRIMARY KEY, v int)"));
            run(&mut world, &format!("INSERT INTO {keyspace}.{table} (k, v) VALUES (1, 2)"));
        }
    }
    world
}

fn spoil_table(world: &World, keyspace: &str, table: &str) {
    let name = TableName::new(keyspace, table);
    let spoil = CatalogueChange::AlterTable(
        name,
        Box::new(|schema| {
            schema.cells.as_mut().unwrap().attachment = "{}".into();
            Ok(())
        }),
    );
    world.engine().change_catalogue(vec![spoil]).unwrap();
}

fn spoil_keyspace(world: &World, name: &str, attachment: impl Into<Vec<u8>>) {
    let attachment = attachment.into().into();
    let spoil = CatalogueChange::AlterNamespace { name: name.to_owned(), attachment };
    world.engine().change_catalogue(vec![spoil]).unwrap();
}

#[test]
fn a_table() {
    let mut world = world();
    spoil_table(&world, "a", "t");
    world.restart();
    for table in ["a.o", "b.t", "b.o"] {
        assert_eq!(run(&mut world, &format!("SELECT * FROM {table}")), "k | v\n1 | 2");
    }
    let what = "what is stored about table a.t cannot be read";
    for text in [
        "SELECT * FROM a.t",
        "INSERT INTO a.t (k) VALUES (1)",
        "TRUNCATE a.t",
        "ALTER TABLE a.t ADD w int",
        "CREATE INDEX ON a.t (v)",
        "CREATE TABLE a.t (k int PRIMARY KEY)",
        "CREATE TABLE IF NOT EXISTS a.t (k int PRIMARY KEY)",
        "CREATE MATERIALIZED VIEW a.w AS SELECT * FROM a.t WHERE k IS NOT NULL PRIMARY KEY (k)",
    ] {
        refused(&mut world, text, what);
    }
    // Schema statements about others work, and the listing says it.
    run(&mut world, "ALTER TABLE a.o ADD w int");
    run(&mut world, "CREATE TABLE a.n (k int PRIMARY KEY)");
    for text in ["DESCRIBE KEYSPACE a", "DESCRIBE TABLE a.t", "DESCRIBE SCHEMA"] {
        let shown = run(&mut world, text);
        assert!(shown.contains("Warning: Table a.t omitted because what is stored"), "{shown}");
    }
    assert!(!run(&mut world, "DESCRIBE KEYSPACE b").contains("Warning"));
    assert_eq!(run(&mut world, "DROP TABLE a.t"), "dropped Table a t");
    run(&mut world, "CREATE TABLE a.t (k int PRIMARY KEY)");
    assert_eq!(run(&mut world, "SELECT * FROM a.t"), "k");
    spoil_table(&world, "b", "t");
    world.restart();
    run(&mut world, "DROP KEYSPACE b");
    world.restart();
    assert_eq!(run(&mut world, "SELECT k FROM a.o"), "k\n1");
}

#[test]
fn a_keyspace() {
    let mut world = world();
    spoil_keyspace(&world, "a", "not JSON");
    world.restart();
    assert_eq!(run(&mut world, "SELECT * FROM b.t"), "k | v\n1 | 2");
    refused(&mut world, "SELECT * FROM a.t", "what is stored about table a.t cannot be read");
    for text in [
        "ALTER KEYSPACE a WITH durable_writes = false",
        "CREATE TYPE a.w (x int)",
        "ALTER TYPE a.u ADD y int",
        "CREATE TABLE a.n (k int PRIMARY KEY)",
    ] {
        refused(&mut world, text, "what is stored about keyspace a cannot be read");
    }
    let shown = run(&mut world, "DESCRIBE KEYSPACE a");
    assert!(shown.contains("Warning: Keyspace a omitted"), "{shown}");
    run(&mut world, "DROP TABLE a.t");
    run(&mut world, "DROP KEYSPACE a");
    run(&mut world, "CREATE KEYSPACE a WITH replication = {'class': 'SimpleStrategy'}");
}

#[test]
fn a_type() {
    let mut world = world();
    run(&mut world, "CREATE TABLE a.uses (k int PRIMARY KEY, v frozen<u>)");
    run(&mut world, "INSERT INTO a.uses (k, v) VALUES (1, {x: 7})");
    let record = r#"{"version":1,"durable_writes":true,"replication":[["class","org.apache.cassandra.locator.SimpleStrategy"]],"types":[["u",[["x","NoSuchType"]]]]}"#;
    let record = record
        .replace(r#"["u",[["x","NoSuchType"]]]"#, r#"{"name":"u","fields":[["x","NoSuchType"]]}"#);
    spoil_keyspace(&world, "a", record);
    world.restart();
    // Tables know the types that they were made with.
    assert_eq!(run(&mut world, "SELECT v FROM a.uses"), "v\n{x: 7}");
    for text in ["CREATE TYPE a.u (x int)", "ALTER TYPE a.u ADD y int"] {
        refused(&mut world, text, "what is stored about type a.u cannot be read");
    }
    // Another change of the keyspace keeps what is stored about it.
    run(&mut world, "CREATE TYPE a.other (x int)");
    world.restart();
    let shown = run(&mut world, "DESCRIBE KEYSPACE a");
    assert!(shown.contains("Warning: Type a.u omitted"), "{shown}");
    assert!(shown.contains("CREATE TYPE a.other"), "{shown}");
}
