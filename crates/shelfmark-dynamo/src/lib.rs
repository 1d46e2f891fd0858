//! The DynamoDB face: the bytes of a request in, the bytes of an answer out.
//!
//! It knows DynamoDB's operations, its JSON, its expressions, its limits and its words for errors.
//! What it is not: it has no socket, no HTTP, no async and no thread; a server reads requests and
//! sends answers. It holds no data logic: every rule about items, indexes and transactions is the
//! engine's.
//!
//! Invariant: no request, however hostile, ends the process. Every parser has a depth and a size
//! limit, and every fault is an answer in the service's own words.
//!
//! # Examples
//!
//! ```
//! use std::sync::Arc;
//!
//! use shelfmark_dynamo::{Face, FaceOptions, RequestHead};
//! use shelfmark_engine::{Engine, Environment, SeededRandom};
//! use shelfmark_store::clock::{Clock, SystemClock};
//! use shelfmark_store::memory::MemoryStore;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
//! let environment = Environment {
//!     clock: Arc::clone(&clock),
//!     random: Arc::new(SeededRandom::new(1)),
//! };
//! let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone())?;
//! let face = Face::new(engine, environment, FaceOptions::default());
//! let answer = face.call(&RequestHead::operation("ListTables"), b"{}");
//! assert_eq!((answer.status, &answer.body[..]), (200, &b"{\"TableNames\":[]}"[..]));
//! # Ok(())
//! # }
//! ```

#![warn(clippy::wildcard_enum_match_arm)]

mod asked;
pub mod auth;
mod capacity;
mod describe;
mod endpoint;
mod errors;
mod expression;
mod face;
mod json;
mod legacy;
pub mod limits;
mod operations;
mod options;
mod partiql;
mod reply;
mod scope;
mod shape;
mod sizes;
mod streams;
mod table;
mod transfers;
mod watch;

pub use asked::{AskedBound, AskedKey, asked_changes, asked_keys};
pub use endpoint::DynamoDbEndpoint;
pub use errors::Exception;
pub use face::{Face, RequestHead};
pub use json::AttributesJson;
pub use operations::OPERATIONS;
pub use options::{FaceOptions, RefusalListener};
pub use partiql::{AskedKind, AskedStatement, AskedValue, AskedValues, asked_statement};
pub use reply::{Answer, Reply};
pub use scope::{Scopes, credential_of};
pub use table::VectorIndexChecks;
pub use transfers::manifest as export_form;
pub use transfers::{BucketObject, Buckets, is_bucket_name, key_parts};
pub use watch::{CONDITION_FAILED, exception_of, table_of};
