//! Encodes UUIDs in three orders; the schema names which one.
//!
//! * `uuid`: the sixteen bytes, unsigned.
//! * `cql_uuid`: Cassandra's `uuid`: version, then time for version 1, then unsigned bytes.
//! * `cql_timeuuid`: Cassandra's `timeuuid`: time, then the low half byte by byte, each byte
//!   *signed* (an accident that became part of its format).
//!
//! In the high half of a UUID the time lies low part first: `LLLLLLLL MMMM vHHH`. Time order
//! needs it as `vHHH MMMM LLLLLLLL`.
//!
//! What it is not: `cql_timeuuid` does not check for version 1 (Cassandra refuses others); the
//! version leads the time, so other versions have a place in the order, and the CQL face refuses
//! them.
//!
//! Invariant: each order is a permutation of the bits of the 128, so every value has its bytes and
//! every sixteen bytes are a value.
//!
//! Source: Apache Cassandra, `UUIDType` and `AbstractTimeUUIDType`, read 2026-11.

use super::fixed::{put_u128, take_u128};
use crate::direction::Direction;
use crate::error::Result;

/// The version that carries a time in Cassandra's sense.
const TIME_VERSION: u64 = 1;
/// Flips the sign bit of each of eight bytes.
const BYTE_SIGNS: u64 = 0x8080_8080_8080_8080;

/// Appends a UUID in the order of its unsigned bytes. Sixteen bytes.
#[inline]
pub fn put_uuid(out: &mut Vec<u8>, direction: Direction, value: [u8; 16]) {
    put_u128(out, direction, u128::from_be_bytes(value));
}

/// Decodes the output of [`put_uuid`].
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`](crate::KeyErrorKind::Truncated): fewer than sixteen bytes. Treat
///   the key as damaged.
#[inline]
pub fn take_uuid(input: &mut &[u8], direction: Direction) -> Result<[u8; 16]> {
    take_u128(input, direction).map(u128::to_be_bytes)
}

/// Appends a UUID in the order of CQL's `uuid`. Sixteen bytes.
pub fn put_cql_uuid(out: &mut Vec<u8>, direction: Direction, value: [u8; 16]) {
    let (high, low) = halves(value);
    let version = (high >> 12) & 0xF;
    let high = if version == TIME_VERSION {
        time_first(high)
    } else {
        // The version moves to the front; the twelve nibbles before it move behind it.
        version << 60 | (high >> 4 & 0x0FFF_FFFF_FFFF_F000) | (high & 0xFFF)
    };
    put_u128(out, direction, join(high, low));
}

/// Decodes the output of [`put_cql_uuid`].
///
/// # Errors
///
/// As [`take_uuid`].
pub fn take_cql_uuid(input: &mut &[u8], direction: Direction) -> Result<[u8; 16]> {
    let (high, low) = halves(take_u128(input, direction)?.to_be_bytes());
    let version = high >> 60;
    let high = if version == TIME_VERSION {
        time_last(high)
    } else {
        (high & 0x0FFF_FFFF_FFFF_F000) << 4 | version << 12 | (high & 0xFFF)
    };
    Ok(join(high, low).to_be_bytes())
}

/// Appends a UUID in the order of CQL's `timeuuid`. Sixteen bytes.
pub fn put_cql_timeuuid(out: &mut Vec<u8>, direction: Direction, value: [u8; 16]) {
    let (high, low) = halves(value);
    put_u128(out, direction, join(time_first(high), low ^ BYTE_SIGNS));
}

/// Decodes the output of [`put_cql_timeuuid`].
///
/// # Errors
///
/// As [`take_uuid`].
pub fn take_cql_timeuuid(input: &mut &[u8], direction: Direction) -> Result<[u8; 16]> {
    let (high, low) = halves(take_u128(input, direction)?.to_be_bytes());
    Ok(join(time_last(high), low ^ BYTE_SIGNS).to_be_bytes())
}

/// Reorders `LLLLLLLL MMMM vHHH` to `vHHH MMMM LLLLLLLL`.
const fn time_first(high: u64) -> u64 {
    high << 48 | (high << 16 & 0x0000_FFFF_0000_0000) | high >> 32
}

/// Reorders `vHHH MMMM LLLLLLLL` to `LLLLLLLL MMMM vHHH`.
const fn time_last(ordered: u64) -> u64 {
    ordered << 32 | (ordered >> 16 & 0xFFFF_0000) | ordered >> 48
}

fn halves(value: [u8; 16]) -> (u64, u64) {
    let [a, b, c, d, e, f, g, h, low @ ..] = value;
    (u64::from_be_bytes([a, b, c, d, e, f, g, h]), u64::from_be_bytes(low))
}

fn join(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}
