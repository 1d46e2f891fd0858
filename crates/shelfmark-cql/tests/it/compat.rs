//! Writes the status columns of `docs/compat-cql.md` from what statements answer.
//!
//! Each row of the document is a feature with statements that use it; the status is yes when every
//! statement answers, and its answer contains what stands behind `=>`. `UPDATE_COMPAT=1` rewrites
//! the columns; otherwise one that says something else fails the test.

use std::fmt::Write as _;
use std::path::PathBuf;

use shelfmark_cql::Authorizer;
use shelfmark_store::vfs;

use crate::statements::World;

/// Features by section; statements run on a fresh keyspace with the tables of [`PREPARED`].
const FEATURES: &[(&str, &str)] = &[
    (
        "CREATE KEYSPACE",
        "CREATE KEYSPACE x WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    ),
    ("ALTER KEYSPACE", "ALTER KEYSPACE ks WITH durable_writes = false"),
    ("DROP KEYSPACE", "DROP KEYSPACE ks"),
    ("USE", "USE ks"),
    ("CREATE TABLE", "CREATE TABLE x (k int PRIMARY KEY)"),
    (
        "ALTER TABLE",
        "ALTER TABLE t ADD x int; ALTER TABLE t DROP x; ALTER TABLE t WITH comment = 'c'; ALTER TABLE t RENAME c TO cc",
    ),
    ("DROP TABLE", "DROP TABLE plain"),
    ("TRUNCATE", "TRUNCATE t; SELECT count(*) FROM t => 0"),
    ("CREATE INDEX", "CREATE INDEX ON t (v); SELECT k FROM t WHERE v = 1 => 1"),
    ("DROP INDEX", "CREATE INDEX i ON t (v); DROP INDEX i"),
    ("CREATE TYPE", "CREATE TYPE x (a int)"),
    ("ALTER TYPE", "ALTER TYPE pair ADD x int; ALTER TYPE pair RENAME a TO z"),
    ("DROP TYPE", "CREATE TYPE x (a int); DROP TYPE x"),
    (
        "CREATE MATERIALIZED VIEW",
        "CREATE MATERIALIZED VIEW x AS SELECT * FROM plain WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, k); SELECT k FROM x WHERE v = 5 => 1",
    ),
    (
        "ALTER MATERIALIZED VIEW",
        "CREATE MATERIALIZED VIEW x AS SELECT * FROM plain WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, k); ALTER MATERIALIZED VIEW x WITH comment = 'c'",
    ),
    (
        "DROP MATERIALIZED VIEW",
        "CREATE MATERIALIZED VIEW x AS SELECT * FROM plain WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, k); DROP MATERIALIZED VIEW x",
    ),
    (
        "CREATE FUNCTION",
        "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a + 1;'; SELECT f(v) FROM t WHERE k = 1 => 2",
    ),
    (
        "DROP FUNCTION",
        "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'; DROP FUNCTION f (int)",
    ),
    (
        "CREATE AGGREGATE",
        "CREATE FUNCTION g (a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a + b;'; CREATE AGGREGATE f (int) SFUNC g STYPE int INITCOND 5; SELECT f(v) FROM t WHERE k = 1 => 6",
    ),
    (
        "DROP AGGREGATE",
        "CREATE FUNCTION g (a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a + b;'; CREATE AGGREGATE f (int) SFUNC g STYPE int INITCOND 5; DROP AGGREGATE f",
    ),
    ("CREATE TRIGGER", "CREATE TRIGGER x ON t USING 'c'"),
    ("CREATE ROLE", "CREATE ROLE x WITH PASSWORD = 'p' AND LOGIN = true"),
    ("ALTER ROLE", "CREATE ROLE x; ALTER ROLE x WITH PASSWORD = 'p'"),
    ("DROP ROLE", "CREATE ROLE x; DROP ROLE x"),
    ("LIST ROLES", "CREATE ROLE x; LIST ROLES => x"),
    (
        "GRANT",
        "CREATE ROLE x; CREATE ROLE y; GRANT x TO y; LIST ROLES OF y => x; GRANT SELECT ON t TO x; LIST ALL OF y => SELECT",
    ),
    (
        "REVOKE",
        "CREATE ROLE x; CREATE ROLE y; GRANT x TO y; REVOKE x FROM y; GRANT ALL ON ALL ROLES TO x; REVOKE DROP ON ALL ROLES FROM x; LIST ALL OF x => ALTER",
    ),
    ("LIST PERMISSIONS", "LIST ALL PERMISSIONS => <keyspace ks>"),
    ("DESCRIBE", "DESCRIBE KEYSPACE ks => CREATE TABLE ks.t"),
    ("INSERT", "INSERT INTO t (k, c, v) VALUES (9, 9, 9); SELECT v FROM t WHERE k = 9 => 9"),
    ("UPDATE", "UPDATE t SET v = 9 WHERE k = 9 AND c = 9; SELECT v FROM t WHERE k = 9 => 9"),
    ("DELETE", "DELETE FROM t WHERE k = 1; SELECT count(*) FROM t WHERE k = 1 => 0"),
    (
        "BATCH",
        "BEGIN BATCH INSERT INTO t (k, c) VALUES (9, 9) APPLY BATCH; SELECT c FROM t WHERE k = 9 => 9",
    ),
    ("SELECT", "SELECT v FROM t WHERE k = 1 AND c = 1 => 1"),
    (
        "BEGIN TRANSACTION",
        "BEGIN TRANSACTION UPDATE t SET v = 9 WHERE k = 9 AND c = 9; COMMIT TRANSACTION",
    ),
    (
        "`USING TIMESTAMP`, `USING TTL`",
        "INSERT INTO t (k, c, v) VALUES (9, 9, 9) USING TTL 100 AND TIMESTAMP 5; SELECT ttl(v), writetime(v) FROM t WHERE k = 9 => 100 | 5",
    ),
    (
        "`IF NOT EXISTS`, `IF EXISTS`, `IF` conditions",
        "UPDATE t SET v = 2 WHERE k = 1 AND c = 1 IF v = 1 => true",
    ),
    ("static columns", "INSERT INTO t (k, s) VALUES (7, 3); SELECT s FROM t WHERE k = 7 => 3"),
    ("counters", "UPDATE n SET n = n + 2 WHERE k = 1; SELECT n FROM n => 2"),
    (
        "`INSERT JSON`, `SELECT JSON`",
        "INSERT INTO t JSON '{\"k\": 9, \"c\": 1, \"v\": 4}'; SELECT JSON v FROM t WHERE k = 9 => {\"v\": 4}",
    ),
    (
        "range deletes",
        "DELETE FROM t WHERE k = 1 AND c > 0; SELECT count(*) FROM t WHERE k = 1 => 0",
    ),
    ("`IN`", "SELECT v FROM t WHERE k IN (1, 2) AND c IN (1, 2) => 1"),
    ("multi-column relations", "SELECT v FROM t WHERE k = 1 AND (c) > (0) => 1"),
    ("`token()`", "SELECT k FROM t WHERE token(k) > -9223372036854775808 => 1"),
    ("`ORDER BY`", "SELECT c FROM t WHERE k = 1 ORDER BY c DESC => 1"),
    ("`GROUP BY`", "SELECT k, count(*) FROM t GROUP BY k => 1"),
    (
        "`DISTINCT`, `LIMIT`, `PER PARTITION LIMIT`",
        "SELECT DISTINCT k FROM t LIMIT 1 => 1; SELECT k FROM t PER PARTITION LIMIT 1 => 1",
    ),
    ("`ALLOW FILTERING`", "SELECT k FROM t WHERE v = 1 ALLOW FILTERING => 1"),
    (
        "`CONTAINS`, `CONTAINS KEY`, `m['k'] = v`",
        "SELECT k FROM all_types WHERE m CONTAINS 1 ALLOW FILTERING => 1; SELECT k FROM all_types WHERE m CONTAINS KEY 'a' ALLOW FILTERING => 1; SELECT k FROM all_types WHERE m['a'] = 1 ALLOW FILTERING => 1",
    ),
    ("`LIKE`", "SELECT k FROM all_types WHERE x LIKE 'a%' ALLOW FILTERING"),
    (
        "`ORDER BY … ANN OF`",
        "CREATE INDEX ON all_types (vec) USING 'sai'; SELECT k FROM all_types ORDER BY vec ANN OF [1, 2] LIMIT 1 => 1",
    ),
    ("elements, slices and fields selected", "SELECT m['a'], m['a'..'b'], u.a FROM all_types => 1"),
    ("arithmetic", "SELECT v + 1 FROM t WHERE k = 1 AND c = 1 => 2"),
    ("`CAST`", "SELECT CAST(v AS text) FROM t WHERE k = 1 AND c = 1 => '1'"),
    ("type hints", "SELECT (bigint) 5 FROM t => 5"),
    ("`MASKED WITH`", "CREATE TABLE x (k int PRIMARY KEY, v text MASKED WITH DEFAULT)"),
    (
        "`COMPACT STORAGE`",
        "CREATE TABLE x (k text, c bigint, v text, PRIMARY KEY (k, c)) WITH COMPACT STORAGE",
    ),
    (
        "`default_time_to_live`",
        "ALTER TABLE t WITH default_time_to_live = 60; INSERT INTO t (k, c, v) VALUES (9, 9, 9); SELECT ttl(v) FROM t WHERE k = 9 => 60",
    ),
    (
        "storage attached indexes",
        "CREATE CUSTOM INDEX ON t (v) USING 'StorageAttachedIndex'; SELECT v FROM t WHERE v >= 1 => 1",
    ),
    (
        "ascii",
        "INSERT INTO all_types (k, a) VALUES (2, 'x'); SELECT a FROM all_types WHERE k = 2 => 'x'",
    ),
    (
        "bigint, int, smallint, tinyint, varint",
        "INSERT INTO all_types (k, bi, si, ti, vi) VALUES (2, 1, 2, 3, 4); SELECT bi, si, ti, vi FROM all_types WHERE k = 2 => 1 | 2 | 3 | 4",
    ),
    (
        "blob",
        "INSERT INTO all_types (k, bl) VALUES (2, 0xCAFE); SELECT bl FROM all_types WHERE k = 2 => 0xcafe",
    ),
    (
        "boolean",
        "INSERT INTO all_types (k, bo) VALUES (2, true); SELECT bo FROM all_types WHERE k = 2 => true",
    ),
    (
        "date, time, timestamp, duration",
        "INSERT INTO all_types (k, d, tm, ts, du) VALUES (2, '2020-01-01', '01:02:03', '2020-01-01', 1h30m); SELECT d, du FROM all_types WHERE k = 2 => '2020-01-01' | 1h30m",
    ),
    (
        "decimal, double, float",
        "INSERT INTO all_types (k, de, dou, f) VALUES (2, 1.50, NaN, -Infinity); SELECT de, dou, f FROM all_types WHERE k = 2 => 1.50 | NaN | -Infinity",
    ),
    (
        "inet",
        "INSERT INTO all_types (k, ip) VALUES (2, '::1'); SELECT ip FROM all_types WHERE k = 2 => '::1'",
    ),
    (
        "text, varchar",
        "INSERT INTO all_types (k, x) VALUES (2, $$it's$$); SELECT x FROM all_types WHERE k = 2 => it''s",
    ),
    (
        "uuid, timeuuid",
        "INSERT INTO all_types (k, tu, uu) VALUES (2, now(), uuid()); SELECT k FROM all_types WHERE k = 2 => 2",
    ),
    (
        "list, set, map",
        "UPDATE all_types SET l = l + [3], st = st + {3}, m['c'] = 3 WHERE k = 1; SELECT l, st, m FROM all_types => [1, 2, 3] | {1, 2, 3}",
    ),
    (
        "frozen collections",
        "INSERT INTO all_types (k, fl) VALUES (2, [[1], [2]]); SELECT fl FROM all_types WHERE k = 2 => [[1], [2]]",
    ),
    (
        "tuple",
        "INSERT INTO all_types (k, tup) VALUES (2, (1, 'a')); SELECT tup FROM all_types WHERE k = 2 => (1, 'a')",
    ),
    (
        "user types",
        "UPDATE all_types SET u.b = 'z' WHERE k = 1; SELECT u FROM all_types => {a: 1, b: 'z'}",
    ),
    (
        "vector",
        "INSERT INTO all_types (k, vec) VALUES (2, [1, 2]); SELECT vec FROM all_types WHERE k = 2 => [1.0, 2.0]",
    ),
    (
        "count, min, max, sum, avg",
        "SELECT count(*), min(v), max(v), sum(v), avg(v) FROM t => 1 | 1 | 1 | 1",
    ),
    (
        "now, uuid, current_timestamp and the like",
        "SELECT now(), uuid(), current_timestamp(), currentDate() FROM t => system.now()",
    ),
    (
        "to_date, to_timestamp, to_unix_timestamp, min_timeuuid, max_timeuuid",
        "SELECT toDate(tu), to_unix_timestamp(ts), minTimeuuid(ts) FROM all_types => system.todate(tu)",
    ),
    ("blob conversions", "SELECT blobAsInt(intAsBlob(v)) FROM t => 1"),
    ("to_json, from_json", "SELECT to_json(l) FROM all_types => [1, 2]"),
    ("abs, exp, log, log10, round", "SELECT abs(v), round(v) FROM t => 1 | 1"),
    (
        "map_keys, map_values, collection_count, _min, _max, _sum, _avg",
        "SELECT map_keys(m), collection_sum(l) FROM all_types => 3",
    ),
    (
        "similarity_cosine, similarity_euclidean, similarity_dot_product",
        "SELECT similarity_euclidean(vec, [1, 2]) FROM all_types => 1.0",
    ),
    ("mask_null, mask_replace", "SELECT mask_null(v) FROM t => null"),
    ("mask_default, mask_inner, mask_outer, mask_hash", "SELECT mask_default(v) FROM t"),
    (
        "writetime, maxwritetime, ttl",
        "SELECT maxwritetime(m) FROM all_types => maxwritetime; SELECT writetime(v) FROM t => writetime",
    ),
    ("floor", "SELECT floor(ts, 1h) FROM all_types => system.floor"),
    (
        "user-defined functions and aggregates",
        "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a + 1;'; SELECT ks.f(v) FROM t => 2",
    ),
];

const PREPARED: &[&str] = &[
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "USE ks",
    "CREATE TYPE pair (a int, b text)",
    "CREATE TABLE t (k int, c int, v int, s int static, PRIMARY KEY (k, c))",
    "CREATE TABLE plain (k int PRIMARY KEY, v int)",
    "CREATE TABLE n (k int PRIMARY KEY, n counter)",
    "CREATE TABLE all_types (k int PRIMARY KEY, a ascii, bi bigint, si smallint, ti tinyint, vi varint, bl blob, bo boolean, d date, tm time, ts timestamp, du duration, de decimal, dou double, f float, ip inet, x text, uu uuid, tu timeuuid, l list<int>, st set<int>, m map<text, int>, fl frozen<list<list<int>>>, tup tuple<int, text>, u pair, vec vector<float, 2>)",
    "INSERT INTO t (k, c, v) VALUES (1, 1, 1)",
    "INSERT INTO plain (k, v) VALUES (1, 5)",
    "INSERT INTO all_types (k, l, st, m, u, vec, ts, tu) VALUES (1, [1, 2], {1, 2}, {'a': 1}, {a: 1, b: 'y'}, [1, 2], '2020-01-01', now())",
];

/// Whether every statement of a feature answers as it should.
fn works(statements: &str) -> bool {
    let mut world = World::new();
    world.authorize(Authorizer::Cassandra);
    world.log_in("admin");
    for statement in PREPARED {
        world.run(statement).unwrap();
    }
    if statements.starts_with("BEGIN TRANSACTION") {
        return world.run(statements).is_ok();
    }
    statements.split("; ").all(|own| {
        let (statement, expected) = own.split_once(" => ").unwrap_or((own, ""));
        world.run(statement).is_ok_and(|answer| answer.contains(expected))
    })
}

#[test]
fn the_status_columns_say_what_statements_do() {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compat-cql.md"));
    let bytes = vfs::read(&path).unwrap();
    let document = String::from_utf8(bytes).unwrap();
    let mut features = FEATURES.iter();
    let mut expected = String::new();
    for line in document.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", name, status, differs, ""] = cells.as_slice() else {
            writeln!(expected, "{line}").unwrap();
            continue;
        };
        if *name == "feature" || name.starts_with("---") {
            writeln!(expected, "{line}").unwrap();
            continue;
        }
        let _ = status;
        let (known, statements) = features.next().expect("a row that nothing is known of");
        assert_eq!(known, name, "the rows are in the order of the features");
        let status = if works(statements) { "yes" } else { "no" };
        writeln!(expected, "| {name} | {status} | {differs} |").unwrap();
    }
    assert_eq!(features.next(), None, "a feature that the document does not list");
    if std::env::var_os("UPDATE_COMPAT").is_some() {
        vfs::replace(&path, expected.as_bytes()).unwrap();
    } else {
        assert_eq!(document, expected);
    }
}
