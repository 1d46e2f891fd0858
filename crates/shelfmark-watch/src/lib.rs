//! Compares a running server's requests with a model: patterns with their real rates, rows and times
//! against what is declared, requests that no pattern covers, reads that read more than they return, data
//! that breaks what is declared.
//!
//! The way of a request: its text ([`asked`]) says which columns it binds and how; by the model's keys
//! ([`tables`]) that becomes a [`shape::Shape`], and the requests of the model's own patterns become
//! shapes by the same way ([`watched`]). Equal shapes are one pattern; [`compare`] counts them. [`items`]
//! checks items against the row families of their keys. [`watcher`] is the thread around all this.
//!
//! What it is not: a face or a judge of models. It sends nothing and proves nothing anew. But for
//! [`watcher`] everything is a function of what is handed in, with the time.
//!
//! Invariant: no value of a request or row is kept, only the form that the model gives to its key; what is
//! kept is bounded, however many requests of however many forms come.

pub mod asked;
pub mod compare;
mod histogram;
pub mod items;
mod propose;
pub mod shape;
pub mod tables;
mod template;
pub mod watched;
pub mod watcher;

pub use compare::Comparison;
pub use watched::Watched;
pub use watcher::Watcher;

use shelfmark_admin::{Error, ModelFile, Result};

/// Checks that requests can be compared with a model: that [`Watcher`] can open it.
///
/// # Errors
///
/// * [`shelfmark_admin::ErrorKind::Invalid`]: the reason why not, with the place in the model.
pub fn check(file: &ModelFile) -> Result<()> {
    Watched::open(file).map(drop).map_err(Error::invalid)
}
