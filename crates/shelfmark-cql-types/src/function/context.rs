//! The time and the randomness that functions ask for, and what those of users may take.

use shelfmark_cql_protocol::CqlError;

/// Supplies the time and the random bytes of `now()`, `uuid()` and their relatives, and accounts for
/// what users' functions take.
pub trait FunctionContext {
    /// Returns the time in microseconds since the Unix epoch.
    fn now_micros(&self) -> u64;

    /// Fills `bytes` with random ones.
    fn fill_random(&self, bytes: &mut [u8]);

    /// Returns the steps that users' functions may still take.
    ///
    /// # Errors
    ///
    /// * `Invalid`: there are none, for such functions are switched off.
    fn steps_left(&self) -> Result<u64, CqlError> {
        Ok(u64::MAX)
    }

    /// Accounts for a call that has ended: its steps, and the bytes of its result. Long values that
    /// native functions and constants put together are accounted for, too, with no steps.
    ///
    /// # Errors
    ///
    /// * `Overloaded`: the memory budget has no room for the result.
    fn took(&self, _steps: u64, _result_bytes: usize) -> Result<(), CqlError> {
        Ok(())
    }

    /// Reserves memory for a call that runs, so many bytes in all. Returns false if there is no room.
    fn has_room(&self, _bytes: usize) -> bool {
        true
    }
}
