//! Escapes names of records' attributes that collide with key columns.
//!
//! An item holds both. Names that begin with `_` are ours: a record's attribute that has the name
//! of a key column, or begins with `_` itself, is stored with one more `_` before it. A record that
//! is no map is the attribute `value` alone, so a map whose only attribute is `value` stores it as
//! `_value`.
//!
//! Invariant: [`gather`] undoes [`spread`], and [`unescape`] undoes [`escape`], for every name.

use shelfmark_model::{Item, Value};

use super::Map;

/// The attribute that holds a record that is no map.
pub(super) const WHOLE: &str = "value";

/// The attribute with the second at which an item expires, since reads do not show the engine's own
/// record of it.
pub(crate) const EXPIRES: &str = "_@expires";

/// Converts a value to attributes.
pub(crate) fn spread(value: Value) -> Item {
    match value {
        Value::Map(mut map) => {
            if map.len() == 1
                && let Some(only) = map.remove(WHOLE)
            {
                map.insert(format!("_{WHOLE}"), only);
            }
            map.into_iter().collect()
        }
        other => Item::new().with(WHOLE, other),
    }
}

/// Converts attributes to a value.
pub(crate) fn gather(mut item: Item) -> Value {
    if item.len() == 1 {
        if let Some(whole) = item.remove(WHOLE) {
            return whole;
        }
        if let Some(only) = item.remove(&format!("_{WHOLE}")) {
            item.set(WHOLE, only);
        }
    }
    Value::Map(item.into_iter().map(|(name, value)| (name.into(), value)).collect::<Map>())
}

/// Escapes attributes whose names collide with key columns or internal ones.
pub(crate) fn escape(item: Item, is_key: impl Fn(&str) -> bool) -> Item {
    item.into_iter()
        .map(|(name, value)| {
            let taken = name.starts_with('_') || is_key(&name);
            (if taken { format!("_{name}").into() } else { name }, value)
        })
        .collect()
}

/// Removes the key columns of an item and unescapes the other names. Returns the second of expiry,
/// if there is one.
pub(crate) fn unescape(item: Item, is_key: impl Fn(&str) -> bool) -> (Item, Option<u64>) {
    let mut expires_at = None;
    let mut own = Item::new();
    for (name, value) in item {
        match name.strip_prefix('_') {
            _ if is_key(&name) => {}
            None => {
                own.set(name, value);
            }
            Some(_) if name == EXPIRES => {
                if let Value::Int(second) = value {
                    expires_at = u64::try_from(second).ok();
                }
            }
            Some(name) => {
                own.set(name, value);
            }
        }
    }
    (own, expires_at)
}
