//! Which changes of the schema clients are told of: what a statement names, and what changes with it.

use shelfmark_cql::{Outcome, RequestOptions};

use crate::statements::World;

/// Runs a statement; returns the name that it says and those that it says beside.
fn told(world: &mut World, text: &str) -> (String, Vec<String>) {
    let statement = world.prepare(text).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    let answered = world.execute(&statement, RequestOptions::default());
    let answered = answered.unwrap_or_else(|error| panic!("{text}: {}", error.message));
    let Outcome::SchemaChange(change) = answered.outcome else { panic!("{text}") };
    (change.name, answered.beside.into_iter().map(|own| own.name).collect())
}

#[test]
fn what_is_made_of_a_type_and_what_goes_with_a_keyspace_is_told_of() {
    let mut world = World::new();
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}",
        "USE k",
        "CREATE TYPE u (a int)",
        "CREATE TYPE outer (u frozen<u>)",
        "CREATE TYPE apart (a int)",
        "CREATE TABLE other (k int PRIMARY KEY, v frozen<apart>)",
        "CREATE TABLE t (k int, c int, v frozen<outer>, PRIMARY KEY (k, c))",
        "CREATE MATERIALIZED VIEW w AS SELECT * FROM t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)",
    ] {
        world.run(text).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    }
    let told = |world: &mut World, text| told(world, text).1.join(" ");
    assert_eq!(told(&mut world, "ALTER TYPE u ADD b int"), "outer t w");
    assert_eq!(told(&mut world, "ALTER TYPE u RENAME b TO c"), "outer t w");
    assert_eq!(told(&mut world, "CREATE TYPE more (a int)"), "");
    assert_eq!(told(&mut world, "DROP KEYSPACE k"), "w other t apart more outer u");
}

#[test]
fn views_of_an_altered_table_are_told_of_too() {
    let mut world = World::new();
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}",
        "USE k",
        "CREATE TABLE other (k int PRIMARY KEY)",
        "CREATE TABLE t (k int, c int, v int, PRIMARY KEY (k, c))",
        "CREATE MATERIALIZED VIEW w AS SELECT * FROM t WHERE k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, k)",
    ] {
        world.run(text).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    }
    for (text, name, beside) in [
        ("ALTER TABLE t ADD x int", "t", vec!["w"]),
        ("ALTER TABLE t RENAME c TO d", "t", vec!["w"]),
        ("ALTER TABLE t WITH comment = 'x'", "t", vec![]),
        ("CREATE TABLE more (k int PRIMARY KEY)", "more", vec![]),
    ] {
        let said = told(&mut world, text);
        assert_eq!(
            said,
            (name.to_owned(), beside.into_iter().map(str::to_owned).collect()),
            "{text}"
        );
    }
}
