//! Backups of tables: on demand, continuous, and the restores of both.
//!
//! What they are made of is the engine's; here are names, ARNs and the service's words.

mod continuous;
mod create;
mod delete;
mod describe;
mod list;
mod name;
mod restore;
mod restore_request;

pub(super) use continuous::{describe as describe_continuous, update as update_continuous};
pub(super) use create::{answer as create, find as find_table};
pub(super) use delete::answer as delete;
pub(super) use describe::answer as describe;
pub(super) use list::answer as list;
pub(super) use restore::{from_backup, to_point_in_time};

/// Bytes that are copied while a request waits, so that what is small is there with the answer.
const HURRIED_BYTES_MAX: u64 = 4 * 1024 * 1024;

use super::for_a_while::for_a_while;
use crate::face::Face;

/// Does what was begun just now, as far as it is small. What fails goes on in the background.
pub(super) fn hurry(face: &Face) {
    // The work is written down; its trouble shows in the state of the background work.
    let engine = face.engine.clone();
    let _ = for_a_while(move || engine.hurry_backups(HURRIED_BYTES_MAX));
}
