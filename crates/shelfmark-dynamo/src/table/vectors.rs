//! The vector indexes of a table, as stored beside its other settings.
//!
//! What it is not: an index of the engine. A search reads the items themselves, so there is nothing
//! to keep up: an index is there, and complete, once the table's record says so.
//!
//! Invariant: an item that is put has, under the attribute of every index, a vector of its
//! dimensions or nothing. An update can change one element of a vector; what does not fit after it
//! is not found, as an item without a vector is not.
//!
//! Source: Amazon DynamoDB Developer Guide, "Working with vector indexes", read 2026-11.

use std::collections::BTreeMap;

use shelfmark_engine::Table;
use shelfmark_model::{Item, Projected, TableSchema, Value, attribute_size_bytes, item_size_bytes};

use super::keys::is_empty;
use super::vector_values::vector;
use crate::errors::{Error, Result, texts, type_name};

/// The bytes of one dimension: a float of 32 bits.
const DIMENSION_BYTES: usize = 4;

/// The way in which the distance of two vectors is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Distance {
    /// One minus the cosine of the angle between them, from 0 to 2.
    #[default]
    Cosine,
    /// The dot product: the greater, the nearer.
    DotProduct,
    Euclidean,
}

impl Distance {
    /// Every way.
    pub(crate) const ALL: [Self; 3] = [Self::Cosine, Self::DotProduct, Self::Euclidean];

    /// Returns the name in requests.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cosine => "COSINE",
            Self::DotProduct => "DOT_PRODUCT",
            Self::Euclidean => "EUCLIDEAN",
        }
    }

    /// Returns the way that a name stands for.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.name() == name)
    }

    /// Measures two vectors of the same length.
    pub(crate) fn between(self, one: &[f32], other: &[f32]) -> f64 {
        let pairs = || one.iter().zip(other).map(|(a, b)| (f64::from(*a), f64::from(*b)));
        let dot = || pairs().map(|(a, b)| a * b).sum::<f64>();
        match self {
            Self::DotProduct => dot(),
            Self::Euclidean => pairs().map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt(),
            Self::Cosine => {
                let square = |vector: &[f32]| {
                    vector.iter().map(|a| f64::from(*a) * f64::from(*a)).sum::<f64>()
                };
                // One root of both: of a vector and itself it is exact.
                let both = (square(one) * square(other)).sqrt();
                // A vector without a direction is as far from each other one.
                if both == 0.0 { 1.0 } else { (1.0 - dot() / both).clamp(0.0, 2.0) }
            }
        }
    }

    /// Returns true if one score is nearer than another.
    pub(crate) fn is_nearer(self, one: f64, other: f64) -> bool {
        match self {
            Self::DotProduct => one > other,
            Self::Cosine | Self::Euclidean => one < other,
        }
    }
}

/// An attribute of a search schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SearchAttribute {
    pub(crate) name: String,
    /// The letter of its type: S, N or B.
    pub(crate) letter: String,
    /// True for the partition key of the index, false for a filter.
    pub(crate) is_hash: bool,
}

/// The stored settings of a vector index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VectorIndex {
    /// The attribute that holds the vector.
    pub(crate) attribute: String,
    pub(crate) dimensions: usize,
    pub(crate) distance: Distance,
    pub(crate) schema: Vec<SearchAttribute>,
    pub(crate) projected: Projected,
}

impl VectorIndex {
    /// Returns the attribute that searches must name, if there is one.
    pub(crate) fn hash(&self) -> Option<&SearchAttribute> {
        self.schema.iter().find(|attribute| attribute.is_hash)
    }

    /// Returns true if entries hold the attribute.
    pub(crate) fn holds(&self, table: &Table, name: &str) -> bool {
        match &self.projected {
            Projected::All => true,
            Projected::Include(names) if names.iter().any(|own| own == name) => true,
            Projected::Include(_) | Projected::KeysOnly => {
                table.schema.is_key(name) || self.schema.iter().any(|own| own.name == name)
            }
        }
    }

    /// Returns the vector of an item that has an entry: one that could be written now.
    pub(crate) fn vector_of(&self, item: &Item) -> Option<Vec<f32>> {
        let is_fine = |own: &SearchAttribute| match item.get(&own.name) {
            Some(value) => type_name(value) == own.letter && !(own.is_hash && is_empty(value)),
            None => !own.is_hash,
        };
        let vector = vector(item.get(&self.attribute)?).ok()?;
        (vector.len() == self.dimensions && self.schema.iter().all(is_fine)).then_some(vector)
    }

    /// Returns the bytes that the entry of an item takes: its vector, and what else it holds.
    pub(crate) fn entry_bytes(&self, table: &Table, item: &Item) -> Option<usize> {
        self.vector_of(item)?;
        let others =
            item.iter().filter(|(name, _)| **name != self.attribute && self.holds(table, name));
        let others: usize = others.map(|(name, value)| attribute_size_bytes(name, value)).sum();
        Some(self.attribute.len() + self.vector_bytes() + others)
    }

    /// Returns the bytes of a vector.
    pub(crate) const fn vector_bytes(&self) -> usize {
        self.dimensions * DIMENSION_BYTES
    }

    fn read(map: &BTreeMap<String, Value>) -> Option<Self> {
        let text = |name: &str| map.get(name).and_then(Value::as_text);
        let Some(Value::Int(dimensions)) = map.get("dimensions") else { return None };
        let schema = match map.get("schema") {
            Some(Value::List(list)) => list.iter().filter_map(search_attribute).collect(),
            Some(_) | None => Vec::new(),
        };
        let projected = match (text("projected"), map.get("names")) {
            (Some("INCLUDE"), Some(Value::List(names))) => Projected::Include(
                names.iter().filter_map(|name| name.as_text().map(str::to_owned)).collect(),
            ),
            (Some("KEYS_ONLY"), _) => Projected::KeysOnly,
            _ => Projected::All,
        };
        Some(Self {
            attribute: text("attribute")?.to_owned(),
            dimensions: usize::try_from(*dimensions).ok()?,
            distance: Distance::of(text("distance")?)?,
            schema,
            projected,
        })
    }

