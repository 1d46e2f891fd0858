//! The engine's tests: every case runs on every driver.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test stops at the first surprise")]

mod drivers;
mod faults;
mod indexes;
mod items;
mod transactions;
mod upkeep;
mod watched;
