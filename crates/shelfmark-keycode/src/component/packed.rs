//! Encodes long texts in fewer bytes, in the same order, so that a key of 65,535 bytes finds room.
//!
//! Up to 1,024 bytes are what [`put_bytes`] writes. Of a longer value the first 1,024 are, escapes
//! included; then come `00 03` and the rest as bits: each byte, and the end, has a code of its own,
//! and no code begins with another. Codes are in the order of the bytes, the end before all of them,
//! so bits compare as values do. Zero bits fill the last byte.
//!
//! Lengths of the codes follow UTF-8: 7 bits for a printable ASCII character; 8 for the first byte of
//! a longer one, then 7 for each byte that goes on. ASCII shrinks to seven eighths. Bytes that are no
//! text may grow.
//!
//! Invariant: of values longer than 1,024 bytes either all are packed or none, else the order is lost.

use std::borrow::Cow;

use super::cursor::truncated;
use super::escape::{find_pack, put_bytes, put_bytes_prefix, take_bytes, unescape};
use crate::direction::Direction;
use crate::error::{KeyError, KeyErrorKind, Result};

/// Bytes of a value that are never packed.
pub const PACKED_FROM_BYTES: usize = 1_024;
/// Most bits of a code.
const CODE_BITS_MAX: u32 = 12;

/// Appends bytes in unsigned lexicographic order, what stands behind the first 1,024 in fewer bits.
pub fn put_packed_bytes(out: &mut Vec<u8>, direction: Direction, value: &[u8]) {
    let Some((head, tail)) =
        value.split_at_checked(PACKED_FROM_BYTES).filter(|(_, t)| !t.is_empty())
    else {
        return put_bytes(out, direction, value);
    };
    put_bytes_prefix(out, direction, head);
    let start = out.len();
    out.extend_from_slice(&[0x00, PACKS]);
    pack(out, tail);
    let mask = direction.mask();
    for byte in out.get_mut(start..).unwrap_or_default() {
        *byte ^= mask;
    }
}

/// Appends bytes as [`put_packed_bytes`] does where that is shorter, and else as [`put_bytes`] does.
///
/// For values whose order among those that share 1,024 bytes means nothing.
pub fn put_shorter_bytes(out: &mut Vec<u8>, direction: Direction, value: &[u8]) {
    let start = out.len();
    put_packed_bytes(out, direction, value);
    if value.len() > PACKED_FROM_BYTES {
        let zeros = value.iter().filter(|byte| **byte == 0).count();
        if out.len() - start >= value.len() + zeros + 2 {
            out.truncate(start);
            put_bytes(out, direction, value);
        }
    }
}

/// Decodes the output of [`put_packed_bytes`], [`put_shorter_bytes`] and [`put_bytes`].
///
/// Borrows from the key where [`take_bytes`] does.
///
/// # Errors
///
/// As [`take_bytes`].
pub fn take_packed_bytes<'a>(input: &mut &'a [u8], direction: Direction) -> Result<Cow<'a, [u8]>> {
    // Nearly all are not packed, so those are tried first.
    let refused = match take_bytes(input, direction) {
        Err(refused) if refused.kind() == KeyErrorKind::NonCanonical => refused,
        taken => return taken,
    };
    let (body, zeros) = find_pack(input, direction).ok_or(refused)?;
    let mut value = Vec::with_capacity(body - zeros);
    let (head, rest) = input.split_at_checked(body).ok_or_else(|| truncated(input.len()))?;
    unescape(head, direction, &mut value);
    if value.len() != PACKED_FROM_BYTES {
        let message = "a packed component begins at another place";
        return Err(KeyError::at(KeyErrorKind::NonCanonical, body, message));
    }
    let packed = rest.get(2..).unwrap_or_default();
    let length = unpack(packed, direction.mask(), &mut value).map_err(|own| own.moved(body + 2))?;
    *input = packed.get(length..).unwrap_or_default();
    Ok(Cow::Owned(value))
}

/// The byte after a zero behind which the rest of a value is packed.
pub(super) const PACKS: u8 = 0x03;

/// The kind of bytes that is likely: those that go on with a character of several bytes, or others.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Expected(u8);

impl Expected {
    /// Returns what is likely behind a byte.
    fn after(self, byte: u8) -> Self {
        Self(match byte {
            0x80..=0xBF => self.0.saturating_sub(1),
            0xC0..=0xDF => 1,
            0xE0..=0xEF => 2,
            0xF0..=0xFF => 3,
            _ => 0,
        })
    }

