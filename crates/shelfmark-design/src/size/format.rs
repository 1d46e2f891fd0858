//! Computes bytes of a row in each target's own format.
//!
//! What it is not: exact for one row; values have their average length.

use std::collections::BTreeSet;

use crate::lint::size::value_bytes;
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::schema::{Codec, Family, Part, Schema, Stored};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Type};
use shelfmark_design_language::target::Target;
use shelfmark_design_plan::bytes::{plain_bytes, text_bytes};

/// Tree, id of the table, token, row mark and chunk number.
///
/// Source: `docs/format.md`, keys of the engine; an id below 128.
const SHELFMARK_KEY_HEAD: f64 = 12.0;

/// The same without the token, where partitions lie in key order.
const ORDERED_KEY_HEAD: f64 = 4.0;

/// Version and flags of a record.
///
/// Source: `docs/format.md`, rows.
const SHELFMARK_RECORD_HEAD: f64 = 2.0;

/// The end of a text or bytes component.
const COMPONENT_END: f64 = 2.0;

/// Overhead of each item, and of each entry of an index, in DynamoDB's storage.
///
/// Source: DynamoDB Developer Guide, item sizes and best practices for indexes, read 2026-11.
const DYNAMODB_ITEM_HEAD: f64 = 100.0;

/// Overhead of a value beside its bytes.
///
/// Source: Apache Cassandra documentation, data modeling, calculating partition size on disk:
/// t_avg = 8, read 2026-11.
const CQL_VALUE_HEAD: f64 = 8.0;

/// `pk`, `sk`.
const TEXT_COLUMN_NAME: f64 = 2.0;

/// Bytes of a family's rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Bytes once per partition.
    partition: f64,
    row: f64,
}

impl Sizes {
    /// Returns a row that is alone in its partition.
    pub(crate) fn row(self) -> f64 {
        self.partition + self.row
    }

    pub(crate) fn partition(self, rows: f64) -> f64 {
        self.partition + rows * self.row
    }
}

/// The parts of a family that bytes are counted of.
struct Cells {
    /// The partition key's columns: bytes, and true for text or bytes.
    partition: Vec<(f64, bool)>,
    sort: Vec<(f64, bool)>,
    /// The attributes beside the key: length of the name, and bytes.
    stored: Vec<(f64, f64)>,
    /// Length of the names of key columns.
    names: f64,
}

pub(crate) fn sizes(model: &Model, schema: &Schema, family: &Family, target: &Target) -> Sizes {
    let cells = cells(model, schema, family, target);
    let sum = |list: &[(f64, bool)]| list.iter().map(|(bytes, _)| bytes).sum::<f64>();
    let components = |list: &[(f64, bool)]| {
        list.iter()
            .map(|(bytes, text)| bytes + if *text { COMPONENT_END } else { 0.0 })
            .sum::<f64>()
    };
    match target.name.as_str() {
        "dynamodb" => {
            let stored: f64 = cells.stored.iter().map(|(name, bytes)| name + bytes).sum();
            let row = DYNAMODB_ITEM_HEAD
                + cells.names
                + sum(&cells.partition)
                + sum(&cells.sort)
                + stored;
            Sizes { partition: 0.0, row }
        }
        "cql" => {
            let values: f64 = cells.stored.iter().map(|(_, bytes)| bytes + CQL_VALUE_HEAD).sum();
            // The formula counts heads of values only; what the key holds is no value.
            Sizes { partition: sum(&cells.partition), row: sum(&cells.sort) + values }
        }
        "candb" => {
            // Nothing is published about more than keys and values.
            let stored: f64 = cells.stored.iter().map(|(name, bytes)| name + bytes).sum();
            Sizes { partition: 0.0, row: sum(&cells.partition) + sum(&cells.sort) + stored }
        }
        name => {
            let stored: f64 =
                cells.stored.iter().map(|(name, bytes)| 1.0 + name + 2.0 + bytes).sum();
            let head = if name == "ordered" {
                ORDERED_KEY_HEAD + components(&cells.partition)
            } else {
                let parts = if cells.partition.len() > 1 {
                    3.0 * cells.partition.len() as f64
                } else {
                    0.0
                };
                SHELFMARK_KEY_HEAD + sum(&cells.partition) + parts + COMPONENT_END
            };
            let row = head + components(&cells.sort) + SHELFMARK_RECORD_HEAD + stored;
            Sizes { partition: 0.0, row }
        }
    }
}

