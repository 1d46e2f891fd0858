//! Transactions: one call with several writes, and interactive ones with a body.
//!
//! Serializable, with the ranges that they read: every item and every range that was read is
//! validated at commit. Where the store cannot validate ranges, transactions that read them exclude
//! each other by guard keys.

mod batch;
mod guards;
mod interactive;
mod writer;

pub(crate) use batch::{ATTEMPTS_MAX, Due, lock_gates};
pub use batch::{Completion, Once, Token};
pub use interactive::Transaction;
pub(crate) use writer::Writer;
