//! Changes of rows on one small state, and the steps that they take: each plan stands beside its nearest
//! neighbour. Plans are those that the schema names, whatever the prover says of them.

use super::{Delta, covered, gone_to, in_order, lost, lost_before};
use crate::meaning::one_by_one;
use crate::shelf::{rows, rows_after};
use crate::tests::{Rule, check_rule};
use crate::world::World;
use shelfmark_design_language::model::{Model, Value};

/// Two tuples of each of two relations, of which the second refers to the first.
fn state(model: &Model) -> World<'_> {
    let tuple = |values: &[i64]| values.iter().copied().map(Value::Int).collect::<Vec<_>>();
    let parents = vec![tuple(&[1, 1]), tuple(&[2, 2])];
    let children = vec![tuple(&[1, 1, 1, 1]), tuple(&[2, 2, 2, 1])];
    World { model, tuples: vec![parents, children] }
}

const ORDER: Rule = |model, schema, write, steps| {
    let stages = one_by_one(&state(model), write, &[]).ok_or("a defined write")?;
    in_order(schema, write, steps, &stages)
};
const GONE: Rule = |model, schema, write, steps| {
    let stages = one_by_one(&state(model), write, &[]).ok_or("a defined write")?;
    gone_to(schema, write, steps, &stages)
};
const COVERED: Rule = |model, schema, write, steps| {
    let before = state(model);
    let stages = one_by_one(&before, write, &[]).ok_or("a defined write")?;
    let after = stages.last().ok_or("a state")?;
    let delta = Delta::of(&rows(&before, schema), &rows_after(&before, after, schema));
    covered(model, schema, write, steps, &delta)
};
/// Says which rows are lost, and how many are changed.
const LOST: Rule = |model, schema, write, _| {
    let before = state(model);
    let stages = one_by_one(&before, write, &[]).ok_or("a defined write")?;
    let after = stages.last().ok_or("a state")?;
    let delta = Delta::of(&rows(&before, schema), &rows_after(&before, after, schema));
    let (late, early) = (lost(after, schema, &delta), lost_before(&before, schema, write, &delta));
    let name = |id: usize| schema.families.get(id).map_or("", |one| one.name.text.as_str());
    let (late, early) = (late.map_or("", name), early.map_or("", name));
    Err(format!("{} rows, lost `{late}`, before `{early}`", delta.rows(schema)))
};

/// Returns a model of the two relations in some tables.
fn text(write: &str, tables: &str) -> String {
    format!(
        "entity U {{ key id: int  n: int }}
entity A {{ key id: int  p: int  q: int  u: U }}
write w() = {write}
schema s target shelfmark {{ {tables}
  write w {{ PLAN }} }}"
    )
}

const BY_ID: &str = "table t from A key (id;) store all";

/// Two effects on one row change it in their order.
#[test]
fn steps_come_to_a_row_in_the_order_of_the_effects() {
    const TWO: &str = "two effects come to one row of t";
    let of = |write: &str, expected: &[(&str, &str)]| {
        check_rule(ORDER, &text(write, BY_ID), expected);
    };
    of(
        "delete A(id 1) and insert A(id 1, p 5, q 5, u 1)",
        &[("delete t ; put t", ""), ("put t ; delete t", TWO), ("put t", TWO), ("delete t", TWO)],
    );
    of(
        "insert A(id 3, p 5, q 5, u 1) and delete A(id 3)",
        &[
            ("put t ; delete t", ""),
            ("delete t ; put t", TWO),
            ("read t where id = 3 ; put t ; delete t", TWO),
            ("put t ; delete t ; read t where id = 3", ""),
        ],
    );
    of(
        "insert A(id 3, p 5, q 5, u 1) and update A(id 3) set q = 6",
        &[
            ("put t ; patch t", ""),
            ("patch t ; put t", TWO),
            ("put t", TWO),
            ("patch t", TWO),
            ("read t where id = 3 ; put t ; patch t", TWO),
        ],
    );
    of(
        "update A(id 1) set q = 6 and delete A(id 1)",
        &[("delete t", ""), ("patch t ; delete t", ""), ("patch t", TWO)],
    );
    of(
        "update A(id 1) set q = 6 and update A(id 1) set p = 6",
        &[("patch t", ""), ("put t", TWO), ("patch t ; put t", "")],
    );
    of(
        "update A(id 1) set q = 6 and delete A(id 1) and insert A(id 1, p 5, q 5, u 1)",
        &[
            ("patch t ; delete t ; put t", ""),
            ("delete t ; put t", TWO),
            ("delete t ; put t ; patch t", TWO),
        ],
    );
    // Effects on two rows come in any order.
    of("delete A(id 1) and insert A(id 3, p 5, q 5, u 1)", &[("put t ; delete t", "")]);
}

