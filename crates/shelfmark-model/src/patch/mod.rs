//! Patches: typed operations on paths of one item, all of which read the item as it was before.

mod apply;

use crate::condition::Operand;
use crate::path::Path;
use crate::value::Value;

/// Changes to one item.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Patch {
    /// The operations; no path overlaps another.
    pub operations: Vec<PatchOperation>,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum PatchOperation {
    /// Sets the value that the path leads to, or appends to a list if the path points past its end.
    Set(Path, PatchValue),
    /// Removes the value that the path leads to; later list elements move up.
    Remove(Path),
    /// Adds to a number (absent = 0) or joins a set (absent = empty).
    Add(Path, Value),
    /// Removes members of a set; an emptied set goes away.
    Subtract(Path, Value),
}

/// The right-hand side of a [`PatchOperation::Set`].
#[derive(Debug, Clone, PartialEq)]
pub enum PatchValue {
    /// A value, or the value that a path leads to.
    Operand(Operand),
    /// The sum of two numbers.
    Plus(Box<PatchValue>, Box<PatchValue>),
    /// The difference of two numbers.
    Minus(Box<PatchValue>, Box<PatchValue>),
    /// Two lists, one after the other.
    ListAppend(Box<PatchValue>, Box<PatchValue>),
    /// The value that the path leads to, or else the other.
    IfNotExists(Path, Box<PatchValue>),
}

impl PatchValue {
    /// Creates a given value.
    #[must_use]
    pub fn value(value: impl Into<Value>) -> Self {
        Self::Operand(Operand::Value(value.into()))
    }
}

/// The reason why a patch does not fit the item, which is unchanged then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchProblem {
    /// A right-hand side names an attribute that the item does not have.
    MissingOperand(Path),
    /// A path leads through something that is no map or list, or is absent.
    PathInvalid(Path),
    /// An operand has the wrong kind for the operation.
    WrongKind(Path),
    /// The result of an addition has too many digits or is out of range.
    NumberOutOfRange(Path),
    /// A right-hand side is nested too deep.
    TooDeep(Path),
}

impl Patch {
    /// Creates a patch that sets one attribute.
    #[must_use]
    pub fn set(attribute: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::default().and_set(attribute, value)
    }

    /// Adds the operation that sets this attribute.
    #[must_use]
    pub fn and_set(mut self, attribute: impl Into<String>, value: impl Into<Value>) -> Self {
        self.operations
            .push(PatchOperation::Set(Path::attribute(attribute), PatchValue::value(value)));
        self
    }

    /// Adds the operation that removes this attribute.
    #[must_use]
    pub fn and_remove(mut self, attribute: impl Into<String>) -> Self {
        self.operations.push(PatchOperation::Remove(Path::attribute(attribute)));
        self
    }
}

impl PatchOperation {
    /// Returns the path that the operation changes.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Set(path, _)
            | Self::Remove(path)
            | Self::Add(path, _)
            | Self::Subtract(path, _) => path,
        }
    }
}

#[cfg(test)]
mod tests;
