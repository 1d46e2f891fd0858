//! Sizes of transactions and parts of what comes together: each wrong plan stands beside its neighbour.
//! Plans are those that the schema names, whatever the prover says of them.

use super::{has_room, set_together};
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::parser::parse;

fn model(text: &str) -> Model {
    let (model, diagnostics) = resolve(&parse(text).file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    model
}

#[test]
fn a_transaction_holds_a_hundred_operations() {
    let said = |fanout: &str, changes: &str, target: &str| {
        let model = model(&format!(
            "entity U {{ key id: uuid  name: int }}
entity P {{ key id: uuid  u: U{fanout} }}
write rename(u, n) = update U(id u) set name = n
schema s target {target} {{ table uuu from U key (id;) store all
  table ppp from P key (u; id) store {{ u.name }}
  write rename {{ read ppp where u = u as each_p ; {changes} }} }}
"
        ));
        let schema = model.schemas.first().ok_or("a schema")?;
        let (write, plan) = (model.writes.first(), schema.writes.first());
        has_room(&model, schema, write.ok_or("a write")?, &plan.ok_or("a plan")?.steps)
    };
    let whole = "transaction { patch uuu ; patch ppp for each each_p }";
    let apart = "patch uuu ; patch ppp for each each_p";
    assert_eq!(said("  fanout u max 99", whole, "dynamodb"), Ok(()));
    assert!(said("  fanout u max 100", whole, "dynamodb").is_err());
    assert!(said("", whole, "dynamodb").is_err());
    assert_eq!(said("", apart, "dynamodb"), Ok(()));
    assert_eq!(said("", whole, "shelfmark"), Ok(()));
}

#[test]
fn what_comes_together_is_given_together() {
    let said = |inputs: &str, set: &str| {
        let model = model(&format!(
            "entity C {{ key id: uuid  at: int optional  by: int optional  together (at, by) }}
write w({inputs}) = update C(id i) set {set}
"
        ));
        set_together(&model, model.writes.first().ok_or("a write")?)
    };
    assert_eq!(said("i, t, b", "at = t, by = b"), Ok(()));
    assert_eq!(said("i, t, b", "at = t if by = b"), Ok(()));
    assert!(said("i, t", "at = t if at is absent").is_err());
    assert!(said("i, b", "by = b").is_err());
}
