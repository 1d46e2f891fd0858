//! Writes that are not defined: each order of changes that finds it out in time stands beside one that does
//! not. Plans are those that the schema names, whatever the prover says of them.

use super::checked_first;
use crate::tests::check_rule;

fn text(write: &str) -> String {
    format!(
        "entity U {{ key id: uuid  n: int }}
entity E {{ key id: uuid  o: int  q: int optional }}
write w(i, x) = {write}
schema s target dynamodb {{
  table own from E key (id;) store all
  table lean from E key (id;) store {{ o }}
  table moved from E key (o; id) store all
  table some from E when o = 3 key (id;) store all
  table has from E key (id; q) store all
  table usr from U key (id;) store all
  write w {{ PLAN }} }}"
    )
}

/// Holds that what changes first tells whether the tuple is there: a row under nothing but its key.
#[test]
fn nothing_changes_before_it_is_checked() {
    const LATE: &str = "O10: moved changes before own tells whether its tuple is there";
    check_rule(
        checked_first,
        &text("insert E(id i, o x)"),
        &[
            ("put own ; put moved", ""),
            ("put moved ; put own", LATE),
            ("transaction { put moved ; put own }", ""),
            ("transaction { put moved } transaction { put own }", LATE),
            ("put lean ; put own ; put moved", ""),
            ("put lean ; put moved ; put own", ""),
            ("put some ; put own", "some changes before own"),
            ("put has ; put own", "has changes before own"),
            // A read before the put is no promise.
            ("read own where id = i ; put moved ; put own", LATE),
            ("put moved ; put some", ""),
            ("put usr ; put moved ; put own", LATE),
        ],
    );
    check_rule(
        checked_first,
        &text("update E(id i) set o = x"),
        &[
            ("delete moved ; put moved ; patch own", LATE),
            ("read own where id = i ; delete moved ; put moved ; patch own", ""),
            ("read usr where id = i ; delete moved ; put moved ; patch own", LATE),
            ("delete moved ; read own where id = i ; put moved ; patch own", LATE),
        ],
    );
    for free in [
        "insert E(id i, o x) unless exists",
        "insert E(id i, o x) or replace",
        "delete E(id e.id) for each E as e where o = x",
    ] {
        check_rule(checked_first, &text(free), &[("put moved ; put own", "")]);
    }
}

/// Holds that of a write of several tuples each is asked about by the first request, or was read before.
#[test]
fn each_of_several_tuples_is_asked_about_before_a_change() {
    const OPEN: &str = "O10: nothing asks about the E before a change";
    check_rule(
        checked_first,
        &text("insert U(id i, n x) and insert E(id i, o x)"),
        &[
            ("put usr ; put own ; put moved", OPEN),
            ("put usr ; put moved ; put own", OPEN),
            ("transaction { put usr ; put own ; put moved }", ""),
            ("transaction { put usr ; put own } put moved", ""),
            ("transaction { put usr ; put moved } put own", OPEN),
            ("read own where id = i ; put usr ; put own ; put moved", ""),
            ("read own where id = i ; put own ; put usr ; put moved", "about the U"),
            ("put usr ; read own where id = i ; put own ; put moved", OPEN),
            ("read some where id = i ; put usr ; put own ; put moved", OPEN),
            ("read has where id = i ; put usr ; put own ; put moved", OPEN),
        ],
    );
    check_rule(
        checked_first,
        &text("update U(id i) set n = x and delete E(id i)"),
        &[
            ("transaction { patch usr ; delete own ; delete some }", ""),
            ("transaction { patch usr ; delete some }", OPEN),
            ("transaction { patch usr ; delete has }", OPEN),
            ("read own where id = i ; transaction { patch usr ; delete has }", ""),
            ("patch usr ; delete own", "about the U"),
        ],
    );
    // What an earlier part makes need not have been there, what it takes away may have been.
    check_rule(
        checked_first,
        &text("insert E(id i, o 1) and update E(id i) set o = x"),
        &[("read own where id = i ; put own ; patch moved", OPEN)],
    );
    check_rule(
        checked_first,
        &text("delete E(id i) and insert E(id i, o x)"),
        &[
            ("read own where id = i ; delete own ; put own", OPEN),
            ("transaction { delete own ; put own }", ""),
        ],
    );
}
