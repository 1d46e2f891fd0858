//! The reads of a write's plan, rule by rule: each plan stands beside its nearest neighbour. Plans are
//! those that the schema names, whatever the prover says of them.

use super::{asked, early, found_by_key, looked_up};
use crate::tests::{Rule, check_rule};

const EARLY: Rule =
    |_, schema, write, steps| (0..steps.len()).try_for_each(|at| early(schema, write, steps, at));
const ASKED: Rule = |model, schema, write, steps| {
    (0..steps.len()).try_for_each(|at| asked(model, schema, write, (steps, at)))
};
const FOUND: Rule = |model, schema, write, steps| {
    (0..steps.len()).try_for_each(|at| found_by_key(model, schema, write, (steps, at)))
};
const LOOKED: Rule = |model, schema, write, steps| {
    (0..steps.len()).try_for_each(|at| looked_up(model, schema, write, steps, at))
};

/// Holds that what is changed does not show any more how it was, to whom it matters.
#[test]
fn what_is_changed_is_read_before() {
    const LATE: &str = "is read afterwards";
    let text = |write: &str| {
        format!(
            "entity E {{ key id: uuid  o: text(max 3) }}
write w{write}
schema s target shelfmark {{
  table f0 from E key (id;) store all
    index g key (o; id)
  table f1 from E key (o; id) store all
  write w {{ PLAN }} }}"
        )
    };
    check_rule(
        EARLY,
        &text("(i, j: uuid, o: text) = delete E(id i)"),
        &[
            ("read f0 where id = i ; delete f0 ; delete f1", ""),
            ("delete f0 ; read f0 where id = i ; delete f1", LATE),
            ("delete f1 ; read f0 where id = i ; delete f0", ""),
            // An entry of an index goes with its row.
            ("delete f0 ; read g where o = o ; delete f1", LATE),
            // Nothing hangs on what is read at last, or was read at first in the same way.
            ("read f0 where id = i ; delete f0 ; delete f1 ; read f0 where id = i", ""),
            ("read f0 where id = i ; delete f0 ; read f0 where id = i ; delete f1", ""),
            ("read f0 where id = j ; delete f0 ; read f0 where id = i ; delete f1", LATE),
            ("read f1 where o = o ; delete f1 ; read f0 where id = i ; delete f0", ""),
            ("read f0 where id = i as x ; delete f0 ; read f0 where id = i as x ; delete f1", LATE),
        ],
    );
    let again = "read f0 where id = i ; CHANGE f0 ; read f0 where id = i ; CHANGE f1";
    for (write, change, words) in [
        ("(i, o) = delete E(id i)", "delete", ""),
        ("(i, o) = insert E(id i, o o) unless exists", "put", LATE),
        ("(i, j) = delete E(id i) and delete E(id j)", "delete", LATE),
        ("(i) = delete E(id e.id) for each E as e where id = i", "delete", LATE),
    ] {
        check_rule(EARLY, &text(write), &[(&again.replace("CHANGE", change), words)]);
    }
}

/// A read asks by inputs, or by what a row of the write's own tuple has shown before.
#[test]
fn a_read_asks_by_what_is_known_before() {
    const EARLY: &str = "by what is not there before";
    let text = |write: &str, stored: &str| {
        format!(
            "entity U {{ key id: uuid  n: int }}
entity A {{ key id: uuid  u: U  n: int }}
write w{write}
schema s target shelfmark {{
  table us from U key (id;) store all
  table as from A key (id;) store {stored}
  table own from A key (u; id) store all
  write w {{ PLAN }} }}"
        )
    };
    let drop = "(i, u: uuid) = delete A(id i)";
    let read = "read as where id = i ; read us where id = row.u ; delete as";
    check_rule(
        ASKED,
        &text(drop, "all"),
        &[
            (read, ""),
            ("read us where id = row.u ; read as where id = i ; delete as", EARLY),
            ("read us where id = u ; read us where id = row.u ; delete as", EARLY),
            ("read own where id = i and u = row.u ; delete as", EARLY),
            ("read own where id = i and u = u ; read us where id = row.u ; delete as", ""),
        ],
    );
    check_rule(ASKED, &text(drop, "{ n }"), &[(read, EARLY)]);
    // What is put is no tuple that was read.
    let put = read.replace("delete", "put");
    let insert = "(i, u, n) = insert A(id i, u u, n n) unless exists";
    check_rule(ASKED, &text(insert, "all"), &[(&put, EARLY)]);
}

