//! Versions, and the value that lists them: 12 bytes each, oldest first.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

use super::TxnId;

/// Bytes of a version in a value: transaction and step, both big-endian.
const VERSION_BYTES: usize = 12;

/// The version that one write left at a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The transaction that wrote it.
    pub txn: TxnId,
    /// Its number among that transaction's writes of the key, from 0. Only the last one may be seen
    /// by others.
    pub step: u32,
}

impl Version {
    /// Returns the value that lists `versions`; not empty unless they are.
    #[must_use]
    pub fn list(versions: &[Self]) -> Bytes {
        let mut value = BytesMut::with_capacity(versions.len() * VERSION_BYTES);
        for version in versions {
            value.put_u64(version.txn);
            value.put_u32(version.step);
        }
        value.freeze()
    }

    /// Reads a value; `None` if it is no list of versions. An absent key is an empty list.
    #[must_use]
    pub fn read_list(value: Option<&Bytes>) -> Option<Vec<Self>> {
        let mut value = value.cloned().unwrap_or_default();
        if value.len() % VERSION_BYTES != 0 {
            return None;
        }
        let mut versions = Vec::with_capacity(value.len() / VERSION_BYTES);
        while value.has_remaining() {
            versions.push(Self { txn: value.get_u64(), step: value.get_u32() });
        }
        Some(versions)
    }
}
