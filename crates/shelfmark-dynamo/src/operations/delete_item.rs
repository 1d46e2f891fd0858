//! DeleteItem.

use super::item_write;
use super::write_request::Verb;
use crate::face::{Done, Face};

/// Answers DeleteItem once the write is durable.
pub(super) fn start(face: &Face, body: &[u8], done: Done) {
    item_write::start(face, Verb::Delete, body, done);
}
