//! Tables in a store: the catalogue, rows of items and of cells, indexes and views, and commits.
//!
//! One mechanism for all faces, in calls that each keep the rules of tables: a write is planned under
//! the gate of its table and with its form, what follows from a row changes in the row's commit, and
//! a read answers from one moment. What it is not: the engine. What is built from these calls
//! (backups, change streams, upkeep, verification, mending) and what faces may call is
//! `shelfmark-engine`'s, and no face uses this crate.
//!
//! Invariant: no rule of tables itself rests on a range read. Every uniqueness is a validated key,
//! every exclusion too, whatever the driver.

pub mod catalogue;
pub mod cells;
pub mod commit;
mod environment;
mod error;
pub mod items;
mod reads;
mod report;
pub mod rows;
pub mod shards;
pub mod shared;
pub mod streams;
mod tables;

pub use environment::{Environment, Random, SeededRandom};
pub use error::{Error, ErrorKind, Failure, Refusal, Result};
pub use report::{AccessReport, AccessStep, Observer};
pub use tables::Tables;
