//! Numbers and levels beyond which a request is refused: each beside the last that is taken.

use shelfmark_cql::RequestOptions;
use shelfmark_cql_protocol::Consistency;

use crate::statements::World;

fn world(table: &str) -> World {
    let mut world = World::new();
    let keyspace =
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
    for text in [keyspace, "USE k", table] {
        world.run(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    }
    world
}

/// Returns why a statement is refused, nothing if it is not.
fn refusal(world: &mut World, text: &str) -> String {
    world.run(text).err().map(|error| error.message).unwrap_or_default()
}

#[test]
fn a_statement_has_so_many_markers() {
    let world = world("CREATE TABLE t (k int PRIMARY KEY)");
    let said = |count: usize| {
        let markers = vec!["?"; count].join(", ");
        let prepared = world.prepare(&format!("SELECT * FROM t WHERE k IN ({markers})"));
        prepared.err().map(|error| error.message).unwrap_or_default()
    };
    assert_eq!(said(65_535), "");
    let many = "Too many markers(?). 65536 markers exceed the allowed maximum of 65535";
    assert_eq!(said(65_536), many);
}

#[test]
fn a_table_has_so_many_columns() {
    let mut world = world("CREATE TABLE t (k int PRIMARY KEY)");
    let mut said = |name: &str, count: usize| {
        let columns: Vec<String> = (1..count).map(|at| format!("c{at} int")).collect();
        let text = format!("CREATE TABLE {name} (k int PRIMARY KEY, {})", columns.join(", "));
        refusal(&mut world, &text)
    };
    assert_eq!(said("whole", 4_096), "");
    assert_eq!(said("more", 4_097), "a table has at most 4096 columns here");
}

/// An indexed value is shorter than 65,535 bytes; another column of the row takes longer ones.
#[test]
fn an_indexed_value_has_so_many_bytes() {
    let table = "CREATE TABLE t (k int PRIMARY KEY, v text, o text, m map<int, text>, s set<text>, l list<text>)";
    let mut world = world(table);
    for text in [
        "CREATE INDEX by_v ON t (v)",
        "CREATE INDEX by_m ON t (entries(m))",
        "CREATE INDEX by_s ON t (s)",
        "CREATE INDEX by_l ON t (l)",
    ] {
        assert_eq!(refusal(&mut world, text), "");
    }
    let long = |length: usize| "x".repeat(length);
    let mut said = |column: &str, value: &str| {
        refusal(&mut world, &format!("UPDATE t SET {column} = {value} WHERE k = 1"))
    };
    for (column, before, behind, most) in [
        ("v", "'", "'", 65_534),
        ("m", "{1: '", "'}", 65_000),
        ("m[1]", "'", "'", 65_000),
        ("s", "{'", "'}", 65_534),
        ("l", "['", "']", 65_534),
        ("l", "l + ['", "']", 65_534),
    ] {
        let fits = said(column, &format!("{before}{}{behind}", long(most)));
        assert_eq!(fits, "", "{column} {before}");
        let more = said(column, &format!("{before}{}{behind}", long(65_535)));
        assert!(more.starts_with("Cannot index value of size 655"), "{column} {before}: {more}");
    }
    assert_eq!(said("o", &format!("'{}'", long(70_000))), "");
}

/// A condition is decided at a serial level and committed at another.
#[test]
fn a_conditional_write_has_levels_of_both_kinds() {
    let world = world("CREATE TABLE t (k int PRIMARY KEY, v int)");
    let said = |text: &str, consistency, serial_consistency| {
        let statement = world.prepare(text).unwrap();
        let options =
            RequestOptions { consistency, serial_consistency, ..RequestOptions::default() };
        let answered = world.execute(&statement, options);
        answered.err().map(|error| error.message).unwrap_or_default()
    };
    let put = "INSERT INTO t (k, v) VALUES (1, 1) IF NOT EXISTS";
    for serial in [None, Some(Consistency::Serial), Some(Consistency::LocalSerial)] {
        assert_eq!(said(put, Consistency::Quorum, serial), "");
    }
    let wrong = said(put, Consistency::Quorum, Some(Consistency::One));
    assert!(wrong.starts_with("Invalid consistency for conditional update"), "{wrong}");
    for (level, name) in
        [(Consistency::Serial, "SERIAL"), (Consistency::LocalSerial, "LOCAL_SERIAL")]
    {
        let wrong = said(put, level, None);
        assert!(wrong.starts_with(&format!("{name} is not supported as conditional")), "{wrong}");
    }
    assert_eq!(said("INSERT INTO t (k, v) VALUES (1, 1)", Consistency::Quorum, None), "");
}
