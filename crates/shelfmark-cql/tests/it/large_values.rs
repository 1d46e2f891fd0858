//! Values that are too large for an index: those that were there before it stay and are not found by
//! it, and none is written after.

use crate::statements::World;

/// A value that no key can hold.
fn large() -> String {
    "x".repeat(70_000)
}

fn run(world: &mut World, text: &str) -> Result<String, String> {
    world.run(text).map_err(|error| error.message.clone())
}

fn world() -> World {
    let mut world = World::new();
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}",
        "USE k",
        "CREATE TABLE t (k int PRIMARY KEY, v text, w text, s set<text>)",
        "INSERT INTO t (k, v) VALUES (1, 'a')",
    ] {
        run(&mut world, text).unwrap();
    }
    let large = large();
    run(&mut world, &format!("INSERT INTO t (k, v, s) VALUES (2, '{large}', {{'a', '{large}'}})"))
        .unwrap();
    world
}

#[test]
fn an_index_is_built_over_a_value_that_it_cannot_hold() {
    let mut world = world();
    run(&mut world, "CREATE INDEX iv ON t (v)").unwrap();
    run(&mut world, "CREATE INDEX si ON t (s)").unwrap();
    for _ in 0..2 {
        assert_eq!(
            run(&mut world, "SELECT k FROM t WHERE v = 'a'").unwrap().matches('1').count(),
            1
        );
        assert!(run(&mut world, "SELECT k FROM t WHERE s CONTAINS 'a'").unwrap().contains('2'));
        world.restart();
    }
    // The row itself stays as it was, can be changed, and deleted.
    run(&mut world, "UPDATE t SET w = 'b' WHERE k = 2").unwrap();
    assert!(run(&mut world, "SELECT w FROM t WHERE k = 2").unwrap().contains('b'));
    let report = world.engine().verify().unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    run(&mut world, "UPDATE t SET v = 'c' WHERE k = 2").unwrap();
    assert!(run(&mut world, "SELECT k FROM t WHERE v = 'c'").unwrap().contains('2'));
    run(&mut world, "DELETE FROM t WHERE k = 2").unwrap();
    let report = world.engine().verify().unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
}

#[test]
fn what_an_index_cannot_hold_is_not_written_under_it() {
    let mut world = world();
    run(&mut world, "CREATE INDEX iv ON t (v)").unwrap();
    let large = large();
    assert_eq!(
        run(&mut world, &format!("INSERT INTO t (k, v) VALUES (3, '{large}')")).unwrap_err(),
        "Cannot index value of size 70000 for index iv on k.t(v) (maximum allowed size=65535)"
    );
    // What the value leaves too little room for is refused by what it takes with its row's key:
    // control characters are longer in a key.
    let near = "\u{1}".repeat(65_530);
    let error = run(&mut world, &format!("INSERT INTO t (k, v) VALUES (3, '{near}')")).unwrap_err();
    assert!(error.contains("index iv") && error.contains("maximum allowed size=65535"), "{error}");
    let longest = "x".repeat(65_534);
    run(&mut world, &format!("INSERT INTO t (k, v) VALUES (5, '{longest}')")).unwrap();
    let found = run(&mut world, &format!("SELECT k FROM t WHERE v = '{longest}'")).unwrap();
    assert_eq!(found, "k\n5");
    run(&mut world, &format!("INSERT INTO t (k, w) VALUES (3, '{large}')")).unwrap();
    let fits = "x".repeat(65_000);
    run(&mut world, &format!("INSERT INTO t (k, v) VALUES (4, '{fits}')")).unwrap();
    assert!(run(&mut world, &format!("SELECT k FROM t WHERE v = '{fits}'")).unwrap().contains('4'));
    assert_eq!(
        run(&mut world, &format!("SELECT k FROM t WHERE v = '{large}'")).unwrap_err(),
        "Index expression values may not be larger than 64K"
    );
    run(&mut world, "DROP INDEX iv").unwrap();
    run(&mut world, &format!("INSERT INTO t (k, v) VALUES (3, '{large}')")).unwrap();
}

/// Members of sets, keys and values of maps, and their entries are counted each, as there.
#[test]
fn elements_that_an_index_cannot_hold_are_refused_by_their_size() {
    let mut world = world();
    let large = large();
    run(
        &mut world,
        "CREATE TABLE c (k int PRIMARY KEY, s set<text>, m map<text, text>, l list<text>)",
    )
    .unwrap();
    for text in ["s ON c (s)", "v ON c (values(m))", "y ON c (keys(m))", "l ON c (l)"] {
        run(&mut world, &format!("CREATE INDEX {text}")).unwrap();
    }
    let refused = |world: &mut World, assignment: &str, size: usize, index: &str, column: &str| {
        let text = format!("UPDATE c SET {assignment} WHERE k = 1");
        assert_eq!(
            run(world, &text).unwrap_err(),
            format!(
                "Cannot index value of size {size} for index {index} on k.c({column}) (maximum allowed size=65535)"
            )
        );
    };
    refused(&mut world, &format!("s = s + {{'{large}'}}"), 70_000, "s", "s");
    refused(&mut world, &format!("s = {{'{large}'}}"), 70_000, "s", "s");
    refused(&mut world, &format!("m['a'] = '{large}'"), 70_000, "v", "m");
    refused(&mut world, &format!("m['{large}'] = 'a'"), 70_000, "y", "m");
    refused(&mut world, &format!("l = l + ['{large}']"), 70_000, "l", "l");
    refused(&mut world, &format!("l = ['{large}']"), 70_000, "l", "l");
    for text in ["DROP INDEX v", "DROP INDEX y", "CREATE INDEX e ON c (entries(m))"] {
        run(&mut world, text).unwrap();
    }
    let half = "x".repeat(32_765);
    refused(&mut world, &format!("m = {{'{half}': '{half}'}}"), 65_536, "e", "m");
    let fits = "y".repeat(65_534);
    run(&mut world, &format!("UPDATE c SET s = {{'{fits}'}} WHERE k = 1")).unwrap();
    let found = run(&mut world, &format!("SELECT k FROM c WHERE s CONTAINS '{fits}'")).unwrap();
    assert_eq!(found, "k\n1");
}

/// Columns of the key and other columns are numbered each by themselves.
#[test]
fn an_index_of_a_key_column_says_nothing_of_other_columns() {
    let mut world = world();
    let keys = "p int, p2 int, c int, c2 int, PRIMARY KEY ((p, p2), c, c2)";
    run(&mut world, &format!("CREATE TABLE ik (a text, b text, m map<int, text>, {keys})"))
        .unwrap();
    for column in ["p", "p2", "c", "c2"] {
        run(&mut world, &format!("CREATE INDEX ON ik ({column})")).unwrap();
    }
    let large = large();
    for value in [
        ("a", format!("'{large}'")),
        ("b", format!("'{large}'")),
        ("m", format!("{{1: '{large}'}}")),
    ] {
        let (column, value) = value;
        let insert =
            format!("INSERT INTO ik (p, p2, c, c2, {column}) VALUES (1, 2, 3, 4, {value})");
        run(&mut world, &insert).unwrap();
    }
    world.restart();
    for equal in ["p = 1", "p2 = 2", "c = 3", "c2 = 4"] {
        let found = run(&mut world, &format!("SELECT c2 FROM ik WHERE {equal}")).unwrap();
        assert!(found.contains('4'), "{equal}: {found}");
    }
    let report = world.engine().verify().unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
}
