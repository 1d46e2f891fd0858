//! Orders of reads that were decided wrongly once: what needs none, what sorts, what a range gives.
//! Each model stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

#[test]
fn what_equalities_settle_needs_no_order() {
    let found = statuses(
        r#"
entity U { key id: uuid  name: text(max 9) }
entity E { key id: uuid  u: U  k: text(max 3)  at: timestamp  n: int }
read z(u, a) = E where u = u and at >= a order by u, at
read y(u, a) = E where u = u and at >= a order by u.name, at
read x(i, a) = E where id = i and at >= a order by n
read w(u, b) = E where u >= u and u.id <= b
read v(u, a) = E where u = u and at >= a order by n
read t(u, a, m) = E where u = u and at >= a and n >= m
schema s target shelfmark { table t from E key (u; at, id) store all  table i from E key (id;) store all
  table o from E key ("o"; u, id) store all
  serve z(u, a) by query t (u) from a
  serve y(u, a) by query t (u) from a
  serve w(u, b) by query o ("o") from u through b }
"#,
    );
    assert_eq!(
        found,
        [
            "s.z certified",
            "s.y certified",
            "s.x refused",
            "s.w certified",
            "s.v unservable",
            "s.t unservable"
        ]
    );
}

#[test]
fn row_types_follow_one_another_by_their_tags() {
    let model = r#"
entity P { key id: uuid  u: uuid  n: int }
entity Q { key id: uuid  u: uuid  n: int }
read both(u) = P + Q where u = u order by kind, n
schema typed target shelfmark { table t {
  row A from P key (u; "A", n, id) store {}
  row B from Q key (u; "AB", n, id) store {} } }
schema digits target candb { table t { pk text sk text
  row C from P pk "<u>" sk "A<id>" store { n }
  row D from Q pk "<u>" sk "Ag<id>" store { n } }
  serve both(u) by query t pk "<u>" sk begins "A" }
schema wrong target shelfmark { table t {
  row E from P key (u; "AB", n, id) store {}
  row F from Q key (u; "A", n, id) store {} } }
"#;
    let found = statuses(model);
    assert_eq!(found.first().map(String::as_str), Some("typed.both certified"), "{found:?}");
    assert_eq!(found.get(1).map(String::as_str), Some("digits.both refused"), "{found:?}");
    assert_eq!(found.get(2).map(String::as_str), Some("wrong.both refused"), "{found:?}");
}

#[test]
fn a_loop_goes_up_its_list() {
    let found = statuses(
        r#"
entity A { key id: uuid  u: uuid  n: int }
read up(us: list of uuid(max 5)) = A where u in us order by u, n
read down(us: list of uuid(max 5)) = A where u in us order by u desc, n
read by_n(us: list of uuid(max 5)) = A where u in us order by n
schema s target shelfmark { table t from A key (u; n, id)
  serve up(us) by each x in us query t (x)
  serve down(us) by each x in us query t (x)
  serve by_n(us) by each x in us query t (x) }
"#,
    );
    assert_eq!(found, ["s.up multi", "s.down refused", "s.by_n refused"]);
}

#[test]
fn decimals_sort_in_no_text() {
    let model = |ty: &str, hole: &str| {
        format!(
            r#"
entity E {{ key id: uuid  u: uuid  z: {ty} }}
read by_z(u) = E where u = u order by z
schema s target candb {{ table t {{ row R from E pk "<u>" sk "{hole}\#<id>" store all }}
  serve by_z(u) by query t pk "<u>" }}"#
        )
    };
    assert_eq!(statuses(&model("int(0..999)", "<z:pad(3)>")), ["s.by_z certified"]);
    assert_eq!(statuses(&model("decimal(0..999)", "<z>")), ["s.by_z refused"]);
    let text = model("decimal(0..999)", "<z:pad(3)>").replace("\\#", "#");
    let report = Document::parse("decimal", &text).expect_err("9.5 has no such text");
    assert!(report.text.contains("whole numbers only"), "{report}");
    let typed = r#"
entity E { key id: uuid  u: uuid  z: decimal(0..999) }
read by_z(u) = E where u = u and z >= 5 order by z
schema s target shelfmark { table t from E key (u; z, id) store all }"#;
    assert_eq!(statuses(typed), ["s.by_z certified"]);
}

