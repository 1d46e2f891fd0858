//! Lints by pairs: a model that has the defect, and its nearest neighbour that has not.

use shelfmark_design::{Document, Finding, Severity};

fn findings(text: &str) -> Vec<Finding> {
    let document = Document::parse("pair", text).unwrap_or_else(|report| panic!("{report}"));
    let found = document.check();
    for one in &found {
        assert!(one.severity != Severity::Error || one.reproducer.is_some(), "{one:?}");
    }
    found
}

/// A lint, how severe it is, a model that has it and one that has not.
const PAIRS: [(&str, Severity, &str, &str); 28] = [
    // Keys that the target cannot have, and those that it can.
    (
        "K9",
        Severity::Error,
        "entity U { key id: uuid  a: int  b: int }
         schema s target dynamodb { table t from U key (id; a desc, b) store all }",
        r#"entity U { key id: uuid  a: int(0..99)  b: int }
         schema s target dynamodb { table t from U key (id; "<a:pad(2)>#<b>") store all
           index i key (a, b; id) } "#,
    ),
    // Each half of the key has a limit of its own.
    (
        "K9",
        Severity::Error,
        r#"entity U { key id: uuid  name: text(max 500) }
         schema s target dynamodb { table t { row R from U pk "<id>" sk "<name>" store all } }"#,
        r#"entity U { key id: uuid  name: text(min 1, max 250) }
         schema s target dynamodb { table t { row R from U pk "<id>" sk "<name>" store all } }"#,
    ),
    // What is found by its hash needs no order.
    (
        "K1",
        Severity::Warning,
        r#"entity L { key id: uuid  year: int }
         schema s target dynamodb { table t { row R from L pk "L" sk "<year>#<id>" store all } }"#,
        r#"entity L { key id: uuid  year: int }
         schema s target dynamodb { table t { row R from L pk "L#<year>" sk "<id>" store all } }"#,
    ),
    // A number that outgrows its width is shown to sort wrongly.
    (
        "K1",
        Severity::Error,
        r##"entity L { key id: uuid  course: uuid  ord: int(1..5000) }
         read lessons(c) = L where course = c order by ord
         schema s target dynamodb { table t { row R from L pk "C#<course>" sk "L#<ord:pad(3)>#<id>" store all }
           serve lessons(c) by query t pk "C#<c>" sk begins "L#" }"##,
        r##"entity L { key id: uuid  course: uuid  ord: int(1..5000) }
         read lessons(c) = L where course = c order by ord
         schema s target dynamodb { table t { row R from L pk "C#<course>" sk "L#<ord:pad(4)>#<id>" store all }
           serve lessons(c) by query t pk "C#<c>" sk begins "L#" }"##,
    ),
    // Two pairs of texts that are one when glued.
    (
        "U1",
        Severity::Error,
        r##"entity L { key id: uuid  city: text  name: text  unique (city, name) }
         schema s target candb { table t { row R from L pk "X" sk "C#<city>#<name>" store all } }"##,
        r##"entity L { key id: uuid  city: text  name: text  unique (city, name) }
         schema s target candb { table t { row R from L pk "X" sk "C#<city:esc>#<name>" store all } }"##,
    ),
    // An optional attribute that is unique tells apart those that have it.
    (
        "U1",
        Severity::Error,
        "entity R { key id: uuid  email: text(min 1, max 50) optional }
         schema s target cql { table m from R key (email;) store all }",
        "entity R { key id: uuid  email: text(min 1, max 50) optional unique }
         schema s target cql { table m from R key (email;) store all }",
    ),
    (
        "W4",
        Severity::Note,
        r#"entity T { key id: uuid  p: uuid  status: enum("a", "b") }
         write st(i, s) = update T(id i) set status = s
         schema s target shelfmark { table t from T key (id;) store all index g key (p; status, id) }"#,
        r#"entity T { key id: uuid  p: uuid  status: enum("a", "b")  note: text }
         write st(i, n) = update T(id i) set note = n
         schema s target shelfmark { table t from T key (id;) store all index g key (p; status, id) }"#,
    ),
    (
        "W5",
        Severity::Warning,
        "entity U { key id: uuid  name: text }
         entity P { key id: uuid  u: U }
         schema s target shelfmark { table ps from P key (u; id) store { u.name } }",
        "entity U { key id: uuid  name: text immutable }
         entity P { key id: uuid  u: U }
         schema s target shelfmark { table ps from P key (u; id) store { u.name } }",
    ),
    // A table that another one makes superfluous, and one whose order is asked for.
    (
        "W7",
        Severity::Note,
        "entity A { key id: uuid  a: uuid  b: uuid }
         read x(i) = A where a = i
         read y(i, j) = A where a = i and b = j
         schema s target cql { table t from A key (a; b, id) store all  table u from A key (a; id) store all
           serve x(i) by query u (i)  serve y(i, j) by query t (i, j) }",
        "entity A { key id: uuid  a: uuid  b: uuid }
         read x(i) = A where a = i order by id
         read y(i, j) = A where a = i and b = j
         schema s target cql { table t from A key (a; b, id) store all  table u from A key (a; id) store all
           serve x(i) by query u (i)  serve y(i, j) by query t (i, j) }",
    ),
    // One range of the one is two ranges of the other; in the second model the column may hold anything.
    (
        "W7",
        Severity::Note,
        r#"entity A { key id: uuid  a: uuid  side: enum("buy", "sell") immutable }
         read x(i) = A where a = i order by id desc
         read y(i, j) = A where a = i and side = j order by id desc
         schema s target cql { table t from A key (a; side, id desc) store all  table u from A key (a; id desc) store all }"#,
        "entity A { key id: ulid  a: uuid  side: text immutable }
         read x(i) = A where a = i order by id desc
         read y(i, j) = A where a = i and side = j order by id desc
         schema s target cql { table t from A key (a; side, id desc) store all  table u from A key (a; id desc) store all }",
    ),
    (
        "U3",
        Severity::Warning,
        "entity U { key id: uuid  email: text unique }
         write mail(i, e) = update U(id i) set email = e
         schema s target shelfmark { table t from U key (id;) store all }",
        "entity U { key id: uuid  email: text unique  note: text }
         write say(i, n) = update U(id i) set note = n
         schema s target shelfmark { table t from U key (id;) store all }",
    ),
    (
        "U4",
        Severity::Warning,
        "entity S { key id: uuid  chat: uuid }
         read one(c) = S where chat = c unique
         schema s target cql { table t from S key (chat; id) store all  serve one(c) by query t (c) }",
        "entity S { key id: uuid  chat: uuid unique }
         read one(c) = S where chat = c unique
         schema s target cql { table t from S key (chat; id) store all  serve one(c) by query t (c) }",
    ),
    // A plan that is named for what no key can do gives a wrong answer.
    (
        "A6",
        Severity::Error,
        "entity A { key id: uuid  u: uuid }
         read n(x) = count of A where u = x
         schema s target cql { table t from A key (u; id) store all  serve n(x) by query t (x) }",
        "entity U { key id: uuid }
         entity A { key id: uuid  u: U }
         read n(x) = count of A where u = x
         schema s target cql { table t from U key (id;) store { count A as n }  serve n(x) by get t (x) }",
    ),
    (
        "K8",
        Severity::Warning,
        r#"entity A { key id: text  at: timestamp }
         schema s target cql { table t from A key (id;) store all
           sample { row t { id = "a", at = 1631671200000 } row t { id = "b", at = 1631671200 } } }"#,
        r#"entity A { key id: text  at: timestamp }
         schema s target cql { table t from A key (id;) store all
           sample { row t { id = "a", at = 1631671200000 } row t { id = "b", at = 1631671200001 } } }"#,
    ),
    (
        "K8",
        Severity::Warning,
        r##"entity A { key id: text  day: text }
         schema s target dynamodb { table t { row R from A pk "A" sk "D#<day>#<id>" }
           sample { row R "A" "D#2021-09-15#a" row R "A" "D#15/09/2021#b" } }"##,
        r##"entity A { key id: text  day: text }
         schema s target dynamodb { table t { row R from A pk "A" sk "D#<day>#<id>" }
           sample { row R "A" "D#2021-09-15#a" row R "A" "D#2021-09-16#b" } }"##,
    ),
    (
        "K9",
        Severity::Note,
        "entity A { key id: uuid  name: text }
         read names(p) = A where name begins p
         schema s target ordered { table t from A key (name, id) store all  serve names(p) by range t begins p }",
        r#"entity A { key id: uuid  name: text(only "a-z0-9") }
         read names(p) = A where name begins p
         schema s target ordered { table t from A key (name, id) store all  serve names(p) by range t begins p }"#,
    ),
    (
        "D1",
        Severity::Warning,
        r##"entity U { key id: text }
         schema s target dynamodb { table t { row R from U pk "USER#<id>" sk "#METADATA#<id>" store all }
           sample { row R "USER#a" "#METEADATA#a" } }"##,
        r##"entity U { key id: text }
         schema s target dynamodb { table t { row R from U pk "USER#<id>" sk "#METADATA#<id>" store all }
           sample { row R "USER#a" "#METADATA#a" } }"##,
    ),
    (
        "D1",
        Severity::Warning,
        r#"entity U { key id: text }
         schema s target dynamodb { table t { row R from U pk "EQUIPMENTS#<id>" sk "M" store all }
           sample { row R "EQUIPMENTS#001EQUIPMENTS#002" "M" } }"#,
        r#"entity U { key id: text }
         schema s target dynamodb { table t { row R from U pk "EQUIPMENTS#<id>" sk "M" store all }
           sample { row R "EQUIPMENTS#001" "M" row R "EQUIPMENTS#002" "M" } }"#,
    ),
    (
        "D1",
        Severity::Warning,
        r#"entity U { key id: text }
         schema s target dynamodb { table t { row R from U pk "E#<id>" sk "M" store all }
           sample { row R "E#1" "M" row R "E#1" "M" } }"#,
        r#"entity U { key id: text }
         schema s target dynamodb { table t { row R from U pk "E#<id>" sk "M" store all }
           sample { row R "E#1" "M" row R "E#2" "M" } }"#,
    ),
    // Growth of a fan-out; and of everything, spread over values that do not become more.
    (
        "P1",
        Severity::Warning,
        "entity H { key id: uuid }
         entity E { key id: ulid  h: H  body: text(max 1000) avg 500  fanout h max 50k growth 10%/mo }
         schema s target cql { table t from E key (h; id) store all }",
        "entity H { key id: uuid }
         entity E { key id: ulid  h: H  body: text(max 1000) avg 500  fanout h max 50k }
         schema s target cql { table t from E key (h; id) store all }",
    ),
    // Only what lies beside a local index has a limit.
    (
        "P1",
        Severity::Warning,
        "entity H { key id: uuid }
         entity E { key id: ulid  h: H  n: int  body: text(max 1000) avg 500  fanout h max 100M }
         schema s target dynamodb { table tab from E key (h; id) store all index by_n local key (h; n) }",
        "entity H { key id: uuid }
         entity E { key id: ulid  h: H  n: int  body: text(max 1000) avg 500  fanout h max 100M }
         schema s target dynamodb { table tab from E key (h; id) store all index by_n key (h; n) }",
    ),
    (
        "P1",
        Severity::Warning,
        r#"entity E { key id: ulid  k: enum("a", "b")  count 2M growth 10%/mo }
         schema s target cql { table t from E key (k; id) store all }"#,
        r#"entity E { key id: ulid  k: enum("a", "b")  count 20k growth 10%/mo }
         schema s target cql { table t from E key (k; id) store all }"#,
    ),
    (
        "P2",
        Severity::Warning,
        "entity U { key id: uuid  count 1M }
         entity E { key id: ulid  u: U  count 100M  fanout u avg 100 max 10k zipf 1.2 }
         read es(x, n) = E where u = x order by id desc limit n rate 200k/s
         schema s target dynamodb { table t from E key (u; id) store all  serve es(x, n) by query t (x) desc limit n }",
        "entity U { key id: uuid  count 1M }
         entity E { key id: ulid  u: U  count 100M  fanout u avg 100 max 10k }
         read es(x, n) = E where u = x order by id desc limit n rate 200k/s
         schema s target dynamodb { table t from E key (u; id) store all  serve es(x, n) by query t (x) desc limit n }",
    ),
    (
        "V2",
        Severity::Error,
        "entity U { key id: uuid  doc: text(max 500000) avg 2000 }
         schema s target dynamodb { table t from U key (id;) store all }",
        "entity U { key id: uuid  doc: text(max 300000) avg 2000 }
         schema s target dynamodb { table t from U key (id;) store all }",
    ),
    (
        "P4",
        Severity::Warning,
        "entity E { key id: ulid  u: uuid  fanout u max 10 }
         read es(us: list of uuid(max 500)) = E where u in us
         schema s target cql { table t from E key (u; id) store all  serve es(us) by each x in us query t (x) }",
        "entity E { key id: ulid  u: uuid  fanout u max 10 }
         read es(us: list of uuid(max 50)) = E where u in us
         schema s target cql { table t from E key (u; id) store all  serve es(us) by each x in us query t (x) }",
    ),
    (
        "T1",
        Severity::Warning,
        "entity S { key id: uuid  until: int ttl }
         schema s target dynamodb { table t from S key (id;) store all sample { row t { until = 1700000000000 } } }",
        "entity S { key id: uuid  until: int ttl }
         schema s target dynamodb { table t from S key (id;) store all sample { row t { until = 1700000000 } } }",
    ),
    // Indexes are counted for each table.
    (
        "X4",
        Severity::Error,
        "target shelfmark { indexes.max 1 }
         entity U { key id: uuid  a: int  b: int }
         schema s target shelfmark { table t from U key (id;) store all index i key (a; id) index j key (b; id) }",
        "target shelfmark { indexes.max 1 }
         entity U { key id: uuid  a: int  b: int }
         schema s target shelfmark { table t from U key (id;) store all index i key (a; id)
           table v from U key (id; a) store all index j key (b; id) }",
    ),
    // Ends on the first column, as ordered tables and indexes have it.
    (
        "X2",
        Severity::Error,
        "entity U { key id: uuid  at: timestamp }
         read within(a, b) = U where at >= a and at <= b
         schema s target cql { table t from U key (id;) store all index i key (at;)
           serve within(a, b) by query i from a to b }",
        "entity U { key id: uuid  at: timestamp }
         read within(a, b) = U where at >= a and at <= b
         schema s target ordered { table t from U key (at, id) store all
           serve within(a, b) by range t from a to b }",
    ),
];

#[test]
fn the_defect_is_found_and_its_neighbour_is_not_blamed() {
    let mut wrong = String::new();
    for (id, severity, bad, fine) in PAIRS {
        let found = findings(bad);
        if !found.iter().any(|one| one.id == id && one.severity == severity) {
            wrong.push_str(&format!("{id} is not found in\n{bad}\n{found:#?}\n"));
        }
        let other = findings(fine);
        if other.iter().any(|one| one.id == id && one.severity == severity) {
            wrong.push_str(&format!("{id} is found in\n{fine}\n{other:#?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Of a call that cannot be formed there is no range, so nothing is said about one.
#[test]
fn a_call_that_cannot_be_formed_is_told_once() {
    let found = findings(
        "entity A { key id: uuid  u: uuid }
         read of(x) = A where u = x
         schema s target cql { table t from A key (id; u) store all  serve of(x) by query t }",
    );
    let errors: Vec<&str> = found
        .iter()
        .filter(|one| one.severity == Severity::Error)
        .map(|one| one.id.as_str())
        .collect();
    assert_eq!(errors, ["A1"], "{found:#?}");
}
