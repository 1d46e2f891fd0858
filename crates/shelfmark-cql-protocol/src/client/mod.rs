//! The client's end of a connection: questions out, answers in.
//!
//! * [`Caller`] makes the bytes of a handshake, a login and statements, and reads what comes back.
//!
//! What it is not: a driver. It has no socket and no thread, asks one thing at a time, prepares
//! nothing and binds nothing; the shells need no more.
//!
//! Invariant: no bytes of a server, however hostile, end the process; what cannot be read ends the
//! connection with a [`Garbled`].

mod said;
mod talk;
#[cfg(test)]
mod tests;

pub use said::{Page, Refusal, Result, Said};
pub use talk::{Caller, Garbled, Question, Speech};
