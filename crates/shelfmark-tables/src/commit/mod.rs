//! Makes writes into one commit of the store: planning, locks, the attempt loop, transactions.
//!
//! One mechanism for items and for rows of cells, in one call with several writes
//! (`Engine::write_any`) and in interactive transactions with a body
//! (`Engine::transact`). What it is not: what a write does to a row. That is its kind's.
//!
//! Serializable, with the ranges that were read: every row and every range that was read is
//! validated at commit. Where the store cannot validate ranges, transactions that read them exclude
//! each other by guard keys.

mod attempt;
mod calls;
mod guards;
mod interactive;
mod plan;
mod token;
mod told;
mod writer;

pub(crate) use attempt::Done;
pub use attempt::{lock_gates, lost};
pub use calls::{AnyWrite, AnyWrites, Completion};
pub use interactive::Transaction;
pub(crate) use plan::{Call, Operation};
pub use token::{Once, Token};
pub(crate) use told::Told;
pub(crate) use writer::Writer;
