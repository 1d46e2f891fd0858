//! Tries what the steps of a write's plan change, rule by rule: each plan stands beside its nearest neighbour.
//! Plans are those that the schema names, whatever the prover says of them.

use super::{computable, concerns, newly_held, old_known, replaced_known, taken_away, told_apart};
use crate::tests::{Rule, check_rule};

const CONCERNS: Rule = |model, schema, write, steps| {
    steps.iter().try_for_each(|step| concerns(model, schema, write, step))
};
const TAKEN: Rule = |model, schema, write, steps| {
    (0..steps.len()).try_for_each(|at| taken_away(model, schema, write, (steps, at)))
};
const APART: Rule = |model, schema, write, steps| {
    steps.iter().try_for_each(|step| told_apart(model, schema, write, step))
};
const OLD: Rule = |model, schema, write, steps| {
    (0..steps.len()).try_for_each(|at| old_known(model, schema, write, (steps, at)))
};
const REPLACED: Rule = |model, schema, write, steps| {
    (0..steps.len()).try_for_each(|at| replaced_known(model, schema, write, (steps, at)))
};
const NEWLY: Rule = |model, schema, write, steps| {
    (0..steps.len()).try_for_each(|at| newly_held(model, schema, write, (steps, at)))
};
const COMPUTED: Rule = |model, schema, write, steps| {
    (0..steps.len()).try_for_each(|at| computable(model, schema, write, steps, at))
};

/// Returns a model of one entity in some tables, with one write.
fn text(entity: &str, write: &str, tables: &str) -> String {
    format!(
        "entity U {{ key id: uuid  n: int }}
entity E {{ key id: uuid  o: int  {entity} }}
write w{write}
schema s target shelfmark {{ {tables}
  write w {{ PLAN }} }}"
    )
}

const BY_ID: &str = "table t from E key (id;) store all";

/// Holds that what a write does not concern is neither put nor deleted.
#[test]
fn a_step_changes_what_the_write_concerns() {
    let tables = format!("{BY_ID}  table us from U key (id;) store all");
    let none = "the plan changes us, the write does not";
    check_rule(
        CONCERNS,
        &text("", "(i, o) = insert E(id i, o o)", &tables),
        &[
            ("put t", ""),
            ("put us", none),
            ("put t ; delete us", none),
            ("read us where id = i ; patch us", ""),
        ],
    );
}

/// An update deletes without a put only where a row may go: by its key, its condition, or what it copies.
#[test]
fn an_update_takes_no_row_away() {
    const LOST: &str = "loses rows that the write leaves where they are";
    let tables = format!(
        "{BY_ID}  table by_o from E key (o; id) store all  table some from E when o = 3 key (id;) store all
  table us from U key (id;) store all"
    );
    let set = |column: &str| format!("(i, x) = update E(id i) set {column} = x");
    check_rule(
        TAKEN,
        &text("k: int", &set("o"), &tables),
        &[("delete t", LOST), ("delete by_o", ""), ("delete some", ""), ("delete t ; put t", "")],
    );
    check_rule(
        TAKEN,
        &text("k: int", &set("k"), &tables),
        &[("delete by_o", LOST), ("delete some", LOST), ("put by_o ; delete by_o", LOST)],
    );
    let add = "(i, x) = increment E(id i) set k by x";
    check_rule(TAKEN, &text("k: int", add, &tables), &[("delete t", LOST)]);
    check_rule(TAKEN, &text("", "(i) = delete E(id i)", &tables), &[("delete t", "")]);
    let copies = "table t from E key (id;) store { u.n }";
    let other = "(i, x) = update U(id i) set n = x";
    check_rule(TAKEN, &text("u: U", other, copies), &[("delete t", "")]);
}

/// A row that is put or deleted is of one tuple.
#[test]
fn a_row_is_of_one_tuple() {
    const TWO: &str = "two rows of t may be one";
    let of = |table: &str, plan: &str, words: &str| {
        let tables = format!("table t from E {table}");
        let add = "(i, o) = insert E(id i, o o)";
        check_rule(APART, &text("", add, &tables), &[(plan, words)]);
    };
    of("key (id;) store all", "put t", "");
    of("key (o;) store all", "put t", TWO);
    of("key (o;) store all", "delete t", TWO);
    of("key (o;) store all", "patch t", "");
    let tables = "table t from E key (o;) store { u.n }";
    let copied = "(i, x) = update U(id i) set n = x";
    check_rule(APART, &text("u: U", copied, tables), &[("put t", "")]);
}

