//! Resolves `#name` and `:value` by `ExpressionAttributeNames` and `ExpressionAttributeValues`.
//!
//! Invariant: every entry is used by some expression of the request, and every reference is
//! defined; either fault refuses the request.

use std::cell::Cell;
use std::collections::BTreeMap;

use shelfmark_model::{Path, Step, Value, value_size_bytes};

use super::ast::{RawPath, RawStep};
use super::{Kind, Problem, Refused};
use crate::errors::{Error, Result, texts};
use crate::json::Checked;
use crate::limits::{PLACEHOLDER_BYTES_MAX, PLACEHOLDERS_SIZE_BYTES_MAX, VALUE_DEPTH_MAX};
use crate::table::check_attribute_name;

const NAMES: &str = "ExpressionAttributeNames";
const VALUES: &str = "ExpressionAttributeValues";

/// The two maps of a request.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) names: Option<BTreeMap<String, String>>,
    pub(crate) values: Option<Checked<BTreeMap<String, Value>>>,
    /// True for an operation whose values the service's older layer looks at: an invalid value is named
    /// then.
    pub(crate) names_values: bool,
}

/// The two checked maps, and which entries were used.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    names: BTreeMap<String, Entry<String>>,
    values: BTreeMap<String, Entry<Value>>,
}

#[derive(Debug)]
struct Entry<T> {
    value: T,
    used: Cell<bool>,
}

impl<T> Entry<T> {
    const fn new(value: T) -> Self {
        Self { value, used: Cell::new(false) }
    }
}

impl Placeholders {
    /// Checks the maps of a request.
    ///
    /// `expressions` says of each expression that the operation knows whether it was given.
    pub(crate) fn check(given: Given, expressions: &[(Kind, bool)]) -> Result<Self> {
        if given.names.is_some() && !expressions.iter().any(|(_, given)| *given) {
            return Err(Error::validation(texts::NAMES_WITHOUT_EXPRESSION));
        }
        let with_values: Vec<(Kind, bool)> =
            expressions.iter().copied().filter(|(kind, _)| *kind != Kind::Projection).collect();
        if given.values.is_some() && !with_values.iter().any(|(_, given)| *given) {
            let is_read = |kind: Kind| !matches!(kind, Kind::Update | Kind::Condition);
            let named = with_values.iter().filter(|(kind, _)| is_read(*kind));
            let members: Vec<&str> = named.map(|(kind, _)| kind.member()).collect();
            return Err(Error::enveloped(texts::values_without_expression(&members)));
        }
        let names = given.names.map(check_names).transpose()?.unwrap_or_default();
        let checked = |values| check_values(values, given.names_values);
        let values = given.values.map(checked).transpose()?.unwrap_or_default();
        Ok(Self { names, values })
    }

    /// Creates the placeholders of a statement, whose values stand in its text: `:0`, `:1` and so on.
    pub(crate) fn of_values(values: Vec<(String, Value)>) -> Self {
        let values = values.into_iter().map(|(name, value)| (name, Entry::new(value)));
        Self { names: BTreeMap::new(), values: values.collect() }
    }

    /// Creates the placeholders of an expression that is looked at and not answered.
    pub(crate) fn unchecked(
        names: BTreeMap<String, String>,
        values: BTreeMap<String, Value>,
    ) -> Self {
        let names = names.into_iter().map(|(name, own)| (name, Entry::new(own)));
        let values = values.into_iter().map(|(name, value)| (name, Entry::new(value)));
        Self { names: names.collect(), values: values.collect() }
    }

    /// Refuses entries that no expression used.
    pub(crate) fn all_used(&self) -> Result<()> {
        let unused = unused(&self.names);
        if !unused.is_empty() {
            return Err(Error::enveloped(texts::map_unused(NAMES, &unused)));
        }
        let unused = self::unused(&self.values);
        if !unused.is_empty() {
            return Err(Error::validation(texts::map_unused(VALUES, &unused)));
        }
        Ok(())
    }

