//! The environment of the engine: time and randomness, which it takes from outside.
//!
//! Nothing in the engine reads a clock or a random generator of its own, so a test replays from a
//! seed.

use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use shelfmark_store::clock::Clock;
use shelfmark_store::random::SplitMix;

/// A source of random bytes.
pub trait Random: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);

    /// Returns a random number.
    fn number(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_be_bytes(bytes)
    }
}

/// Random bytes that follow from a seed. For tests, replays, and the tour's data; no secret.
pub struct SeededRandom {
    stream: Mutex<SplitMix>,
}

impl SeededRandom {
    /// Creates the generator.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { stream: Mutex::new(SplitMix::new(seed)) }
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            for (byte, random) in chunk.iter_mut().zip(stream.next_u64().to_be_bytes()) {
                *byte = random;
            }
        }
    }
}

/// Time and randomness, handed to `Engine::open`.
#[derive(Clone)]
pub struct Environment {
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// The source of random numbers.
    pub random: Arc<dyn Random>,
}
