//! Parts of one write that meet, rule by rule: each plan stands beside its nearest neighbour. Plans are
//! those that the schema names, whatever the prover says of them.

use super::{
    each_its_own, gone_again, not_revived, once_each, once_replaced, selected_once, unless_deleted,
};
use crate::tests::{Rule, check_rule};

const SELECTED: Rule = |model, schema, write, _| selected_once(model, schema, write);
const UNLESS: Rule = |model, schema, write, _| unless_deleted(model, schema, write);

/// Returns a model of one entity, told by a number, in two tables.
fn text(target: &str, write: &str) -> String {
    format!(
        "entity U {{ key id: int  m: int }}
entity A {{ key id: int  n: int  m: int immutable }}
write w{write}
schema s target {target} {{
  table rows from A key (id;) store all
  table moved from A key (n; id) store all
  table us from U key (id;) store all
  write w {{ PLAN }} }}"
    )
}

/// A transaction of DynamoDB changes an item once.
#[test]
fn a_transaction_changes_an_item_once() {
    const TWICE: &str = "one transaction changes one item twice";
    let of = |target: &str, write: &str, plan: &str, words: &str| {
        check_rule(once_each, &text(target, write), &[(plan, words)]);
    };
    let change = "(i, n, j: int) = update A(id i) set n = n";
    let moves = "transaction { put moved ; patch moved }";
    of("dynamodb", change, moves, TWICE);
    of("shelfmark", change, moves, "");
    of("dynamodb", change, "put moved ; patch moved", "");
    of("dynamodb", change, "transaction { put moved } transaction { patch moved }", "");
    of("dynamodb", change, "transaction { read rows where id = i ; patch rows }", "");
    // One part has one step for an item, whatever its steps leave there.
    of("dynamodb", change, "transaction { put rows ; patch rows }", TWICE);
    of("dynamodb", change, "transaction { patch rows ; patch rows }", TWICE);
    of("dynamodb", change, "transaction { put rows ; patch moved }", "");
    of("dynamodb", change, "transaction { delete moved ; put moved }", "");
    of("dynamodb", change, "transaction { put moved ; delete moved }", TWICE);
    of("dynamodb", change, "transaction { delete moved ; put moved ; put moved }", TWICE);
    // Two puts of what is new never meet.
    let (both, twice) =
        ("transaction { put rows ; put rows }", "transaction { put rows ; patch rows }");
    let add = "(i, n, j) = insert A(id i, n n, m n) and insert A(id j, n n, m n)";
    of("dynamodb", add, both, "");
    of("dynamodb", add, twice, TWICE);
    of("dynamodb", &format!("{add} unless exists"), both, TWICE);
    // Nor do tuples that constants tell apart, if none moves.
    let apart = |first: &str, second: &str, more: &str| {
        format!("(i: int, n, j: int) = {first}(id 1) set n = n and {second}(id 2{more}")
    };
    let updates = apart("update A", "update A", ") set n = n");
    of("dynamodb", &updates, "transaction { patch rows ; patch rows }", "");
    of("dynamodb", &updates, twice, TWICE);
    of("dynamodb", &updates, "transaction { delete rows ; patch rows }", TWICE);
    of("dynamodb", &updates, moves, TWICE);
    of("dynamodb", &updates.replace("id 2", "id 1"), twice, TWICE);
    of("dynamodb", &updates.replace("id 2", "id i"), twice, TWICE);
    let three = format!("{updates} and update A(id 1) set n = 3");
    of("dynamodb", &three, twice, TWICE);
    of("dynamodb", &apart("update A", "insert A", ", n n, m n)"), twice, "");
    let gone = apart("update A", "delete A", ")");
    of("dynamodb", &gone, "transaction { delete rows ; patch rows }", "");
    of("dynamodb", &gone, twice, TWICE);
    of("dynamodb", &apart("update A", "insert A", ", n n, m n) or replace"), twice, TWICE);
    of("dynamodb", &apart("update A", "update U", ") set m = n"), twice, TWICE);
}

