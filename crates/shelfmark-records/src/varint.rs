//! Encodes varints without order, for records, and reads records with a check of bounds.
//!
//! Integers are little groups of 7 bits, low group first, high bit set while more follow. They have
//! no order; keys use `shelfmark-keycode`.

use crate::error::{Error, Result};

/// Appends `n` in 1 to 10 bytes.
pub fn put_varint(out: &mut Vec<u8>, mut n: u64) {
    loop {
        let [.., low] = n.to_be_bytes();
        n >>= 7;
        if n == 0 {
            out.push(low & 0x7F);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Maps signed to unsigned so that small magnitudes stay short.
#[inline]
pub(crate) fn zigzag(n: i64) -> u64 {
    ((n << 1) ^ (n >> 63)).cast_unsigned()
}

/// Reverses [`zigzag`].
#[inline]
pub(crate) fn unzigzag(n: u64) -> i64 {
    (n >> 1).cast_signed() ^ -((n & 1).cast_signed())
}

/// Reads from the front of a slice.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Creates a reader of these bytes.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns what was not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns true if all was read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes one byte off.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn byte(&mut self) -> Result<u8> {
        let (first, rest) = self.rest.split_first().ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(*first)
    }

    /// Takes `len` bytes off.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Takes a varint off.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn varint(&mut self) -> Result<u64> {
        match self.rest.split_first() {
            Some((first, rest)) if *first < 0x80 => {
                self.rest = rest;
                Ok(u64::from(*first))
            }
            _ => self.long_varint(),
        }
    }

    /// Reads a varint of several bytes; timestamps have eight, and every cell has one.
    #[inline]
    fn long_varint(&mut self) -> Result<u64> {
        if let Some((n, length)) = self.rest.first_chunk().and_then(|word| word_varint(*word)) {
            self.rest = self.rest.get(length..).unwrap_or_default();
            return Ok(n);
        }
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(Error::corrupt("a length in a record does not end"))
    }

    /// Reads a length and checks it against what is left, so that it can be allocated.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn len(&mut self) -> Result<usize> {
        let len = usize::try_from(self.varint()?).map_err(|_| cut_short())?;
        if len > self.rest.len() { Err(cut_short()) } else { Ok(len) }
    }

    /// Reads a length and that many bytes.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn prefixed(&mut self) -> Result<&'a [u8]> {
        let len = self.len()?;
        self.bytes(len)
    }

    /// Reads a length and that much UTF-8.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn text(&mut self) -> Result<&'a str> {
        utf8(self.prefixed()?)
    }
}

/// Reads a varint that ends within a word, and tells its length in bytes.
fn word_varint(word: [u8; 8]) -> Option<(u64, usize)> {
    const MORE: u64 = 0x8080_8080_8080_8080;
    // The group that comes first is the lowest.
    let word = u64::from_be_bytes(word).swap_bytes();
    let ends = !word & MORE;
    if ends == 0 {
        return None;
    }
    // Up to the first byte without the tombstone, and without the tombstones of those before it.
    let kept = word & (ends ^ (ends - 1)) & !MORE;
    // Groups of 7 bits are joined in pairs, then these, then these.
    let n = (kept & 0x007F_007F_007F_007F) | ((kept & 0x7F00_7F00_7F00_7F00) >> 1);
    let n = (n & 0x0000_3FFF_0000_3FFF) | ((n & 0x3FFF_0000_3FFF_0000) >> 2);
    let n = (n & 0x0000_0000_0FFF_FFFF) | ((n & 0x0FFF_FFFF_0000_0000) >> 4);
    Some((n, usize::try_from(ends.trailing_zeros() / 8 + 1).unwrap_or(8)))
}

pub(crate) fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Error::corrupt("a text in a record is not UTF-8"))
}

fn cut_short() -> Error {
    Error::corrupt("a record is cut short")
}
