//! Sessions: the state of one connection, and the answers to its requests.
//!
//! What it is not: it knows neither sockets nor statements. Bytes come in through
//! [`Connection::feed`] and go out through [`Connection::take_output`]; statements are the
//! executor's.
//!
//! Invariant: every request is answered once on its stream, in whatever order the answers become
//! ready; a connection that broke the protocol is told why and reads nothing more.

mod asking;
mod clients;
mod connection;
mod events;
mod face;
mod login;
mod options;
mod paging_state;
mod phase;
mod prepared;
mod reply;
mod running;
mod send_queue;
mod tracing;

pub(crate) use clients::{Client, Clients};
pub(crate) use connection::without_password;
pub use connection::{Connection, Progress};
pub use face::Face;
pub use options::FaceOptions;
pub(crate) use prepared::{Listed as ListedStatement, PreparedStatements};
pub use shelfmark_engine::weight::Inline;
pub(crate) use tracing::{Trace, TraceStore, time_uuid};

#[cfg(test)]
mod tests;
