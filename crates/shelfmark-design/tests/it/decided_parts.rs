//! Writes of several parts, and writes that select by more than a key, that were decided wrongly once.
//! Each stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;

#[test]
fn what_one_part_changes_another_does_not_select_by() {
    // What is read before both parts tells how the tuple was, not what the second finds.
    let found = statuses(
        r#"
entity A { key id: uuid  p: enum("x", "y")  n: int(0..4) }
write end(i, p) = update A(id i, p "x") set p = "y" and delete A(id i, p p)
write twice(i, p) = update A(id i) set p = "y" and update A(id i, p p) set n = 1
write other(i, n) = update A(id i, p "x") set n = n and delete A(id i, p "x")
write apart(p) = update A(id "00000000-0000-0000-0000-000000000001") set p = "y"
  and delete A(id "00000000-0000-0000-0000-000000000002", p p)
write counts(i) = increment A(id i, n 2) set n by 1 and increment A(id i, n 2) set n by 1
schema s target shelfmark {
  table t0 from A key (id;) store all
  table t3 from A key (id;) store {}
}
"#,
    );
    let right = ["s.end refused", "s.twice refused", "s.other certified", "s.apart certified"];
    assert_eq!(found, [&right[..], &["s.counts refused"]].concat());
}

#[test]
fn what_is_replaced_may_have_been_changed_or_made_before() {
    let found = statuses(
        r#"
entity A { key id: uuid  p: int  n: int }
write change(i, j, q, p, n) = update A(id i) set p = q and insert A(id j, p p, n n) or replace
write unless(i, j, q, p, n) = update A(id i) set p = q and insert A(id j, p p, n n) unless exists
write again(i, p, n) = delete A(id i) and insert A(id i, p p, n n) or replace
write lost(i, p, n) = delete A(id i) and insert A(id i, p p, n n) unless exists
write late(i, p, n) = insert A(id i, p p, n n) unless exists and insert A(id i, p n, n p) or replace
schema s target shelfmark { table t from A key (id;) store all }
schema swapped target shelfmark { table t from A key (id;) store all
  write change { transaction { put t ; patch t } }
  write again { transaction { put t ; delete t } } }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    for fine in ["s.change", "s.unless", "s.again", "s.late"] {
        assert_eq!(of(fine), Some(format!("{fine} certified")), "{found:?}");
    }
    for bad in ["s.lost", "swapped.change", "swapped.again"] {
        assert_eq!(of(bad), Some(format!("{bad} refused")), "{found:?}");
    }
}

#[test]
fn a_tuple_is_looked_up_by_any_key_of_it() {
    // Rows keyed by the thing alone show who owns it: what they show is compared.
    let found = statuses(
        r#"
entity E { key id: uuid }
entity U { key id: uuid }
link L from E as e to U as w { r: int  unique (w) }
write set(e, w, r) = update L(e e, w w) set r = r
write drop(e, w) = unlink L(e e, w w)
schema shows target shelfmark { table l from L key (w;) store { e, r } }
schema hides target shelfmark { table l from L key (w;) store { r } }
"#,
    );
    assert_eq!(
        found,
        ["shows.set certified", "shows.drop certified", "hides.set refused", "hides.drop refused"]
    );
}

#[test]
fn what_is_deleted_and_made_again_is_copied_anew() {
    let found = statuses(
        r#"
entity U { key id: uuid  name: text(max 4) }
entity P { key id: uuid  u: U }
write again(i, j, n) = delete U(id i) and insert U(id j, name n)
schema copied target shelfmark {
  table us from U key (id;) store all  table ps from P key (u; id) store { u.name } }
schema counted target shelfmark {
  table us from U key (id;) store { name, count P as posts }  table ps from P key (u; id) }
schema alone target shelfmark {
  table us from U key (id;) store all  table ps from P key (u; id) }
"#,
    );
    assert_eq!(found, ["copied.again refused", "counted.again refused", "alone.again certified"]);
}

#[test]
fn what_is_replaced_after_it_was_deleted_may_move() {
    let found = statuses(
        r#"
entity A { key id: uuid  p: int  n: int }
write again(i, p, n) = delete A(id i) and insert A(id i, p p, n n) or replace
write late(i, p, n) = insert A(id i, p p, n n) or replace and delete A(id i)
schema s target shelfmark { table t from A key (id;) store all  table o from A key (p; id) store all }
schema swapped target shelfmark { table t from A key (id;) store all  table o from A key (p; id) store all
  write again { transaction { read t ; delete t ; put t ; put o ; delete o } } }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    assert_eq!(of("s.again"), Some("s.again certified".to_owned()), "{found:?}");
    for bad in ["s.late", "swapped.again"] {
        assert_eq!(of(bad), Some(format!("{bad} refused")), "{found:?}");
    }
}

#[test]
fn what_is_in_no_row_is_selected_in_vain() {
    let found = statuses(
        r#"
entity A { key id: uuid  n: int }
entity B { key id: int  p: bool  q: int }
write twice(i, p, q) = update B(id i) set p = p, q = q and update B(id i, q q) set p = true
schema without target shelfmark { table t from A key (id;) store all }
schema with target shelfmark { table t from A key (id;) store all  table u from B key (id;) store all }
"#,
    );
    // What no row keeps is lost, whatever it selects by.
    assert_eq!(found, ["without.twice refused", "with.twice refused"]);
}

#[test]
fn a_read_that_names_nothing_asks_by_the_key() {
    // What is left out or taken from a loop is no part of what it asks.
    let found = statuses(
        r#"
entity A { key id: uuid  q: enum("x", "y") optional  r: uuid }
write make(i, r) = insert A(id i, q absent, r r) unless exists
schema s target shelfmark { table t from A key (id;) store all
  table o from A when q is present key (q; id) store all
  write make { transaction { read t ; put t } } }
schema blind target shelfmark { table t from A key (id;) store all  table o from A key (r; id) store all
  write make { transaction { put t ; put o } } }
"#,
    );
    assert_eq!(found, ["s.make certified", "blind.make refused"]);
}

#[test]
fn what_does_not_move_may_be_put_before_another_is_deleted() {
    let found = statuses(
        r#"
entity A { key id: uuid  p: date }
entity B { key id: uuid }
link L from A as a to B as b { v: int }
write set(a, b, c, v) = link L(a a, b b, v v) or replace and unlink L(a a, b c)
write date(a, p, b, c, v) = update A(id a) set p = p and link L(a a, b b, v v) and unlink L(a a, b c)
schema s target shelfmark { table l from L key (a; b) store all
  write set { transaction { put l ; delete l } } }
schema swapped target shelfmark { table l from L key (a; b) store all
  write set { transaction { delete l ; put l } } }
schema dated target shelfmark { table d from A key (id;) store all  table l from L key (a; b) store all
  write date { transaction { patch d ; put l ; delete l } } }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    for fine in ["s.set", "dated.date"] {
        assert_eq!(of(fine), Some(format!("{fine} certified")), "{found:?}");
    }
    assert_eq!(of("swapped.set"), Some("swapped.set refused".to_owned()), "{found:?}");
}

#[test]
fn what_lies_behind_the_key_is_told_with_it() {
    let found = statuses(
        r#"
entity A { key id: uuid  q: int }
link L from A as a to A as b { v: int }
write set(a, b, v) = link L(a a, b b, v v) or replace
schema s target shelfmark { table t from A key (id;) store all
  table l from L key (b, a.q; a) store all }
schema moves target shelfmark { table t from A key (id;) store all
  table l from L key (b, a.q; a, v) store all }
"#,
    );
    assert_eq!(found, ["s.set certified", "moves.set refused"]);
}

#[test]
fn of_what_is_absent_no_bucket_is_computed() {
    let found = statuses(
        r#"
entity A { key id: uuid  p: int optional  s: int }
write bare(i, s) = insert A(id i, s s)
write whole(i, p, s) = insert A(id i, p p, s s)
schema s target shelfmark { table t from A key (bucket(hash(p), 2); id) store all
  write bare { }
  write whole { } }
"#,
    );
    assert_eq!(found, ["s.bare certified", "s.whole refused"]);
}

#[test]
fn what_is_given_as_absent_is_left_out() {
    // The sparse table holds no such tuple, so the put of the other one sees for itself.
    let found = statuses(
        r#"
entity A { key id: uuid  q: int optional  r: int immutable }
entity B { key id: uuid }
write new(i, r) = insert A(id i, q absent, r r) unless exists
write beside(i, j, r) = insert B(id j) and insert A(id i, q absent, r r) unless exists
schema s target shelfmark { table t from A key (id;) store all  table u from A key (q; id) store { r }
  table b from B key (id;) store all
  write new { put t }
  write beside { transaction { put b ; put t } } }
"#,
    );
    assert_eq!(found, ["s.new certified", "s.beside certified"]);
}

#[test]
fn what_was_replaced_is_changed_behind_it() {
    let found = statuses(
        r#"
entity A { key id: uuid  p: int optional  q: int }
write both(i, p, q) = insert A(id i, q q) or replace and update A(id i) set p = p, q = q
schema s target shelfmark { table t from A key (id;) store all
  write both { transaction { put t ; patch t } } }
schema swapped target shelfmark { table t from A key (id;) store all
  write both { transaction { patch t ; put t } } }
"#,
    );
    assert_eq!(found, ["s.both certified", "swapped.both refused"]);
}

#[test]
fn what_a_part_selects_by_concerns_only_what_it_sets() {
    // The copy is of `q`: how the part that sets `p` selects is nothing to it.
    let found = statuses(
        r#"
entity U { key id: uuid }
entity E { key id: uuid  up: U immutable  p: int optional  q: int  fanout up max 2 }
link L from E as a to U as b
write apart(i, u, v) = update E(id i) set q = v and update E(id i, up u) set p = absent
write by_both(i, u, v) = update E(id i, up u) set q = v
schema lost target shelfmark { table l from L key (a; b) store { a.q }  table e from E key (id;) store { q } }
schema kept target shelfmark { table l from L key (a; b) store { a.q }  table e from E key (id;) store { q, p, up } }
"#,
    );
    let wanted = [
        "lost.apart refused",
        "lost.by_both refused",
        "kept.apart certified",
        "kept.by_both certified",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn what_one_read_does_not_show_another_tells() {
    // `some` shows nothing of `s`, `all` does: whose `s` is another's is not deleted.
    let found = statuses(
        r#"
entity A { key id: uuid  q: int  s: text }
write both(i, q, j, s) = update A(id i) set q = q and delete A(id j, s s)
schema s target shelfmark { table some from A key (id;) store { q }  table all from A key (id;) store all
  write both { transaction { read some where id = i ; read all where id = i ; read all where id = j ;
    patch some ; patch all ; delete some ; delete all } } }
schema blind target shelfmark { table some from A key (id;) store { q }  table all from A key (id;) store all
  write both { transaction { read some where id = i ; read some where id = j ;
    patch some ; patch all ; delete some ; delete all } } }
"#,
    );
    assert_eq!(found, ["s.both certified", "blind.both refused"]);
}

/// Two parts that may meet in one tuple and give it the same leave it as one of them would.
#[test]
fn a_tuple_that_is_changed_twice_to_the_same_is_changed_once() {
    let of = |first: &str, second: &str| {
        statuses(&format!(
            "
entity T {{ key id: uuid  own: uuid  due: date optional }}
write w(i, j, d: date, e: date) = update T(id i) set {first} and update T(id j) set {second}
schema s target shelfmark {{
  table ts from T key (id;) store all
  table by_due from T key (own; due, id)
}}
"
        ))
    };
    assert_eq!(of("due = d", "due = d"), ["s.w certified"]);
    assert_eq!(of("due = absent", "due = absent"), ["s.w certified"]);
    assert_eq!(of("due = d", "due = e"), ["s.w refused"]);
    assert_eq!(of("due = e", "due = absent"), ["s.w refused"]);
}

#[test]
fn what_is_changed_and_then_replaced_twice_is_patched_before_it_is_put() {
    let found = statuses(
        r#"
entity A { key id: uuid  p: int  q: int }
write thrice(i, p, q, r, s) = update A(id i) set p = p
  and insert A(id i, p p, q q) or replace and insert A(id i, p r, q s) or replace
schema s target shelfmark { table t from A key (id;) store all
  write thrice { transaction { read t where id = i ; patch t ; put t } } }
schema swapped target shelfmark { table t from A key (id;) store all
  write thrice { transaction { read t where id = i ; put t ; patch t } } }
"#,
    );
    assert_eq!(found, ["s.thrice certified", "swapped.thrice refused"]);
}
