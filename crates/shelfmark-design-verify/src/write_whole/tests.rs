//! Parts of what comes together: each wrong update stands beside its neighbour.

use super::set_together;
use crate::tests::model;

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
