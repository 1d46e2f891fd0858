//! Requests that targets do not take, rule by rule: each plan stands beside its nearest neighbour, which
//! the same rule lets through. Plans are those that the schema names, or the prover's, whatever it says of them.

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::{read, write};
use shelfmark_design_language::certificate::Certificate;
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_prove::prove;

/// Checks what the rules say of each pattern's plan, all in order: nothing, or a text with these words.
fn check(text: &str, expected: &[(&str, &str)]) {
    check_for(None, text, expected);
}

/// Checks like [`check`], by the rules of a target whose schemas the language words otherwise.
fn check_for(target: Option<&str>, text: &str, expected: &[(&str, &str)]) {
    let (mut model, diagnostics) = resolve(&parse(text).file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    let proofs = prove(&model, "").into_iter().map(|proof| proof.certificate);
    for schema in &mut model.schemas {
        schema.target = target.map_or(schema.target.clone(), str::to_owned);
    }
    let found: Vec<(String, String)> =
        proofs.map(|one| (one.pattern.clone(), said(&model, one))).collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((pattern, told), (name, words)) in found.iter().zip(expected) {
        let right = if words.is_empty() { told.is_empty() } else { told.contains(words) };
        assert!(pattern == name && right, "{pattern} `{told}`, not {name} `{words}`\n{text}");
    }
}

fn said(model: &Model, certificate: Certificate) -> String {
    let named = |name: &str| name == certificate.pattern;
    let schema = model.schemas.iter().find(|schema| schema.name.text == certificate.schema);
    let schema = schema.expect("a schema");
    let judged = if certificate.write {
        let own = model.writes.iter().find(|own| named(&own.name.text)).expect("a write");
        write(model, schema, own, &steps(certificate.plan))
    } else {
        let own = model.reads.iter().find(|own| named(&own.name.text)).expect("a read");
        read(model, schema, own, &steps(certificate.plan))
    };
    judged.err().unwrap_or_default()
}

fn steps<T: DeserializeOwned>(plan: Json) -> Vec<T> {
    serde_json::from_value(plan).expect("a plan")
}

/// The rule for keys that may be empty, as a refusal words it.
const EMPTY: &str = "may be empty";

/// DynamoDB takes no empty text in any column of a key; CQL takes none as the whole partition key.
#[test]
fn keys_are_not_empty() {
    let text = |target: &str, ty: &str, key: &str, id: &str| {
        format!(
            "entity E {{ key id: {ty}  u: uuid }}
write add(i: {ty}, j, u) = insert E(id {id}, u u) and insert E(id j, u u)
schema s target {target} {{ table rows from E key ({key}) store all
  write add {{ transaction {{ put rows }} }} }}"
        )
    };
    let (open, closed) = ("text(max 9)", "text(min 1, max 9)");
    for target in ["dynamodb", "cql"] {
        check(&text(target, open, "id;", "i"), &[("add", EMPTY)]);
        check(&text(target, closed, "id;", "i"), &[("add", "")]);
        // One of two inserts writes a constant, the other may write any text.
        check(&text(target, open, "id;", "\"x\""), &[("add", EMPTY)]);
    }
    check(&text("dynamodb", open, "u; id", "i"), &[("add", EMPTY)]);
    check(&text("cql", open, "u; id", "i"), &[("add", "")]);
    check(&text("cql", open, "u, id;", "i"), &[("add", "")]);
}

/// A constant that an insert writes is no empty text, whatever the type allows.
#[test]
fn a_constant_in_a_key_is_what_it_is() {
    let text = |id: &str, change: &str| {
        format!(
            "entity E {{ key id: text(max 9)  u: uuid }}
write one(u) = {change} E(id {id}, u u)
schema s target dynamodb {{ table rows from E key (id;) store all
  write one {{ transaction {{ put rows }} }} }}"
        )
    };
    check(&text("\"x\"", "insert"), &[("one", "")]);
    check(&text("\"\"", "insert"), &[("one", EMPTY)]);
}

/// A row of counters is added to where it is: no put of it is sent, so that its key may be empty there.
#[test]
fn a_row_of_counters_is_not_put() {
    let text = |stored: &str| {
        format!(
            "entity P {{ key id: text(max 9)  n: int }}
entity C {{ key id: uuid  p: P }}
write add(i, n) = insert P(id i, n n)
schema s target cql {{ table rows_p from P key (id;) {stored}  table rows_c from C key (id;) store all
  write add {{ put rows_p }} }}"
        )
    };
    check(&text("store { count C as cs }"), &[("add", "")]);
    check(&text("store { count C as cs, n }"), &[("add", EMPTY)]);
    check(&text(""), &[("add", EMPTY)]);
    check(
        &text("store { count C as cs }").replace("target cql", "target dynamodb"),
        &[("add", EMPTY)],
    );
}

/// CQL adds to counters alone, which stand in rows of counters alone.
#[test]
fn cql_adds_to_counters_alone() {
    let text = |target: &str, change: &str, stored: &str| {
        format!(
            "entity P {{ key id: uuid  n: int  m: int }}
entity C {{ key id: uuid  p: P }}
write one(i, k) = {change}
schema s target {target} {{ table rows_p from P key (id;) {stored}  table rows_c from C key (id;) store all }}"
        )
    };
    let add = "increment P(id i) set n by k";
    check(&text("cql", add, "store { n }"), &[("one", "no counter to add to")]);
    let unseen = text("cql", add, "store { m }")
        .replace("store all }", "store all  write one { patch rows_p } }");
    check(&unseen, &[("one", "")]);
    check(&text("dynamodb", add, "store { n }"), &[("one", "")]);
    check(&text("cql", "update P(id i) set n = k", "store { n }"), &[("one", "")]);
    let insert = "insert C(id i, p k)";
    check(&text("cql", insert, "store { count C as cs, n }"), &[("one", "is not alone")]);
    check(&text("cql", insert, "store { count C as cs }"), &[("one", "")]);
    check(&text("dynamodb", insert, "store { count C as cs, n }"), &[("one", "")]);
    let delete = "delete C(id i, p k)";
    check(&text("cql", delete, "store { count C as cs, n }"), &[("one", "is not alone")]);
    check(&text("cql", "update P(id i) set n = k", "store { count C as cs, n }"), &[("one", "")]);
}

/// The rule for items that one transaction of DynamoDB changes twice.
const TWICE: &str = "may be named twice";

/// A transaction of DynamoDB names each item once: keys that inputs may make equal are refused.
#[test]
fn an_item_is_named_once_in_a_transaction() {
    let text = |target: &str, ty: &str, effects: &str| {
        format!(
            "entity E {{ key id: uuid  n: int  m: int }}
entity W {{ key w: text(min 1, max 5)  n: int  m: int }}
write two(a: {ty}, b: {ty}) = {effects}
schema s target {target} {{ table rows_e from E key (id;) store all  table rows_w from W key (w;) store all
  write two {{ transaction {{ patch rows_e ; patch rows_w }} }} }}"
        )
    };
    let one = "increment E(id a) set n by 1";
    let plan = |second: &str| text("dynamodb", "uuid", &format!("{one} and {second}"));
    check(&plan("increment E(id b) set m by 1"), &[("two", TWICE)]);
    check(&plan("update E(id b) set m = 1"), &[("two", TWICE)]);
    check(&plan("increment E(id a) set m by 1"), &[("two", "")]);
    check(&plan("insert E(id b, n 1, m 1)"), &[("two", "")]);
    let words = |a: &str, b: &str| {
        let effects = format!("update W(w {a}) set n = 1 and update W(w {b}) set m = 1");
        text("dynamodb", "text(min 1, max 5)", &effects)
    };
    check(&words("\"x\"", "\"y\""), &[("two", "")]);
    check(&words("a", "\"y\""), &[("two", TWICE)]);
    let cql = "update E(id a) set n = 1 and update E(id b) set m = 1";
    check(&text("cql", "uuid", cql), &[("two", "")]);
    let twice = text("dynamodb", "uuid", cql);
    let with = |plan: &str| twice.replace("transaction { patch rows_e ; patch rows_w }", plan);
    check(&with("patch rows_e"), &[("two", "")]);
    // Rows of another entity are none of these items.
    check(&with("transaction { patch rows_e }"), &[("two", TWICE)]);
    check(&with("transaction { patch rows_w }"), &[("two", "")]);
}

/// The rule for additions of a loop.
const ADDED_TWICE: &str = "may add to one item";

/// Two rounds of a loop must not add to one item of a transaction: they do not where each changes the
/// tuple that it goes by.
#[test]
fn rounds_of_a_loop_add_to_an_item_each() {
    let text = |change: &str| {
        format!(
            "entity E {{ key id: uuid  u: uuid  n: int(0..9) }}
entity F {{ key id: uuid  u: uuid  n: int(0..9) }}
write more(i: uuid, u) = {change} for each E as e where u = u
schema s target dynamodb {{
  table rows_e from E key (id;) store all  table rows_f from F key (id;) store all
  table by_u from E key (u; id)
  write more {{ transaction {{ read by_u where u = u as e ; patch rows_e for each e ; patch rows_f for each e }} }} }}"
        )
    };
    check(&text("increment E(id e.id) set n by 1"), &[("more", "")]);
    check(&text("increment E(id i) set n by 1"), &[("more", ADDED_TWICE)]);
    // Another entity's key at the same place is not that of the loop.
    check(&text("increment F(id e.id) set n by 1"), &[("more", ADDED_TWICE)]);
    check(&text("update F(id i) set n = 1"), &[("more", "")]);
    // Additions that are sent one by one are all made, and rows of another entity get none.
    let twice = text("increment E(id i) set n by 1");
    let apart = twice.replace("transaction {", "").replace(" } } }", " } }");
    check(&apart, &[("more", "")]);
    let (other, own) = (" ; patch rows_f for each e", " ; patch rows_e for each e");
    check(&twice.replace(other, ""), &[("more", ADDED_TWICE)]);
    check(&twice.replace(own, ""), &[("more", "")]);
}

/// A number that rows keep of a loop's tuples is added to once for each parent where the loop asks for
/// the rest of the tuple's key.
#[test]
fn tuples_of_a_loop_are_counted_in_a_row_each() {
    let text = |change: &str| {
        format!(
            "entity P {{ key id: uuid  n: int }}
entity C {{ key (p, k)  p: P  k: int(0..9)  v: int(0..9)  w: int(0..9) }}
entity D {{ key (q, k)  q: uuid  k: int(0..9) }}
write less(i: uuid, x) = {change}
schema s target dynamodb {{
  table rows_p from P key (id;) store {{ n, count C as cs, sum v of C as vs }}
  table rows_c from C key (p; k) store all  table by_k from C key (k; p)
  table rows_d from D key (k; q)
  write less {{ transaction {{ read by_k where k = x as c ; read rows_d where k = x as d
    delete rows_c for each c ; delete by_k for each c ; patch rows_p for each c ; patch rows_c for each c ; patch rows_p for each d }} }} }}"
        )
    };
    let delete = "delete C(p c.p, k c.k) for each C as c where";
    check(&text(&format!("{delete} k = x")), &[("less", "")]);
    check(&text(&format!("{delete} k > x")), &[("less", ADDED_TWICE)]);
    check(&text(&format!("{delete} v = x")), &[("less", ADDED_TWICE)]);
    check(&text("delete C(p i, k d.k) for each D as d where k = x"), &[("less", ADDED_TWICE)]);
    // A change of what is counted by no number adds to none.
    let update = "for each C as c where v = x";
    check(&text(&format!("update C(p c.p, k c.k) set w = 1 {update}")), &[("less", "")]);
    check(
        &text(&format!("increment C(p c.p, k c.k) set v by 1 {update}")),
        &[("less", ADDED_TWICE)],
    );
}

/// An update changes what rows keep of its tuple where it sets what is summed, what it is counted by, or
/// what refers to the row.
#[test]
fn an_update_that_counts_adds() {
    let text = |set: &str| {
        format!(
            "entity P {{ key id: uuid  n: int }}
entity C {{ key id: uuid  p: P  state: enum(\"a\", \"b\")  v: int  w: int }}
write all(x, y: P) = update C(id c.id) set {set} for each C as c where p = x
schema s target dynamodb {{
  table rows_p from P key (id;) store {{ n, sum v of C where state = \"a\" as vs }}
  table rows_c from C key (id;) store all  table by_p from C key (p; id)
  write all {{ transaction {{ read by_p where p = x as c ; patch rows_p for each c }} }} }}"
        )
    };
    for set in ["v = 1", "state = \"a\"", "p = y"] {
        check(&text(set), &[("all", ADDED_TWICE)]);
    }
    check(&text("w = 1"), &[("all", "")]);
}

/// A loop's inserts that pass over what is there would cancel the transaction, unless what may be there
/// is looked for before: what no round names is looked for once.
#[test]
fn inserts_of_a_loop_meet_nothing_that_is_there() {
    let text = |key: &str, unless: &str| {
        format!(
            "entity E {{ key id: uuid  u: uuid }}
entity F {{ key id: uuid  e: uuid }}
write copy(i: uuid, u) = insert F({key}) {unless} for each E as e where u = u
schema s target dynamodb {{
  table rows_f from F key (id;) store all  table by_u from E key (u; id)
  write copy {{ transaction {{ read by_u where u = u as e ; put rows_f for each e }} }} }}"
        )
    };
    const CANCELS: &str = "cancels the transaction";
    check(&text("id e.id, e u", "unless exists"), &[("copy", CANCELS)]);
    check(&text("id e.id, e u", ""), &[("copy", "")]);
    check(&text("id i, e e.id", "unless exists"), &[("copy", "")]);
}

/// A put that passes over what is there cancels other parts of its write, or ends the plan before them,
/// unless what may be there is looked for before.
#[test]
fn what_is_there_cancels_no_other_part() {
    let text = |target: &str, plan: &str, rest: &str| {
        format!(
            "entity A {{ key id: uuid  n: int }}
entity B {{ key id: uuid }}
write both(i, j: uuid, b: uuid) = insert A(id i, n 1) unless exists{rest}
schema s target {target} {{
  table rows_a from A key (id;) store all  table rows_b from B key (id;) store all
  write both {{ {plan} }} }}"
        )
    };
    const CANCELS: &str = "cancels other parts";
    let beside = " and insert B(id b)";
    let blind = "transaction { put rows_a ; put rows_b }";
    let looked = "read rows_a where id = i ; transaction { put rows_a ; put rows_b }";
    let other = "read rows_a where id = j ; transaction { put rows_a ; put rows_b }";
    let late = "put rows_b ; put rows_a ; read rows_a where id = i";
    for target in ["dynamodb", "cql"] {
        for bad in [blind, other, late, "put rows_a ; put rows_b"] {
            check(&text(target, bad, beside), &[("both", CANCELS)]);
        }
        check(&text(target, looked, beside), &[("both", "")]);
        check(&text(target, "put rows_a", ""), &[("both", "")]);
    }
    check(&text("shelfmark", blind, beside), &[("both", "")]);
}

/// The rule for sums in keys of indexes.
const SUM: &str = "is put together from a sum";

/// An update of DynamoDB adds to a number: it puts no key of an index together from the sum.
#[test]
fn a_sum_is_no_part_of_a_text() {
    let text = |target: &str, change: &str, index: &str| {
        format!(
            "entity E {{ key id: uuid  n: int(0..99)  m: int(0..99) }}
write add(i) = {change}
schema s target {target} {{ table base from E key (id;) store all  index by_n {index} }}"
        )
    };
    let add = "increment E(id i) set n by 1";
    check(&text("dynamodb", add, "pk \"n#<n:pad(2)>\""), &[("add", SUM)]);
    check(&text("dynamodb", add, "pk \"m\" sk \"<m:pad(2)>#<n:pad(2)>\""), &[("add", SUM)]);
    check(&text("dynamodb", add, "pk \"<n>\""), &[("add", SUM)]);
    check(&text("dynamodb", add, "pk \"n#<m:pad(2)>\""), &[("add", "")]);
    check(&text("dynamodb", add, "key (n;)"), &[("add", "")]);
    check(&text("dynamodb", "update E(id i) set n = 1", "pk \"n#<n:pad(2)>\""), &[("add", "")]);
    // What is read and put anew is no sum of the target's.
    let put =
        "pk \"n#<n:pad(2)>\"  write add { read base where id = i ; transaction { put base } }";
    check(&text("dynamodb", add, put), &[("add", "")]);
}

/// An index whose key has attributes that rows of two types have, by the same names and kinds, has a
/// column of its own in the place of the first, which a sum is no value of.
#[test]
fn an_index_of_two_row_types_has_a_column_of_its_own() {
    let text = |other: &str, index: &str| {
        format!(
            "entity E {{ key id: uuid  n: int(0..99)  tag: text(min 1, max 9) }}
entity F {{ key id: uuid  {other} }}
write add(i) = increment E(id i) set n by 1
schema s target dynamodb {{ table base {{ pk text sk text
  row RE from E pk \"e#<id>\" sk \"e\" store all index by_n key ({index})
  row RF from F pk \"f#<id>\" sk \"f\" store all }} }}"
        )
    };
    check(&text("n: int  tag: text(min 1, max 9)", "n;"), &[("add", SUM)]);
    check(&text("n: timestamp", "n;"), &[("add", SUM)]);
    check(&text("m: int", "n;"), &[("add", "")]);
    for kind in ["text(max 9)", "bytes(max 9)", "bool", "list of int (max 3)"] {
        check(&text(&format!("n: {kind}"), "n;"), &[("add", "")]);
    }
    // Both columns are in question, whatever their order.
    check(&text("n: int  tag: text(max 5)", "n; tag"), &[("add", SUM)]);
    check(&text("n: int", "n; tag"), &[("add", "")]);
    for kind in ["bytes(max 9)", "bool", "list of text (max 3)"] {
        check(&text(&format!("n: int  tag: {kind}"), "n; tag"), &[("add", "")]);
    }
}

/// A stream of an ordered store goes up: down goes only the last of all, and where one row is named
/// there is no direction.
#[test]
fn a_stream_goes_up() {
    let text = |order: &str, call: &str| {
        format!(
            "entity E {{ key (u, at)  u: uuid  at: timestamp }}
read some(u: uuid, a: timestamp) = E where u = u {order}
schema s target ordered {{ table rows from E key (u, at) store all  serve some(u, a) by {call} }}"
        )
    };
    const UP: &str = "goes up";
    check(&text("order by at", "query rows (u)"), &[("some", "")]);
    check(&text("order by at desc", "query rows (u) desc"), &[("some", UP)]);
    check(&text("order by at desc limit 1", "query rows (u) desc limit 1"), &[("some", UP)]);
    check(&text("and at = a", "query rows (u, a) desc"), &[("some", "")]);
    check(&text("and at <= a order by at desc", "query rows (u) through a desc"), &[("some", UP)]);
    check(&text("order by at desc limit 1", "scan rows desc limit 1"), &[("some", "")]);
    check(&text("order by at desc limit 2", "scan rows desc limit 2"), &[("some", UP)]);
    check(&text("order by at desc limit 1", "scan rows to a desc limit 1"), &[("some", UP)]);
}

/// A query of DynamoDB takes no empty value of a key, and one condition on the sort key: where one of two
/// ends is left out, that is a second condition. Texts have an end behind each value, other types none.
#[test]
fn a_query_of_dynamodb_has_one_condition() {
    let text = |ty: &str, inputs: &str, condition: &str, ends: &str| {
        format!(
            "entity E {{ key (g, at)  g: text(min 1, max 9)  at: {ty} }}
read some({inputs}) = E where g = g {condition} order by at
schema s target dynamodb {{ table rows from E key (g; at) store all
  serve some by query rows (g) {ends} }}"
        )
    };
    const ONE: &str = "takes one condition";
    let time = |condition: &str, ends: &str| text("timestamp", "g, a, b", condition, ends);
    check(&time("and at >= a and at <= b", "from a through b"), &[("some", "")]);
    for (condition, ends) in [
        ("and at > a and at <= b", "after a through b"),
        ("and at >= a and at < b", "from a before b"),
    ] {
        // Whole values have one before and one behind.
        for whole in ["timestamp", "date", "int"] {
            check(&text(whole, "g, a, b", condition, ends), &[("some", "")]);
        }
        check(&text("decimal", "g, a, b", condition, ends), &[("some", ONE)]);
    }
    check(&text("timestamp", "g, a", "and at > a", "after a"), &[("some", "")]);
    check(&text("timestamp", "g, a", "and at < a", "before a"), &[("some", "")]);
    let word = |inputs: &str, condition: &str, ends: &str| {
        text("text(min 1, max 9, without \"#\")", inputs, condition, ends)
    };
    check(&word("g, a, b", "and at > a and at <= b", "after a through b"), &[("some", "")]);
    check(&word("g", "", ""), &[("some", "")]);
    check(&word("g: text(max 9)", "", ""), &[("some", EMPTY)]);
    let some = word("g, a: text(min 1, max 9)", "and at begins a", "begins a");
    check(&some, &[("some", "")]);
    let open = word("g, a: text(max 9)", "and at begins a", "begins a");
    check(&open, &[("some", "begins_with takes no empty text")]);
}

/// A plan that no schema can name, with both ends on one side or with three of them, is no query.
#[test]
fn ends_are_one_from_each_side() {
    let text = "entity E { key (g, at)  g: uuid  at: timestamp }
read some(g, a) = E where g = g and at >= a order by at
schema s target dynamodb { table rows from E key (g; at) store all }";
    let (model, _) = resolve(&parse(text).file);
    let proof = prove(&model, "").pop().expect("a proof");
    let told = |ends: &[&str]| {
        let mut one = proof.certificate.clone();
        let bounds = one.plan.pointer_mut("/0/Read/bounds").expect("ends");
        let value = bounds[0][1].clone();
        *bounds =
            ends.iter().map(|kind| Json::from(vec![Json::from(*kind), value.clone()])).collect();
        said(&model, one)
    };
    assert_eq!(told(&["from", "through"]), "");
    for ends in [&["from", "from"][..], &["through", "through"], &["from", "through", "through"]] {
        assert!(told(ends).contains("takes one condition"), "{ends:?}");
    }
}

/// CQL tells no empty partition key, no empty beginning, and no order of uuids but its own: versions and
/// times come first in it.
#[test]
fn cql_orders_uuids_by_itself() {
    let text = |key: &str, read: &str, serve: &str| {
        format!(
            "entity E {{ key id: uuid  g: text(min 1, max 9)  u: uuid  n: int }}
{read}
schema s target cql {{ table rows from E key ({key}) store all
  serve some by {serve} }}"
        )
    };
    const ORDER: &str = "another order in the target";
    let own = "query rows (g)";
    let of = |rest: &str| format!("read some(g) = E where g = g {rest}");
    check(&text("g; n, id", &of("order by n"), own), &[("some", "")]);
    check(&text("g; id", &of("order by id"), own), &[("some", ORDER)]);
    check(&text("g; id", &of(""), own), &[("some", "")]);
    check(&text("g; id", &of("order by id"), &format!("{own} then sort by id")), &[("some", "")]);
    check(&text("g; n, id", &of("order by n, id"), own), &[("some", ORDER)]);
    // What is asked for is one in all rows, and decides nothing.
    let asked = "read some(g, u) = E where g = g and u = u order by u, n";
    check(&text("g; u, n, id", asked, "query rows (g, u)"), &[("some", "")]);
    // Behind the whole key nothing is left to decide.
    let told = "read some(g, i) = E where g = g and id = i order by n, u";
    check(&text("g; id, n, u", told, "query rows (g, i)"), &[("some", "")]);
    let range = "read some(g, i) = E where g = g and id > i";
    check(&text("g; id", range, "query rows (g) after i"), &[("some", "a range of uuids")]);
    let number = "read some(g, i) = E where g = g and n > i";
    check(&text("g; n, id", number, "query rows (g) after i"), &[("some", "")]);
}

#[test]
fn cql_takes_no_empty_partition_key() {
    let text = |input: &str, key: &str, call: &str| {
        format!(
            "entity E {{ key id: uuid  g: text(min 1, max 9)  name: text(min 1, max 9) }}
read some(g: text({input} max 9), a: text({input} max 9)) = E where g = g and name {call}
schema s target cql {{ table rows from E key ({key}) store all }}"
        )
    };
    check(&text("min 1,", "g; name, id", "begins a"), &[("some", "")]);
    check(&text("", "g; name, id", "begins a"), &[("some", EMPTY)]);
    check(&text("", "g, name; id", "= a"), &[("some", "")]);
}

/// The names and keys that tables of DynamoDB and CQL have.
#[test]
fn names_and_columns_of_keys_have_limits() {
    let text = |target: &str, table: &str| {
        format!(
            "entity E {{ key (a, b, c, d, e)  a: int  b: int  c: int  d: int  e: int  f: bool }}
write add(a, b, c, d, e, f) = insert E(a a, b b, c c, d d, e e, f f)
schema s target {target} {{ {table} }}"
        )
    };
    let long = |length: usize| format!("table {} from E key (a; b) store all", "t".repeat(length));
    const NAME: &str = "no table may be called";
    for (target, length, words) in [
        ("dynamodb", 2, NAME),
        ("dynamodb", 3, ""),
        ("dynamodb", 255, ""),
        ("dynamodb", 256, NAME),
        ("cql", 1, ""),
        ("cql", 48, ""),
        ("cql", 49, NAME),
    ] {
        check(&text(target, &long(length)), &[("add", words)]);
    }
    const MANY: &str = "too many columns";
    let key = |key: &str| text("dynamodb", &format!("table rows from E key ({key}) store all"));
    check(&key("a;"), &[("add", "")]);
    check(&key("a, b;"), &[("add", MANY)]);
    check(&key("a; b, c"), &[("add", MANY)]);
    check(&key("a; f"), &[("add", "a truth value is in the key")]);
    check(&key("f; a"), &[("add", "a truth value is in the key")]);
    check(&text("cql", "table rows from E key (a, b; c, d, f) store all"), &[("add", "")]);
}

/// A view of CQL is keyed by the columns of its table's key and one more, each as it is; its rows tell no
/// empty list from an absent one.
#[test]
fn a_view_of_cql_has_one_more_column() {
    let text = |more: &str, stored: &str, index: &str| {
        format!(
            "entity E {{ key id: uuid  a: uuid  b: int  {more} }}
read some(a) = E where a = a
schema s target cql {{ table rows from E key (id;) store {stored} index by_a {index} serve some by query by_a (a) }}"
        )
    };
    const VIEW: &str = "is none of a view";
    let view = |index: &str| text("", "all", index);
    check(&view("key (a;)"), &[("some", "")]);
    check(&view("key (a; id)"), &[("some", "")]);
    check(&view("key (a; b)"), &[("some", VIEW)]);
    check(&view("key (a; \"x#<b>\")"), &[("some", VIEW)]);
    const LIST: &str = "is an absent one";
    check(&text("ts: list of int (max 3) optional", "all", "key (a;)"), &[("some", LIST)]);
    check(&text("ts: list of int (max 3) optional", "{ a }", "key (a;)"), &[("some", "")]);
    check(&text("ts: list of int (max 3)", "all", "key (a;)"), &[("some", "")]);
    check(&text("ts: text(max 3) optional", "all", "key (a;)"), &[("some", "")]);
}

/// A text of several parts is empty where all of them may be: words, texts and bytes by their types.
#[test]
fn texts_of_parts_are_empty_where_all_parts_are() {
    let text = |ty: &str, key: &str| {
        format!(
            "entity E {{ key id: uuid  a: {ty}  b: {ty} }}
write add(i, a, b) = insert E(id i, a a, b b)
schema s target dynamodb {{ table rows {{ row R from E {key} store all }} }}"
        )
    };
    let (open, closed) = ("text(max 5)", "text(min 1, max 5)");
    check(&text(open, "pk \"<a>\" sk \"<id>\""), &[("add", EMPTY)]);
    check(&text(open, "pk \"x\" sk \"<a><b>\""), &[("add", EMPTY)]);
    check(&text(open, "pk \"x\" sk \"<a>#<b>\""), &[("add", "")]);
    check(&text(closed, "pk \"<a>\" sk \"<id>\""), &[("add", "")]);
    check(&text("enum(\"\", \"y\")", "pk \"<a>\" sk \"<id>\""), &[("add", EMPTY)]);
    check(&text("enum(\"x\", \"y\")", "pk \"<a>\" sk \"<id>\""), &[("add", "")]);
    let typed =
        |ty: &str| text(ty, "").replace("{ row R from E  store all }", "from E key (a;) store all");
    check(&typed("bytes(max 5)"), &[("add", EMPTY)]);
    check(&typed("bytes(min 1, max 5)"), &[("add", "")]);
    check(&typed("int"), &[("add", "")]);
}

/// An index of DynamoDB has up to four columns before and four behind the point where its partition ends.
#[test]
fn an_index_of_dynamodb_has_eight_columns() {
    let text = |key: &str, bound: &str| {
        format!(
            "entity E {{ key id: uuid  a: int  b: int  c: int  d: int  e: int  f: bool }}
read some(a, b, c, d, e, f) = E where a = a and b = b and c = c and d = d and e = e and f = f
schema s target dynamodb {{ table rows from E key (id;) store all  index more key ({key})
  serve some by query more ({bound}) then filter f = f }}"
        )
    };
    const MANY: &str = "too many columns";
    check(&text("a, b, c, d;", "a, b, c, d"), &[("some", "")]);
    check(&text("a; b, c, d, e", "a, b, c, d, e"), &[("some", "")]);
    check(&text("a, b, c, d, e;", "a, b, c, d, e"), &[("some", MANY)]);
    check(&text("a, f;", "a, f"), &[("some", "a truth value is in the key")]);
}

/// A read of CanDB is of a table with a partition key and a sort key, both texts, and of no index.
#[test]
fn a_read_of_candb_is_of_a_pair_of_texts() {
    let text = |key: &str, rest: &str| {
        format!(
            "entity E {{ key id: uuid  s: text(min 1, max 9)  w: enum(\"a\", \"b\")  l: ulid  n: int }}
read some(x) = E where id = x
schema s target shelfmark {{ table rows from E key ({key}) store all {rest} }}"
        )
    };
    const PAIR: &str = "partition and sort keys";
    let check = |text: &str, words: &str| check_for(Some("candb"), text, &[("some", words)]);
    for key in ["id;", "id; s", "id; w", "id; l"] {
        check(&text(key, ""), "");
    }
    for key in ["id; n", "id; s, w", "id, s;"] {
        check(&text(key, "serve some by query rows (x)"), PAIR);
    }
    let index = text("s; id", "index by_id key (id; s) serve some by query by_id (x)");
    check(&index, PAIR);
}

/// Changes that are sent one by one go to partitions of their own, those of one message to one.
#[test]
fn a_message_of_candb_goes_to_one_partition() {
    let text = |other: &str, plan: &str| {
        format!(
            "entity E {{ key id: uuid  n: int }}
write add(i, n) = insert E(id i, n n)
schema s target shelfmark {{ table t {{ pk text sk text
  row One from E pk \"a\" sk \"1#<id>\" store all
  row Two from E pk \"{other}\" sk \"2#<id>\" store all }}
  write add {{ {plan} }} }}"
        )
    };
    let check = |text: &str, words: &str| check_for(Some("candb"), text, &[("add", words)]);
    const ONE: &str = "one message goes to one partition";
    check(&text("a", "transaction { put One ; put Two }"), "");
    check(&text("b", "transaction { put One ; put Two }"), ONE);
    check(&text("b", "put One ; put Two"), "");
    check(&text("b", "transaction { put One } transaction { put Two }"), "");
    check(&text("b<id>", "transaction { put One ; put Two }"), ONE);
    check(&text("<id>", "transaction { put One ; put Two }"), "");
}

/// Holds that whoever changes a row knows whether an index with conditions of its own has it, and under
/// which key.
#[test]
fn the_mark_of_a_sparse_index_is_known() {
    let text = |write: &str, plan: &str| {
        format!(
            "entity E {{ key id: uuid  s: enum(\"x\", \"y\")  u: uuid  n: int  v: int }}
write w{write}
schema s target dynamodb {{ table rows from E key (id;) store all
    index some when s = \"x\" and n >= 1 key (u; v)
  write w {{ {plan} }} }}"
        )
    };
    let unknown = "nobody knows whether rows.some has it";
    let (blind, looking) = ("patch rows", "read rows where id = i ; patch rows");
    let moves = "(i, u) = update E(id i) set u = u";
    check(&text(moves, blind), &[("w", unknown)]);
    check(&text(moves, looking), &[("w", "")]);
    // What selects the tuple, or is set with it, tells as well.
    let told = "(i, u) = update E(id i, s \"x\", n 1) set u = u";
    check(&text(told, blind), &[("w", "")]);
    check(&text("(i, u) = update E(id i) set u = u, s = \"x\", n = 1", blind), &[("w", "")]);
    check(&text("(i) = update E(id i) set s = \"x\", n = 1", blind), &[("w", unknown)]);
    // What surely is not there needs no key.
    check(&text("(i) = update E(id i) set s = \"y\"", blind), &[("w", "")]);
    check(&text("(i) = update E(id i) set n = 0", blind), &[("w", "")]);
    check(&text("(i) = update E(id i) set n = 1", blind), &[("w", unknown)]);
    // A put is of what is made, not of what goes before it.
    let again = "(i, j, u) = delete E(id i) and insert E(id j, s \"x\", u u, n 1, v 2)";
    check(&text(again, "delete rows ; put rows"), &[("w", "")]);
    // The other columns are attributes of the item.
    check(&text("(i, v) = update E(id i) set v = v", blind), &[("w", "")]);
    check(&text("(i) = increment E(id i) set v by 1", blind), &[("w", "")]);
    check(&text("(i) = increment E(id i) set n by -1", blind), &[("w", "depends on a sum")]);
    let sum = text("(i) = increment E(id i) set n by 1", blind);
    check(&sum, &[("w", "depends on a sum")]);
    check(&sum.replace("target dynamodb", "target shelfmark"), &[("w", "")]);
}

/// A view of CQL has all rows of its table.
#[test]
fn a_view_of_cql_asks_for_nothing() {
    let text = |when: &str| {
        format!(
            "entity E {{ key id: uuid  s: enum(\"x\", \"y\")  u: uuid }}
read r(u) = E where u = u and s = \"x\"
schema s target cql {{ table rows from E key (id;) store all index some{when} key (u; id)
  serve r(u) by query some (u) }}"
        )
    };
    check(&text(" when s = \"x\""), &[("r", "has only some rows of its table")]);
    check(&text(""), &[("r", "")]);
}

/// Nothing is written to a table that cannot be made with all its indexes.
#[test]
fn tables_are_made_with_all_their_indexes() {
    let text = |target: &str, index: &str| {
        format!(
            "entity E {{ key id: uuid  a: uuid  b: uuid }}
write add(i, a, b) = insert E(id i, a a, b b)
schema s target {target} {{ table rows from E key (id;) store all  {index}
  write add {{ put rows }} }}"
        )
    };
    let many = |count: usize| -> String {
        (0..count).map(|at| format!("index by_{at} key (a; b)  ")).collect()
    };
    check(&text("dynamodb", "index by_a key (a; b desc)"), &[("add", "descending")]);
    check(&text("dynamodb", "index by_a key (a; b)"), &[("add", "")]);
    check(&text("dynamodb", &many(21)), &[("add", "more indexes")]);
    check(&text("dynamodb", &many(20)), &[("add", "")]);
    check(&text("cql", "index by_a key (a; b)"), &[("add", "none of a view")]);
    check(&text("cql", "index by_a key (a;)"), &[("add", "")]);
}

/// An index names up to twenty attributes and those of a table a hundred; one with all names none.
#[test]
fn indexes_name_some_attributes() {
    let text = |columns: usize, indexes: &[usize]| {
        let all = |form: &dyn Fn(usize) -> String| {
            (0..columns).map(form).collect::<Vec<String>>().join(", ")
        };
        let types = all(&|at| format!("a{at}: uuid")).replace(", ", "  ");
        let index = |(at, shown): (usize, &usize)| {
            let names: Vec<String> = (1..=*shown).map(|at| format!("a{at}")).collect();
            format!("index by_{at} key (a0; id) store {{ {} }}  ", names.join(", "))
        };
        let indexes: String = indexes.iter().enumerate().map(index).collect();
        format!(
            "entity E {{ key id: uuid  {types} }}
write add(i, {}) = insert E(id i, {})
schema s target dynamodb {{ table rows from E key (id;) store all  {indexes}
  write add {{ put rows }} }}",
            all(&|at| format!("x{at}")),
            all(&|at| format!("a{at} x{at}")),
        )
    };
    check(&text(23, &[21]), &[("add", "includes 21 attributes")]);
    check(&text(23, &[20]), &[("add", "")]);
    check(&text(23, &[22]), &[("add", "")]);
    check(&text(23, &[20, 20, 20, 20, 20, 1]), &[("add", "include 101 attributes")]);
    check(&text(23, &[20, 20, 20, 20, 20, 22]), &[("add", "")]);
}

/// A key is not empty where the input is not.
#[test]
fn inputs_fill_keys() {
    for (target, ty, words) in [
        ("dynamodb", "text(max 9)", EMPTY),
        ("dynamodb", "text(min 1)", ""),
        ("cql", "text(max 9)", EMPTY),
        ("cql", "text(min 1)", ""),
    ] {
        let text = format!(
            "entity E {{ key id: text(max 9)  n: int }}
write add(i: {ty}, n) = insert E(id i, n n)
write set_n(i: {ty}, n) = update E(id i) set n = n
schema s target {target} {{ table rows from E key (id;) store all
  write add {{ put rows }}  write set_n {{ patch rows }} }}"
        );
        check(&text, &[("add", words), ("set_n", words)]);
    }
}

/// A largest value is compared by a change of its own, which cancels nothing else.
#[test]
fn a_largest_value_cancels_nothing_else() {
    let text = |target: &str, plan: &str| {
        format!(
            "entity P {{ key id: uuid }}
entity C {{ key id: uuid  p: P  n: int(0..9) }}
write add(i, p, n) = insert C(id i, p p, n n)
schema s target {target} {{ table rows_p from P key (id;) store {{ max n of C as top }}
  table rows_c from C key (id;) store all
  write add {{ {plan} }} }}"
        )
    };
    const CANCELS: &str = "may cancel the transaction";
    let (apart, together) =
        ("put rows_c ; patch rows_p", "transaction { put rows_c ; patch rows_p }");
    check(&text("dynamodb", apart), &[("add", "")]);
    check(&text("dynamodb", together), &[("add", CANCELS)]);
    check(&text("dynamodb", "put rows_c ; transaction { patch rows_p }"), &[("add", "")]);
    check(&text("shelfmark", together), &[("add", "")]);
    check(&text("cql", apart), &[("add", "keeps what no condition asks for")]);
}
