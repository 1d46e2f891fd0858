//! Metadata: what columns a result has, and which markers a statement.

use bytes::{BufMut as _, BytesMut};
use md5::{Digest as _, Md5};

use super::writer::Write as _;
use crate::column::ColumnSpec;
use crate::frame::Version;
use crate::types::{CqlType, put_type_option};

/// Bits of metadata's flags.
mod bit {
    pub(super) const GLOBAL: i32 = 0x01;
    pub(super) const MORE_PAGES: i32 = 0x02;
    pub(super) const NONE: i32 = 0x04;
    pub(super) const CHANGED: i32 = 0x08;
}

/// Tells one list of result columns from another.
pub type ResultMetadataId = [u8; 16];

/// Returns the id of a list of columns.
pub fn id(columns: &[ColumnSpec]) -> ResultMetadataId {
    let mut bytes = BytesMut::new();
    for column in columns {
        for text in [&column.keyspace, &column.table, &column.name] {
            bytes.string(text);
        }
        write_type(&column.kind, Version::V5, &mut bytes);
    }
    Md5::digest(&bytes).into()
}

/// The form of the metadata of a page of rows.
#[derive(Debug, Clone, Copy)]
pub enum RowsMetadata {
    /// With every column.
    Full,
    /// The client has the columns.
    Skipped,
    /// The client has old columns: with every column and their new id. Version 5 only.
    Changed(ResultMetadataId),
}

/// Returns whether all columns are of one table, which then is named once.
fn one_table(columns: &[ColumnSpec]) -> Option<&ColumnSpec> {
    let (first, rest) = columns.split_first()?;
    rest.iter()
        .all(|column| column.table == first.table && column.keyspace == first.keyspace)
        .then_some(first)
}

fn write_type(kind: &CqlType, version: Version, out: &mut BytesMut) {
    let mut option = Vec::new();
    put_type_option(kind, version.number(), &mut option);
    out.put_slice(&option);
}

/// Appends the columns: flags are already out.
fn write_columns(columns: &[ColumnSpec], version: Version, out: &mut BytesMut) {
    let global = one_table(columns);
    if let Some(first) = global {
        out.string(&first.keyspace);
        out.string(&first.table);
    }
    for column in columns {
        if global.is_none() {
            out.string(&column.keyspace);
            out.string(&column.table);
        }
        out.string(&column.name);
        write_type(&column.kind, version, out);
    }
}

/// Appends the metadata of rows.
pub(super) fn rows(
    columns: &[ColumnSpec],
    head: RowsMetadata,
    paging_state: Option<&[u8]>,
    version: Version,
    out: &mut BytesMut,
) {
    let mut flags = match head {
        RowsMetadata::Skipped => bit::NONE,
        RowsMetadata::Full | RowsMetadata::Changed(_) if columns.is_empty() => bit::NONE,
        RowsMetadata::Changed(_) => bit::GLOBAL | bit::CHANGED,
        RowsMetadata::Full => bit::GLOBAL,
    };
    if flags & bit::GLOBAL != 0 && one_table(columns).is_none() {
        flags &= !bit::GLOBAL;
    }
    if paging_state.is_some() {
        flags |= bit::MORE_PAGES;
    }
    out.put_i32(flags);
    out.count(columns.len());
    if paging_state.is_some() {
        out.bytes(paging_state);
    }
    if flags & bit::NONE != 0 {
        return;
    }
    if let RowsMetadata::Changed(id) = head {
        out.short_bytes(&id);
    }
    write_columns(columns, version, out);
}

/// Appends the metadata of markers.
pub(super) fn markers(
    markers: &[ColumnSpec],
    pk_indices: &[u16],
    version: Version,
    out: &mut BytesMut,
) {
    let global = one_table(markers).is_some();
    out.put_i32(if global { bit::GLOBAL } else { 0 });
    out.count(markers.len());
    if version >= Version::V4 {
        out.count(pk_indices.len());
        for index in pk_indices {
            out.put_u16(*index);
        }
    }
    write_columns(markers, version, out);
}
