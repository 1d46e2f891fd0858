//! Keys and items at the limits of DynamoDB: each that is too long stands beside one that fits.

use super::{asked, written};
use crate::tests::model;

fn said(columns: &str, key: &str) -> [Result<(), String>; 2] {
    let text = format!(
        "entity D {{ key id: int  {columns} }}
read r(a, b) = D where a = a and b = b order by id
write w(i, a, b, c) = insert D(id i, a a, b b, c c)
schema s target dynamodb {{ table ddd from D key (id;) store all index byab {key}
  serve r(a, b) by query byab (a) from b to b
  write w {{ put ddd }} }}
"
    );
    let model = model(&text);
    let schema = &model.schemas[0];
    let write = written(&model, schema, &model.writes[0], &schema.writes[0].steps);
    [write, asked(schema, &model.reads[0], &schema.serves[0].steps)]
}

#[test]
fn keys_and_items_have_so_many_bytes_at_most() {
    let columns = |a: &str, b: &str, c: &str| {
        format!("a: text(min 1, {a})  b: text(min 1, {b})  c: text({c})")
    };
    let key = "key (a; b)";
    let fits = [Ok(()), Ok(())];
    assert_eq!(said(&columns("max 2048", "max 1024", "max 400000"), key), fits);
    // What declares no maximum is assumed to fit.
    assert_eq!(said("a: text(min 1)  b: text(min 1)  c: text", key), fits);
    let [write, read] = said(&columns("max 2049", "max 9", "max 9"), key);
    assert!(write.is_err_and(|why| why.contains("a key of byab")) && read.is_err());
    let [write, read] = said(&columns("max 9", "max 1025", "max 9"), key);
    assert!(write.is_err() && read.is_ok(), "an end of a range is no key");
    let [write, read] = said(&columns("max 9", "max 9", "max 410000"), key);
    assert!(write.is_err_and(|why| why.contains("an item of ddd")) && read.is_ok());
}
