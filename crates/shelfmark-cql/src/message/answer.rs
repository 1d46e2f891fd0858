//! Answers.

use bytes::{BufMut as _, BytesMut};

use super::metadata::{self, MetadataId, RowsHead};
use super::writer::Write as _;
use crate::frame::Version;
use crate::outcome::{ChangeKind, ChangeTarget, Outcome, PreparedStatement, SchemaChange};

const VOID: i32 = 1;
const ROWS: i32 = 2;
const SET_KEYSPACE: i32 = 3;
const PREPARED: i32 = 4;
const SCHEMA_CHANGE: i32 = 5;

/// Appends a RESULT's body. `paging_state` is the sealed form of the outcome's.
pub(crate) fn result(
    outcome: &Outcome,
    head: RowsHead,
    paging_state: Option<&[u8]>,
    version: Version,
    out: &mut BytesMut,
) {
    result_head(outcome, head, paging_state, version, out);
    if let Outcome::Rows(rows) = outcome {
        out.put_slice(rows.rows.bytes());
    }
}

/// As [`result`], without the rows themselves.
pub(crate) fn result_head(
    outcome: &Outcome,
    head: RowsHead,
    paging_state: Option<&[u8]>,
    version: Version,
    out: &mut BytesMut,
) {
    match outcome {
        Outcome::Void => out.put_i32(VOID),
        Outcome::Rows(rows) => {
            out.reserve(rows.rows.bytes().len() + 64);
            out.put_i32(ROWS);
            metadata::rows(&rows.columns, head, paging_state, version, out);
            out.put_u32(rows.rows.rows());
        }
        Outcome::SetKeyspace(keyspace) => {
            out.put_i32(SET_KEYSPACE);
            out.string(keyspace);
        }
        Outcome::SchemaChange(change) => {
            out.put_i32(SCHEMA_CHANGE);
            schema_change(change, version, out);
        }
    }
}

/// Appends the body of PREPARED.
pub(crate) fn prepared(
    id: &[u8],
    metadata_id: &MetadataId,
    statement: &PreparedStatement,
    version: Version,
    out: &mut BytesMut,
) {
    out.put_i32(PREPARED);
    out.short_bytes(id);
    if version >= Version::V5 {
        out.short_bytes(metadata_id);
    }
    metadata::markers(&statement.markers, &statement.pk_indices, version, out);
    metadata::rows(&statement.result, RowsHead::Full, None, version, out);
}

/// Appends the body of SUPPORTED.
pub(crate) fn supported(options: &[(&str, &[&str])], out: &mut BytesMut) {
    out.short_count(options.len());
    for (name, values) in options {
        out.string(name);
        out.strings(values);
    }
}

/// Appends the body of a SCHEMA_CHANGE event.
pub(crate) fn event(change: &SchemaChange, version: Version, out: &mut BytesMut) {
    out.string("SCHEMA_CHANGE");
    schema_change(change, version, out);
}

fn schema_change(change: &SchemaChange, version: Version, out: &mut BytesMut) {
    // Version 3 knows no functions: to it the keyspace has changed.
    let whole = matches!(change.target, ChangeTarget::Function | ChangeTarget::Aggregate)
        && version < Version::V4;
    out.string(match change.kind {
        _ if whole => "UPDATED",
        ChangeKind::Created => "CREATED",
        ChangeKind::Updated => "UPDATED",
        ChangeKind::Dropped => "DROPPED",
    });
    let target = if whole { ChangeTarget::Keyspace } else { change.target };
    out.string(match target {
        ChangeTarget::Keyspace => "KEYSPACE",
        ChangeTarget::Table => "TABLE",
        ChangeTarget::Type => "TYPE",
        ChangeTarget::Function => "FUNCTION",
        ChangeTarget::Aggregate => "AGGREGATE",
    });
    out.string(&change.keyspace);
    match target {
        ChangeTarget::Keyspace => {}
        ChangeTarget::Table | ChangeTarget::Type => out.string(&change.name),
        ChangeTarget::Function | ChangeTarget::Aggregate => {
            out.string(&change.name);
            out.strings(&change.arguments);
        }
    }
}
