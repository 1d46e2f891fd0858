//! Exports of tables and imports into new ones: requests, descriptions and lists.
//!
//! The work itself is in `transfers`.

mod export;
mod export_request;
mod found;
mod import;
mod import_request;
mod lists;

pub(super) use export::{describe as describe_export, start as start_export};
pub(super) use import::{describe as describe_import, start as start_import};
pub(super) use lists::{exports as list_exports, imports as list_imports};

use super::for_a_while::for_a_while;
use crate::errors::{Error, Result, texts};
use crate::face::Face;
use crate::transfers::{EXPORTS, Transfer, Transfers};

/// Returns the work on transfers, if this server has buckets.
fn of_server(face: &Face) -> Result<&Transfers> {
    face.transfers.as_deref().ok_or_else(|| Error::validation(texts::NO_BUCKETS))
}

/// Does what was begun just now, as far as that takes no time.
fn hurry(face: &Face, transfer: &Transfer) {
    if transfer.entry.kind == EXPORTS {
        // It waits for its copy of the table.
        super::backups::hurry(face);
    }
    // What fails goes on in the background.
    if face.engine.store().peers().is_none()
        && let Some(transfers) = face.transfers.clone()
    {
        let (kind, id) = (transfer.entry.kind.clone(), transfer.entry.id.clone());
        let _ = for_a_while(move || transfers.hurry(&kind, &id));
    }
}