fn cells(model: &Model, schema: &Schema, family: &Family, target: &Target) -> Cells {
    let partition = schema.tables.get(family.table).map_or(0, |table| table.partition);
    let mut found =
        Cells { partition: Vec::new(), sort: Vec::new(), stored: Vec::new(), names: 0.0 };
    let mut held: BTreeSet<ColumnPath> = BTreeSet::new();
    for (at, column) in family.key.iter().enumerate() {
        let mut bytes = 0.0;
        let mut text = false;
        let mut paths = Vec::new();
        for part in &column.parts {
            match part {
                Part::Literal(literal) => bytes += literal.len() as f64,
                Part::End => text = true,
                Part::Hole { term, ty, codec, .. } => {
                    let own = match term {
                        Term::Column(path) => Some(path),
                        _ => None,
                    };
                    let of_type = match codec {
                        Codec::Native => plain_bytes(ty, target),
                        codec => text_bytes(ty, *codec),
                    };
                    bytes += of_type.unwrap_or_else(|| {
                        own.map_or(8.0, |path| value_bytes(model, family.source, path))
                    });
                    let own = own.map(|path| canonical(model, family.source, path));
                    paths.extend(own);
                }
            }
        }
        // An index does not repeat a column of the row's key that it has already.
        let mut before = family.key.iter().take(at);
        let repeated = family.base.is_some()
            && !paths.is_empty()
            && before.any(|other| other.parts == column.parts);
        held.extend(paths.iter().cloned());
        if repeated {
            continue;
        }
        // A column of glued texts is called `pk` or `sk`, or as short.
        found.names += match column.parts.as_slice() {
            [Part::Hole { codec: Codec::Native, .. }] => {
                paths.iter().map(|path| name_bytes(model, family, path)).sum::<f64>()
            }
            _ => TEXT_COLUMN_NAME,
        };
        let list = if at < partition { &mut found.partition } else { &mut found.sort };
        list.push((bytes, text));
    }
    for stored in &family.stored {
        match stored {
            Stored::Path(path) => {
                if !held.contains(&canonical(model, family.source, path)) {
                    let name = name_bytes(model, family, path);
                    found.stored.push((name, stored_bytes(model, family.source, path, target)));
                }
            }
            Stored::Tally { name, .. } => found.stored.push((name.len() as f64, 5.0)),
            Stored::Collect { relation, via, path, name } => {
                let each = stored_bytes(model, *relation, path, target) + 1.0;
                let count =
                    crate::lint::size::elements(model, *relation, *via, "avg").unwrap_or(1.0);
                found.stored.push((name.len() as f64, 3.0 + each * count));
            }
        }
    }
    found
}

fn name_bytes(model: &Model, family: &Family, path: &[usize]) -> f64 {
    model.path_text(family.source, path).len() as f64
}

fn key_bytes(model: &Model, relation: usize, path: &[usize], ty: &Type, target: &Target) -> f64 {
    plain_bytes(ty, target).unwrap_or_else(|| value_bytes(model, relation, path))
}

/// Returns the bytes of a value beside the key; our own rows hold whole numbers with as many bytes
/// as they need.
fn stored_bytes(model: &Model, relation: usize, path: &[usize], target: &Target) -> f64 {
    let ty = model.path_type(relation, path);
    let ours = matches!(target.name.as_str(), "shelfmark" | "ordered");
    match ty {
        Type::Bool if ours => 0.0,
        Type::Timestamp if ours => 6.0,
        Type::Date if ours => 3.0,
        Type::Int(_) | Type::Decimal(_) if ours => 4.0,
        ty => key_bytes(model, relation, path, &ty, target),
    }
}
