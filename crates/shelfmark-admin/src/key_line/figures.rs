//! Conversions between counts and what is reckoned with, which saturate.

/// Converts a count for arithmetic that need not be exact.
#[must_use]
pub fn float(count: u64) -> f64 {
    count as f64
}

/// Rounds what is not negative.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, and nothing here is negative"
)]
pub fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// Converts a length.
#[must_use]
pub fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
