//! Tables that no target makes, transactions that hold too much, and changes that are lost: each model
//! stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

/// Statuses of one schema with these tables.
fn of(head: &str, target: &str, tables: &str) -> Vec<String> {
    statuses(&format!("{head}schema s target {target} {{ {tables} }}\n"))
}

fn all(found: &[String], status: &str) -> bool {
    found.iter().all(|one| one.ends_with(status))
}

/// Nothing is asked of a table that cannot be made, with all its indexes.
#[test]
fn nothing_is_asked_of_a_table_that_cannot_be_made() {
    let head = "type nm = text(min 1, max 20)
entity U { key id: nm  a: nm  b: nm  c: nm  d: nm  e: nm  f: nm  g: nm }
read one(x) = U where id = x unique
write add(x, a, b, c, d, e, f, g) = insert U(id x, a a, b b, c c, d d, e e, f f, g g)
write set_c(x, v) = update U(id x) set c = v
";
    let with = |target: &str, index: &str| {
        of(head, target, &format!("table uuu from U key (id;) store all  {index}"))
    };
    let indexes = |kind: &str, count: usize| {
        let one = |at: usize| match kind {
            "local" => {
                format!("index i{at}_l local key (id; {})", ["a", "b", "c", "d", "e", "f"][at])
            }
            _ => format!("index i{at}_g key (a; b)"),
        };
        (0..count).map(one).collect::<Vec<_>>().join("  ")
    };
    for (index, right) in [
        ("index ix5 key (a, b, c, d, e; f)", "index ix4 key (a, b, c, d; e, f)"),
        ("index ixs key (g; a, b, c, d, e)", "index ixs key (g; a, b, c, d)"),
        ("index ixd key (a; b desc)", "index ixd key (a; b)"),
        ("index ix key (a; b)", "index ixx key (a; b)"),
        (&indexes("global", 21), &indexes("global", 20)),
    ] {
        let (wrong, right) = (with("dynamodb", index), with("dynamodb", right));
        assert!(all(&wrong, "refused") && all(&right, "certified"), "{index} {wrong:?} {right:?}");
    }
    let local = |count| {
        let keyed = "table uuu from U key (id; g) store all  ";
        let head = head.replace("read one(x) = U where id = x unique\n", "");
        let head = head.lines().filter(|line| !line.starts_with("write set_c"));
        let head: String = head.map(|line| format!("{line}\n")).collect();
        of(&head, "dynamodb", &format!("{keyed}{}", indexes("local", count)))
    };
    assert!(all(&local(6), "refused") && all(&local(5), "certified"), "{:?}", local(5));
    let (two, one) = (with("cql", "index o_ab key (a; b)"), with("cql", "index o_a key (a;)"));
    assert!(all(&two, "refused") && all(&one, "certified"), "{two:?} {one:?}");
}

/// A transaction of DynamoDB holds 100 operations: a loop is part of one only where it surely fits.
#[test]
fn a_transaction_holds_what_fits() {
    let model = |fanout: &str, plan: &str| {
        format!(
            "type nm = text(min 1, max 20)
entity U {{ key id: nm  name: nm }}
entity P {{ key id: nm  u: U{fanout} }}
read post(p) = P with u.name where id = p unique
read posts(u) = P with u.name where u = u order by id
write rename(u, n) = update U(id u) set name = n
schema s target dynamodb {{ table uuu from U key (id;) store all
  table ppp from P key (u; id) store {{ u.name }}  table pp2 from P key (id;) store all
  {plan} }}
"
        )
    };
    let of = |fanout: &str, plan: &str| statuses(&model(fanout, plan)).pop().expect("a write");
    let whole = "write rename { read ppp where u = u as each_p ; transaction { patch uuu ; patch ppp \
                 for each each_p } }";
    let apart =
        "write rename { read ppp where u = u as each_p ; patch uuu ; patch ppp for each each_p }";
    for (fanout, status) in
        [("", "refused"), ("  fanout u max 100", "refused"), ("  fanout u max 99", "certified")]
    {
        assert_eq!(of(fanout, whole), format!("s.rename {status}"), "{fanout}");
        assert_eq!(of(fanout, apart), "s.rename certified", "{fanout}");
        // What is derived goes one by one.
        assert_eq!(of(fanout, ""), "s.rename certified", "{fanout}");
    }
    let shelfmark = model("", whole).replace("target dynamodb", "target shelfmark");
    assert_eq!(statuses(&shelfmark).pop().expect("a write"), "s.rename certified");
}