    /// Returns the code of a byte, or of the end, and how many bits it has.
    fn code(self, byte: Option<u8>) -> (u16, u32) {
        let Some(byte) = byte else { return (0, if self.0 == 0 { 11 } else { 10 }) };
        let own = u16::from(byte);
        match (self.0 == 0, byte) {
            (true, 0x00..=0x1F) => (own + 1, 11),
            (true, 0x20..=0x7F) => (own - 0x20 + 4, 7),
            (true, 0x80..=0xBF) => (own - 0x80 + 3_200, 12),
            (true, 0xC0..=0xEF) => (own - 0xC0 + 204, 8),
            (true, 0xF0..=0xFF) => (own - 0xF0 + 1_008, 10),
            (false, 0x00..=0x7F) => (own + 1, 10),
            (false, 0x80..=0xBF) => (own - 0x80 + 32, 7),
            (false, 0xC0..=0xFF) => (own - 0xC0 + 192, 8),
        }
    }

    /// Reads the code that 12 bits begin with: the byte, `None` for the end, and how many bits it has.
    fn read(self, bits: u16) -> Result<(Option<u8>, u32)> {
        let (number, length) = match (self.0 == 0, bits) {
            (true, ..128) => ((bits >> 1).checked_sub(1).filter(|own| *own < 0x20), 11),
            (true, 128..3_200) => (Some((bits >> 5) - 4 + 0x20), 7),
            (true, 3_200..3_264) => (Some(bits - 3_200 + 0x80), 12),
            (true, 3_264..4_032) => (Some((bits >> 4) - 204 + 0xC0), 8),
            (true, 4_032..) => (Some((bits >> 2) - 1_008 + 0xF0), 10),
            (false, ..1_024) => ((bits >> 2).checked_sub(1).filter(|own| *own < 0x80), 10),
            (false, 1_024..3_072) => (Some((bits >> 5) - 32 + 0x80), 7),
            (false, 3_072..) => (Some((bits >> 4) - 192 + 0xC0), 8),
        };
        let is_end = bits >> (CODE_BITS_MAX - length) == 0;
        match number.and_then(|own| u8::try_from(own).ok()) {
            Some(byte) => Ok((Some(byte), length)),
            None if is_end => Ok((None, length)),
            None => {
                let message = "a packed component holds a code of no byte";
                Err(KeyError::at(KeyErrorKind::NonCanonical, 0, message))
            }
        }
    }
}

fn pack(out: &mut Vec<u8>, tail: &[u8]) {
    let (mut bits, mut held) = (0_u32, 0_u32);
    let mut expected = Expected(0);
    let symbols = tail.iter().map(|byte| Some(*byte)).chain([None]);
    for symbol in symbols {
        let (code, length) = expected.code(symbol);
        bits = bits << length | u32::from(code);
        held += length;
        while held >= 8 {
            held -= 8;
            out.extend_from_slice(&(bits >> held).to_be_bytes()[3..]);
            bits &= (1 << held) - 1;
        }
        if let Some(byte) = symbol {
            expected = expected.after(byte);
        }
    }
    if held > 0 {
        out.extend_from_slice(&(bits << (8 - held)).to_be_bytes()[3..]);
    }
}

/// Appends what was packed, and returns how many bytes it took.
fn unpack(packed: &[u8], mask: u8, value: &mut Vec<u8>) -> Result<usize> {
    let (mut bits, mut held, mut read) = (0_u32, 0_u32, 0_usize);
    let mut expected = Expected(0);
    loop {
        while held < CODE_BITS_MAX {
            let Some(byte) = packed.get(read) else { break };
            bits = bits << 8 | u32::from(byte ^ mask);
            held += 8;
            read += 1;
        }
        let window = if held < CODE_BITS_MAX {
            bits << (CODE_BITS_MAX - held)
        } else {
            bits >> (held - CODE_BITS_MAX)
        };
        let (symbol, length) = expected.read(u16::try_from(window).unwrap_or(u16::MAX))?;
        if length > held {
            return Err(truncated(packed.len()));
        }
        held -= length;
        bits &= (1 << held) - 1;
        let Some(byte) = symbol else { break };
        value.push(byte);
        expected = expected.after(byte);
    }
    // What was read ahead is not of this component.
    let ahead = held / 8;
    if bits >> (ahead * 8) != 0 {
        let message = "a packed component does not end with zeros";
        return Err(KeyError::at(KeyErrorKind::NonCanonical, read, message));
    }
    Ok(read - usize::try_from(ahead).unwrap_or(0))
}
