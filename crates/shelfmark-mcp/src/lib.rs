//! Offers the modeller, and a store, as tools of the Model Context Protocol.
//!
//! A language model that writes a data model gets here what a careful colleague would tell it: which
//! defect its design has, on which state a pattern goes wrong, which keys would serve, which requests
//! to send. Rivals' servers advise by check lists; the answers here are proofs and witnesses.
//!
//! What it is not: it judges nothing itself (`shelfmark-design` does), and opens no store: whoever
//! starts it hands one over as [`Store`].
//!
//! Invariant: no tool changes a store unless [`Settings::allow_writes`] says so, and what one call
//! costs is bounded: texts, answers, and how many calls run at once.

mod arguments;
mod data;
mod model;
mod server;
mod tools;

pub use data::{Answered, Store};
pub use server::{Settings, serve, serve_streams};
