//! Analyses text keys: the texts of a hole, what may follow what, and which orders survive.
//!
//! What it is not: the bytes of typed columns are `shelfmark-keycode`'s.
//!
//! Invariant: languages are supersets of the texts that the values of a domain give, so that
//! "cannot collide" is always true, and order facts are claimed only when they hold for all
//! values of the domain.

pub(crate) mod ends;
pub mod facts;
pub mod language;
