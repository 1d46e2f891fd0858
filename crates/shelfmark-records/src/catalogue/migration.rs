//! The mark of a store that is being copied from another and is not whole yet.

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::varint::{Reader, put_varint};

/// The source of a store that is being copied, and how far the copy is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationMark {
    /// The folder or address of the source, as it was given.
    pub from: String,
    /// Keys from this one on are still to be copied; `None` once all are.
    pub next: Option<Bytes>,
}

impl MigrationMark {
    /// Returns its value.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut value = Vec::with_capacity(self.from.len() + 16);
        put_varint(&mut value, self.from.len() as u64);
        value.extend_from_slice(self.from.as_bytes());
        match &self.next {
            Some(next) => {
                value.push(1);
                value.extend_from_slice(next);
            }
            None => value.push(0),
        }
        value.into()
    }

    /// Decodes a mark.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    pub fn decode(value: &[u8]) -> Result<Self> {
        let damaged = || Error::corrupt("the mark of a migration is damaged");
        let mut reader = Reader::new(value);
        let from = reader.prefixed()?;
        let from = std::str::from_utf8(from).map_err(|_| damaged())?.to_owned();
        let next = match reader.rest().split_first() {
            Some((1, next)) => Some(Bytes::copy_from_slice(next)),
            Some((0, [])) => None,
            _ => return Err(damaged()),
        };
        Ok(Self { from, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_back_and_a_damaged_one_is_refused() {
        for next in [None, Some(Bytes::new()), Some(Bytes::from_static(b"\x02key"))] {
            let mark = MigrationMark { from: "tikv://127.0.0.1:2379".to_owned(), next };
            let value = mark.encode();
            assert_eq!(MigrationMark::decode(&value).ok(), Some(mark.clone()));
            assert!(MigrationMark::decode(&value[..mark.from.len()]).is_err());
        }
        assert!(MigrationMark::decode(b"").is_err());
        assert!(MigrationMark::decode(&[0, 2]).is_err());
        assert!(MigrationMark::decode(&[0, 0, 1]).is_err());
    }
}
