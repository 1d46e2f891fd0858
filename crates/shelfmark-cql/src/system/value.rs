//! Serialised values.

use std::net::IpAddr;

use bytes::Bytes;
use shelfmark_cql_types::put_collection;

pub(super) fn text(value: &str) -> Bytes {
    Bytes::copy_from_slice(value.as_bytes())
}

pub(super) fn bytes(value: &[u8]) -> Bytes {
    Bytes::copy_from_slice(value)
}

pub(super) fn int(value: i32) -> Bytes {
    bytes(&value.to_be_bytes())
}

pub(super) fn bigint(value: i64) -> Bytes {
    bytes(&value.to_be_bytes())
}

pub(super) fn double(value: f64) -> Bytes {
    bytes(&value.to_be_bytes())
}

pub(super) fn boolean(value: bool) -> Bytes {
    bytes(&[u8::from(value)])
}

pub(super) fn inet(value: IpAddr) -> Bytes {
    match value {
        IpAddr::V4(address) => bytes(&address.octets()),
        IpAddr::V6(address) => bytes(&address.octets()),
    }
}

/// Prepares a list, or a set whose elements come in order.
pub(super) fn texts<S: AsRef<str>>(values: &[S]) -> Bytes {
    put_collection(values.len(), values.iter().map(|value| value.as_ref().as_bytes())).into()
}

/// Returns a list of booleans.
pub(super) fn booleans(values: impl Iterator<Item = bool>) -> Bytes {
    let values: Vec<[u8; 1]> = values.map(|value| [u8::from(value)]).collect();
    put_collection(values.len(), values.iter().map(<[u8; 1]>::as_slice)).into()
}

/// Returns a map of text, put in the order of its keys.
pub(super) fn text_map(entries: &[(String, String)]) -> Bytes {
    let entries: Vec<(&str, &[u8])> =
        entries.iter().map(|(key, value)| (key.as_str(), value.as_bytes())).collect();
    blob_map(&entries)
}

/// Returns a map from text, put in the order of its keys.
pub(super) fn blob_map<V: AsRef<[u8]>>(entries: &[(&str, V)]) -> Bytes {
    let mut sorted: Vec<(&str, &[u8])> =
        entries.iter().map(|(key, value)| (*key, value.as_ref())).collect();
    sorted.sort_unstable();
    let parts = sorted.iter().flat_map(|(key, value)| [key.as_bytes(), *value]);
    put_collection(sorted.len(), parts).into()
}

/// The cells of a row by their columns' names; those that are missing are null.
pub(super) type Cells = Vec<(&'static str, Bytes)>;
