//! Random numbers from the operating system.

use std::sync::{Mutex, PoisonError};

use shelfmark_engine::Random;
use shelfmark_store::random::SplitMix;
use shelfmark_typed::{Error, ErrorKind, Result};

/// The operating system's random number generator.
pub(crate) struct SystemRandom {
    /// A generator seeded by the system, in case that the system fails later. No secret rests on
    /// them: they tell transactions and ULIDs apart.
    fallback: Mutex<SplitMix>,
}

impl SystemRandom {
    /// Draws a first number, so that a system without random numbers is noticed at once.
    pub(crate) fn new() -> Result<Self> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the system has no random numbers: {error}"))
        })?;
        Ok(Self { fallback: Mutex::new(SplitMix::new(u64::from_be_bytes(seed))) })
    }
}

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_ok() {
            return;
        }
        let mut stream = self.fallback.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            for (byte, random) in chunk.iter_mut().zip(stream.next_u64().to_be_bytes()) {
                *byte = random;
            }
        }
    }
}