    /// Returns the name that `#name` stands for.
    pub(super) fn name(&self, reference: &str) -> Refused<&str> {
        let entry = self.names.get(reference);
        let entry = entry.ok_or_else(|| Problem::Other(texts::name_undefined(reference)))?;
        entry.used.set(true);
        Ok(&entry.value)
    }

    /// Returns the value that `:value` stands for.
    pub(super) fn value(&self, reference: &str) -> Refused<&Value> {
        let entry = self.values.get(reference);
        let entry =
            entry.ok_or_else(|| Problem::MissingValue(texts::value_undefined(reference)))?;
        entry.used.set(true);
        Ok(&entry.value)
    }

    /// Returns the path with its placeholders resolved.
    pub(super) fn path(&self, raw: &RawPath<'_>) -> Refused<Path> {
        if raw.len() > VALUE_DEPTH_MAX {
            return Err(Problem::Other(texts::path_too_deep(raw.len())));
        }
        let mut attribute = None;
        let mut steps = Vec::with_capacity(raw.len().saturating_sub(1));
        for step in raw {
            let name = match step {
                RawStep::Index(index) => {
                    steps.push(Step::Index(*index));
                    continue;
                }
                RawStep::Word(word) | RawStep::Exact(word) => (*word).to_owned(),
                RawStep::Name(reference) => self.name(reference)?.to_owned(),
            };
            match attribute {
                None => attribute = Some(name),
                Some(_) => steps.push(Step::Name(name)),
            }
        }
        Ok(Path { attribute: attribute.unwrap_or_default(), steps })
    }
}

fn unused<T>(entries: &BTreeMap<String, Entry<T>>) -> Vec<&str> {
    entries.iter().filter(|(_, entry)| !entry.used.get()).map(|(key, _)| key.as_str()).collect()
}

fn check_names(names: BTreeMap<String, String>) -> Result<BTreeMap<String, Entry<String>>> {
    check_keys(NAMES, '#', names.keys())?;
    let mut size = 0;
    for (key, name) in &names {
        check_attribute_name(name).map_err(|error| match error.enveloped {
            true => error,
            false => Error::validation(texts::map_value_invalid(NAMES, key, &error.message)),
        })?;
        size += key.len() + name.len();
    }
    check_size(NAMES, size)?;
    Ok(names.into_iter().map(|(key, name)| (key, Entry::new(name))).collect())
}

fn check_values(
    values: Checked<BTreeMap<String, Value>>,
    wraps: bool,
) -> Result<BTreeMap<String, Entry<Value>>> {
    check_keys(VALUES, ':', values.unchecked().keys())?;
    let values = values.checked_by_name().map_err(|problem| {
        let (key, error) = *problem;
        if !wraps {
            return error;
        }
        Error::validation(texts::map_value_invalid(VALUES, &key, &error.message))
    })?;
    let size = values.iter().map(|(key, value)| key.len() + value_size_bytes(value)).sum();
    check_size(VALUES, size)?;
    Ok(values.into_iter().map(|(key, value)| (key, Entry::new(value))).collect())
}

fn check_keys<'k>(
    map: &str,
    first: char,
    keys: impl ExactSizeIterator<Item = &'k String>,
) -> Result<()> {
    if keys.len() == 0 {
        return Err(Error::validation(texts::map_is_empty(map)));
    }
    for key in keys {
        let name = key.strip_prefix(first).unwrap_or_default();
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(Error::validation(texts::map_key_invalid(map, key)));
        }
        if key.len() > PLACEHOLDER_BYTES_MAX {
            return Err(Error::validation(texts::map_key_too_long(map)));
        }
    }
    Ok(())
}

fn check_size(map: &str, size: usize) -> Result<()> {
    if size > PLACEHOLDERS_SIZE_BYTES_MAX {
        return Err(Error::validation(texts::map_too_large(map)));
    }
    Ok(())
}
