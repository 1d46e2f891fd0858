//! Compares leading values of keys in table order, to distinguish an inverted range from an empty
//! one.
//!
//! Not the order that reads use: that is the engine's bytes, and both must agree.

use std::cmp::Ordering;
use std::net::IpAddr;

use num_bigint::BigInt;
use shelfmark_model::{Direction, SortColumn, Value};

/// Compares column by column, as far as both have values.
pub(crate) fn compare(columns: &[SortColumn], left: &[Value], right: &[Value]) -> Ordering {
    columns
        .iter()
        .zip(left.iter().zip(right))
        .map(|(column, (left, right))| match column.direction {
            Direction::Ascending => compare_values(left, right),
            Direction::Descending => compare_values(right, left),
        })
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn compare_values(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Int(a), Value::BigInt(b)) => BigInt::from(*a).cmp(b),
        (Value::BigInt(a), Value::Int(b)) => a.cmp(&BigInt::from(*b)),
        (Value::Inet(a), Value::Inet(b)) => octets(a).cmp(&octets(b)),
        // Null, the absent part, is the first kind.
        _ => left.total_cmp(right),
    }
}

fn octets(address: &IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}
