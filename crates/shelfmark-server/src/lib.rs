//! Sockets, HTTP, limits and shutdown around the faces.
//!
//! What it is not: it knows no row bytes and no operation of any face; bytes go in, bytes come out.
//!
//! Invariant: whatever one connection sends, the others are served on. Malformed bytes end one
//! connection, never the server.

mod accept;
mod address;
mod coding;
mod cql;
mod dynamodb;
mod gzip;
mod heads;
pub mod limits;
mod pages;
mod places;
mod pool;
mod room;
mod serve;
mod spool;
mod stalled;
mod tls;
mod troubles;

pub use address::{AddressError, Guard, check_exposed};
pub use pages::Pages;
pub use pool::{Pool, PoolSize};
pub use serve::{Addresses, CqlSettings, Error, Faces, Server, Settings, check_free};
pub use spool::SpoolFolder;
pub use tls::{Tls, TlsError};
