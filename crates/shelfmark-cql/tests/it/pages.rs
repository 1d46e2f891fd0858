//! Where pages end: one that is full is followed by another, which may be empty, as in Cassandra; and
//! pages go on when an index that they used goes, or one comes that they would use.

use shelfmark_cql::{Outcome, RequestOptions};

use crate::statements::{World, literals};

fn run(world: &mut World, text: &str) -> String {
    world.run(text).unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

fn world() -> World {
    let mut world = World::new();
    for text in [
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}",
        "USE k",
        "CREATE TABLE t (p int, c int, x int, s int static, PRIMARY KEY (p, c))",
        "CREATE TABLE u (k int PRIMARY KEY)",
        "INSERT INTO u (k) VALUES (1)",
        "INSERT INTO u (k) VALUES (2)",
        "CREATE INDEX ON t (x)",
        "CREATE INDEX ON t (s)",
    ] {
        run(&mut world, text);
    }
    for i in 0..4 {
        run(&mut world, &format!("INSERT INTO t (p, c, x) VALUES ({i}, {i}, 3)"));
        run(&mut world, &format!("INSERT INTO t (p, c, x, s) VALUES (9, {i}, 4, 5)"));
    }
    world
}

/// Reads pages; `between` happens behind the first. Returns how many rows each has, and all rows.
fn pages(world: &mut World, text: &str, size: u32, between: &str) -> (Vec<usize>, Vec<String>) {
    let (mut sizes, mut rows, mut paging) = (Vec::new(), Vec::new(), None);
    loop {
        let statement = world.prepare(text).unwrap();
        let options = RequestOptions { page_size: Some(size), paging, ..RequestOptions::default() };
        let answered = world.execute(&statement, options);
        let answered = answered.unwrap_or_else(|error| panic!("{text}: {}", error.message));
        let Outcome::Rows(page) = answered.outcome else { panic!("{text}") };
        let shown = literals(&page);
        sizes.push(shown.len());
        rows.extend(shown.into_iter().map(|row| row.join(" | ")));
        paging = page.paging;
        if paging.is_none() {
            return (sizes, rows);
        }
        assert!(sizes.len() < 20, "{text} has no end");
        if sizes.len() == 1 && !between.is_empty() {
            run(world, between);
        }
    }
}

#[test]
fn a_full_page_is_followed_by_another() {
    let mut world = world();
    for (text, size, wanted) in [
        ("SELECT c FROM t", 4, vec![4, 4, 0]),
        ("SELECT c FROM t WHERE p = 9", 2, vec![2, 2, 0]),
        ("SELECT c FROM t WHERE p = 9", 3, vec![3, 1]),
        ("SELECT c FROM t WHERE p = 9 AND c IN (1, 2)", 2, vec![2, 0]),
        ("SELECT c FROM t WHERE p = 9 AND c = 1", 1, vec![1, 0]),
        ("SELECT c FROM t WHERE x = 3", 2, vec![2, 2, 0]),
        ("SELECT c FROM t WHERE s = 5", 2, vec![2, 2, 0]),
        ("SELECT c FROM t WHERE s = 5", 4, vec![4, 0]),
        ("SELECT k FROM u WHERE k = 1", 1, vec![1]),
        ("SELECT k FROM u WHERE k IN (1, 2)", 2, vec![2]),
        ("SELECT k FROM u", 2, vec![2, 0]),
        ("SELECT p, c, count(*) FROM t GROUP BY p, c", 4, vec![4, 4, 0]),
        ("SELECT p, count(*) FROM t WHERE x = 3 GROUP BY p ALLOW FILTERING", 2, vec![2, 2, 0]),
        ("SELECT p, count(*) FROM t GROUP BY p", 2, vec![2, 2, 1]),
        ("SELECT p, c, count(*) FROM t WHERE s = 5 GROUP BY p, c", 2, vec![2, 2, 0]),
        ("SELECT p, c, count(*) FROM t WHERE s = 5 GROUP BY p, c", 3, vec![3, 1]),
        ("SELECT p, count(*) FROM t WHERE s = 5 GROUP BY p", 1, vec![1, 0]),
        // What LIMIT ends needs no other page, nor what partitions that are named have given.
        ("SELECT c FROM t WHERE p = 9 LIMIT 4", 2, vec![2, 2]),
        ("SELECT p, count(*) FROM t GROUP BY p LIMIT 2", 2, vec![2]),
        ("SELECT c FROM t WHERE p = 9 PER PARTITION LIMIT 2", 2, vec![2]),
        ("SELECT c FROM t WHERE p = 9 GROUP BY c PER PARTITION LIMIT 2", 1, vec![1, 1]),
        ("SELECT DISTINCT p FROM t WHERE p IN (1, 2)", 2, vec![2]),
        ("SELECT DISTINCT p FROM t", 5, vec![5, 0]),
        ("SELECT count(*) FROM t", 1, vec![1]),
    ] {
        assert_eq!(pages(&mut world, text, size, "").0, wanted, "{text}, {size}");
    }
}