/// A row that an update moves is deleted under its old key: what the update sets does not tell it.
#[test]
fn a_moved_row_is_deleted_under_its_old_key() {
    const OLD_ONE: &str = "O1: what o of by_o was is not known";
    let tables = format!(
        "{BY_ID}  table by_o from E key (o; id) store {{ }}  table lean from E key (id;) store {{ k }}
  table us from U key (id;) store all  table three from E when o = 3 key (id;) store {{ k }}"
    );
    let move_o = "(i, x) = update E(id i) set o = x";
    check_rule(
        OLD,
        &text("k: int", move_o, &tables),
        &[
            ("read t where id = i ; delete by_o ; put by_o", ""),
            ("delete by_o ; put by_o", OLD_ONE),
            ("delete by_o ; read t where id = i ; put by_o", OLD_ONE),
            ("read lean where id = i ; delete by_o ; put by_o", OLD_ONE),
            ("read us where id = i ; delete by_o ; put by_o", OLD_ONE),
            // Asked by it, or sparse by it, the row that was read had it.
            ("read by_o where o = x and id = i ; delete by_o ; put by_o", ""),
            ("read three where id = i ; delete by_o ; put by_o", ""),
            ("put by_o", ""),
            ("delete lean", ""),
        ],
    );
    let add = "(i, x) = increment E(id i) set o by x";
    check_rule(OLD, &text("k: int", add, &tables), &[("delete by_o ; put by_o", OLD_ONE)]);
    // What does not change is told by anything.
    let other = "(i, x) = update E(id i) set k = x";
    check_rule(OLD, &text("k: int", other, &tables), &[("delete by_o ; put by_o", "")]);
    let selected = "(i, x, y) = update E(id i, o y) set o = x";
    check_rule(OLD, &text("k: int", selected, &tables), &[("delete by_o ; put by_o", "")]);
    check_rule(OLD, &text("k: int", "(i) = delete E(id i)", &tables), &[("delete by_o", "")]);
    // Where the condition tells tuples apart, it must be known, too.
    let guarded = "table by_k from E when o = 3 key (k;) store { }";
    let unique = "k: int  unique (o, k)";
    check_rule(
        OLD,
        &text(unique, move_o, guarded),
        &[("delete by_k", "O1: what o of by_k was is not known")],
    );
    let alone = "table by_k from E when o = 3 key (id; k) store { }";
    check_rule(OLD, &text("k: int", move_o, alone), &[("delete by_k", "")]);
}

/// A row that an insert replaces is deleted under its old key, of which it tells what never changes.
#[test]
fn a_replaced_row_is_deleted_under_its_old_key() {
    const OLD_ONE: &str = "O1: what o of by_o was is not known";
    let tables = format!(
        "{BY_ID}  table by_o from E key (o; id) store {{ }}  table by_k from E key (k; id) store {{ }}
  table lean from E key (id;) store {{ k }}  table us from U key (id;) store all"
    );
    let put = "(i, x, k, j: uuid) = insert E(id i, o x, k k) or replace";
    check_rule(
        REPLACED,
        &text("k: int immutable", put, &tables),
        &[
            ("read t where id = i ; delete by_o ; put by_o", ""),
            ("delete by_o ; put by_o", OLD_ONE),
            ("delete by_o ; read t where id = i ; put by_o", OLD_ONE),
            ("read lean where id = i ; delete by_o ; put by_o", OLD_ONE),
            // Another tuple's.
            ("read t where id = j ; delete by_o ; put by_o", OLD_ONE),
            ("read us where id = i ; delete by_o ; put by_o", OLD_ONE),
            ("delete by_k", ""),
            ("delete t", ""),
            ("put by_o", ""),
        ],
    );
    let unless = put.replace("or replace", "unless exists");
    check_rule(REPLACED, &text("k: int immutable", &unless, &tables), &[("delete by_o", "")]);
    // A step of a loop is for the part that goes through it.
    let looped = "(i, x) = insert E(id e.id, o x, k e.k) or replace for each E as e where k = i";
    check_rule(
        REPLACED,
        &text("k: int", &looped.replace("(i, x)", "(i: int, x)"), &tables),
        &[
            ("delete by_o", ""),
            ("read by_k where k = i as e ; delete by_o for each e", OLD_ONE),
            ("read t where o = x as e ; delete by_o for each e", ""),
        ],
    );
}

/// Holds that who gets a row by an update is found where it has had one before.
#[test]
fn who_had_no_row_is_found() {
    const NONE: &str = "O4: who had no row of by_q before is not found";
    let tables = format!(
        "{BY_ID}  table by_q from E key (q; id) store all  table has from E when q is present key (id;) store all
  table us from U key (id;) store all"
    );
    let set = "(i, x) = update E(id i) set q = x";
    check_rule(
        NEWLY,
        &text("q: int optional", set, &tables),
        &[
            ("read t where id = i ; put by_q", ""),
            ("read has where id = i ; put by_q", NONE),
            ("read by_q where q = x and id = i ; put by_q", NONE),
            ("read has where id = i ; read t where id = i ; put by_q", ""),
            ("put by_q ; read has where id = i", ""),
            ("read us where id = i ; put by_q", ""),
            ("read has where id = i ; delete by_q", ""),
            ("read has where id = i ; put t", ""),
        ],
    );
    let bad = "read has where id = i ; put by_q";
    check_rule(
        NEWLY,
        &text("q: int", &set.replace("set q", "set o"), &tables.replace("when q is present ", "")),
        &[(bad, "")],
    );
    let made = "(i, x) = insert E(id i, o 1, q x) or replace";
    check_rule(NEWLY, &text("q: int optional", made, &tables), &[(bad, "")]);
    // Who is selected by it has it.
    let by_loop = |asked: &str| {
        format!("(i, x) = update E(id e.id) set q = x for each E as e where q {asked}")
    };
    let found = "read by_q where q = i as e ; put by_q for each e";
    check_rule(NEWLY, &text("q: int optional", &by_loop("= i"), &tables), &[(found, "")]);
    check_rule(NEWLY, &text("q: int optional", &by_loop(">= i"), &tables), &[(found, NONE)]);
}

