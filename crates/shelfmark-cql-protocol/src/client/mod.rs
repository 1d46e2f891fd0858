//! The client's end of a connection: requests out, answers in.
//!
//! * [`ClientConnection`] makes the bytes of a handshake, a login and statements, and reads what
//!   comes back.
//!
//! What it is not: a driver. It has no socket and no thread, asks one thing at a time, prepares
//! nothing and binds nothing; the shells need no more.
//!
//! Invariant: no bytes of a server, however hostile, end the process; what cannot be read ends the
//! connection with a [`MalformedResponse`].

mod connection;
mod response;
#[cfg(test)]
mod tests;

pub use connection::{ClientConnection, MalformedResponse, ProtocolVersion, Query};
pub use response::{Page, Response, Result, ServerError};
