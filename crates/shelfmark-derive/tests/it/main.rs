//! What derived keys do.

mod keys;
