//! Claims about others that come between: each stands beside one that is too much. Plans are those that
//! the schema names, whatever the prover says of them.

use super::claimed;
use crate::tests::model;
use shelfmark_design_language::certificate::{Certificate, Claim, Concurrency};
use shelfmark_design_prove::prove;

/// Returns the certificate of the only write of a text, with a claim in the place of its own.
fn said(text: &str, claim: Claim, conditions: &[&str]) -> Result<(), String> {
    let model = model(text);
    let (schema, write) = (model.schemas.first(), model.writes.first());
    let (schema, write) = (schema.ok_or("a schema")?, write.ok_or("a write")?);
    let plan = schema.writes.first().ok_or("a plan")?;
    let proven = prove(&model, "").into_iter().next().ok_or("a certificate")?.certificate;
    let conditions = conditions.iter().map(|one| (*one).to_owned()).collect();
    let concurrency = Some(Concurrency { claim, conditions });
    let certificate = Certificate { concurrency, ..proven };
    claimed(&model, schema, write, &plan.steps, &certificate)
}

fn text(target: &str, write: &str, plan: &str) -> String {
    format!(
        "type nm = text(min 1, max 9)
entity A {{ key id: nm  k: nm  v: int }}
entity B {{ key id: nm  n: int }}
write w(i: nm, j: nm, k: nm) = {write}
schema s target {target} {{
  table own from A key (id;) store all
  table byk from A key (k; id)
  table bbb from B key (id;) store all
  write w {{ {plan} }} }}
"
    )
}

#[test]
fn one_request_and_one_transaction_are_atomic() {
    let set = "update A(id i) set v = 1";
    assert_eq!(said(&text("dynamodb", set, "patch own"), Claim::Request, &["own"]), Ok(()));
    let both = "update A(id i) set v = 1 and update B(id j) set n = 1";
    for (target, plan, right) in [
        ("dynamodb", "transaction { patch own ; patch bbb }", true),
        ("shelfmark", "transaction { read own ; patch own ; patch bbb }", true),
        ("dynamodb", "patch own ; patch bbb", false),
        ("dynamodb", "transaction { patch own } transaction { patch bbb }", false),
        ("dynamodb", "transaction { read own ; patch own ; patch bbb }", false),
        ("cql", "transaction { patch own ; patch bbb }", false),
    ] {
        let told = said(&text(target, both, plan), Claim::Transaction, &[]);
        assert_eq!(told.is_ok(), right, "{target} {plan}");
        assert!(said(&text(target, both, plan), Claim::Request, &[]).is_err(), "{plan}");
        assert_eq!(said(&text(target, both, plan), Claim::Alone, &[]), Ok(()), "{plan}");
    }
}

/// Holds that what was read is asked for again by rows that lie under it and the tuple's own key.
#[test]
fn what_was_read_is_compared_by_the_one_request() {
    let drop = "delete A(id i)";
    for (plan, conditions, right) in [
        (
            "read own where id = i ; transaction { delete own ; delete byk }",
            &["own", "byk"][..],
            true,
        ),
        ("read own where id = i ; transaction { delete own ; delete byk }", &[], false),
        ("read own where id = i ; delete own ; delete byk", &["own"], false),
        (
            "read own where id = i ; read bbb where id = j ; transaction { delete own ; delete byk }",
            &["own"],
            false,
        ),
    ] {
        let told = said(&text("dynamodb", drop, plan), Claim::Compared, conditions);
        assert_eq!(told.is_ok(), right, "{plan}: {told:?}");
    }
    // The row under the new key has what the read showed, and no row is asked for under the old one.
    let moves = "update A(id i) set k = k";
    let plan = "read own where id = i ; transaction { patch own ; delete byk ; put byk }";
    assert!(said(&text("dynamodb", moves, plan), Claim::Compared, &["own"]).is_err());
}

#[test]
fn conditions_are_of_tables_that_are_changed() {
    let told = said(&text("dynamodb", "delete B(id j)", "delete bbb"), Claim::Alone, &["own"]);
    assert!(told.is_err_and(|why| why.contains("conditions on own")));
}

/// Holds that what selects beside the key is compared by the request, not only read: where the row that is
/// changed in place shows it, or where it lies in that row's key.
#[test]
fn what_else_selects_is_compared_too() {
    let text = |target: &str, rows: &str, write: &str, plan: &str| {
        format!(
            "type nm = text(min 1, max 9)
entity A {{ key id: nm  k: nm  at: nm optional }}
entity B {{ key id: nm  n: int }}
write w(i: nm, k: nm, t: nm) = {write}
schema s target {target} {{ {rows} table bbb from B key (id;) store all  write w {{ {plan} }} }}
"
        )
    };
    let (all, bare) =
        ("table own from A key (id;) store all", "table own from A key (id;) store { at }");
    let set = "update A(id i, k k) set at = t";
    let patch = "read own where id = i ; patch own";
    let moves = "read own where id = i ; delete own ; put own";
    for (target, rows, write, plan, right) in [
        ("dynamodb", all, set, patch, true),
        ("cql", all, set, patch, true),
        ("shelfmark", all, set, patch, false),
        ("dynamodb", bare, set, patch, false),
        ("dynamodb", "table own from A key (id; k) store all", set, patch, true),
        ("dynamodb", all, "delete A(id i, k k)", "read own where id = i ; delete own", true),
        ("dynamodb", bare, "delete A(id i, k k)", "read own where id = i ; delete own", false),
        ("dynamodb", all, set, moves, false),
    ] {
        let told = said(&text(target, rows, write, plan), Claim::Compared, &["own"]);
        assert_eq!(told.is_ok(), right, "{target} {rows} {write} {plan}: {told:?}");
    }
}

/// Holds that tuples which keep numbers of their own kind are not changed one by one: what moves is
/// counted elsewhere, by requests of their own.
#[test]
fn a_change_that_is_counted_in_the_same_family_is_no_single_request() {
    let text = |write: &str, plan: &str| {
        format!(
            "type nm = text(min 1, max 9)
entity A {{ key id: nm  up: A optional  v: int }}
write w(i: nm, j: nm) = {write}
schema s target dynamodb {{
  table own from A key (id;) store {{ up, v, count A as below }}
  write w {{ {plan} }} }}
"
        )
    };
    let moves = text("update A(id i) set up = j", "read own where id = i ; patch own");
    assert!(said(&moves, Claim::Compared, &["own"]).is_err());
    assert_eq!(said(&moves, Claim::Alone, &["own"]), Ok(()));
    // What nothing counts is one request as before.
    let other = text("update A(id i) set v = 1", "patch own");
    assert_eq!(said(&other, Claim::Request, &["own"]), Ok(()));
}