/// Holds that what one part sets, a later one does not select by.
#[test]
fn what_was_changed_does_not_select() {
    const CHANGED: &str = "O4: a A is selected by what was changed before";
    let of = |write: &str, words: &str| {
        let write = format!("(i: int, j: int, n: int) = {write}");
        check_rule(SELECTED, &text("shelfmark", &write), &[("patch rows", words)]);
    };
    of("update A(id i) set n = 3 and delete A(id j, n n)", CHANGED);
    of("increment A(id i) set n by 3 and delete A(id j, n n)", CHANGED);
    of("update A(id i) set n = 3 and delete A(id j)", "");
    of("update A(id i, n n) set n = 3", "");
    of("update A(id i) set n = 3 and delete A(id j, m n)", "");
    of("delete A(id i) and delete A(id j, n n)", "");
    of("delete A(id j, n n) and update A(id i) set n = 3", "");
    of("update A(id 1) set n = 3 and delete A(id 2, n n)", "");
    of("update A(id 1) set n = 3 and delete A(id 1, n n)", CHANGED);
    of("update U(id i) set m = 3 and delete A(id j, n n)", "");
    of("update A(id i) set n = 3 and insert A(id j, n n, m n)", "");
    // Constants of what changes tell no two tuples apart.
    of("update A(id i, n 1) set n = 2 and delete A(id j, n 2)", CHANGED);
    of("insert A(id i, n n, m n) or replace and delete A(id j, n n)", CHANGED);
    of("insert A(id i, n n, m n) or replace and delete A(id j)", "");
    of("insert A(id i, n n, m n) and delete A(id j, n n)", "");
}

/// Holds that what one part makes or deletes, a later one does not ask for.
#[test]
fn what_was_deleted_is_not_asked_for() {
    const LOST: &str = "O4: a A is put unless it was there";
    let of = |write: &str, words: &str| {
        let write = format!("(i: int, j: int, n: int) = {write}");
        check_rule(UNLESS, &text("shelfmark", &write), &[("put rows", words)]);
    };
    of("delete A(id i) and insert A(id j, n n, m n) unless exists", LOST);
    of("insert A(id i, n n, m n) and insert A(id j, n n, m n) unless exists", LOST);
    of("update A(id i) set n = n and insert A(id j, n n, m n) unless exists", "");
    of("delete A(id i) and insert A(id j, n n, m n)", "");
    of("delete A(id i) and update A(id j) set n = n", "");
    of("delete A(id 1) and insert A(id 2, n n, m n) unless exists", "");
    of("delete A(id 1) and insert A(id 1, n n, m n) unless exists", LOST);
    of("delete U(id i) and insert A(id j, n n, m n) unless exists", "");
    of("insert A(id j, n n, m n) unless exists and delete A(id i)", "");
    let without = "entity A { key id: int }
entity B { key id: int }
write w(i, j) = delete A(id i) and insert A(id j) unless exists
schema s target shelfmark { table rows from B key (id;) store all  write w { } }";
    check_rule(UNLESS, without, &[("", "")]);
}

/// Holds that what one part deletes, an update does not put again.
#[test]
fn what_was_deleted_is_not_put_again() {
    const AGAIN: &str = "O4: rows is put again after what it is of was deleted";
    let of = |write: &str, plan: &str, words: &str| {
        let write = format!("(i: int, j: int, n: int) = {write}");
        check_rule(not_revived, &text("shelfmark", &write), &[(plan, words)]);
    };
    let both = "delete A(id i) and update A(id j) set n = n";
    of(both, "put rows", AGAIN);
    of(both, "patch rows ; delete rows", "");
    of(both, "put us", "");
    of("delete A(id i) and increment A(id j) set n by n", "put rows", AGAIN);
    of("delete A(id 1) and update A(id 2) set n = n", "put rows", "");
    of("delete U(id i) and update A(id j) set n = n", "put rows", "");
    of("update A(id j) set n = n and delete A(id i)", "put rows", "");
    of("update A(id i) set n = n and update A(id j) set n = n", "put rows", "");
    of(&format!("{both} and insert A(id n, n n, m n)"), "put rows", "");
    of(&format!("{both} and insert U(id n, m n)"), "put rows", AGAIN);
}

