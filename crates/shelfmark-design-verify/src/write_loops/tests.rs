//! The rows that a write's loop goes through, rule by rule: each plan stands beside its nearest neighbour.
//! Plans are those that the schema names, whatever the prover says of them.

use super::gone_through;
use crate::tests::{Rule, check_rule};

const THROUGH: Rule = |model, schema, write, steps| {
    (0..steps.len()).try_for_each(|at| gone_through(model, schema, write, (steps, at)))
};

/// Returns a model of a copy of some links into others, by a loop.
fn text(asked: &str, made: &str, source: &str, target: &str) -> String {
    format!(
        "entity U {{ key id: uuid }}
link L from U as e to U as w {{ r: int  n: int  o: int optional  p: int optional  together (o, p) }}
link M from U as f to U as w {{ r: int  n: int }}
write w(e, f, x) = link M(f f, w l.w) set {made} for each L as l where {asked}
schema s target shelfmark {{
  table ls from L {source}
  table ms from M {target}
  table us from U key (id;) store all
  write w {{ PLAN }} }}"
    )
}

const WHOLE: &str = "key (f; w) store all";

/// A step goes through the rows that the loop of the write selects.
#[test]
fn a_step_goes_through_what_the_loop_selects() {
    const OTHERS: &str = "O4: rows of ls are read that the write does not go through";
    let text = text("e = e", "r = 1, n = l.n", "key (e; w) store all", WHOLE);
    check_rule(
        THROUGH,
        &text,
        &[
            ("read ls where e = e as l ; put ms for each l", ""),
            ("read ls where e = f as l ; put ms for each l", OTHERS),
            ("read ls where e = e and w = f as l ; put ms for each l", OTHERS),
            ("read ls as l ; put ms for each l", ""),
            // Neither what has another name, nor rows that the write does not concern.
            ("read ls where e = f as k ; read ls where e = e as l ; put ms for each l", ""),
            ("read ls where e = f as l ; put us for each l", ""),
            ("read ls where e = f as l ; put ms", ""),
            ("put ms for each l ; read ls where e = f as l", ""),
        ],
    );
    let own = "entity U { key id: uuid }
link L from U as e to U as w { r: int }
write w(e) = unlink L(e l.e, w l.w) for each L as l where e = e
schema s target shelfmark { table ls from L key (e; w) store all  write w { PLAN } }";
    check_rule(
        THROUGH,
        own,
        &[
            ("read ls where e = e as l ; delete ls for each l", ""),
            ("read ls as l ; delete ls for each l", "O4: ls is not read for the loop of the write"),
        ],
    );
}

/// The rows that are gone through are all that the loop selects.
#[test]
fn a_step_goes_through_all_that_the_loop_selects() {
    let of = |asked: &str, source: &str, words: &str| {
        let text = text(asked, "r = 1, n = 1", source, WHOLE);
        check_rule(THROUGH, &text, &[("read ls where e = e as l ; put ms for each l", words)]);
    };
    const SOME: &str = "O4: ls has only some of the rows";
    of("e = e", "when r = 3 key (e; w)", SOME);
    of("e = e and r = 3", "when r = 3 key (e; w)", "");
    const WITHOUT: &str = "O4: ls has no rows of those without o";
    of("e = e", "key (e; w, o)", WITHOUT);
    of("e = e and o is absent", "key (e; w, o)", WITHOUT);
    of("e = e and o = x", "key (e; w, o)", "");
    of("e = e and o is present", "key (e; w, o)", "");
    of("e = e and p = x", "key (e; w, o)", "");
    of("e = e", "key (e; w, r)", "");
}

/// The rows show what the write takes from them, where the changed rows hold it.
#[test]
fn rows_show_what_is_taken_from_them() {
    let of = |asked: &str, source: &str, target: &str, words: &str| {
        let text = text(asked, "r = l.r, n = l.n", source, target);
        check_rule(THROUGH, &text, &[("read ls where e = e as l ; put ms for each l", words)]);
    };
    const HIDDEN: &str = "O1: ls does not show what n is taken from";
    of("e = e", "key (e; w) store { r, n }", WHOLE, "");
    of("e = e", "key (e; w) store { r }", WHOLE, HIDDEN);
    of("e = e", "key (e; w, n) store { r }", WHOLE, "");
    of("e = e", "key (e; w) store { r }", "key (f; w) store { r }", "");
    of("e = e", "key (e; w) store { r }", "key (f; w, n) store { r }", HIDDEN);
    of("e = e", "key (e; w) store { r }", "when n = 3 key (f; w) store { r }", HIDDEN);
    // What is asked for, or all sparse rows have, is known.
    of("e = e and n = 3", "key (e; w) store { r }", WHOLE, "");
    of("e = e and n >= 3", "key (e; w) store { r }", WHOLE, HIDDEN);
    of("e = e and n = 3", "when n = 3 key (e; w) store { r }", WHOLE, "");
    of("e = e and n between 3 and 3", "when n = 3 key (e; w) store { r }", WHOLE, "");
    of("e = e and n >= 3", "when n >= 3 key (e; w) store { r }", WHOLE, HIDDEN);
    let counted = "entity U { key id: uuid }
entity L { key id: uuid  e: U  r: int }
entity M { key id: uuid  u: U  r: int }
write w(e) = insert M(id l.id, u e, r l.r) for each L as l where e = e
schema s target shelfmark {
  table ls from L key (e; id)
  table us from U key (id;) store { sum r of M as all }
  write w { PLAN } }";
    check_rule(
        THROUGH,
        counted,
        &[("read ls where e = e as l ; patch us for each l", "does not show what r is taken from")],
    );
}