#[test]
fn pages_go_on_when_an_index_comes_or_goes() {
    for (own, text) in [
        ("p, 0, 17", "SELECT p FROM v WHERE x = 17 ALLOW FILTERING"),
        ("1, p, 17", "SELECT c FROM v WHERE x = 17 ALLOW FILTERING"),
        ("1, p, 17", "SELECT c FROM v WHERE p = 1 AND x = 17 ALLOW FILTERING"),
        ("p, 0, 17", "SELECT p FROM v WHERE x = 17 AND y = 2 ALLOW FILTERING"),
    ] {
        let mut world = world();
        run(&mut world, "CREATE TABLE v (p int, c int, x int, y int, PRIMARY KEY (p, c))");
        for p in 0..10 {
            let values = own.replace('p', &p.to_string());
            run(&mut world, &format!("INSERT INTO v (p, c, x, y) VALUES ({values}, 2)"));
        }
        let wanted = pages(&mut world, text, 100, "").1;
        assert_eq!(wanted.len(), 10);
        for change in [
            "CREATE INDEX xi ON v (x)",
            "DROP INDEX xi",
            "CREATE INDEX yi ON v (y)",
            "CREATE INDEX xi ON v (x)",
            "DROP INDEX yi",
        ] {
            assert_eq!(pages(&mut world, text, 3, change).1, wanted, "{text}, {change}");
        }
    }
}

#[test]
fn pages_of_partitions_by_an_index_go_on_behind_their_last_row() {
    for (between, left) in [
        ("DELETE FROM t WHERE p = 9 AND c = 0", vec!["2", "3", "7"]),
        ("DELETE FROM t WHERE p = 9 AND c < 2", vec!["2", "3", "7"]),
        ("DELETE FROM t WHERE p = 9 AND c = 3", vec!["2", "7"]),
        ("DELETE FROM t WHERE p = 9", vec!["7"]),
        ("UPDATE t SET s = 6 WHERE p = 9", vec!["7"]),
        ("INSERT INTO t (p, c) VALUES (9, -1)", vec!["2", "3", "7"]),
    ] {
        for text in [
            "SELECT c FROM t WHERE s = 5",
            "SELECT c FROM t WHERE s = 5 GROUP BY p, c",
            "SELECT c, p FROM t WHERE s = 5 AND c < 100 ALLOW FILTERING",
        ] {
            let mut world = world();
            // The tokens of 9 and 14 are in this order.
            run(&mut world, "INSERT INTO t (p, c, s) VALUES (14, 7, 5)");
            let (_, rows) = pages(&mut world, text, 2, between);
            let behind: Vec<&str> =
                rows.iter().skip(2).map(|row| row.split(" | ").next().unwrap_or(row)).collect();
            assert_eq!(behind, left, "{text} and {between}: {rows:?}");
        }
    }
}

#[test]
fn a_page_of_what_was_truncated_is_the_last_one() {
    for text in [
        "SELECT c FROM t",
        "SELECT c FROM t WHERE p = 9",
        "SELECT c FROM t WHERE x = 4",
        "SELECT c FROM t WHERE s = 5",
        "SELECT p, count(*) FROM t GROUP BY p",
        "SELECT DISTINCT p FROM t",
    ] {
        let mut world = world();
        let (sizes, _) = pages(&mut world, text, 2, "TRUNCATE t");
        assert_eq!(sizes, [2, 0], "{text}");
    }
}
