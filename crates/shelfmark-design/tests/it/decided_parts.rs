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
