//! Reads a few bytes from the front of a slice.
//!
//! Invariant: the cursor moves only when the read succeeds.

use crate::error::{KeyError, KeyErrorKind, Result};

const ENDS_EARLY: &str = "the key ends inside a component";

/// Returns the error of a slice that ends `position` bytes behind the cursor.
pub(crate) const fn truncated(position: usize) -> KeyError {
    KeyError::at(KeyErrorKind::Truncated, position, ENDS_EARLY)
}

/// Reads `N` bytes.
#[inline]
pub(crate) fn take_array<const N: usize>(input: &mut &[u8]) -> Result<[u8; N]> {
    match input.split_first_chunk::<N>() {
        Some((head, rest)) => {
            *input = rest;
            Ok(*head)
        }
        None => Err(truncated(input.len())),
    }
}

/// Reads one byte.
#[inline]
pub(crate) fn take_byte(input: &mut &[u8]) -> Result<u8> {
    take_array::<1>(input).map(|[byte]| byte)
}
