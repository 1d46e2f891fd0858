//! Tries what a write concerns: each change that some row keeps stands beside one that no row keeps.

use super::kept_somewhere;
use crate::tests::{Rule, check_rule};

const KEPT: Rule = |model, schema, write, _| kept_somewhere(model, schema, write);

fn of(write: &str, tables: &str, words: &str) {
    let text = format!(
        "entity G {{ key id: uuid  k: int }}
entity U {{ key id: uuid  n: int  g: G }}
entity P {{ key id: uuid  u: U  v: int  x: int }}
write w(i, j, x) = {write}
schema s target shelfmark {{ {tables}  write w {{ }} }}"
    );
    check_rule(KEPT, &text, &[("", words)]);
}

/// A tuple is kept by rows of its own, or by what rows gather of it.
#[test]
fn a_change_is_kept_by_some_row() {
    const NONE: &str = "O1: no row keeps P";
    let made = "insert P(id i, u j, v x, x x)";
    of(made, "table ps from P key (id;) store all", "");
    of(made, "table us from U key (id;) store all", NONE);
    of(made, "table us from U key (id;) store { count P as all }", "");
    of(made, "table us from U key (id;) store { collect P.v as all }", "");
    of(made, "table us from U key (id;) store { count G as all }".replace("G", "P").as_str(), "");
    of("delete P(id i)", "table us from U key (id;) store all", NONE);
    // What is only copied is made nowhere, and changed in its copies.
    let copied = "table ps from P key (id;) store { u.n }";
    of("insert U(id i, n x, g j)", copied, "O1: no row keeps U");
    of("delete U(id i)", copied, "O1: no row keeps U");
    of("update U(id i) set n = x", copied, "");
    of("increment U(id i) set n by x", copied, "");
    of(&format!("{made} and delete U(id j)"), copied, "O1: no row keeps U");
}

/// An attribute that is set stands in some row: as it is, in its key, its condition, a copy, or a number.
#[test]
fn what_is_set_is_kept_by_some_row() {
    const NONE: &str = "O1: no row keeps v of P";
    let set = "update P(id i) set v = x";
    of(set, "table ps from P key (id;) store { v }", "");
    of(set, "table ps from P key (id;) store { x }", NONE);
    of(set, "table ps from P key (v; id) store { x }", "");
    of(set, "table ps from P when v = 3 key (id;) store { x }", "");
    of(set, "table ps from P key (id;) store { x }  index by_v key (v; id)", "");
    of("update P(id i) set x = x, v = x", "table ps from P key (id;) store { x }", NONE);
    of("increment P(id i) set v by x", "table ps from P key (id;) store { x }", NONE);
    let kept = |number: &str| {
        format!(
            "table ps from P key (id;) store {{ x }}  table us from U key (id;) store {{ {number} }}"
        )
    };
    of(set, &kept("sum v of P as vs"), "");
    of(set, &kept("sum x of P as xs"), NONE);
    of(set, &kept("count P where v = 3 as vs"), "");
    of(set, &kept("collect P.v as vs"), "");
    of(set, &kept("collect P.x as xs"), NONE);
    of("update P(id i) set u = j", &kept("count P as all"), "");
    of("update P(id i) set u = j", &kept("collect P.x as xs"), "");
    of("update P(id i) set u = j", &kept("n"), "O1: no row keeps u of P");
    let far = |table: &str| format!("table gs from G key (id;)  table ps from P {table}");
    of("update G(id i) set k = x", &far("key (id;) store { u.g.k }"), "");
    of("update G(id i) set k = x", &far("key (u.g.k; id)"), "");
    of("update G(id i) set k = x", &far("when u.g.k = 3 key (id;)"), "");
    of("update G(id i) set k = x", &far("key (id;) store { u.n }"), "O1: no row keeps k of G");
}
