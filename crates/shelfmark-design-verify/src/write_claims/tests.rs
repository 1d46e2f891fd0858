//! Orders in which a unique value is taken: each wrong one stands beside its neighbour. Plans are those
//! that the schema names, whatever the prover says of them.

use super::claimed_first;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::parser::parse;

fn said(head: &str, steps: &str) -> Result<(), String> {
    said_of("unique", head, steps)
}

fn said_of(mail: &str, head: &str, steps: &str) -> Result<(), String> {
    let text = format!(
        "type nm = text(min 1, max 20)
entity U {{ key id: nm  mail: nm {mail} }}
{head}
schema s target dynamodb {{ table usr from U key (id;) store all  table uma from U key (mail;) store all
  write w {{ read usr where id = i ; {steps} }} }}
"
    );
    let (model, diagnostics) = resolve(&parse(&text).file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    let schema = model.schemas.first().ok_or("a schema")?;
    let (write, plan) = (model.writes.first(), schema.writes.first());
    claimed_first(&model, schema, write.ok_or("a write")?, &plan.ok_or("a plan")?.steps)
}

#[test]
fn a_changed_unique_value_is_put_first() {
    let change = "write w(i, e) = update U(id i) set mail = e";
    for right in [
        "put uma ; patch usr ; delete uma",
        "transaction { delete uma ; put uma } patch usr",
        "transaction { patch usr ; delete uma ; put uma }",
    ] {
        assert_eq!(said(change, right), Ok(()), "{right}");
    }
    for wrong in [
        "patch usr ; delete uma ; put uma",
        "delete uma ; put uma ; patch usr",
        "patch usr ; transaction { delete uma ; put uma }",
    ] {
        assert!(said(change, wrong).is_err(), "{wrong}");
    }
}

/// Holds that what replaces another tuple may take its unique value, or another's row where the value never changes.
#[test]
fn a_replaced_unique_value_is_put_first() {
    let put = "write w(i, e) = insert U(id i, mail e) or replace";
    assert_eq!(said(put, "put uma ; put usr ; delete uma"), Ok(()));
    assert!(said(put, "put usr ; put uma ; delete uma").is_err());
    let lasting = said_of("unique immutable", put, "put uma ; put usr");
    assert!(lasting.is_err_and(|why| why.contains("may replace another's row")));
    let made = put.replace(" or replace", "");
    let looked = "read uma where mail = e ; put usr ; put uma";
    assert_eq!(said_of("unique immutable", &made, looked), Ok(()));
}

/// An insert by several requests has looked for its unique value before it changes anything.
#[test]
fn an_inserted_unique_value_is_looked_for() {
    let insert = "write w(i, e) = insert U(id i, mail e)";
    for right in [
        "read uma where mail = e ; put usr ; put uma",
        "transaction { put usr ; put uma }",
        "transaction { put uma ; put usr }",
    ] {
        assert_eq!(said(insert, right), Ok(()), "{right}");
    }
    for wrong in [
        "put usr ; put uma",
        "put usr ; read uma where mail = e ; put uma",
        "read uma where mail = i ; put usr ; put uma",
    ] {
        assert!(said(insert, wrong).is_err(), "{wrong}");
    }
}