/// A read names the partition of its rows: by what it asks for, by the key that the write gives, and by
/// what all rows of a sparse family have.
#[test]
fn a_read_names_its_partition() {
    const OPEN: &str = "the partition of rows is not known";
    let text = |write: &str, table: &str| {
        format!(
            "entity A {{ key id: uuid  o: enum(\"x\", \"y\")  n: int  unique (n) }}
write w{write}
schema s target shelfmark {{ table rows from A {table} store all  write w {{ PLAN }} }}"
        )
    };
    let drop = "(i, o) = delete A(id i, o o)";
    check_rule(ASKED, &text(drop, "key (id; o)"), &[("read rows where id = i ; delete rows", "")]);
    check_rule(
        ASKED,
        &text(drop, "key (o, id;)"),
        &[
            ("read rows where id = i ; delete rows", OPEN),
            ("read rows where id = i and o = o ; delete rows", ""),
            ("read rows ; delete rows", OPEN),
        ],
    );
    check_rule(ASKED, &text(drop, "key (id;)"), &[("read rows ; delete rows", "")]);
    check_rule(
        ASKED,
        &text(drop, "when o = \"x\" key (o, id;)"),
        &[("read rows where id = i ; delete rows", "")],
    );
    check_rule(
        ASKED,
        &text(drop, "when o = \"x\" and n >= 3 key (n, id;)"),
        &[("read rows where id = i ; delete rows", OPEN)],
    );
    // Another key of the tuple is as good, if the write gives it.
    let other = "(n) = delete A(n n)";
    check_rule(ASKED, &text(other, "key (n;)"), &[("read rows ; delete rows", "")]);
    check_rule(ASKED, &text(other, "key (id;)"), &[("read rows ; delete rows", OPEN)]);
}

/// All that a write selects by stands in the key of a row that it changes, or was seen before.
#[test]
fn a_row_is_changed_only_where_all_fits() {
    const BLIND: &str = "whatever else the write selects by";
    let text = |write: &str, by_thing: &str, own: &str| {
        format!(
            "entity E {{ key id: uuid }}
link L from E as e to E as w {{ r: int  k: int  unique (w) }}
write w{write}
schema s target shelfmark {{
  table l from L key (w;) store {by_thing}
  table o from L {own} store all
  write w {{ PLAN }} }}"
        )
    };
    let (own, set) = ("key (e; w)", "(e, w, r) = update L(e e, w w) set r = r");
    let look = "read o where e = e and w = w ; CHANGE l";
    for (write, change) in [(set, "patch"), ("(e, w) = unlink L(e e, w w)", "delete")] {
        let plan = |text: &str| text.replace("CHANGE", change);
        check_rule(
            FOUND,
            &text(write, "{ r }", own),
            &[
                (&plan("CHANGE l"), BLIND),
                (&plan("CHANGE o"), ""),
                (&plan("read l where w = w ; CHANGE l"), BLIND),
                (&plan(look), ""),
                (&plan("read o ; CHANGE l"), ""),
                (&plan("CHANGE l ; read o where e = e and w = w"), BLIND),
            ],
        );
        // Rows that show who owns the thing are compared.
        check_rule(
            FOUND,
            &text(write, "{ e, r }", own),
            &[(&plan("read l where w = w ; CHANGE l"), "")],
        );
        // Where the tuple may be none of the sparse rows, they tell nothing.
        let sparse = text(write, "{ r }", "when k = 3 key (e; w)");
        check_rule(FOUND, &sparse, &[(&plan(look), BLIND)]);
        let asked =
            write.replace("w w)", "w w, k 3)").replace("unlink L(e e, w w", "delete L(e e, w w");
        let sparse = text(&asked, "{ r }", "when k = 3 key (e; w)");
        check_rule(FOUND, &sparse, &[(&plan(look), "")]);
    }
    // A row that holds nothing of what is set is left alone; a put finds nothing.
    let other = "(e, w, r) = update L(e e, w w) set k = r";
    check_rule(FOUND, &text(other, "{ r }", own), &[("patch l", ""), ("put l", "")]);
    let made = "(e, w, r) = link L(e e, w w) set r = r, k = r";
    check_rule(FOUND, &text(made, "{ r }", own), &[("patch l", "")]);
}