    fn to_value(&self) -> Value {
        let schema = self.schema.iter().map(|attribute| {
            Value::Map(BTreeMap::from([
                ("name".to_owned(), Value::text(&attribute.name)),
                ("letter".to_owned(), Value::text(&attribute.letter)),
                ("hash".to_owned(), Value::Bool(attribute.is_hash)),
            ]))
        });
        let (projected, names) = match &self.projected {
            Projected::All => ("ALL", &[][..]),
            Projected::KeysOnly => ("KEYS_ONLY", &[][..]),
            Projected::Include(names) => ("INCLUDE", names.as_slice()),
        };
        let dimensions = i64::try_from(self.dimensions).unwrap_or(i64::MAX);
        Value::Map(BTreeMap::from([
            ("attribute".to_owned(), Value::text(&self.attribute)),
            ("dimensions".to_owned(), Value::Int(dimensions)),
            ("distance".to_owned(), Value::text(self.distance.name())),
            ("schema".to_owned(), Value::List(schema.collect())),
            ("projected".to_owned(), Value::text(projected)),
            ("names".to_owned(), Value::List(names.iter().map(Value::text).collect())),
        ]))
    }
}

fn search_attribute(value: &Value) -> Option<SearchAttribute> {
    let Value::Map(map) = value else { return None };
    Some(SearchAttribute {
        name: map.get("name")?.as_text()?.to_owned(),
        letter: map.get("letter")?.as_text()?.to_owned(),
        is_hash: map.get("hash") == Some(&Value::Bool(true)),
    })
}

/// Returns the vector indexes of a table; one without any costs one look-up.
pub(crate) fn vector_indexes(schema: &TableSchema) -> BTreeMap<String, VectorIndex> {
    read(&schema.options.face)
}

/// Reads the vector indexes of a table's record.
pub(crate) fn read(face: &BTreeMap<String, Value>) -> BTreeMap<String, VectorIndex> {
    let Some(Value::Map(map)) = face.get(MEMBER) else { return BTreeMap::new() };
    let index = |(name, value): (&String, &Value)| {
        let Value::Map(map) = value else { return None };
        Some((name.clone(), VectorIndex::read(map)?))
    };
    map.iter().filter_map(index).collect()
}

/// Puts the vector indexes into a table's record.
pub(crate) fn put(indexes: &BTreeMap<String, VectorIndex>, face: &mut BTreeMap<String, Value>) {
    face.remove(MEMBER);
    if !indexes.is_empty() {
        let map = indexes.iter().map(|(name, index)| (name.clone(), index.to_value()));
        face.insert(MEMBER.to_owned(), Value::Map(map.collect()));
    }
}

const MEMBER: &str = "vectors";

/// Returns the bytes that writing an item costs: a vector that an index reads counts as one of floats,
/// whatever its numbers.
pub(crate) fn written_size_bytes(table: &Table, item: &Item) -> usize {
    let mut vectors = BTreeMap::new();
    for (_, index) in vector_indexes(&table.schema) {
        let Some(value) = item.get(&index.attribute) else { continue };
        if vector(value).is_ok_and(|vector| vector.len() == index.dimensions) {
            let numbers = attribute_size_bytes(&index.attribute, value);
            let floats = index.attribute.len() + index.vector_bytes();
            vectors.insert(index.attribute, (numbers, floats));
        }
    }
    let (numbers, floats) =
        vectors.values().fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    item_size_bytes(item) - numbers + floats
}

/// Refuses a query of a vector index.
pub(crate) fn refuse_query(table: &Table, index: Option<&str>, consistent: bool) -> Result<()> {
    let indexes = vector_indexes(&table.schema);
    match index.filter(|name| indexes.contains_key(*name)) {
        Some(_) if consistent => Err(Error::validation(texts::CONSISTENT_GLOBAL_INDEX)),
        Some(_) => Err(Error::validation(texts::QUERY_OF_VECTORS)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_geometry() {
        let (east, north, far) = ([1.0, 0.0], [0.0, 2.0], [4.0, 4.0]);
        let near = |found: f64, right: f64| assert!((found - right).abs() < 1e-9, "{found}");
        near(Distance::Cosine.between(&east, &east), 0.0);
        near(Distance::Cosine.between(&east, &north), 1.0);
        near(Distance::Cosine.between(&east, &[-3.0, 0.0]), 2.0);
        near(Distance::Cosine.between(&east, &[0.0, 0.0]), 1.0);
        near(Distance::Euclidean.between(&east, &far), 5.0);
        near(Distance::DotProduct.between(&north, &far), 8.0);
        assert!(Distance::DotProduct.is_nearer(8.0, 4.0));
        assert!(Distance::Euclidean.is_nearer(1.0, 5.0));
    }

    #[test]
    fn what_is_stored_reads_back() {
        let index = VectorIndex {
            attribute: "embedding".to_owned(),
            dimensions: 3,
            distance: Distance::DotProduct,
            schema: vec![SearchAttribute {
                name: "team".to_owned(),
                letter: "S".to_owned(),
                is_hash: true,
            }],
            projected: Projected::Include(vec!["title".to_owned()]),
        };
        let indexes = BTreeMap::from([("near".to_owned(), index)]);
        let mut face = BTreeMap::new();
        put(&indexes, &mut face);
        assert_eq!(read(&face), indexes);
        put(&BTreeMap::new(), &mut face);
        assert!(face.is_empty());
    }
}
