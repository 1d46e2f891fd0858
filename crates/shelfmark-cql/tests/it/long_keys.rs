//! Keys of 65,535 bytes: texts are packed in new tables, and tables of before keep their form.

use shelfmark_engine::CatalogueChange;
use shelfmark_model::TableName;

use crate::statements::World;

fn run(world: &mut World, text: &str) -> String {
    world.run(text).unwrap_or_else(|error| panic!("{text:.80}: {}", error.message))
}

fn world() -> World {
    let mut world = World::new();
    run(&mut world, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}");
    run(&mut world, "USE k");
    world
}

/// Texts that share all but their ends, in order: some end where packing begins, or before.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for length in [1_023, 1_024, 1_025, 30_000, 65_534] {
        for end in ["!", "a", "z", "\u{7f}"] {
            texts.push(format!("{}{end}", "m".repeat(length)));
        }
    }
    texts.push(format!("{}\u{e9}", "m".repeat(1_024)));
    texts.push(format!("{}\u{65e5}", "m".repeat(60_000)));
    texts.push("m".repeat(1_024));
    texts.sort();
    texts
}

fn found(world: &mut World, text: &str) -> Vec<usize> {
    let answer = run(world, text);
    answer.lines().skip(1).map(|line| line.parse().unwrap()).collect()
}

fn check_order(order: &str) {
    let mut world = world();
    run(
        &mut world,
        &format!(
            "CREATE TABLE t (p int, c text, v int, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c {order})"
        ),
    );
    let texts = texts();
    for (v, own) in texts.iter().enumerate() {
        run(&mut world, &format!("INSERT INTO t (p, c, v) VALUES (1, '{own}', {v})"));
    }
    world.restart();
    let in_order = |mut all: Vec<usize>| {
        if order == "DESC" {
            all.reverse();
        }
        all
    };
    let all: Vec<usize> = (0..texts.len()).collect();
    assert_eq!(found(&mut world, "SELECT v FROM t WHERE p = 1"), in_order(all));
    for (v, own) in texts.iter().enumerate() {
        for (comparison, wanted) in [
            ("=", v..v + 1),
            ("<", 0..v),
            ("<=", 0..v + 1),
            (">", v + 1..texts.len()),
            (">=", v..texts.len()),
        ] {
            let text = format!("SELECT v FROM t WHERE p = 1 AND c {comparison} '{own}'");
            assert_eq!(found(&mut world, &text), in_order(wanted.collect()), "{comparison} {v}");
        }
    }
    let report = world.engine().verify().unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
}

#[test]
fn long_clustering_keys_are_in_the_order_of_their_texts() {
    check_order("ASC");
    check_order("DESC");
}

#[test]
fn the_longest_keys_are_written_and_found() {
    let mut world = world();
    run(&mut world, "CREATE TABLE t (p text, c text, v int, PRIMARY KEY (p, c))");
    run(&mut world, "CREATE TABLE u (p text, q text, c text, d text, PRIMARY KEY ((p, q), c, d))");
    run(&mut world, "CREATE INDEX i ON t (v)");
    let longest = "K7".repeat(32_767) + "x";
    let (head, tail) = longest.split_at(100);
    for text in [
        format!("INSERT INTO t (p, c, v) VALUES ('{longest}', 'a', 1)"),
        format!("INSERT INTO t (p, c, v) VALUES ('a', '{longest}', 2)"),
        format!("INSERT INTO u (p, q, c, d) VALUES ('{head}', '{}', 'a', 'b')", &tail[6..]),
        format!("INSERT INTO u (p, q, c, d) VALUES ('a', 'b', '{head}', '{tail}')"),
    ] {
        run(&mut world, &text);
    }
    world.restart();
    for text in [
        format!("SELECT v FROM t WHERE p = '{longest}'"),
        format!("SELECT v FROM t WHERE p = '{longest}' AND c = 'a'"),
        "SELECT v FROM t WHERE v = 1".to_owned(),
    ] {
        assert_eq!(found(&mut world, &text), [1]);
    }
    assert_eq!(
        found(&mut world, &format!("SELECT v FROM t WHERE p = 'a' AND c = '{longest}'")),
        [2]
    );
    assert_eq!(
        run(&mut world, "SELECT d FROM u WHERE p = 'a' AND q = 'b'"),
        format!("d\n{tail:?}").replace('"', "'")
    );
    let too_long = format!("INSERT INTO t (p, c) VALUES ('{longest}x', 'a')");
    let error = world.run(&too_long).unwrap_err();
    assert_eq!(error.message, "Key length of 65536 is longer than maximum of 65535");
}

/// Its keys keep their form, so what was written is found, and neighbours stay in order.
#[test]
fn tables_of_before_keep_their_keys() {
    let mut world = world();
    run(&mut world, "CREATE TABLE t (p text, c text, v int, PRIMARY KEY (p, c))");
    let before = CatalogueChange::AlterTable(
        TableName::new("k", "t"),
        Box::new(|schema| {
            schema.cells.as_mut().unwrap().packs_long_keys = false;
            Ok(())
        }),
    );
    world.engine().change_catalogue(vec![before]).unwrap();
    world.restart();
    let long = "m".repeat(40_000);
    for (v, end) in ["a", "b", "c"].into_iter().enumerate() {
        run(&mut world, &format!("INSERT INTO t (p, c, v) VALUES ('p', '{long}{end}', {v})"));
    }
    run(&mut world, "ALTER TABLE t ADD w int");
    world.restart();
    assert_eq!(
        found(&mut world, &format!("SELECT v FROM t WHERE p = 'p' AND c > '{long}a'")),
        [1, 2]
    );
    let longest = "m".repeat(65_535);
    let error = world.run(&format!("INSERT INTO t (p, c) VALUES ('p', '{longest}')")).unwrap_err();
    assert!(error.message.ends_with("bytes in a key, at most 65535 are allowed"), "{error:?}");
}
