//! User types in keys that get fields, and collections in keys that come in any order: two rows are
//! never one, and one row is never two.

use bytes::Bytes;
use shelfmark_cql::BoundValue;
use shelfmark_cql_types::{put_collection, put_tuple};
use shelfmark_engine::CatalogueChange;
use shelfmark_model::{KeyType, TableName};

use crate::statements::World;

fn run(world: &mut World, text: &str) -> String {
    world.run(text).unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

fn world() -> World {
    let mut world = World::new();
    run(&mut world, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}");
    run(&mut world, "USE k");
    world
}

/// A clustering column of a type that gets a field: old rows stay where they are, rows that differ
/// in the new field are two.
fn check_added(ty: &str, order: &str, value: impl Fn(&str) -> String) {
    let mut world = world();
    run(&mut world, "CREATE TYPE u (a int, b text)");
    run(
        &mut world,
        &format!(
            "CREATE TABLE t (k int, c {ty}, d int, v int, PRIMARY KEY (k, c, d)) WITH CLUSTERING ORDER BY (c {order}, d ASC)"
        ),
    );
    // Frozen collections are indexed as a whole.
    let target = if ty.contains("frozen<") && ty != "frozen<u>" && !ty.starts_with("tuple") {
        "full(c)"
    } else {
        "c"
    };
    run(&mut world, &format!("CREATE INDEX i ON t ({target})"));
    let insert = |world: &mut World, own: &str, v: u8| {
        run(world, &format!("INSERT INTO t (k, c, d, v) VALUES (0, {}, 0, {v})", value(own)));
    };
    insert(&mut world, "{a: 1, b: 'x'}", 1);
    insert(&mut world, "{a: 1}", 2);
    insert(&mut world, "{a: 2, b: 'x'}", 3);
    for text in ["ALTER TYPE u ADD c int", "ALTER TYPE u RENAME b TO bb", "ALTER TYPE u ADD d text"]
    {
        run(&mut world, text);
        world.restart();
    }
    insert(&mut world, "{a: 1, bb: 'x', c: 5}", 4);
    insert(&mut world, "{a: 1, bb: 'x', c: 6}", 5);
    insert(&mut world, "{a: 1, bb: 'x', c: 6, d: 'z'}", 6);
    insert(&mut world, "{a: 1, bb: 'x', d: 'z'}", 7);
    // A null at the end is no field: this is the first row.
    insert(&mut world, "{a: 1, bb: 'x', c: null}", 8);
    world.restart();
    let rows = run(&mut world, "SELECT v FROM t WHERE k = 0");
    let mut expected = ["2", "8", "7", "4", "5", "6", "3"];
    if order == "DESC" {
        expected.reverse();
    }
    assert_eq!(rows, format!("v\n{}", expected.join("\n")));
    for (own, v) in [
        ("{a: 1, bb: 'x'}", 8),
        ("{a: 1}", 2),
        ("{a: 1, bb: 'x', c: 6}", 5),
        ("{a: 1, bb: 'x', c: 6, d: 'z'}", 6),
    ] {
        let found = run(&mut world, &format!("SELECT v FROM t WHERE k = 0 AND c = {}", value(own)));
        assert_eq!(found, format!("v\n{v}"), "{own}");
        let found = run(&mut world, &format!("SELECT v FROM t WHERE c = {}", value(own)));
        assert_eq!(found, format!("v\n{v}"), "{own} by the index");
    }
    world.restart();
    run(
        &mut world,
        &format!("DELETE FROM t WHERE k = 0 AND c = {}", value("{a: 1, bb: 'x', c: 6}")),
    );
    assert_eq!(run(&mut world, "SELECT count(*) FROM t"), "count\n6");
}

#[test]
fn a_user_type_gets_fields() {
    check_added("frozen<u>", "ASC", str::to_owned);
    check_added("frozen<u>", "DESC", str::to_owned);
}

#[test]
fn a_user_type_in_a_collection_gets_fields() {
    check_added("frozen<set<frozen<u>>>", "ASC", |own| format!("{{{own}}}"));
    check_added("frozen<list<frozen<u>>>", "DESC", |own| format!("[{own}]"));
    check_added("frozen<map<frozen<u>, int>>", "ASC", |own| format!("{{{own}: 1}}"));
    check_added("tuple<frozen<u>, int>", "ASC", |own| format!("({own}, 1)"));
}

#[test]
fn a_user_type_in_another_gets_fields() {
    let mut world = world();
    run(&mut world, "CREATE TYPE u (a int)");
    run(&mut world, "CREATE TYPE o (u frozen<u>, n int)");
    run(&mut world, "CREATE TABLE t (k int, c frozen<o>, v int, PRIMARY KEY (k, c))");
    run(&mut world, "INSERT INTO t (k, c, v) VALUES (0, {u: {a: 1}, n: 1}, 1)");
    run(&mut world, "ALTER TYPE u ADD b int");
    run(&mut world, "INSERT INTO t (k, c, v) VALUES (0, {u: {a: 1, b: 2}, n: 1}, 2)");
    run(&mut world, "INSERT INTO t (k, c, v) VALUES (0, {u: {a: 1, b: 3}, n: 1}, 3)");
    world.restart();
    assert_eq!(run(&mut world, "SELECT v FROM t"), "v\n1\n2\n3");
    // Of a partition key the type stays, as in Cassandra; its neighbour without the type changes.
    run(&mut world, "CREATE TABLE p (k frozen<o> PRIMARY KEY)");
    assert!(world.run("ALTER TYPE u ADD z int").unwrap_err().message.contains("partition key"));
}

#[test]
fn a_view_and_an_index_on_a_user_type_that_gets_fields() {
    let mut world = world();
    run(&mut world, "CREATE TYPE u (a int)");
    run(&mut world, "CREATE TABLE t (k int PRIMARY KEY, w int, v frozen<u>)");
    run(&mut world, "CREATE INDEX i ON t (v)");
    run(
        &mut world,
        "CREATE MATERIALIZED VIEW m AS SELECT * FROM t WHERE k IS NOT NULL AND v IS NOT NULL AND w IS NOT NULL PRIMARY KEY (k, v)",
    );
    run(&mut world, "INSERT INTO t (k, w, v) VALUES (1, 1, {a: 1})");
    run(&mut world, "ALTER TYPE u ADD b int");
    world.restart();
    run(&mut world, "INSERT INTO t (k, w, v) VALUES (2, 1, {a: 1, b: 2})");
    run(&mut world, "INSERT INTO t (k, w, v) VALUES (3, 1, {a: 1, b: 3})");
    for (own, k) in [("{a: 1}", 1), ("{a: 1, b: 2}", 2), ("{a: 1, b: 3}", 3)] {
        let found = run(&mut world, &format!("SELECT k FROM t WHERE v = {own}"));
        assert_eq!(found, format!("k\n{k}"), "{own}");
        let found = run(&mut world, &format!("SELECT k FROM m WHERE k = {k} AND v = {own}"));
        assert_eq!(found, format!("k\n{k}"), "{own}");
    }
    run(&mut world, "UPDATE t SET v = {a: 1, b: 4} WHERE k = 3");
    assert_eq!(run(&mut world, "SELECT k FROM t WHERE v = {a: 1, b: 3}"), "k");
    assert_eq!(run(&mut world, "SELECT v FROM m WHERE k = 3"), "v\n{a: 1, b: 4}");
}

fn ints(all: &[i32]) -> Vec<u8> {
    let all: Vec<[u8; 4]> = all.iter().map(|own| own.to_be_bytes()).collect();
    put_collection(all.len(), all.iter().map(<[u8; 4]>::as_slice))
}

fn pairs(all: &[(i32, i32)]) -> Vec<u8> {
    let flat: Vec<[u8; 4]> =
        all.iter().flat_map(|(k, v)| [k.to_be_bytes(), v.to_be_bytes()]).collect();
    put_collection(all.len(), flat.iter().map(<[u8; 4]>::as_slice))
}

fn bytes(value: Vec<u8>) -> BoundValue {
    BoundValue::Bytes(Bytes::from(value))
}

/// Every place where a bound collection comes in: what is the same set is the same value.
fn check_bound(ty: &str, literal: &str, forms: &[Vec<u8>]) {
    let mut world = world();
    run(&mut world, &format!("CREATE TABLE p (k {ty} PRIMARY KEY, v int)"));
    run(&mut world, &format!("CREATE TABLE t (k int, c {ty}, v {ty}, w int, PRIMARY KEY (k, c))"));
    let target = if ty.starts_with("tuple") { "v" } else { "full(v)" };
    run(&mut world, &format!("CREATE INDEX i ON t ({target})"));
    let int = |n: i32| bytes(n.to_be_bytes().to_vec());
    for (n, form) in (0..).zip(forms) {
        let own = || bytes(form.clone());
        let put = |world: &mut World, text: &str, values: Vec<BoundValue>| {
            world.bound(text, values).unwrap_or_else(|error| panic!("{text}: {}", error.message))
        };
        put(&mut world, "INSERT INTO p (k, v) VALUES (?, ?)", vec![own(), int(n)]);
        put(
            &mut world,
            "INSERT INTO t (k, c, v, w) VALUES (0, ?, ?, ?)",
            vec![own(), own(), int(n)],
        );
        assert_eq!(run(&mut world, "SELECT k FROM p"), format!("k\n{literal}"));
        assert_eq!(run(&mut world, "SELECT c, v FROM t"), format!("c | v\n{literal} | {literal}"));
        for form in forms {
            let own = || bytes(form.clone());
            let list = || bytes(put_collection(1, [form.as_slice()].into_iter()));
            let row = put_tuple([Some(form.as_slice())].into_iter());
            let tuples = bytes(put_collection(1, [row.as_slice()].into_iter()));
            for (text, value) in [
                ("SELECT v FROM p WHERE k = ?", own()),
                ("SELECT v FROM p WHERE k IN ?", list()),
                ("SELECT v FROM p WHERE token(k) = token(?)", own()),
                ("SELECT w FROM t WHERE k = 0 AND c = ?", own()),
                ("SELECT w FROM t WHERE k = 0 AND c IN ?", list()),
                ("SELECT w FROM t WHERE k = 0 AND c >= ?", own()),
                ("SELECT w FROM t WHERE k = 0 AND (c) IN ?", tuples),
                ("SELECT w FROM t WHERE v = ?", own()),
                ("SELECT w FROM t WHERE k = 0 AND v = ? ALLOW FILTERING", own()),
            ] {
                let rows = put(&mut world, text, vec![value]);
                assert!(rows.ends_with(&format!("\n{n}")), "{text}: {rows}");
            }
            for (text, value) in [
                ("UPDATE t SET w = 9 WHERE k = 0 AND c = {} IF v = ?", own()),
                ("UPDATE t SET w = 9 WHERE k = 0 AND c = {} IF v IN ?", list()),
            ] {
                let text = text.replace("{}", literal);
                let applied = put(&mut world, &text, vec![value]);
                assert_eq!(applied, "[applied]\ntrue", "{text}");
            }
            run(&mut world, &format!("UPDATE t SET w = {n} WHERE k = 0 AND c = {literal}"));
        }
    }
    // Written as text it is the same again.
    run(&mut world, &format!("INSERT INTO p (k, v) VALUES ({literal}, 100)"));
    assert_eq!(run(&mut world, "SELECT v FROM p"), "v\n100");
}

#[test]
fn bound_sets() {
    let forms = [ints(&[1, 2, 30]), ints(&[30, 1, 2]), ints(&[2, 30, 1, 2, 30])];
    check_bound("frozen<set<int>>", "{1, 2, 30}", &forms);
}

#[test]
fn bound_maps() {
    // Of equal keys the last one counts.
    let forms =
        [pairs(&[(1, 5), (2, 6)]), pairs(&[(2, 6), (1, 5)]), pairs(&[(1, 7), (2, 6), (1, 5)])];
    check_bound("frozen<map<int, int>>", "{1: 5, 2: 6}", &forms);
}

#[test]
fn bound_collections_in_others() {
    let (sorted, mixed) = (ints(&[1, 2]), ints(&[2, 1, 1]));
    let list = |own: &[u8]| put_collection(1, [own].into_iter());
    check_bound("frozen<list<frozen<set<int>>>>", "[{1, 2}]", &[list(&sorted), list(&mixed)]);
    let tuple = |own: &[u8]| put_tuple([Some(own), Some(&1_i32.to_be_bytes())].into_iter());
    check_bound("tuple<frozen<set<int>>, int>", "({1, 2}, 1)", &[tuple(&sorted), tuple(&mixed)]);
    // Two members that are one once they are sorted.
    let both = put_collection(2, [mixed.as_slice(), sorted.as_slice()].into_iter());
    let forms = [list(&sorted), both];
    check_bound("frozen<set<frozen<set<int>>>>", "{{1, 2}}", &forms);
}

/// Tables that the first version made hold user types as tuples: their types get no more fields, and
/// where one had got some, a row that the key cannot tell from another is refused.
#[test]
fn keys_of_the_first_version() {
    let mut world = world();
    run(&mut world, "CREATE TYPE u (a int)");
    run(&mut world, "CREATE TABLE t (k int, c frozen<u>, v int, PRIMARY KEY (k, c))");
    let spoil = CatalogueChange::AlterTable(
        TableName::new("k", "t"),
        Box::new(|schema| {
            let field = KeyType::Kinded(Box::new(KeyType::I32));
            schema.sort[0].key_type = KeyType::Kinded(Box::new(KeyType::Tuple(vec![field])));
            Ok(())
        }),
    );
    world.engine().change_catalogue(vec![spoil]).unwrap();
    world.restart();
    run(&mut world, "INSERT INTO t (k, c, v) VALUES (0, {a: 1}, 1)");
    let error = world.run("ALTER TYPE u ADD b int").unwrap_err();
    assert!(
        error.message.ends_with("copy them into new tables, or drop these indexes"),
        "{error:?}"
    );
    // As if the first version had added it.
    let types = r#"{"name":"u","fields":[["a","Int32Type"],["b","Int32Type"]]}"#;
    let attachment = format!(
        r#"{{"version":1,"durable_writes":true,"replication":[["class","SimpleStrategy"]],"types":[{types}]}}"#
    );
    let added =
        CatalogueChange::AlterNamespace { name: "k".to_owned(), attachment: attachment.into() };
    world.engine().change_catalogue(vec![added]).unwrap();
    world.restart();
    let error = world.run("INSERT INTO t (k, c, v) VALUES (0, {a: 1, b: 2}, 2)").unwrap_err();
    assert!(error.message.contains("more fields than the key's type"), "{error:?}");
    run(&mut world, "INSERT INTO t (k, c, v) VALUES (0, {a: 2}, 2)");
    run(&mut world, "ALTER TYPE u RENAME b TO bb");
    assert_eq!(run(&mut world, "SELECT v FROM t"), "v\n1\n2");
}
