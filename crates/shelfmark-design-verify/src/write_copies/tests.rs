//! Copies, lists and numbers that rows hold of others, rule by rule: each model stands beside its nearest
//! neighbour. Plans are those that the schema names, whatever the prover says of them.

use super::{followed, found_whole, kept_in_place, made_again};
use crate::tests::{Rule, check_rule};

const FOLLOWED: Rule = |model, schema, write, _| followed(model, schema, write);
const AGAIN: Rule = |model, schema, write, _| made_again(model, schema, write);
const KEPT: Rule = |model, schema, write, steps| {
    steps.iter().try_for_each(|step| kept_in_place(model, schema, write, step))
};
const WHOLE: Rule = |model, schema, write, steps| {
    (0..steps.len()).try_for_each(|at| found_whole(model, schema, write, (steps, at)))
};

/// Copies change with an update that names one tuple by its key.
#[test]
fn copies_follow_an_update_by_key() {
    const LEFT: &str = "O4: copies in ps are not followed";
    let of = |write: &str, table: &str, words: &str| {
        let text = format!(
            "entity U {{ key id: uuid  name: text(max 4)  nick: text(max 4) immutable  n: int  unique (nick) }}
entity P {{ key id: uuid  u: U  v: U optional }}
write w(i, x, y, m) = {write}
schema s target shelfmark {{
  table us from U key (id;) store all
  table ps from P {table}
  write w {{ }} }}"
        );
        check_rule(FOLLOWED, &text, &[("", words)]);
    };
    let copies = "key (u; id) store { u.name }";
    let by_key = "update U(id i) set name = x";
    of(by_key, copies, "");
    of("update U(nick i) set name = x", copies, LEFT);
    of("update U(nick i) set n = m", copies, "");
    of("update U(id u.id) set name = x for each U as u where nick = y", copies, LEFT);
    of("increment U(id i) set n by m", "key (u; id) store { u.n }", LEFT);
    of("increment U(id i) set n by m", copies, "");
    of("delete U(id i)", copies, "");
    let made = "insert U(id i, name x, nick y, n m)";
    of(made, copies, "");
    of(&format!("{made} unless exists"), copies, "");
    let replaced = format!("{made} or replace");
    of(&replaced, copies, LEFT);
    of(&replaced, "key (u; id) store { u.nick }", "");
    of(&replaced, "key (u; id)", "");
    // In a key or a condition as well.
    of(&replaced, "key (u.name; id)", LEFT);
    of(&replaced, "when u.name = \"x\" key (u; id)", LEFT);
    of(&replaced, "when u.nick = \"x\" key (u; id)", "");
}

/// A list holds an attribute that an update of one of its tuples sets.
#[test]
fn a_list_holds_what_changes() {
    let of = |write: &str, words: &str| {
        let text = format!(
            "entity R {{ key id: uuid }}
entity I {{ key id: uuid  r: R  t: text(max 4)  n: int }}
entity J {{ key id: uuid  r: R  t: text(max 4) }}
write w(i, x) = {write}
schema s target shelfmark {{
  table rs from R key (id;) store {{ collect I.t as ts }}
  write w {{ }} }}"
        );
        check_rule(FOLLOWED, &text, &[("", words)]);
    };
    const HOLDS: &str = "O4: ts of rs holds what changes";
    of("update I(id i) set t = x", HOLDS);
    of("update I(id i) set r = x", HOLDS);
    of("update I(id i) set n = 3", "");
    of("update J(id i) set t = x", "");
}

