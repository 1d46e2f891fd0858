//! The values of the cluster's keys: those of the contract, and those of spread counters.
//!
//! A spread counter is told from every other value by the bytes that it begins with. A value of the
//! contract that begins with the same bytes is kept behind a mark.
//!
//! Invariant: what was encoded is decoded to the same value; a value without the mark is kept as it is.

use bytes::{BufMut as _, Bytes, BytesMut};
use shelfmark_store::{Error, ErrorKind, Result, add_at};

use crate::keys::Spread;

/// The bytes before every value that is not kept as it is. They end no text and begin no record.
const MARK: &[u8] = b"\xFF\x00\xFEshelfmark\xFE\x00\xFF";
/// Behind the mark: a value of the contract.
const PLAIN: u8 = 0;
/// Behind the mark: a spread counter.
const SPREAD: u8 = 1;

/// A value of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stored {
    /// A value of the contract.
    Plain(Bytes),
    /// A value with numbers, to which the sums of its slots are to be added.
    Spread(Spread, Bytes),
}

impl Stored {
    /// Decodes a value of the cluster.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Corrupt`]: it has the mark of a later version. Use that one.
    pub(crate) fn decode(value: Bytes) -> Result<Self> {
        let Some(rest) = value.strip_prefix(MARK) else { return Ok(Self::Plain(value)) };
        match rest.split_first() {
            Some((&PLAIN, _)) => Ok(Self::Plain(value.slice(MARK.len() + 1..))),
            Some((&SPREAD, rest)) => {
                let (spread, behind) = spread(rest).ok_or_else(unknown)?;
                Ok(Self::Spread(spread, value.slice_ref(behind)))
            }
            _ => Err(unknown()),
        }
    }

    /// Encodes a value whose numbers are spread.
    pub(crate) fn encode_spread(spread: Spread, numbers: &[u8]) -> Bytes {
        let mut value = BytesMut::with_capacity(MARK.len() + 13 + numbers.len());
        value.put_slice(MARK);
        value.put_u8(SPREAD);
        value.put_u64(spread.at);
        value.put_u32(spread.number);
        value.put_slice(numbers);
        value.freeze()
    }
}

/// Encodes a value of the contract.
pub(crate) fn encode_plain(value: Bytes) -> Bytes {
    if !value.starts_with(MARK) {
        return value;
    }
    let mut marked = BytesMut::with_capacity(MARK.len() + 1 + value.len());
    marked.put_slice(MARK);
    marked.put_u8(PLAIN);
    marked.put_slice(&value);
    marked.freeze()
}

/// The sums of a slot: what is to be added to the numbers of a value, by their places.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sums(Vec<(u32, i64)>);

/// Bytes of a place and of a sum.
const SUM_BYTES: usize = 12;

impl Sums {
    /// Decodes a slot; one that nobody wrote holds nothing.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Corrupt`]: it holds no sums.
    pub(crate) fn decode(slot: Option<&Bytes>) -> Result<Self> {
        let Some(slot) = slot else { return Ok(Self::default()) };
        let (sums, rest) = slot.as_chunks::<SUM_BYTES>();
        if !rest.is_empty() {
            return Err(damaged());
        }
        let sum = |bytes: &[u8; SUM_BYTES]| {
            let (at, sum) = bytes.split_first_chunk()?;
            Some((u32::from_be_bytes(*at), i64::from_be_bytes(sum.try_into().ok()?)))
        };
        sums.iter().map(sum).collect::<Option<_>>().map(Self).ok_or_else(damaged)
    }

    pub(crate) fn encode(&self) -> Bytes {
        let mut slot = BytesMut::with_capacity(self.0.len() * SUM_BYTES);
        for (at, sum) in &self.0 {
            slot.put_u32(*at);
            slot.put_i64(*sum);
        }
        slot.freeze()
    }

    /// Adds `delta` to the sum of the number at `at`.
    pub(crate) fn add(&mut self, at: u32, delta: i64) {
        match self.0.iter_mut().find(|(own, _)| *own == at) {
            Some((_, sum)) => *sum = sum.wrapping_add(delta),
            None => self.0.push((at, delta)),
        }
    }

    /// Adds all sums of `other`.
    pub(crate) fn extend(&mut self, other: &Self) {
        other.0.iter().for_each(|(at, sum)| self.add(*at, *sum));
    }

    /// Returns `value` with the sums added.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Corrupt`]: the value has no number at one of the places.
    pub(crate) fn added_to(&self, value: &[u8]) -> Result<Bytes> {
        let mut value = value.to_vec();
        for (at, sum) in &self.0 {
            add_at(&mut value, *at, *sum).ok_or_else(damaged)?;
        }
        Ok(value.into())
    }
}

fn spread(rest: &[u8]) -> Option<(Spread, &[u8])> {
    let (at, rest) = rest.split_first_chunk()?;
    let (number, behind) = rest.split_first_chunk()?;
    let spread = Spread { at: u64::from_be_bytes(*at), number: u32::from_be_bytes(*number) };
    Some((spread, behind))
}

fn damaged() -> Error {
    let message = "a slot of a counter does not fit its value; run `verify`";
    Error::new(ErrorKind::Corrupt, message)
}

fn unknown() -> Error {
    let message = "a value is kept in a form that this version does not know; use a later one";
    Error::new(ErrorKind::Corrupt, message)
}

#[cfg(test)]
mod tests {
    use shelfmark_store::Write;

    use super::*;

    #[test]
    fn values_come_back_whatever_they_begin_with() {
        let spread = Spread { at: 7, number: 1 };
        let marked = Stored::encode_spread(spread, b"12345678");
        let decoded = Stored::decode(marked.clone()).unwrap();
        assert_eq!(decoded, Stored::Spread(spread, Bytes::from_static(b"12345678")));
        for value in [Bytes::from_static(b"v"), Bytes::from_static(MARK), marked] {
            let stored = encode_plain(value.clone());
            assert_eq!(
                Stored::decode(encode_plain(stored.clone())).unwrap(),
                Stored::Plain(stored.clone())
            );
            assert_eq!(Stored::decode(stored).unwrap(), Stored::Plain(value));
        }
        assert_eq!(encode_plain(Bytes::from_static(b"v")), "v");
    }

    #[test]
    fn forms_of_later_versions_are_refused() {
        for rest in [&[][..], &[9], &[SPREAD], &[SPREAD, 1, 2, 3]] {
            let value = Bytes::from([MARK, rest].concat());
            assert_eq!(Stored::decode(value).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }
    #[test]
    fn sums_are_added_at_their_places_and_wrap() {
        let mut sums = Sums::default();
        for (at, delta) in [(9, 2), (0, i64::MAX), (9, -5), (0, 1)] {
            sums.add(at, delta);
        }
        let again = Sums::decode(Some(&sums.encode())).unwrap();
        assert_eq!(again, sums);
        sums.extend(&again);
        let value = [&Write::counter_value(7)[..], b"-", &5_i64.to_be_bytes()].concat();
        let added = sums.added_to(&value).unwrap();
        // Twice the least number is nothing.
        assert_eq!(added[..8], Write::counter_value(7));
        assert_eq!(added[9..], (-1_i64).to_be_bytes());
        assert_eq!(added[8], b'-');
        assert_eq!(sums.added_to(b"short").unwrap_err().kind(), ErrorKind::Corrupt);
        let damaged = Sums::decode(Some(&Bytes::from_static(b"no sum")));
        assert_eq!(damaged.unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(Sums::decode(None).unwrap(), Sums::default());
    }
}
