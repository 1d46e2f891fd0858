//! Sockets, HTTP, limits and shutdown around the faces.
//!
//! What it is not: it knows no row bytes and no operation of any face; bytes go in, bytes come out.
//!
//! Invariant: whatever one connection sends, the others are served on. Malformed bytes end one
//! connection, never the server.

mod address;
mod dynamodb;
mod gzip;
pub mod limits;
mod serve;

pub use address::{AddressError, check_exposed};
pub use serve::{Addresses, Error, Server, Settings};
