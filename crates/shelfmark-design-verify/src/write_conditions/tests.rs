//! Conditions of writes beside the rows that compare them, and beside rows that cannot. Plans are those that
//! the schema names, whatever the prover says of them.

use super::compared;
use crate::tests::check_rule;

fn of(target: &str, write: &str, table: &str, plan: &str, words: &str) {
    let text = format!(
        "entity A {{ key id: uuid  n: int  m: int  g: uuid  o: int optional }}
entity B {{ key id: uuid  k: int }}
write w(i, x: int, j: uuid) = {write}
schema s target {target} {{
  table rows from A {table}
  table lean from A key (id;) store {{ m }}
  table others from B key (id;) store all
  write w {{ {plan} }} }}"
    );
    check_rule(compared, &text, &[("", words)]);
}

const BY_ID: &str = "key (id;) store all";
const HIDDEN: &str = "O4: no row that is changed shows what a condition compares";

/// A condition keeps back one change, or all of one transaction.
#[test]
fn a_condition_keeps_back_every_change() {
    const APART: &str = "O4: a condition keeps back only the change that it stands with";
    let set = "update A(id i) set m = x if n = 3";
    for (plan, words) in [
        ("patch rows", ""),
        ("read rows where id = i ; patch rows", ""),
        ("patch rows ; patch lean", APART),
        ("transaction { patch rows ; patch lean }", ""),
        ("transaction { patch rows } transaction { patch lean }", APART),
        ("transaction { patch rows } patch lean", APART),
        ("read rows where id = i", ""),
    ] {
        of("shelfmark", set, BY_ID, plan, words);
    }
    let both = format!("{set} and update B(id j) set k = x");
    of("shelfmark", &both, BY_ID, "patch rows", APART);
    of("shelfmark", &both, BY_ID, "transaction { patch rows ; patch others }", "");
}

/// Of CQL the row that compares goes first and by itself: where its comparison fails nothing follows.
#[test]
fn of_cql_the_row_that_compares_goes_first() {
    const APART: &str = "O4: a condition keeps back only the change that it stands with";
    let set = "update A(id i) set m = x if n = 3";
    of("cql", set, BY_ID, "patch rows ; patch lean", "");
    of("cql", set, BY_ID, "read rows where id = i ; patch rows ; patch lean", "");
    of("cql", set, BY_ID, "patch lean ; patch rows", HIDDEN);
    of("cql", set, BY_ID, "transaction { patch rows } patch lean", APART);
    of("dynamodb", set, BY_ID, "patch rows ; patch lean", APART);
    let both = format!("{set} and update B(id j) set k = x");
    of("cql", &both, BY_ID, "patch rows ; patch others", APART);
}

/// The row that is changed lies under a key that is named and stays, and shows what is compared.
#[test]
fn a_condition_is_compared_where_the_change_is() {
    let set = "update A(id i) set m = x if n = 3";
    of("shelfmark", set, BY_ID, "patch lean", HIDDEN);
    of("shelfmark", set, BY_ID, "put rows", HIDDEN);
    of("shelfmark", set, BY_ID, "delete rows", HIDDEN);
    of("shelfmark", set, BY_ID, "read rows where id = i as e ; patch rows for each e", HIDDEN);
    of("shelfmark", set, BY_ID, "patch others", HIDDEN);
    of("shelfmark", set, "key (n; id) store all", "patch rows", HIDDEN);
    of("shelfmark", set, "when n = 3 key (id;) store all", "patch rows", HIDDEN);
    let drop = "delete A(id i) if n = 3";
    of("shelfmark", drop, BY_ID, "delete rows", "");
    of("shelfmark", drop, BY_ID, "patch rows", HIDDEN);
    // What else selects the tuple stands in the row, too.
    let selected = "update A(id i, n x) set m = 1 if m = 2";
    of("shelfmark", selected, BY_ID, "patch rows", "");
    of("shelfmark", selected, "key (id; n) store { m }", "patch rows", "");
    of("shelfmark", selected, BY_ID, "patch lean", HIDDEN);
    let moved = "update A(id i, n 3) set n = x if m = 2";
    of("shelfmark", moved, "key (id; n) store all", "patch rows", HIDDEN);
    of("shelfmark", moved, BY_ID, "patch rows", "");
}

/// Targets take the conditions that they have.
#[test]
fn a_target_takes_the_condition() {
    let set = |condition: &str| format!("update A(id i, n x) set m = 1 if {condition}");
    let own = |condition: &str, key: &str, words: &str| {
        of("cql", &set(condition), &format!("key {key} store all"), "patch rows", words);
        of("dynamodb", &set(condition), &format!("key {key} store all"), "patch rows", "");
    };
    own("m = 2", "(id; n)", "");
    own("n = 2", "(id;)", "");
    own("n = 2", "(id; n)", "a column of the key takes no condition");
    own("g = j", "(id;)", "");
    own("g > j", "(id;)", "uuids are in another order in the target");
    own("m > 2", "(id;)", "");
    own("o is absent", "(id;)", "what is absent of no row would make one");
    own("o is absent, m = 2", "(id;)", "");
    own("o is present", "(id;)", "");
}
