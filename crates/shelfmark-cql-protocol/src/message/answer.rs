//! Answers.

use std::net::{IpAddr, SocketAddr};

use bytes::{BufMut as _, BytesMut};

use super::metadata::{self, ResultMetadataId, RowsMetadata};
use super::writer::Write as _;
use crate::column::ColumnSpec;
use crate::frame::Version;
use crate::schema_change::{ChangeKind, ChangeTarget, SchemaChange};
use crate::server_change::ServerChange;

const VOID: i32 = 1;
const ROWS: i32 = 2;
const SET_KEYSPACE: i32 = 3;
const PREPARED: i32 = 4;
const SCHEMA_CHANGE: i32 = 5;

/// The head of a RESULT: all of it but the cells of its rows.
#[derive(Debug, Clone, Copy)]
pub enum ResultHead<'a> {
    /// The statement has nothing to say.
    Void,
    /// Rows, which follow as their cells.
    Rows {
        /// The columns of the rows.
        columns: &'a [ColumnSpec],
        /// The part of the result metadata that is written.
        head: RowsMetadata,
        /// The paging state of the next page; `None` on the last page.
        paging_state: Option<&'a [u8]>,
        /// The number of rows that follow.
        rows: u32,
    },
    /// The connection has another keyspace from now on.
    SetKeyspace(&'a str),
    /// The schema was changed.
    SchemaChange(&'a SchemaChange),
}

/// Appends the body of a RESULT, of rows all but their cells.
pub fn result_head(head: ResultHead<'_>, version: Version, out: &mut BytesMut) {
    match head {
        ResultHead::Void => out.put_i32(VOID),
        ResultHead::Rows { columns, head, paging_state, rows } => {
            out.put_i32(ROWS);
            metadata::rows(columns, head, paging_state, version, out);
            out.put_u32(rows);
        }
        ResultHead::SetKeyspace(keyspace) => {
            out.put_i32(SET_KEYSPACE);
            out.string(keyspace);
        }
        ResultHead::SchemaChange(change) => {
            out.put_i32(SCHEMA_CHANGE);
            schema_change(change, version, out);
        }
    }
}

/// The content of a PREPARED result.
#[derive(Debug, Clone, Copy)]
pub struct Prepared<'a> {
    /// The id by which EXECUTE names the statement.
    pub id: &'a [u8],
    /// The id of its result metadata, which version 5 sends.
    pub metadata_id: &'a ResultMetadataId,
    /// The bind markers, in order.
    pub markers: &'a [ColumnSpec],
    /// The markers that make the partition key, in key order.
    pub pk_indices: &'a [u16],
    /// The columns of its rows.
    pub result: &'a [ColumnSpec],
}

/// Appends the body of PREPARED.
pub fn prepared(statement: Prepared<'_>, version: Version, out: &mut BytesMut) {
    out.put_i32(PREPARED);
    out.short_bytes(statement.id);
    if version >= Version::V5 {
        out.short_bytes(statement.metadata_id);
    }
    metadata::markers(statement.markers, statement.pk_indices, version, out);
    metadata::rows(statement.result, RowsMetadata::Full, None, version, out);
}

/// Appends the body of SUPPORTED.
pub fn supported(options: &[(&str, &[&str])], out: &mut BytesMut) {
    out.short_count(options.len());
    for (name, values) in options {
        out.string(name);
        out.strings(values);
    }
}

/// Appends the body of a SCHEMA_CHANGE event.
pub fn event(change: &SchemaChange, version: Version, out: &mut BytesMut) {
    out.string("SCHEMA_CHANGE");
    schema_change(change, version, out);
}

/// Appends the body of an event about a server: STATUS_CHANGE or TOPOLOGY_CHANGE.
pub fn server_event(change: ServerChange, address: SocketAddr, out: &mut BytesMut) {
    let (event, change) = match change {
        ServerChange::Added => ("TOPOLOGY_CHANGE", "NEW_NODE"),
        ServerChange::Removed => ("TOPOLOGY_CHANGE", "REMOVED_NODE"),
        ServerChange::Up => ("STATUS_CHANGE", "UP"),
        ServerChange::Down => ("STATUS_CHANGE", "DOWN"),
    };
    out.string(event);
    out.string(change);
    match address.ip() {
        IpAddr::V4(ip) => {
            out.put_u8(4);
            out.put_slice(&ip.octets());
        }
        IpAddr::V6(ip) => {
            out.put_u8(16);
            out.put_slice(&ip.octets());
        }
    }
    out.put_i32(i32::from(address.port()));
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
