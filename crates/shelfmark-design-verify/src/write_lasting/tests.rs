//! Plans of puts that may replace a tuple: each that tells what never changes stands beside one that does not.

use super::kept_as_it_was;
use crate::tests::check_rule;

const BLIND: &str = "O4: nothing tells what never changes of the E that is replaced";

fn text(lasts: &str, write: &str) -> String {
    format!(
        "entity E {{ key id: uuid  o: int {lasts}  q: int }}
write w(i, x) = {write}
schema s target dynamodb {{
  table own from E key (id;) store all
  table lean from E key (id;) store {{ q }}
  table some from E when q = 3 key (id;) store all
  table by_o from E key (o; id) store all
  write w {{ PLAN }} }}"
    )
}

#[test]
fn a_read_tells_before_a_tuple_is_replaced() {
    let put = "insert E(id i, o x, q x) or replace";
    let plans = [
        ("put own", BLIND),
        ("read own where id = i ; put own", ""),
        ("read lean where id = i ; put own", BLIND),
        ("read some where id = i ; put own", BLIND),
        ("read by_o where o = x ; put own", BLIND),
        ("put by_o ; read own where id = i ; put own", BLIND),
        ("read own where id = i", ""),
    ];
    check_rule(kept_as_it_was, &text("immutable", put), &plans);
    check_rule(kept_as_it_was, &text("", put), &[("put own", "")]);
    for other in [" unless exists", ""] {
        let text = text("immutable", &put.replace(" or replace", other));
        check_rule(kept_as_it_was, &text, &[("put own", "")]);
    }
    let twice = format!("delete E(id i) and {put}");
    let plan = "read own where id = i ; delete own ; put own";
    check_rule(kept_as_it_was, &text("immutable", &twice), &[(plan, BLIND)]);
}
