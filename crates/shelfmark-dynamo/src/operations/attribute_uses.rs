//! Compares the attributes that a new index reads with those that its table reads already: one attribute
//! has one type, whatever reads it.
//!
//! Source of the words: answers of the service that others collected, July and August 2026.

use shelfmark_model::TableSchema;

use crate::errors::{Error, Result, texts};
use crate::table::{key_letter, vector_indexes};

/// The type of a vector, as the service calls it.
const VECTOR: &str = "L";

/// An attribute as a key, a search schema or a vector is read from it.
pub(super) struct AttributeUse {
    name: String,
    letter: String,
    /// The attribute in its schema, as messages show it.
    shown: String,
}

impl AttributeUse {
    /// Describes a part of a key.
    pub(super) fn key(name: &str, letter: &str, is_hash: bool) -> Self {
        let role = if is_hash { "HASH" } else { "RANGE" };
        Self::new(name, letter, texts::key_element_of_schema(name, letter, role))
    }

    /// Describes a vector.
    pub(super) fn vector(name: &str, dimensions: &str) -> Self {
        Self::new(name, VECTOR, texts::vector_element_of_schema(name, dimensions))
    }

    /// Describes an element of a search schema.
    pub(super) fn searched(name: &str, letter: &str, is_hash: bool) -> Self {
        let role = if is_hash { "HASH" } else { "INLINE_FILTER" };
        Self::new(name, letter, texts::search_element_of_schema(name, letter, role))
    }

    fn new(name: &str, letter: &str, shown: String) -> Self {
        Self { name: name.to_owned(), letter: letter.to_owned(), shown }
    }
}

/// Refuses what gives an attribute of a table another type. Vectors of two sizes are not looked at.
pub(super) fn check_agree(
    schema: &TableSchema,
    new: impl Iterator<Item = AttributeUse>,
) -> Result<()> {
    let existing = of_table(schema);
    for own in new {
        let other = existing.iter().find(|other| other.name == own.name);
        if let Some(other) = other.filter(|other| other.letter != own.letter) {
            return Err(Error::validation(texts::attribute_redefined(&other.shown, &own.shown)));
        }
    }
    Ok(())
}

/// Returns what a table and its indexes read.
fn of_table(schema: &TableSchema) -> Vec<AttributeUse> {
    let partitions = schema.indexes.iter().flat_map(|index| &index.partition);
    let sorts = schema.indexes.iter().flat_map(|index| &index.sort);
    let partitions = schema.partition.iter().chain(partitions);
    let sorts = schema.sort.iter().chain(sorts);
    let hashes = partitions
        .map(|column| AttributeUse::key(&column.name, key_letter(&column.key_type), true));
    let ranges =
        sorts.map(|column| AttributeUse::key(&column.name, key_letter(&column.key_type), false));
    let mut uses: Vec<AttributeUse> = hashes.chain(ranges).collect();
    for index in vector_indexes(schema).into_values() {
        uses.push(AttributeUse::vector(&index.attribute, &index.dimensions.to_string()));
        let searched = index.schema.iter();
        uses.extend(
            searched.map(|own| AttributeUse::searched(&own.name, &own.letter, own.is_hash)),
        );
    }
    uses
}
