//! Moves stores between drivers: what arrives, what goes on after an end in the middle, what is refused.

#![expect(clippy::unwrap_used, reason = "tests")]

mod arrives;
mod goes_on;
mod places;
mod refused;
mod translated;
