//! Verifies that DynamoDB makes the indexes of a table with the attributes that they include by name.
//!
//! An index whose entries show all that their rows hold has all attributes, and names none. Any other
//! names each attribute beside the keys.
//!
//! What it is not: no request. Attributes of one name in several row types are taken for one, so that no
//! more are counted than a request names.
//!
//! Source: DynamoDB API Reference, Projection, read 2026-11.

use std::collections::BTreeSet;

use super::requests::attribute;
use shelfmark_design_language::model::schema::{Family, Schema, Stored, TableId};
use shelfmark_design_language::model::{ColumnPath, Model, canonical};

/// Most attributes that one index names.
const INDEX_NAMES_MAX: usize = 20;

/// Most attributes that all indexes of a table name.
const TABLE_NAMES_MAX: usize = 100;

/// Refuses the indexes of a table that name too many attributes.
pub(super) fn named(model: &Model, schema: &Schema, base: TableId) -> Result<(), String> {
    let entry = |family: &&Family| {
        family.base.and_then(|id| schema.families.get(id)).is_some_and(|one| one.table == base)
    };
    let entries: Vec<&Family> = schema.families.iter().filter(entry).collect();
    let indexes: BTreeSet<TableId> = entries.iter().map(|one| one.table).collect();
    let mut sum = 0;
    for index in indexes {
        let own: Vec<&Family> = entries.iter().copied().filter(|one| one.table == index).collect();
        let count = names(model, schema, &own);
        if count > INDEX_NAMES_MAX {
            return Err(format!("O10: an index includes {count} attributes by name"));
        }
        sum += count;
    }
    match sum > TABLE_NAMES_MAX {
        true => Err(format!("O10: the indexes of a table include {sum} attributes by name")),
        false => Ok(()),
    }
}

/// Returns how many attributes an index names at least.
fn names(model: &Model, schema: &Schema, entries: &[&Family]) -> usize {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut whole = true;
    for entry in entries {
        let below = entry.base.and_then(|base| schema.families.get(base));
        let shown = paths(model, entry);
        let keys: BTreeSet<ColumnPath> =
            entry.key.iter().filter_map(|one| attribute(model, entry, &one.parts)).collect();
        whole &= below.is_some_and(|below| {
            let plain = below.stored.iter().all(|one| matches!(one, Stored::Path(_)));
            let held = paths(model, below);
            below.stored == entry.stored
                || plain && held.iter().all(|path| shown.contains(path) || keys.contains(path))
        });
        let named = shown.iter().filter(|path| !keys.contains(*path));
        found.extend(named.map(|path| model.path_text(entry.source, path)));
    }
    if whole { 0 } else { found.len() }
}

/// Returns the attributes that rows hold beside their key.
fn paths(model: &Model, family: &Family) -> BTreeSet<ColumnPath> {
    let path = |stored: &Stored| match stored {
        Stored::Path(path) => Some(canonical(model, family.source, path)),
        _ => None,
    };
    family.stored.iter().filter_map(path).collect()
}
