//! The attributes of an entity: values by name, in order.

use std::collections::{BTreeMap, btree_map};

use shelfmark_model::Item;

use super::Attribute;

/// Attributes by name; of several with one name the last counts.
///
/// # Examples
///
/// ```
/// use shelfmark_typed::{Attribute, Attributes};
///
/// let mut chat = Attributes::new().with("name", "Books").with("members", 2);
/// chat.set("allowed", Attribute::array(["alice", "bob"]));
/// assert_eq!(chat.int("members"), Some(2));
/// assert_eq!(chat.names().collect::<Vec<_>>(), ["allowed", "members", "name"]);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attributes {
    by_name: BTreeMap<String, Attribute>,
}

impl Attributes {
    /// Creates an empty set of attributes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets one attribute and returns the set, to build it in an expression.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Attribute>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets one attribute and returns its old value.
    pub fn set(
        &mut self,
        name: impl Into<String>,
        value: impl Into<Attribute>,
    ) -> Option<Attribute> {
        self.by_name.insert(name.into(), value.into())
    }

    /// Sets all of `others`, which replace attributes of the same name.
    pub fn merge(&mut self, others: Self) {
        self.by_name.extend(others.by_name);
    }

    /// Removes one attribute and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        self.by_name.remove(name)
    }

    /// Returns the value of an attribute.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.by_name.get(name)
    }

    /// Returns the value of a text attribute.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_text()
    }

    /// Returns the value of an integer attribute, if it fits.
    #[must_use]
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_int()
    }

    /// Returns the number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Returns true if there are no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Iterates over the names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Iterates over names and values, in the order of names.
    pub fn iter(&self) -> btree_map::Iter<'_, String, Attribute> {
        self.by_name.iter()
    }

    pub(super) fn into_item(self) -> Item {
        self.by_name.into_iter().map(|(name, value)| (name, value.into())).collect()
    }
}

impl<N: Into<String>, V: Into<Attribute>> FromIterator<(N, V)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(attributes: I) -> Self {
        let by_name = attributes.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { by_name: by_name.collect() }
    }
}

impl<N: Into<String>, V: Into<Attribute>, const COUNT: usize> From<[(N, V); COUNT]> for Attributes {
    fn from(attributes: [(N, V); COUNT]) -> Self {
        attributes.into_iter().collect()
    }
}

impl IntoIterator for Attributes {
    type Item = (String, Attribute);
    type IntoIter = btree_map::IntoIter<String, Attribute>;

    fn into_iter(self) -> Self::IntoIter {
        self.by_name.into_iter()
    }
}

impl<'a> IntoIterator for &'a Attributes {
    type Item = (&'a String, &'a Attribute);
    type IntoIter = btree_map::Iter<'a, String, Attribute>;

    fn into_iter(self) -> Self::IntoIter {
        self.by_name.iter()
    }
}
