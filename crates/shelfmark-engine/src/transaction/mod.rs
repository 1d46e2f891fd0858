//! Transactions: one call with several writes, and interactive ones with a body.
//!
//! Serializable on items: every item read is validated at commit. Range reads are a snapshot
//! (phantoms are possible), so an invariant must rest on items: put a row that every writer of the
//! range writes.

mod batch;
mod interactive;

pub(crate) use batch::{ATTEMPTS_MAX, Due, lock_gates};
pub use batch::{Completion, Once, Token};
pub use interactive::Transaction;