/// Holds that what is put in the place of another comes behind what changes it before.
#[test]
fn what_replaces_comes_in_its_turn() {
    const TWO: &str = "two effects come to one row of t";
    let of = |write: &str, expected: &[(&str, &str)]| {
        check_rule(ORDER, &text(write, BY_ID), expected);
    };
    let put = |id: u8, q: u8| format!("insert A(id {id}, p 5, q {q}, u 1) or replace");
    let (first, second) = ("put t ; patch t", "patch t ; put t");
    of(&format!("{} and {}", put(3, 5), put(3, 6)), &[("put t", ""), (second, ""), (first, TWO)]);
    of(&format!("{} and {}", put(1, 5), put(1, 6)), &[("put t", ""), ("delete t", TWO)]);
    let set = |id: u8| format!("update A(id {id}) set q = 7");
    of(&format!("{} and {}", put(3, 5), set(3)), &[(first, ""), (second, TWO)]);
    of(&format!("{} and {}", put(1, 5), set(1)), &[(first, ""), (second, TWO)]);
    of(&format!("{} and {}", set(1), put(1, 5)), &[(second, ""), (first, TWO)]);
    let thrice = format!("{} and {} and {}", put(1, 5), set(1), put(1, 6));
    of(&thrice, &[(second, ""), (first, TWO)]);
}

/// A row that is put is only added to: what was read before does not matter to a number.
#[test]
fn numbers_are_added_to_what_was_put() {
    const TWO: &str = "two effects come to one row of us";
    let of = |kept: &str, words: &str| {
        let tables = format!("{BY_ID}  table us from U key (id;) store {{ {kept} }}");
        let write = "insert U(id 3, n 1) and insert A(id 3, p 5, q 5, u 3)";
        let plan = "read us where id = 3 ; put us ; put t ; patch us";
        check_rule(ORDER, &text(write, &tables), &[(plan, words)]);
    };
    of("n, count A as all", "");
    of("n, sum q of A as all", "");
    of("n, collect A.q as all", TWO);
}

/// A row that one effect changes has a step that goes through a loop where the effect does.
#[test]
fn a_row_has_a_step_of_its_effect() {
    const LOOP: &str = "no step that goes through the loop changes the rows of t";
    const ONCE: &str = "no step that stands outside of loops changes the rows of t";
    let tables = format!(
        "{BY_ID}  table o from A key (q; id) store all  table us from U key (id;) store all"
    );
    let of = |write: &str, expected: &[(&str, &str)]| {
        check_rule(GONE, &text(write, &tables), expected);
    };
    let each =
        |change: &str| format!("read o where q = 1 as e ; {change} o ; {change} t for each e");
    let (delete, patch) =
        (each("delete").replace("delete o", "delete o for each e"), "patch t for each e");
    let looped = "delete A(id e.id) for each A as e where q = 1";
    of(looped, &[(&delete, ""), (&delete.replace("delete t for each e", "delete t"), LOOP)]);
    let once = "delete A(id 1)";
    of(once, &[("delete t ; delete o", ""), (&each("delete"), ONCE), ("put t ; delete o", ONCE)]);
    let made = "insert A(id 3, p 5, q 5, u 1)";
    of(made, &[("put t ; put o", ""), ("patch t ; put o", ONCE)]);
    let set = "update A(id 1) set p = 5";
    let read = "read o where q = 1 as e";
    of(
        set,
        &[
            ("patch t ; patch o", ""),
            ("put t ; put o", ""),
            ("delete t ; patch o", ONCE),
            (&format!("{read} ; {patch} ; patch o"), ONCE),
        ],
    );
    // Copies are gone to by whoever finds them.
    let copies = "table t from A key (id;) store { u.n }  table us from U key (id;) store all";
    let named = "update U(id 1) set n = 7";
    check_rule(
        GONE,
        &text(named, copies),
        &[
            ("patch us ; patch t", ""),
            ("patch us ; read t where id = 1 as e ; patch t for each e", ""),
            ("patch us ; delete t", ONCE),
        ],
    );
}