/// A loop replaces one tuple each time, or one whose row stays.
#[test]
fn a_loop_replaces_each_once() {
    const AGAIN: &str = "O4: a loop replaces one A again and again";
    let of = |id: &str, existing: &str, plan: &str, words: &str| {
        let write = format!(
            "(i: int, n) = insert A(id {id}, n u.m, m n) {existing} for each U as u where m = n"
        );
        check_rule(once_replaced, &text("shelfmark", &write), &[(plan, words)]);
    };
    let moves = "read us where m = n as u ; delete moved for each u ; put moved for each u";
    of("i", "or replace", moves, AGAIN);
    of("u.id", "or replace", moves, "");
    of("i", "unless exists", moves, "");
    of("i", "or replace", "read us where m = n as u ; put moved for each u", "");
    of(
        "i",
        "or replace",
        "read us where m = n as u ; delete us for each u ; put moved for each u",
        "",
    );
    let once = "(i, n) = insert A(id i, n n, m n) or replace";
    check_rule(once_replaced, &text("shelfmark", once), &[("delete moved ; put moved", "")]);
}

/// Holds that what one part makes and another deletes is not looked for before both.
#[test]
fn what_is_made_and_deleted_is_not_looked_for() {
    const LOOKED: &str = "O4: a A that is made and deleted is looked for before";
    let of = |write: &str, plan: &str, words: &str| {
        let write = format!("(i: int, j: int, n: int) = {write}");
        check_rule(gone_again, &text("shelfmark", &write), &[(plan, words)]);
    };
    let both = "insert A(id i, n n, m n) and delete A(id j)";
    let looks = "read rows where id = j ; put rows ; delete moved";
    of(both, looks, LOOKED);
    of(both, "put rows ; delete rows", "");
    of(both, "put rows ; delete rows ; read rows where id = j", "");
    of(both, "read rows where id = j ; put rows", "");
    of(both, "read us where id = j ; put rows ; delete moved", "");
    of("delete A(id j) and insert A(id i, n n, m n)", looks, "");
    of("insert A(id 1, n n, m n) and delete A(id 2)", looks, "");
    of("insert U(id i, m n) and delete A(id j)", looks, "");
    of("insert A(id i, n n, m n) and update A(id j) set n = n", looks, "");
    of("update A(id i) set n = n and delete A(id j)", looks, "");
}

/// A part that goes through a loop has steps that do, another has steps that do not.
#[test]
fn each_part_has_its_own_steps() {
    const NONE: &str = "O4: one part of the write changes no row of ";
    let of = |write: &str, plan: &str, words: &str| {
        let write = format!("(i: int, n: int) = {write}");
        check_rule(each_its_own, &text("shelfmark", &write), &[(plan, words)]);
    };
    let looped = "delete A(id a.id) for each A as a where n = n";
    of("delete A(id i)", "delete rows", "");
    of("delete A(id i)", "read moved where n = n as a ; delete rows for each a", NONE);
    of(looped, "delete rows", NONE);
    of(looped, "read moved where n = n as a ; delete rows for each a", "");
    let both = format!("delete A(id i) and {looped}");
    of(&both, "read moved where n = n as a ; delete rows for each a", NONE);
    of(&both, "read moved where n = n as a ; delete rows ; delete rows for each a", "");
    // Where there is no step at all, states tell; an update may have any.
    of("delete A(id i)", "read moved where n = n as a ; put rows for each a", "");
    of("insert A(id i, n n, m n)", "read moved where n = n as a ; put rows for each a", NONE);
    of("update A(id i) set n = n", "read moved where n = n as a ; patch rows for each a", "");
    of("increment A(id i) set n by n", "read moved where n = n as a ; put rows for each a", "");
}
