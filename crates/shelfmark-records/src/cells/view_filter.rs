//! Decides which rows of a base are in a view, by their keys.
//!
//! Invariant: values are compared in the order of their type, whatever direction the table has.

use bytes::Bytes;
use shelfmark_keycode::Direction;
use shelfmark_model::{KeyType, TableSchema, ViewComparison, ViewPart, ViewTest};

use super::clustering::{ClusteringValue, put_raw};
use super::keys::Packs;

/// One test of a view, with its values as ordered bytes.
#[derive(Debug)]
pub struct ViewFilter {
    parts: Vec<(ViewPart, KeyType)>,
    comparison: ViewComparison,
    /// Values that are none of their type are left out: nothing equals them.
    values: Vec<Vec<u8>>,
}

impl ViewFilter {
    /// Works out the tests of a view; there are none of another table.
    pub fn all(schema: &TableSchema) -> Vec<Self> {
        let view = schema.cells.as_ref().and_then(|cells| cells.view_of.as_ref());
        let Some(view) = view else { return Vec::new() };
        // A view's key has every column of its base's, so their types are known here.
        let key_type = |part: &ViewPart| {
            let partition = view.partition.iter().position(|own| own == part);
            let sort = view.sort.iter().position(|own| own == part);
            match (partition, sort) {
                (Some(at), _) => {
                    let column = schema.partition.get(at)?;
                    Some(KeyType::Kinded(Box::new(column.key_type.clone())))
                }
                (None, Some(at)) => Some(schema.sort.get(at)?.key_type.clone()),
                (None, None) => None,
            }
        };
        view.tests.iter().map(|test| Self::of(test, &key_type)).collect()
    }

    fn of(test: &ViewTest, key_type: &dyn Fn(&ViewPart) -> Option<KeyType>) -> Self {
        let parts: Option<Vec<(ViewPart, KeyType)>> =
            test.parts.iter().map(|part| Some((*part, key_type(part)?))).collect();
        // A test of what is no key is passed by nothing.
        let Some(parts) = parts else {
            let (parts, values) = (Vec::new(), Vec::new());
            return Self { parts, comparison: ViewComparison::Among, values };
        };
        let encode = |tuple: &Vec<Bytes>| {
            let values = parts.iter().map(|(_, ty)| ty).zip(tuple.iter().map(|own| &own[..]));
            ordered(values).filter(|_| tuple.len() == parts.len())
        };
        let values = test.values.iter().filter_map(encode).collect();
        Self { parts, comparison: test.comparison, values }
    }

    /// Returns true if a row of the base passes; its key is given by its components.
    pub(crate) fn passes(&self, partition: &[Bytes], clustering: &[ClusteringValue]) -> bool {
        let values: Option<Vec<(&KeyType, &[u8])>> = self
            .parts
            .iter()
            .map(|(part, key_type)| {
                let value = match part {
                    ViewPart::PartitionColumn(at) => partition.get(*at as usize),
                    ViewPart::SortColumn(at) => {
                        clustering.get(*at as usize).and_then(Option::as_ref)
                    }
                    ViewPart::Column(_) => None,
                };
                Some((key_type, value?.as_ref()))
            })
            .collect();
        let Some(own) = values.and_then(|values| ordered(values.into_iter())) else { return false };
        let bound = self.values.first();
        match self.comparison {
            ViewComparison::Among => self.values.contains(&own),
            ViewComparison::Below => bound.is_some_and(|bound| own < *bound),
            ViewComparison::UpTo => bound.is_some_and(|bound| own <= *bound),
            ViewComparison::Above => bound.is_some_and(|bound| own > *bound),
            ViewComparison::From => bound.is_some_and(|bound| own >= *bound),
        }
    }
}

/// Returns bytes that compare as the tuple of the values does.
fn ordered<'v>(values: impl Iterator<Item = (&'v KeyType, &'v [u8])>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for (key_type, value) in values {
        put_raw(key_type, Direction::Ascending, Some(value), Packs(false), &mut out).ok()?;
    }
    Some(out)
}