/// A change of an attribute that no row keeps is lost, also where rows keep others.
#[test]
fn a_change_of_what_no_row_keeps_is_lost() {
    let head = "entity A { key id: uuid  k: int  v: int  z: text(min 1, max 9) optional }
write set_v(i, n) = update A(id i) set v = n
write set_z(i, t) = update A(id i) set z = t
write drop_z(i) = update A(id i) set z = absent
write more(i) = increment A(id i) set v by 1
write both(i, n, m) = update A(id i) set k = n, v = m
write set_k(i, n) = update A(id i) set k = n
";
    for target in ["dynamodb", "shelfmark"] {
        let few = of(head, target, "table aaa from A key (id;) store { k }");
        let (last, lost) = few.split_last().expect("writes");
        assert!(all(lost, "refused") && last.ends_with("certified"), "{few:?}");
        let whole = of(head, target, "table aaa from A key (id;) store all");
        assert!(all(&whole, "certified"), "{whole:?}");
    }
}

/// A write that sets a part of what comes together is of tuples that have the rest.
#[test]
fn what_comes_together_is_set_together() {
    let head = "entity C { key id: uuid  at: timestamp optional  by: text(min 1, max 9) optional
  together (at, by) }
write half(i, t) = update C(id i) set at = t
write asked(i, t) = update C(id i) set at = t if by is present
write whole(i, t, b) = update C(id i) set at = t, by = b
write none(i) = update C(id i) set at = absent, by = absent
";
    for target in ["dynamodb", "cql", "shelfmark"] {
        let found = of(head, target, "table ccc from C key (id;) store all");
        let wanted =
            ["s.half refused", "s.asked certified", "s.whole certified", "s.none certified"];
        assert_eq!(found, wanted, "{target}");
    }
}

/// A marker of a row that has the name of an input gets another.
#[test]
fn no_marker_has_the_name_of_an_input() {
    let said = |input: &str| {
        let text = format!(
            "type nm = text(min 1, max 20)
entity B {{ key id: nm  folder: nm }}
write move_to(i, {input}) = update B(id i) set folder = {input}
schema c target cql {{ table byid from B key (id;) store all
  table byf from B key (folder; id) store all }}
"
        );
        let document = Document::parse("markers", &text).expect("a model");
        document.calls("c", Some("move_to")).expect("requests").text()
    };
    let (plain, taken) = (said("f"), said("row1_folder"));
    assert!(plain.contains("DELETE FROM byf WHERE folder = :row1_folder AND"), "{plain}");
    assert!(taken.contains("DELETE FROM byf WHERE folder = :row1_folder_ AND"), "{taken}");
    assert!(taken.contains(r#"{"row1_folder_":{"$row":"folder","step":1}}"#), "{taken}");
}

/// A LIMIT of CQL is an `int`: what may be more is sent only where it is not.
#[test]
fn a_limit_of_cql_has_an_end() {
    let said = |ty: &str, target: &str| {
        let text = format!(
            "entity E {{ key id: uuid  u: uuid }}
read some(u, n: {ty}) = E where u = u order by id limit n
schema s target {target} {{ table eee from E key (u; id) store all }}
"
        )
        .replace("id: uuid", "id: ulid");
        let document = Document::parse("limits", &text).expect("a model");
        document.calls("s", Some("some")).expect("requests").text()
    };
    let guard = r#"[{"$input":"n"},"<=",2147483647]"#;
    assert!(said("int(1..5000000000)", "cql").contains(guard));
    assert!(!said("int(1..2147483647)", "cql").contains(guard));
    assert!(!said("int(1..5000000000)", "dynamodb").contains(guard));
}

/// An input that is never empty makes a key that is never empty.
#[test]
fn an_input_that_is_never_empty_is_a_key() {
    for target in ["dynamodb", "cql"] {
        let of = |ty: &str| {
            statuses(&format!(
                "entity P {{ key id: text(max 20)  n: int }}
read one(i: {ty}) = P where id = i unique
write add(i: {ty}, n) = insert P(id i, n n)
write set_n(i: {ty}, n) = update P(id i) set n = n
write drop(i: {ty}) = delete P(id i)
schema s target {target} {{ table ppp from P key (id;) store all }}
"
            ))
        };
        let (open, filled) = (of("text"), of("text(min 1)"));
        assert!(all(&open, "refused") && all(&filled, "certified"), "{open:?} {filled:?}");
    }
}