/// Returns the model of what rows keep of the issues of a repository.
fn kept(write: &str, kept: &str) -> String {
    format!(
        "entity R {{ key id: uuid }}
entity I {{ key id: uuid  r: R  state: enum(\"open\", \"shut\")  votes: int  by: uuid optional  other: int }}
entity J {{ key id: uuid  votes: int }}
write w(i, x, n) = {write}
schema s target shelfmark {{
  table rs from R key (id;) store {{ {kept} }}
  table is from I key (id;) store all
  write w {{ }} }}"
    )
}

/// A number follows a change where constants tell who is counted before and after.
#[test]
fn a_number_follows_what_constants_tell() {
    const HOLDS: &str = "of rs holds what changes";
    let of = |number: &str, write: &str, words: &str| {
        check_rule(FOLLOWED, &kept(write, number), &[("", words)]);
    };
    let opened = "count I where state = \"open\" as opened";
    of(opened, "update I(id i) set state = \"shut\"", HOLDS);
    of(opened, "update I(id i, state \"open\") set state = \"shut\"", "");
    of(opened, "update I(id i, state \"open\") set state = x", HOLDS);
    of(opened, "update I(id i, state x) set state = \"shut\"", HOLDS);
    of(opened, "update I(id i) set state = \"shut\" if state = \"open\"", "");
    of(opened, "update I(id i) set state = \"shut\" if votes = 3", HOLDS);
    of(opened, "update I(id i) set votes = n", "");
    of(opened, "update I(id i) set r = x", "");
    of(opened, "update I(id i) set r = x, state = \"open\"", HOLDS);
    of(opened, "delete I(id i)", "");
    of(opened, "insert I(id i, r x, state \"open\", votes n, other n) or replace", "");
    of(opened, "update J(id i) set votes = n", "");
    let votes = "sum votes of I where state = \"open\" as votes";
    of(votes, "increment I(id i) set votes by n", "");
    of(votes, "update I(id i) set votes = n", HOLDS);
    of(votes, "update I(id i, state \"shut\") set votes = n", "");
    of(votes, "update I(id i, state \"open\") set votes = n", HOLDS);
    of(votes, "update I(id i, state \"shut\") set votes = n, state = \"shut\"", "");
    of(votes, "update I(id i, state \"shut\") set votes = n, state = \"open\"", HOLDS);
    of(votes, "update I(id i, state \"open\") set votes = n, state = \"shut\"", HOLDS);
    of(votes, "update I(id i, state \"open\") set state = \"shut\"", "");
    of(votes, "update I(id i) set r = x, votes = n", HOLDS);
    of(votes, "update I(id i, state \"shut\") set r = x, votes = n", "");
    // What moves by a loop, moves nobody knows how often.
    let each = |set: &str| format!("update I(id e.id) set {set} for each I as e where votes = n");
    of(opened, &each("r = x"), HOLDS);
    of(opened, &each("votes = n"), "");
    // A number is compared as well.
    let liked = "count I where votes >= 5 as liked";
    of(liked, "update I(id i, votes 4) set votes = 5", "");
    of(liked, "increment I(id i, votes 4) set votes by 1", HOLDS);
    of(liked, "update I(id i, votes 4) set votes = n", HOLDS);
}

/// An input is something, so that what is absent is told by it.
#[test]
fn an_input_is_never_absent() {
    const HOLDS: &str = "of rs holds what changes";
    let of = |state: &str, write: &str, words: &str| {
        let number = format!("count I where by is {state} as given");
        check_rule(FOLLOWED, &kept(write, &number), &[("", words)]);
    };
    for state in ["absent", "present"] {
        of(state, "update I(id i) set by = x if by is absent", "");
        of(state, "update I(id i) set by = x if by is present", "");
        of(state, "update I(id i, by x) set by = absent", "");
        of(state, "update I(id i) set by = x", HOLDS);
        of(state, "update I(id i) set by = absent", HOLDS);
    }
}

/// The next largest value is known to nobody: what may be the largest does not go.
#[test]
fn a_largest_value_is_not_taken_away() {
    const HOLDS: &str = "O4: top of rs holds what changes";
    let of = |asked: &str, write: &str, words: &str| {
        let number = format!("max votes of I{asked} as top");
        check_rule(FOLLOWED, &kept(write, &number), &[("", words)]);
    };
    let open = " where state = \"open\"";
    let made = "insert I(id i, r x, state \"open\", votes n, other n)";
    of("", made, "");
    of("", &format!("{made} or replace"), HOLDS);
    of("", &format!("{made} unless exists"), "");
    of("", "delete I(id i)", HOLDS);
    of(open, "delete I(id i, state \"shut\")", "");
    of(open, "delete I(id i, state \"open\")", HOLDS);
    of("", "update I(id i) set other = n", "");
    of("", "update I(id i) set r = x", HOLDS);
    of("", "increment I(id i) set votes by n", HOLDS);
    of(open, "update I(id i, state \"open\") set state = \"shut\"", HOLDS);
    of(open, "update I(id i, state \"shut\") set state = \"open\"", "");
    of(open, "update I(id i, state \"shut\") set votes = n", "");
    of(open, "update I(id i, state \"shut\") set r = x", "");
    of("", "delete J(id i)", "");
}

/// Holds that what is deleted and made again is copied and counted anew.
#[test]
fn what_is_made_again_is_kept_by_nobody() {
    let of = |write: &str, users: &str, posts: &str, words: &str| {
        let text = format!(
            "entity U {{ key id: int  n: int }}
entity P {{ key id: int  u: U }}
write w(i, j, n) = {write}
schema s target shelfmark {{
  table us from U key (id;) store {{ {users} }}
  table ps from P key (u; id) {posts}
  write w {{ }} }}"
        );
        check_rule(AGAIN, &text, &[("", words)]);
    };
    let both = "delete U(id i) and insert U(id j, n n)";
    const COPIED: &str = "O4: ps keeps what is deleted and made again";
    of(both, "n", "store { u.n }", COPIED);
    of(both, "n", "", "");
    of(both, "n, count P as all", "", "O4: us keeps what is deleted and made again");
    of("insert U(id j, n n) and delete U(id i)", "n", "store { u.n }", "");
    of("delete U(id 1) and insert U(id 2, n n)", "n", "store { u.n }", "");
    of("delete U(id i) and update U(id j) set n = n", "n", "store { u.n }", "");
    of("insert U(id i, n n) and insert U(id j, n n)", "n", "store { u.n }", "");
    of("delete P(id i) and insert U(id j, n n)", "n", "store { u.n }", "");
}

/// A row that keeps lists or numbers does not move: the new one would begin with none.
#[test]
fn a_row_that_keeps_numbers_does_not_move() {
    const LOST: &str = "O4: us keeps lists or counts that a new key would lose";
    let of = |write: &str, table: &str, plan: &str, words: &str| {
        let text = format!(
            "entity G {{ key id: uuid  k: int }}
entity U {{ key id: uuid  n: int  o: int  g: G }}
entity P {{ key id: uuid  u: U }}
write w(i, x, g) = {write}
schema s target shelfmark {{
  table us from U {table}
  table gs from G key (id;) store all
  write w {{ {plan} }} }}"
        );
        check_rule(KEPT, &text, &[("", words)]);
    };
    let counts = "key (n; id) store { o, count P as all }";
    let set = |column: &str| format!("update U(id i) set {column} = x");
    of(&set("n"), counts, "put us", LOST);
    of(&set("n"), counts, "delete us", "");
    of(&set("n"), "key (n; id) store { o }", "put us", "");
    of(&set("o"), counts, "put us", "");
    of(&set("o"), "when o = 3 key (n; id) store { count P as all }", "put us", LOST);
    of("increment U(id i) set n by x", counts, "put us", LOST);
    let made = "insert U(id i, n x, o x, g g)";
    of(made, counts, "put us", "");
    of(&format!("{made} or replace"), counts, "put us", LOST);
    let behind = "key (g.k; id) store { o, count P as all }";
    of("update G(id i) set k = x", behind, "put us", LOST);
    of("update G(id i) set k = x", counts, "put us", "");
    of("insert G(id i, k x) or replace", counts, "put us", "");
}

/// A loop over rows with copies finds all of them.
#[test]
fn a_loop_finds_all_rows_with_copies() {
    const SOME: &str = "O4: opens has not all rows whose copies change";
    let of = |write: &str, when: &str, plan: &str, words: &str| {
        let text = format!(
            "entity U {{ key id: uuid  name: text(max 4)  lvl: int }}
entity P {{ key id: uuid  u: U  n: int }}
write w(i, x, l) = {write}
schema s target shelfmark {{
  table opens from P{when} key (u; id) store {{ u.name, n }}
  table all from P key (u; id) store {{ u.name, n }}
  write w {{ {plan} }} }}"
        );
        check_rule(WHOLE, &text, &[("", words)]);
    };
    let rename = "update U(id i) set name = x";
    let own = "read opens where u = i as p ; patch opens for each p";
    let others = "read opens where u = i as p ; patch all for each p";
    of(rename, " when n = 3", own, "");
    of(rename, " when n = 3", others, SOME);
    of(rename, "", others, "");
    of(rename, " when n = 3", "read all where u = i as p ; patch opens for each p", "");
    of(
        rename,
        " when n = 3",
        "read opens where u = i as p ; read all where u = i as q ; patch all for each q",
        "",
    );
    of(rename, " when u.lvl = 3", own, "");
    of("update U(id i) set name = x, lvl = l", " when u.lvl = 3", own, SOME);
    of("update U(id i) set lvl = l", " when n = 3", others, "");
    of("update P(id i) set n = l", " when n = 3", others, "");
}
