//! An item: named values.

use crate::value::{Text, Value};

/// The attributes of one record, sorted by name.
///
/// A sorted vector: items are read far more often than changed, and mostly in the order of their
/// names, so most of them are one allocation that is filled from the front.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Item {
    attributes: Vec<(Text, Value)>,
}

/// An iterator over the attributes of an [`Item`] by name.
pub type Attributes<'a> = std::iter::Map<
    std::slice::Iter<'a, (Text, Value)>,
    fn(&'a (Text, Value)) -> (&'a Text, &'a Value),
>;

impl Item {
    /// Creates an item without attributes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        match self.attributes.last() {
            // The common case while an item is decoded.
            Some((last, _)) if last.as_str() < name => Err(self.attributes.len()),
            _ => self.attributes.binary_search_by(|(own, _)| own.as_str().cmp(name)),
        }
    }

    /// Creates an item without attributes, with capacity for some.
    #[must_use]
    pub fn with_capacity(attributes: usize) -> Self {
        Self { attributes: Vec::with_capacity(attributes) }
    }

    /// Returns the value of `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let place = self.place(name).ok()?;
        self.attributes.get(place).map(|(_, value)| value)
    }

    /// Returns the value of `name` for changing it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let place = self.place(name).ok()?;
        self.attributes.get_mut(place).map(|(_, value)| value)
    }

    /// Sets `name` and returns its old value.
    ///
    /// Cost: a shift of the attributes behind it when it is new; collect many at once instead.
    pub fn set(&mut self, name: impl Into<Text>, value: impl Into<Value>) -> Option<Value> {
        let (name, value) = (name.into(), value.into());
        match self.place(&name) {
            Ok(place) => {
                self.attributes.get_mut(place).map(|(_, own)| std::mem::replace(own, value))
            }
            Err(place) => {
                if place == self.attributes.len() {
                    self.attributes.push((name, value));
                } else {
                    self.attributes.insert(place, (name, value));
                }
                None
            }
        }
    }

    /// Appends an attribute whose name must be greater than all others, without checking. An item
    /// that breaks this answers wrongly; use [`Item::set`] where it is not certain.
    pub fn push_greater(&mut self, name: Text, value: Value) {
        debug_assert!(self.attributes.last().is_none_or(|(last, _)| *last < name), "out of order");
        self.attributes.push((name, value));
    }

    /// Sets `name` and returns the item, to build one in an expression.
    #[must_use]
    pub fn with(mut self, name: impl Into<Text>, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Removes `name` and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let place = self.place(name).ok()?;
        Some(self.attributes.remove(place).1)
    }

    /// Returns the number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Returns true if there are no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }

    /// Iterates over the attributes by name.
    pub fn iter(&self) -> Attributes<'_> {
        self.attributes.iter().map(|(name, value)| (name, value))
    }
}

impl<N: Into<Text>> FromIterator<(N, Value)> for Item {
    fn from_iter<T: IntoIterator<Item = (N, Value)>>(attributes: T) -> Self {
        // Sorted once: attributes from outside may come in the worst order for one insert each.
        let mut attributes: Vec<(Text, Value)> =
            attributes.into_iter().map(|(name, value)| (name.into(), value)).collect();
        attributes.sort_by(|(a, _), (b, _)| a.cmp(b));
        // Of one name the last value stays, as if each had been set.
        attributes.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        Self { attributes }
    }
}

impl IntoIterator for Item {
    type Item = (Text, Value);
    type IntoIter = std::vec::IntoIter<(Text, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.attributes.into_iter()
    }
}

impl<'a> IntoIterator for &'a Item {
    type Item = (&'a Text, &'a Value);
    type IntoIter = Attributes<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_sorted_and_the_last_of_a_name_stays() {
        let pairs = [("b", 1), ("a", 2), ("b", 3), ("c", 4), ("a", 5)];
        let collected: Item =
            pairs.iter().map(|(name, n)| (Text::from(*name), Value::Int(*n))).collect();
        let mut set = Item::new();
        for (name, n) in pairs {
            set.set(name, n);
        }
        assert_eq!(collected, set);
        let names: Vec<&Text> = set.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(set.get("b"), Some(&Value::Int(3)));
        assert_eq!(set.remove("a"), Some(Value::Int(5)));
        assert_eq!((set.get("a"), set.len()), (None, 2));
    }
}
