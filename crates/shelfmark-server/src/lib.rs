//! Serves the faces over sockets: HTTP, TLS, limits and shutdown.
//!
//! What it is not: it knows no row bytes and no operation of any face; bytes go in, bytes come out.
//!
//! Invariant: whatever one connection sends, the others are served on. Malformed bytes end one
//! connection, never the server.

mod accept;
mod address;
mod buckets;
mod coding;
mod connection_slots;
mod console;
mod cql;
mod dynamodb;
mod gzip;
mod heads;
mod in_flight;
pub mod limits;
mod memory_wait;
mod opening;
mod pages;
mod pool;
mod serve;
mod spool;
mod stalled;
mod throttled_log;
mod tls;

pub use address::{AddressError, Guard, check_exposed};
pub use buckets::BucketFolder;
pub use console::{ConsoleSettings, cql_watcher};
pub use pages::Pages;
pub use pool::{Pool, PoolSize};
pub use serve::{Addresses, CqlSettings, Error, Faces, Server, Settings, check_free};
pub use spool::SpoolFolder;
pub use tls::{Tls, TlsError};