#[test]
fn a_later_sort_keeps_what_an_earlier_one_did() {
    let found = statuses(
        r#"
entity A { key id: uuid  u: uuid  k: int  at: timestamp }
read all(u) = A where u = u order by k, at
schema right target shelfmark { table t from A key (u; id) store all
  serve all(u) by query t (u) then sort by at then sort by k }
schema wrong target shelfmark { table t from A key (u; id) store all
  serve all(u) by query t (u) then sort by k then sort by at }
"#,
    );
    assert_eq!(found, ["right.all multi", "wrong.all refused"]);
}

#[test]
fn an_answer_of_equal_items_is_in_every_order() {
    let found = statuses(
        r#"
entity A { key id: uuid  s: uuid  c: text(min 1, max 4)  at: timestamp }
read owners(s) = A select s where s = s order by at
read ones(s, c) = A select c where s = s and c = c order by at desc limit 3
read names(s) = A select c where s = s order by at
schema s target shelfmark { table t from A key (s; c, id)
  serve ones(s, c) by query t (s, c) limit 3 }
"#,
    );
    assert_eq!(found, ["s.owners certified", "s.ones certified", "s.names refused"]);
}

#[test]
fn a_kind_that_is_an_attribute_is_the_attribute() {
    let found = statuses(
        r#"
entity A { key id: uuid  u: uuid  kind: enum("x", "y")  n: int }
entity B { key id: uuid  u: uuid  m: int }
read some(u, k) = A where u = u and kind = k
read sorted(u) = A where u = u order by kind
read bees(u) = B where u = u
schema s target shelfmark {
  table t from A key (u; n, id) store all
  table ab { row RA from A key (u; "A", id) store all  row RB from B key (u; "B", id) store all }
  serve some(u, k) by query t (u) filter kind = k
  serve sorted(u) by query t (u) then sort kind
  serve bees(u) by query ab (u) filter kind = "b" }
"#,
    );
    assert_eq!(found, ["s.some refused", "s.sorted multi", "s.bees refused"]);
    let both = "entity A { key id: uuid  u: uuid  kind: int }\nentity B { key id: uuid  u: uuid }\n\
                read all(u) = A + B where u = u\nschema s target shelfmark {\n  table t {\n    \
                row RA from A key (u; \"A\", id) store all  row RB from B key (u; \"B\", id) store all }\n  \
                serve all(u) by query t (u) filter kind = \"a\" }";
    let report = Document::parse("both", both).expect_err("it may mean either");
    assert!(report.text.contains("`kind` is the row type here"), "{report}");
}

#[test]
fn row_types_are_sorted_as_they_are_named() {
    let found = statuses(
        r#"
entity A { key id: uuid  u: uuid  n: int }
entity B { key id: uuid  u: uuid  n: int }
read all(u) = A + B where u = u order by kind, n
read back(u) = A + B where u = u order by kind desc, n
schema s target shelfmark {
  table ab { row RA from A key (u; "B", id) store all  row RB from B key (u; "A", id) store all }
  serve all(u) by query ab (u) then sort kind, n
  serve back(u) by query ab (u) then sort kind, n }
"#,
    );
    assert_eq!(found, ["s.all multi", "s.back refused"]);
}

#[test]
fn of_one_row_and_of_a_range_that_is_cut_nothing_is_left_to_sort() {
    let found = statuses(
        r#"
entity A { key id: uuid  u: uuid  at: timestamp }
read one(i, n) = A where id = i order by at limit n
read first(u, n) = A where u = u order by at limit n
read last(u, n) = A where u = u order by at limit n
schema s target shelfmark { table t from A key (id;) store all  table o from A key (u; at, id) store all
  serve one(i, n) by get t (i) then sort by at then take n
  serve first(u, n) by query o (u) limit n then sort by at
  serve last(u, n) by query o (u) then sort by at then take n
}
"#,
    );
    assert_eq!(found, ["s.one multi", "s.first multi", "s.last refused"]);
}

/// What is sorted by the key of what a row refers to is sorted by the reference.
#[test]
fn a_reference_and_its_key_are_one_name() {
    let found = statuses(
        r#"
entity U { key id: uuid }
link L from U as a to U as b { v: int }
read pairs(v) = L where v = v order by a.id, b desc
read other(v) = L where v = v order by a.id, b desc
schema s target shelfmark {
  table ls from L key (v; b, a) store all
  serve pairs(v) by query ls (v) then sort by a.id, b desc
  serve other(v) by query ls (v) then sort by b desc, a.id
}
"#,
    );
    assert_eq!(found, ["s.pairs multi", "s.other refused"]);
}
