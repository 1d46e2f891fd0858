//! The values of vectors: what of an item or a search is one, and why the rest is refused.
//!
//! Source of the order in which they are looked at: a public suite that records the service's answers,
//! read 2026-11. By the names of the indexes; of each the vector, then its search schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_engine::{ItemCheck, ItemChecks, Table};
use shelfmark_model::{
    Decimal, Item, Operand, Patch, PatchOperation, PatchValue, TableSchema, Value,
};

use super::vectors::{SearchAttribute, VectorIndex, vector_indexes};
use crate::errors::{Error, Result, texts, type_name};

/// The reason why a value is no vector.
pub(super) enum Fault<'v> {
    NoList,
    /// The element at this position is no number.
    Element(usize, &'v Value),
    /// No float of 32 bits can hold it.
    Range(usize, &'v Decimal),
}

/// Reads a list of numbers as floats of 32 bits.
pub(super) fn vector(value: &Value) -> std::result::Result<Vec<f32>, Fault<'_>> {
    let Value::List(list) = value else { return Err(Fault::NoList) };
    list.iter().enumerate().map(|(position, value)| element(position, value)).collect()
}

fn element(position: usize, value: &Value) -> std::result::Result<f32, Fault<'_>> {
    let Value::Number(number) = value else { return Err(Fault::Element(position, value)) };
    match number.to_string().parse::<f32>() {
        Ok(float) if float.is_finite() => Ok(float),
        _ => Err(Fault::Range(position, number)),
    }
}

/// Reads the vector of a search.
///
/// # Errors
///
/// * ValidationException: an element is no number, or their count is not that of the index.
pub(crate) fn search_vector(values: Vec<Value>, dimensions: usize) -> Result<Vec<f32>> {
    let value = Value::List(values);
    let vector = vector(&value).map_err(|_| Error::validation(texts::SEARCH_VECTOR_INVALID))?;
    if vector.len() != dimensions {
        return Err(Error::validation(texts::search_dimensions(dimensions, vector.len())));
    }
    Ok(vector)
}

/// Returns a vector as an index keeps it.
pub(crate) fn as_kept(value: Value) -> Value {
    match vector(&value) {
        Ok(floats) => Value::List(floats.into_iter().map(Value::Float32).collect()),
        Err(_) => value,
    }
}

/// Refuses an item that does not fit the vector indexes of its table.
pub(super) fn check_item(table: &Table, item: &Item) -> Result<()> {
    check_attributes(&vector_indexes(&table.schema), |attribute| item.get(attribute))
}

/// Refuses values of attributes that do not fit the vector indexes of a table.
fn check_attributes<'i>(
    indexes: &BTreeMap<String, VectorIndex>,
    written: impl Fn(&str) -> Option<&'i Value>,
) -> Result<()> {
    indexes.iter().try_for_each(|(name, index)| {
        if let Some(value) = written(&index.attribute) {
            check_vector(name, index, value)?;
        }
        index.schema.iter().try_for_each(|own| match written(&own.name) {
            Some(value) => check_searched(name, own, value, false),
            None => Ok(()),
        })
    })
}

/// Knows what the vector indexes of DynamoDB's tables take, for faces that write items there.
#[derive(Debug, Clone, Copy, Default)]
pub struct VectorIndexChecks;

impl ItemChecks for VectorIndexChecks {
    fn of_table(&self, schema: &TableSchema) -> Option<Arc<dyn ItemCheck>> {
        let indexes = vector_indexes(schema);
        if indexes.is_empty() {
            return None;
        }
        Some(Arc::new(VectorIndexCheck(indexes)))
    }
}

/// The vector indexes of one table.
#[derive(Debug)]
struct VectorIndexCheck(BTreeMap<String, VectorIndex>);

impl ItemCheck for VectorIndexCheck {
    fn check(&self, before: Option<&Item>, after: &Item) -> std::result::Result<(), String> {
        let written = |attribute: &str| {
            let value = after.get(attribute)?;
            (before.and_then(|item| item.get(attribute)) != Some(value)).then_some(value)
        };
        check_attributes(&self.0, written).map_err(|error| error.message)
    }
}

/// Refuses an update that puts what does not fit.
pub(super) fn check_patch(table: &Table, patch: &Patch) -> Result<()> {
    vector_indexes(&table.schema).iter().try_for_each(|(name, index)| {
        patch.operations.iter().try_for_each(|operation| {
            let PatchOperation::Set(path, PatchValue::Operand(Operand::Value(value))) = operation
            else {
                return Ok(());
            };
            if !path.steps.is_empty() {
                return Ok(());
            }
            if path.attribute == index.attribute {
                check_vector(name, index, value)?;
            }
            match index.schema.iter().find(|own| own.name == path.attribute) {
                Some(own) => check_searched(name, own, value, true),
                None => Ok(()),
            }
        })
    })
}

fn check_vector(name: &str, index: &VectorIndex, value: &Value) -> Result<()> {
    let attribute = &index.attribute;
    let text = match vector(value) {
        Ok(vector) if vector.len() == index.dimensions => return Ok(()),
        Ok(vector) => texts::vector_size(attribute, index.dimensions, vector.len(), name),
        Err(Fault::NoList) => texts::vector_type(attribute, name),
        Err(Fault::Element(position, value)) => {
            texts::vector_element(attribute, position, type_name(value), name)
        }
        Err(Fault::Range(position, number)) => {
            texts::vector_element_range(attribute, position, &scientific(number), name)
        }
    };
    Err(Error::validation(text))
}

/// Refuses a value of a search schema's attribute: of another type, or empty where it is the partition
/// key.
fn check_searched(name: &str, own: &SearchAttribute, value: &Value, updated: bool) -> Result<()> {
    let actual = type_name(value);
    if actual != own.letter {
        let text = texts::searched_type(&own.name, &own.letter, actual, name);
        return Err(Error::validation(text));
    }
    if !own.is_hash || !super::keys::is_empty(value) {
        return Ok(());
    }
    Err(Error::whole(match updated {
        true => texts::updated_index_key_is_empty(actual),
        false => texts::index_key_is_empty(&own.name, actual, name),
    }))
}

/// Writes a large number as the service shows it: `3.5E+38`.
fn scientific(number: &Decimal) -> String {
    let digits = number.normalized().unscaled().to_string();
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits.as_str()),
    };
    let (first, others) = digits.split_at_checked(1).unwrap_or((digits, ""));
    let point = if others.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{others}E{:+}", number.magnitude().exponent)
}
