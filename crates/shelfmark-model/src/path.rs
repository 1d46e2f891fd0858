//! A path into an item: `a.b[3].c`.

use std::fmt;

use crate::item::Item;
use crate::value::Value;

/// One step of a [`Path`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The member of a map.
    Name(String),
    /// The element of a list, counted from 0.
    Index(usize),
}

/// A path: an attribute's name, then steps into its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The attribute.
    pub attribute: String,
    /// The steps below it.
    pub steps: Vec<Step>,
}

impl Path {
    /// Creates the path of a whole attribute.
    #[must_use]
    pub fn attribute(name: impl Into<String>) -> Self {
        Self { attribute: name.into(), steps: Vec::new() }
    }

    /// Returns the value that the path leads to.
    #[must_use]
    pub fn find<'a>(&self, item: &'a Item) -> Option<&'a Value> {
        self.steps.iter().try_fold(item.get(&self.attribute)?, |value, step| match (value, step) {
            (Value::Map(map), Step::Name(name)) => map.get(name),
            (Value::List(list), Step::Index(index)) => list.get(*index),
            _ => None,
        })
    }

    /// Returns true if one path contains the other, or both are the same.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.attribute == other.attribute
            && self.steps.iter().zip(&other.steps).all(|(a, b)| a == b)
    }

    /// Returns true if the two paths use one place in contradictory ways: as a map and as a list.
    #[must_use]
    pub fn conflicts(&self, other: &Self) -> bool {
        self.attribute == other.attribute
            && self
                .steps
                .iter()
                .zip(&other.steps)
                .find(|(a, b)| a != b)
                .is_some_and(|(a, b)| matches!(a, Step::Name(_)) != matches!(b, Step::Name(_)))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.attribute)?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Name(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, "[{index}]"),
        })
    }
}