/// The keys of changed rows, and all that is put, are computed from inputs and from what was read.
#[test]
fn keys_are_computed_from_what_is_known() {
    let tables = format!(
        "{BY_ID}  table by_o from E key (o; id) store {{ k }}  table lean from E key (id;) store {{ k }}
  table us from U key (id;) store all"
    );
    const KEY: &str = "O1: o of by_o is not known";
    let drop = "(i, j: uuid) = delete E(id i)";
    check_rule(
        COMPUTED,
        &text("k: int", drop, &tables),
        &[
            ("delete t", ""),
            ("delete by_o", KEY),
            ("read t where id = i ; delete by_o", ""),
            ("read lean where id = i ; delete by_o", KEY),
            ("read us where id = i ; delete by_o", KEY),
            ("delete by_o ; read t where id = i", KEY),
            // Another tuple is not the one that goes.
            ("read t where id = j ; delete by_o", KEY),
        ],
    );
    check_rule(
        COMPUTED,
        &text("k: int", "(i, x) = delete E(id i, o x)", &tables),
        &[("delete by_o", "")],
    );
    // What an update sets tells the key of a put, of no patch, and a sum tells nothing.
    let set = |effect: &str| format!("(i, x) = {effect}");
    let moved = set("update E(id i) set o = x");
    let looks = "read lean where id = i";
    check_rule(
        COMPUTED,
        &text("k: int", &moved, &tables),
        &[
            (&format!("{looks} ; put by_o"), ""),
            ("put by_o", "O1: k of by_o is not known"),
            (&format!("{looks} ; patch by_o"), KEY),
        ],
    );
    let added = set("increment E(id i) set o by x");
    check_rule(
        COMPUTED,
        &text("k: int", &added, &tables),
        &[(&format!("{looks} ; put by_o"), KEY)],
    );
    // A loop goes through what was read under its name.
    let all = "(x) = delete E(id e.id) for each E as e where o = x";
    check_rule(
        COMPUTED,
        &text("k: int", all, &tables),
        &[
            ("read by_o where o = x as e ; delete by_o for each e", ""),
            ("read by_o where o = x as f ; delete by_o for each e", "nothing is read as e"),
            ("delete by_o for each e ; read by_o where o = x as e", "nothing is read as e"),
        ],
    );
}

/// Holds that what an insert leaves out is absent, and behind a reference that is absent everything is.
#[test]
fn what_an_insert_leaves_out_is_known() {
    let of = |entity: &str, write: &str, table: &str, plan: &str, words: &str| {
        let tables = format!("table t from E {table}  table us from U key (id;) store all");
        check_rule(COMPUTED, &text(entity, write, &tables), &[(plan, words)]);
    };
    let optional = "q: int optional  u: U optional";
    of(optional, "(i) = insert E(id i, o 1)", "key (id;) store { q }", "put t", "");
    of(optional, "(i) = insert E(id i, o 1)", "key (id;) store { u.n }", "put t", "");
    let given = "(i, u) = insert E(id i, o 1, u u)";
    const OPEN: &str = "O1: u.n of t is not known";
    of(optional, given, "key (id;) store { u.n }", "put t", OPEN);
    of(optional, given, "key (id;) store { u.n }", "read us where id = u ; put t", "");
    of(optional, given, "key (id;) store { u.n }", "read us where id = i ; put t", OPEN);
    let taken = "(i) = update E(id i) set u = absent";
    let looks = "read t where id = i ; put t";
    of(optional, taken, "key (id; o) store { u.n }", looks, "");
    // What the same write makes is known of it, unless it may have been there.
    let both = |unless: &str| {
        format!("(i, u, n) = insert U(id u, n n){unless} and insert E(id i, o 1, u u)")
    };
    of(optional, &both(""), "key (id;) store { u.n }", "put t", "");
    of(optional, &both(" unless exists"), "key (id;) store { u.n }", "put t", OPEN);
    let looked = "read us where id = u ; put t";
    of(optional, &both(" unless exists"), "key (id;) store { u.n }", looked, "");
}
