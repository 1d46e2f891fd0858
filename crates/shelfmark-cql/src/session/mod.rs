//! What one connection may say next, and what it is answered.
//!
//! What it is not: it knows neither sockets nor statements. Bytes come in through
//! [`Connection::feed`] and go out through [`Connection::take_output`]; statements are the
//! executor's.
//!
//! Invariant: every request is answered once on its stream, in whatever order the answers become
//! ready; a connection that broke the protocol is told why and reads nothing more.

mod clients;
mod connection;
mod events;
mod face;
mod login;
mod outbox;
mod paging;
mod prepared;
mod reply;
mod tracing;

pub(crate) use clients::{Client, Clients};
pub(crate) use connection::{CQL_VERSION, without_password};
pub use connection::{Connection, Progress};
pub use face::{Face, FaceOptions};
pub(crate) use prepared::{Listed as ListedStatement, Statements};
pub use shelfmark_engine::weight::Inline;
pub(crate) use tracing::{Trace, Traces, time_uuid};

#[cfg(test)]
mod tests;
