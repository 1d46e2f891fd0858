//! Sizes of transactions: each wrong plan stands beside its neighbour.
//! Plans are those that the schema names, whatever the prover says of them.

use super::has_room;
use crate::tests::model;

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
