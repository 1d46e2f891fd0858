//! The operating system's random numbers.

use shelfmark_engine::Random;

/// Random bytes from the operating system.
pub(crate) struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            // No randomness means no uniqueness of ids: going on would be worse than stopping.
            panic!("the operating system gives no random bytes");
        }
    }
}
