//! The engine's tests: every case runs on every driver.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test stops at the first surprise")]

mod drivers;
mod indexes;
mod items;
mod transactions;
mod upkeep;
