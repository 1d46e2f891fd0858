//! The client's end of a connection: requests out, answers in.
//!
//! * [`ClientConnection`] makes the bytes of a handshake, a login and statements, and reads what
//!   comes back.
//!
//! What it is not: a driver. It has no socket and no thread, and asks one thing at a time.
//!
//! Invariant: no bytes of a server, however hostile, end the process; what cannot be read ends the
//! connection with a [`MalformedResponse`].

mod connection;
mod response;
#[cfg(test)]
mod tests;

pub use connection::{
    Batch, ClientConnection, Execute, MalformedResponse, ProtocolVersion, Query, Request,
};
pub use response::{Page, PreparedStatement, Response, Result, ServerError};
