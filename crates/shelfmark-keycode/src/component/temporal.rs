//! Encodes dates, times of day and timestamps, in the units of CQL.
//!
//! What it is not: it knows no calendar and checks no range; a time beyond 24 hours has its place
//! in the order too.

use super::fixed::{put_i64, put_u32, take_i64, take_u32};
use crate::direction::Direction;
use crate::error::Result;

/// The day 1970-01-01 in CQL's `date`, whose days are unsigned.
const EPOCH_DAY: u32 = 1 << 31;

/// Appends a CQL `date`: days, with 2^31 standing for 1970-01-01. Four bytes.
#[inline]
pub fn put_date(out: &mut Vec<u8>, direction: Direction, days: u32) {
    put_u32(out, direction, days);
}

/// Decodes the output of [`put_date`].
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`](crate::KeyErrorKind::Truncated): fewer than four bytes. Treat the
///   key as damaged.
#[inline]
pub fn take_date(input: &mut &[u8], direction: Direction) -> Result<u32> {
    take_u32(input, direction)
}

/// Appends a date as days since 1970-01-01: the same bytes as [`put_date`] writes for that day.
#[inline]
pub fn put_date_days(out: &mut Vec<u8>, direction: Direction, days_since_epoch: i32) {
    put_u32(out, direction, days_since_epoch.cast_unsigned() ^ EPOCH_DAY);
}

/// Decodes a date as days since 1970-01-01.
///
/// # Errors
///
/// As [`take_date`].
#[inline]
pub fn take_date_days(input: &mut &[u8], direction: Direction) -> Result<i32> {
    take_u32(input, direction).map(|days| (days ^ EPOCH_DAY).cast_signed())
}

/// Appends a time of day in nanoseconds since midnight. Eight bytes.
#[inline]
pub fn put_time(out: &mut Vec<u8>, direction: Direction, nanoseconds: i64) {
    put_i64(out, direction, nanoseconds);
}

/// Decodes the output of [`put_time`].
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`](crate::KeyErrorKind::Truncated): fewer than eight bytes. Treat the
///   key as damaged.
#[inline]
pub fn take_time(input: &mut &[u8], direction: Direction) -> Result<i64> {
    take_i64(input, direction)
}

/// Appends a timestamp in milliseconds since 1970-01-01T00:00:00Z, as eight bytes.
#[inline]
pub fn put_timestamp(out: &mut Vec<u8>, direction: Direction, milliseconds: i64) {
    put_i64(out, direction, milliseconds);
}

/// Decodes the output of [`put_timestamp`].
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`](crate::KeyErrorKind::Truncated): fewer than eight bytes. Treat the
///   key as damaged.
#[inline]
pub fn take_timestamp(input: &mut &[u8], direction: Direction) -> Result<i64> {
    take_i64(input, direction)
}