/// Copies are found by the key of what they are of; what else selects it was seen before.
#[test]
fn copies_change_only_where_all_fits() {
    const BLIND: &str = "copies in ps change whatever else selects";
    let text = |write: &str, stored: &str| {
        format!(
            "entity U {{ key id: uuid  name: text(max 4)  lvl: enum(\"a\", \"b\") }}
entity P {{ key id: uuid  u: U }}
write w{write}
schema s target shelfmark {{
  table us from U key (id;) store {stored}
  table ps from P key (u; id) store {{ u.name }}
  write w {{ PLAN }} }}"
        )
    };
    let both = "(i, l, n) = update U(id i, lvl l) set name = n";
    let read = "read us where id = i ; read ps where u = i as p ; patch ps for each p";
    let blind = "read ps where u = i as p ; patch ps for each p";
    check_rule(FOUND, &text(both, "all"), &[(blind, BLIND), (read, "")]);
    check_rule(FOUND, &text(both, "{ name }"), &[(read, BLIND)]);
    check_rule(FOUND, &text("(i, n) = update U(id i) set name = n", "all"), &[(blind, "")]);
    check_rule(
        FOUND,
        &text("(i, l) = update U(id i, lvl \"a\") set lvl = l", "all"),
        &[(blind, "")],
    );
}

/// Holds that what selects the tuples of a loop is their own, asked for by the loop, or shown by its rows.
#[test]
fn rows_of_a_loop_tell_what_else_selects() {
    const BLIND: &str = "whatever else the write selects by";
    let text = |write: &str, stored: &str| {
        format!(
            "entity B {{ key id: uuid  p: enum(\"x\", \"y\")  q: int }}
write w(q: int, r: int) = {write} for each B as e where q = q
schema s target dynamodb {{
  table base from B key (id;) store all
    index by_q key (q;) store {stored}
  table some from B key (q;) store {{ p }}
  write w {{ PLAN }} }}"
        )
    };
    let plan = "read by_q where q = q as e ; delete base for each e";
    let some = "delete B(id e.id, p \"x\")";
    check_rule(
        FOUND,
        &text(some, "{ }"),
        &[
            (plan, BLIND),
            ("read some where q = q as e ; delete base for each e", ""),
            (&format!("read some where q = q as f ; {plan}"), BLIND),
            (&format!("read some where q = q ; {plan}"), BLIND),
        ],
    );
    check_rule(FOUND, &text(some, "{ p }"), &[(plan, "")]);
    check_rule(FOUND, &text("delete B(id e.id, q q)", "{ }"), &[(plan, "")]);
    check_rule(FOUND, &text("delete B(id e.id, q r)", "{ }"), &[(plan, "")]);
    check_rule(FOUND, &text("delete B(id e.id, p e.p)", "{ }"), &[(plan, "")]);
}

