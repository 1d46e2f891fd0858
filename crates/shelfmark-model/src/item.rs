//! An item: named values.

use std::collections::BTreeMap;
use std::collections::btree_map;

use crate::value::Value;

/// The attributes of one record, sorted by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Item {
    attributes: BTreeMap<String, Value>,
}

impl Item {
    /// Creates an item without attributes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.attributes.get(name)
    }

    /// Returns the value of `name` to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.attributes.get_mut(name)
    }

    /// Sets `name` and returns what it was.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.attributes.insert(name.into(), value.into())
    }

    /// Sets `name` and returns the item, for building one in an expression.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Removes `name` and returns what it was.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.attributes.remove(name)
    }

    /// Returns how many attributes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Tells whether there are no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }

    /// Walks over the attributes by name.
    pub fn iter(&self) -> btree_map::Iter<'_, String, Value> {
        self.attributes.iter()
    }
}

impl FromIterator<(String, Value)> for Item {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(attributes: T) -> Self {
        Self { attributes: attributes.into_iter().collect() }
    }
}

impl IntoIterator for Item {
    type Item = (String, Value);
    type IntoIter = btree_map::IntoIter<String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.attributes.into_iter()
    }
}

impl<'a> IntoIterator for &'a Item {
    type Item = (&'a String, &'a Value);
    type IntoIter = btree_map::Iter<'a, String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.attributes.iter()
    }
}
