//! Holds every text that a client can read, by situation.
//!
//! Applications match on these texts, so each is worded as the service words it, oddities included.
//! In the middle of 2026 the service's validation changed its wording in most regions: member names
//! are in PascalCase, values are no longer echoed, and more situations carry the prefix of
//! [`envelope`]. This table follows the newer wording; the part that applications match on is the
//! same in both. Where no text of the service is known, the text is ours and says so.
//!
//! Sources: the texts collected in the project's DynamoDB reference, and those that open-source
//! emulators assert against the service, read 2026-11.

mod auth;
mod backups;
mod batch;
mod expression;
mod item;
mod legacy;
mod page;
mod partiql;
mod request;
mod service;
mod streams;
mod table;
mod tools;
mod vectors;

pub(crate) use auth::*;
pub(crate) use backups::*;
pub(crate) use batch::*;
pub(crate) use expression::*;
pub(crate) use item::*;
pub(crate) use legacy::*;
pub(crate) use page::*;
pub(crate) use partiql::*;
pub(crate) use request::*;
pub(crate) use service::*;
pub(crate) use streams::*;
pub(crate) use table::*;
pub(crate) use tools::*;
pub(crate) use vectors::*;
