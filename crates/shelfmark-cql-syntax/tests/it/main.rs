//! Texts against what must become of them.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod depth;
mod mutations;
mod rules;
mod scripts;
mod statements;
