//! ULIDs: 48 bits of Unix milliseconds and 80 random bits, as 16 bytes or 26 characters.
//!
//! The text is Crockford's base 32 (digits and letters without I, L, O and U), written in upper
//! case and read in either; it sorts as the bytes do.
//!
//! What it is not: it reads no clock and draws no random bits; both are handed in.
//!
//! Invariant: each ULID of one [`UlidGenerator`] is greater than all before it, also within one
//! millisecond and when the clock steps back.
//!
//! Source: the ULID specification, ulid/spec `d0c7170`, read 2026-11 (facts only).

use std::fmt;
use std::str::FromStr;

use crate::error::{KeyError, KeyErrorKind, Result};

/// The length of the text form, in bytes and characters.
pub const ULID_TEXT_BYTES: usize = 26;

/// The largest time, in milliseconds: year 10889.
const TIME_MAX: u64 = (1 << 48) - 1;
/// Bits of the random part.
const RANDOM_BITS: u32 = 80;
const ALPHABET: [u8; 32] = *b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// A ULID. Its order is that of its bytes and of its text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid(u128);

impl Ulid {
    /// Creates a ULID of a time in Unix milliseconds and 80 random bits.
    ///
    /// # Errors
    ///
    /// * [`KeyErrorKind::OutOfRange`]: the time needs more than 48 bits. Fix the clock or its unit
    ///   (microseconds do not fit).
    pub fn new(time_ms: u64, random: [u8; 10]) -> Result<Self> {
        if time_ms > TIME_MAX {
            let message = "the time of a ULID has at most 48 bits of milliseconds";
            return Err(KeyError::new(KeyErrorKind::OutOfRange, message));
        }
        let low = random.iter().fold(0_u128, |sum, byte| sum << 8 | u128::from(*byte));
        Ok(Self(u128::from(time_ms) << RANDOM_BITS | low))
    }

    /// Returns the time in Unix milliseconds.
    #[must_use]
    pub fn timestamp_ms(self) -> u64 {
        u64::try_from(self.0 >> RANDOM_BITS).unwrap_or(TIME_MAX)
    }

    /// Returns the sixteen bytes, in order.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Creates a ULID of sixteen bytes; every sixteen bytes are one.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

impl fmt::Display for Ulid {
    /// Writes the 26 characters in upper case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [b'0'; ULID_TEXT_BYTES];
        let mut rest = self.0;
        for place in text.iter_mut().rev() {
            let digit = usize::try_from(rest & 31).unwrap_or(0);
            *place = ALPHABET.get(digit).copied().unwrap_or(b'0');
            rest >>= 5;
        }
        f.pad(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ulid({self})")
    }
}

impl FromStr for Ulid {
    type Err = KeyError;

    /// Parses 26 characters, in upper or lower case.
    ///
    /// # Errors
    ///
    /// * [`KeyErrorKind::Truncated`], [`KeyErrorKind::TooLong`]: not 26 characters. Refuse the text.
    /// * [`KeyErrorKind::NonCanonical`]: a character outside the alphabet (I, L, O and U are).
    /// * [`KeyErrorKind::OutOfRange`]: above `7ZZZZZZZZZZZZZZZZZZZZZZZZZ`. Refuse the text.
    fn from_str(text: &str) -> Result<Self> {
        let mut value = 0_u128;
        for (at, character) in text.bytes().enumerate() {
            if at == ULID_TEXT_BYTES {
                let message = "a ULID has 26 characters";
                return Err(KeyError::at(KeyErrorKind::TooLong, at, message));
            }
            let upper = character.to_ascii_uppercase();
            let Some(digit) = ALPHABET.iter().position(|letter| *letter == upper) else {
                let message = "a character is not of Crockford's base 32";
                return Err(KeyError::at(KeyErrorKind::NonCanonical, at, message));
            };
            if at == 0 && digit > 7 {
                let message = "a ULID is at most 7ZZZZZZZZZZZZZZZZZZZZZZZZZ";
                return Err(KeyError::at(KeyErrorKind::OutOfRange, at, message));
            }
            value = value << 5 | digit as u128;
        }
        if text.len() < ULID_TEXT_BYTES {
            let message = "a ULID has 26 characters";
            return Err(KeyError::at(KeyErrorKind::Truncated, text.len(), message));
        }
        Ok(Self(value))
    }
}

/// The behaviour of a [`UlidGenerator`] when the random part of one millisecond is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Overflow {
    /// Returns an error until the clock has moved on, as the specification says.
    #[default]
    Refuse,
    /// Continues with the next millisecond, ahead of the clock.
    CarryIntoTime,
}

/// Generates ULIDs that strictly ascend.
///
/// # Examples
///
/// ```
/// use shelfmark_keycode::{Overflow, UlidGenerator};
///
/// let mut generator = UlidGenerator::new(Overflow::Refuse);
/// let mut random = |bytes: &mut [u8]| bytes.fill(0x5A); // The caller's source of random bytes.
/// let first = generator.next(1_700_000_000_000, &mut random)?;
/// let second = generator.next(1_699_999_999_999, &mut random)?; // The clock stepped back.
/// assert!(second > first);
/// assert_eq!(second.timestamp_ms(), 1_700_000_000_000);
/// # Ok::<(), shelfmark_keycode::KeyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct UlidGenerator {
    last: Option<Ulid>,
    overflow: Overflow,
}

impl UlidGenerator {
    /// Creates a generator without a last ULID.
    #[must_use]
    pub const fn new(overflow: Overflow) -> Self {
        Self { last: None, overflow }
    }

    /// Creates a generator that continues after `last`, for example the greatest key stored.
    #[must_use]
    pub const fn after(last: Ulid, overflow: Overflow) -> Self {
        Self { last: Some(last), overflow }
    }

    /// Generates the next ULID, greater than all before.
    ///
    /// `random` fills the bytes it is handed; it is called once for each millisecond that the clock
    /// has not reached before, and not otherwise: then the previous ULID is counted up by one.
    ///
    /// # Errors
    ///
    /// * [`KeyErrorKind::OutOfRange`]: `now_ms` needs more than 48 bits (fix the clock), or the
    ///   random part of the last millisecond is used up (try again in the next, or choose
    ///   [`Overflow::CarryIntoTime`]). The generator is as before.
    pub fn next(&mut self, now_ms: u64, random: &mut dyn FnMut(&mut [u8])) -> Result<Ulid> {
        let next = match self.last {
            Some(last) if now_ms <= last.timestamp_ms() => self.count_up(last)?,
            _ => {
                let mut bytes = [0; 10];
                // Before anything is drawn: a refused time must not move the source.
                Ulid::new(now_ms, bytes)?;
                random(&mut bytes);
                Ulid::new(now_ms, bytes)?
            }
        };
        self.last = Some(next);
        Ok(next)
    }

    fn count_up(&self, last: Ulid) -> Result<Ulid> {
        let refused = |message| Err(KeyError::new(KeyErrorKind::OutOfRange, message));
        let Some(next) = last.0.checked_add(1).map(Ulid) else {
            return refused("the largest ULID has been given out");
        };
        if self.overflow == Overflow::Refuse && next.timestamp_ms() != last.timestamp_ms() {
            return refused("the random part of this millisecond is used up");
        }
        Ok(next)
    }
}