/// Each change of a row has its step, and a row that moves goes before it comes.
#[test]
fn each_change_has_its_step() {
    let tables = format!("{BY_ID}  table o from A key (q; id) store all");
    let of = |write: &str, expected: &[(&str, &str)]| {
        check_rule(COVERED, &text(write, &tables), expected);
    };
    let made = "insert A(id 3, p 5, q 5, u 1)";
    of(
        made,
        &[
            ("put t ; put o", ""),
            ("put t", "no step puts the new rows of o"),
            ("put o ; patch t", "no step puts the new rows of t"),
        ],
    );
    of(
        "delete A(id 1)",
        &[("delete t ; delete o", ""), ("delete t ; put o", "no step deletes the old rows of o")],
    );
    of(
        "update A(id 1) set p = 5",
        &[
            ("patch t ; patch o", ""),
            ("put t ; put o", ""),
            ("delete t ; patch o", "no step changes the rows of t"),
        ],
    );
    const LATE: &str = "o is put before it is deleted";
    of(
        "update A(id 1) set q = 5",
        &[("patch t ; delete o ; put o", ""), ("patch t ; put o ; delete o", LATE)],
    );
    of("increment A(id 1) set q by 5", &[("patch t ; put o ; delete o", LATE)]);
    of(
        "insert A(id 1, p 5, q 5, u 1) or replace",
        &[("put t ; delete o ; put o", ""), ("put t ; put o ; delete o", LATE)],
    );
    // What comes and goes for itself does not move.
    of(&format!("{made} and delete A(id 1)"), &[("put t ; put o ; delete t ; delete o", "")]);
    let beside = format!("{made} and delete A(id 1) and update A(id 2) set p = 7");
    of(&beside, &[("put t ; put o ; delete t ; delete o ; patch t ; patch o", "")]);
    let guarded = "table o from A when q = 1 key (id;) store all";
    let changed = "insert A(id 3, p 5, q 1, u 1) and update A(id 1) set q = 5";
    check_rule(
        COVERED,
        &text(changed, guarded),
        &[("delete o ; put o", ""), ("put o ; delete o", LATE)],
    );
    // Behind a reference a row moves with what it refers to.
    let behind = "table us from U key (id;) store all  table o from A key (u.n; id) store all";
    let far = "update U(id 1) set n = 7";
    check_rule(
        COVERED,
        &text(far, behind),
        &[
            ("patch us ; read o where p = 1 as e ; delete o for each e ; put o for each e", ""),
            ("patch us ; read o where p = 1 as e ; put o for each e ; delete o for each e", LATE),
        ],
    );
}

/// Two tuples under one key are one row, of which the write concerns them.
#[test]
fn rows_of_two_tuples_are_lost() {
    let of = |write: &str, tables: &str, told: &str| {
        check_rule(LOST, &text(write, tables), &[("", told)]);
    };
    // Both tuples refer to the same parent, and differ in all else.
    let (by_u, by_q) = ("table m from A key (u;) store all", "table m from A key (q;) store all");
    let made = "insert A(id 3, p 5, q 5, u 2)";
    of(made, by_u, "1 rows, lost `m`, before ``");
    of(made, by_q, "1 rows, lost ``, before ``");
    of("insert A(id 3, p 5, q 1, u 2)", by_q, "1 rows, lost `m`, before ``");
    of("delete A(id 2)", by_q, "1 rows, lost ``, before ``");
    of("update A(id 2) set p = 9", by_q, "1 rows, lost ``, before ``");
    of("update A(id 2) set q = 1", by_q, "2 rows, lost `m`, before ``");
    of("insert U(id 3, n 3)", by_u, "0 rows, lost ``, before ``");
    // Of the row of two one goes, and the other's with it.
    of("update A(id 2) set u = 2", by_u, "2 rows, lost ``, before ``");
    let removed = "delete A(id 1) and delete A(id 2)";
    of(removed, by_u, "1 rows, lost ``, before `m`");
    let indexed = "table t from A key (id;) store all  index i key (u; id)";
    of("delete A(id 1)", indexed, "1 rows, lost ``, before ``");
}