/// A put that must not meet another row looks first, unless its key is the tuple's and tells by itself.
#[test]
fn a_put_looks_what_is_there() {
    const BLIND: &str = "is put without looking what is there";
    let text = |entity: &str, write: &str, tables: &str| {
        format!(
            "entity A {{ key id: uuid  n: int {entity}  q: int optional }}
write w(i, n, q: int, j: uuid) = insert A(id i, n n{write}
schema s target shelfmark {{ {tables}  write w {{ PLAN }} }}"
        )
    };
    let by_id = "table t from A key (id;) store all";
    let by_n = "table o from A key (n; id) store all";
    let both = format!("{by_id}  {by_n}");
    let looks = "read t where id = i ; put t ; put o";
    check_rule(LOOKED, &text("", ") unless exists", by_id), &[("put t", "")]);
    check_rule(
        LOOKED,
        &text("", ") unless exists", &both),
        &[
            ("put t ; put o", "t is put without"),
            (looks, ""),
            ("put t ; put o ; read t where id = i", BLIND),
            ("read o where n = n ; put t ; put o", BLIND),
            ("read o where n = n and id = i ; put t ; put o", BLIND),
            ("read t where id = j ; put t ; put o", BLIND),
        ],
    );
    check_rule(LOOKED, &text("", ")", &both), &[("put t ; put o", "")]);
    // What replaces another may move its row, unless the attribute never changes.
    check_rule(
        LOOKED,
        &text("", ") or replace", &both),
        &[("put t", ""), ("put o", "o is put without"), (looks, "")],
    );
    let found = "read o where n = n and id = i ; put t ; put o";
    check_rule(
        LOOKED,
        &text("immutable", ") or replace", &both),
        &[("put t ; put o", ""), (found, "")],
    );
    check_rule(LOOKED, &text("immutable", ") unless exists", &both), &[(found, BLIND)]);
    // Sparse rows show only some tuples, and are put only of some.
    let sparse = "table p from A when n >= 3 key (id;) store all";
    check_rule(
        LOOKED,
        &text("", ") or replace", sparse),
        &[("put p", BLIND), ("read p where id = i ; put p", BLIND)],
    );
    let optional = format!("{by_n}  table q from A key (q; id) store all");
    check_rule(
        LOOKED,
        &text("", ", q q) or replace", &optional),
        &[("read q where id = i and q = q ; put o ; put q", BLIND)],
    );
    // A tuple that leaves the attribute out has no such row.
    let sparse =
        |asked: &str| format!("{by_id}  table some from A when q is {asked} key (id;) store all");
    let unless = |asked: &str| text("", ") unless exists", &sparse(asked));
    check_rule(LOOKED, &unless("present"), &[("put t", "")]);
    check_rule(LOOKED, &unless("absent"), &[("put t", BLIND)]);
    let beside = format!("{by_id}  table q from A key (q; id) store all");
    check_rule(LOOKED, &text("", ") unless exists", &beside), &[("put t", ""), ("put q", "")]);
    check_rule(
        LOOKED,
        &text("", ", q q) unless exists", &beside),
        &[("put t", BLIND), ("put q", BLIND)],
    );
}

/// Holds that what lies behind the key is told with it.
#[test]
fn a_key_tells_what_lies_behind_it() {
    let text = |key: &str| {
        format!(
            "entity A {{ key id: uuid  q: int }}
link L from A as a to A as b {{ v: int }}
write set(a, b, v) = link L(a a, b b, v v) or replace
schema s target shelfmark {{ table l from L key ({key}) store all  write set {{ PLAN }} }}"
        )
    };
    check_rule(LOOKED, &text("b, a.q; a"), &[("put l", "")]);
    check_rule(LOOKED, &text("b, a.q; a, v"), &[("put l", "is put without looking")]);
}

/// Holds that what was there already is not counted again, and what is not there not taken away.
#[test]
fn what_is_counted_is_looked_at_before() {
    let text = |write: &str, likes: &str| {
        format!(
            "entity U {{ key id: uuid }}
entity P {{ key id: uuid }}
link Likes from P to U {{ n: int(0..9) }}
write w(p, u, n) = {write}
schema s target shelfmark {{
  table posts from P key (id;) store {{ count Likes as likes }}
  table likes from Likes {likes} key (p; u) store all
  table users from U key (id;) store all
  write w {{ PLAN }} }}"
        )
    };
    let (blind, looks) = ("patch posts", "read likes where p = p and u = u ; patch posts");
    let link = "link Likes(p p, u u, n n)";
    const AGAIN: &str = "posts counts what may have been there already";
    check_rule(LOOKED, &text(link, ""), &[(blind, ""), (looks, "")]);
    let unless = format!("{link} unless exists");
    check_rule(
        LOOKED,
        &text(&unless, ""),
        &[
            (blind, AGAIN),
            (looks, ""),
            ("read users where id = u ; patch posts", AGAIN),
            ("patch posts ; read likes where p = p and u = u", AGAIN),
            ("patch users", ""),
        ],
    );
    check_rule(LOOKED, &text(&unless, "when n = 3"), &[(looks, AGAIN)]);
    let replace = format!("{link} or replace");
    check_rule(LOOKED, &text(&replace, ""), &[(blind, AGAIN), (looks, AGAIN)]);
    const AWAY: &str = "posts takes away what may not be there";
    let unlink = "unlink Likes(p p, u u)";
    check_rule(LOOKED, &text(unlink, ""), &[(blind, AWAY), (looks, ""), ("patch users", "")]);
    check_rule(LOOKED, &text(unlink, "when n = 3"), &[(looks, AWAY)]);
}

/// Numbers that follow a change are told by a row that was read, with all that decides them.
#[test]
fn numbers_follow_what_was_seen() {
    let text = |write: &str, kept: &str, stored: &str| {
        format!(
            "entity R {{ key id: uuid }}
entity I {{ key id: uuid  r: R  state: enum(\"open\", \"shut\")  votes: int }}
write w(i, r, n) = {write}
schema s target shelfmark {{
  table rs from R key (id;) store {{ {kept} }}
  table is from I key (id;) store {stored}
  write w {{ PLAN }} }}"
        )
    };
    let (blind, looks) = ("patch rs", "read is where id = i ; patch rs");
    let opened = "count I where state = \"open\" as opened";
    const GONE: &str = "rs follows what may not be there";
    let shut = "update I(id i, state \"open\") set state = \"shut\"";
    check_rule(LOOKED, &text(shut, opened, "all"), &[(blind, GONE), (looks, "")]);
    let shut_if = "update I(id i) set state = \"shut\" if state = \"open\"";
    check_rule(LOOKED, &text(shut_if, opened, "{ r }"), &[(looks, "")]);
    // Nothing that counts changes, or it never counted.
    let other = "update I(id i) set votes = n";
    check_rule(LOOKED, &text(other, opened, "all"), &[(blind, "")]);
    let outside = "update I(id i, state \"shut\") set votes = n";
    let votes = "sum votes of I where state = \"open\" as votes";
    check_rule(LOOKED, &text(outside, votes, "all"), &[(blind, "")]);
    let inside = "increment I(id i, state \"open\") set votes by n";
    check_rule(LOOKED, &text(inside, votes, "all"), &[(blind, GONE), (looks, "")]);
    // What moves was counted where it referred to.
    let moves = "update I(id i) set r = r";
    check_rule(LOOKED, &text(moves, "count I as all", "all"), &[(blind, GONE), (looks, "")]);
    const HIDDEN: &str = "counts by r, which nothing shows";
    check_rule(LOOKED, &text(moves, "count I as all", "{ votes }"), &[(looks, HIDDEN)]);
    let moves_from = "update I(id i, r r) set r = n";
    check_rule(
        LOOKED,
        &text(&moves_from.replace("= n", "= i"), "count I as all", "{ votes }"),
        &[(looks, "")],
    );
    // What goes is taken away by all that it was counted by.
    let gone = "delete I(id i)";
    check_rule(LOOKED, &text(gone, opened, "{ r, state }"), &[(looks, "")]);
    check_rule(
        LOOKED,
        &text(gone, opened, "{ r }"),
        &[(looks, "counts by state, which nothing shows")],
    );
    check_rule(
        LOOKED,
        &text(gone, "sum votes of I as votes", "{ r }"),
        &[(looks, "counts by votes")],
    );
    check_rule(LOOKED, &text(gone, "count I as all", "{ r }"), &[(looks, "")]);
}
