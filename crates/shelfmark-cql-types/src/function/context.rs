//! The time and the randomness that functions ask for.

/// Supplies the time and the random bytes of `now()`, `uuid()` and their relatives.
pub trait FunctionContext {
    /// Returns the time in microseconds since the Unix epoch.
    fn now_micros(&self) -> u64;

    /// Fills `bytes` with random ones.
    fn fill_random(&self, bytes: &mut [u8]);
}
