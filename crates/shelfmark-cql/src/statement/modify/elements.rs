//! The elements of a list in the middle of a statement: those that are stored, and those that the
//! statement's own operations have added, which have no paths yet.
//!
//! What it is not: what an operation means is said in `operation`.
//!
//! Invariant: each operation sees what the ones before it left. Source: Cassandra 5.0's answers.

use bytes::Bytes;
use shelfmark_engine::{CellOperation, LiveRow};

/// Returns the stored elements of a list, in order.
pub(super) fn stored(row: Option<&LiveRow>, column: u32) -> Vec<Element> {
    let cells = row.map(|row| row.elements(column)).unwrap_or_default();
    let element = |path: &Bytes, value: &Bytes| Element {
        place: Place::Stored(path.clone()),
        value: value.clone(),
    };
    cells.iter().map(|cell| element(&cell.path, &cell.value)).collect()
}

/// An element of a list, before a statement or in the middle of it.
pub(super) struct Element {
    pub(super) place: Place,
    pub(super) value: Bytes,
}

/// The position of an element of a list.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The element was stored before, under this path.
    Stored(Bytes),
    /// An operation before adds it: which one, and which of its values it is. It gets its path when it is
    /// written, so what changes it changes that operation.
    Added { operation: usize, at: usize },
}

/// Applies an operation on a list, with its place among all, to the list's elements.
pub(super) fn pass((operation, before): (usize, &CellOperation), of: u32, list: &mut Vec<Element>) {
    let added = |values: &[Bytes]| {
        let each = values.iter().enumerate();
        let element = |(at, value): (usize, &Bytes)| Element {
            place: Place::Added { operation, at },
            value: value.clone(),
        };
        each.map(element).collect::<Vec<_>>()
    };
    let is = |own: &Element, path: &Bytes| matches!(&own.place, Place::Stored(own) if own == path);
    match before {
        CellOperation::DeleteElement { column, path } if *column == of => {
            list.retain(|own| !is(own, path));
        }
        CellOperation::SetElement { column, path, value } if *column == of => {
            if let Some(own) = list.iter_mut().find(|own| is(own, path)) {
                own.value.clone_from(value);
            }
        }
        CellOperation::Append { column, values } if *column == of => list.extend(added(values)),
        CellOperation::Prepend { column, values } if *column == of => {
            list.splice(0..0, added(values));
        }
        _ => {}
    }
}

/// Sets an element, or removes it where there is no value.
pub(super) fn set_element(
    column: u32,
    place: &Place,
    value: Option<Bytes>,
    out: &mut Vec<CellOperation>,
) {
    match (place, value) {
        (Place::Stored(path), Some(value)) => {
            out.push(CellOperation::SetElement { column, path: path.clone(), value });
        }
        (Place::Stored(path), None) => {
            out.push(CellOperation::DeleteElement { column, path: path.clone() });
        }
        (Place::Added { operation, at }, value) => {
            let Some(CellOperation::Append { values, .. } | CellOperation::Prepend { values, .. }) =
                out.get_mut(*operation)
            else {
                return;
            };
            match value {
                // Two cells of one path and timestamp: the greater value wins.
                Some(value) => {
                    let own = values.get_mut(*at).filter(|own| **own < value);
                    own.into_iter().for_each(|own| own.clone_from(&value));
                }
                None => drop(values.remove(*at)),
            }
        }
    }
}
