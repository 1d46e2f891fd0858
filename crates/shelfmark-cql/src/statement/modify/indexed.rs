//! Refuses values that are too large for an index of their column.
//!
//! What an entry's key takes beside the value is looked at by the engine.

use shelfmark_cql_protocol::{CqlError, Result};
use shelfmark_engine::CellOperation;

use crate::schema::{Column, Index, IndexTarget, Table, check_indexed_size, element_size_bytes};

/// Refuses operations that write a value that an index of its column cannot hold.
///
/// # Errors
///
/// * `Invalid`: there is one.
pub(super) fn check_indexed(table: &Table, operations: &[CellOperation]) -> Result<()> {
    for index in &table.indexes {
        // Numbers of key columns and of others are numbers of their own, and keys have their own limit.
        let column = table.column(&index.column).filter(|column| !column.role.is_key());
        let Some(column) = column else { continue };
        for operation in operations {
            each_size(operation, column, index.target, &mut |size| {
                check_size(size, table, index, column)
            })?;
        }
    }
    Ok(())
}

fn check_size(size: usize, table: &Table, index: &Index, column: &Column) -> Result<()> {
    let checked = check_indexed_size(size, &index.name, &table.full_name(), &column.name);
    checked.map_err(CqlError::invalid)
}

/// Hands over the size of each value that an operation has the index hold.
fn each_size(
    operation: &CellOperation,
    column: &Column,
    target: IndexTarget,
    check: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let of_element =
        |path: usize, value: usize| element_size_bytes(&column.kind, target, path, value);
    match operation {
        CellOperation::Set { column: own, value } if *own == column.id => check(value.len()),
        CellOperation::SetElement { column: own, path, value } if *own == column.id => {
            check(of_element(path.len(), value.len()))
        }
        CellOperation::Overwrite { column: own, elements } if *own == column.id => {
            elements.iter().try_for_each(|(path, value)| check(of_element(path.len(), value.len())))
        }
        CellOperation::OverwriteList { column: own, values }
        | CellOperation::Append { column: own, values }
        | CellOperation::Prepend { column: own, values }
            if *own == column.id =>
        {
            values.iter().try_for_each(|value| check(value.len()))
        }
        _ => Ok(()),
    }
}
