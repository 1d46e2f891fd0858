//! Conditions over an item, of conditional writes and of filters.
//!
//! An absent attribute has no value: comparing it is false, except "not equal", which is true. That
//! is DynamoDB's meaning, and CQL's conditions are translated into it.

mod evaluate;

use crate::path::Path;
use crate::value::{Value, ValueKind};

/// A comparison of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`: the same kind and the same value.
    Equal,
    /// `<>`: not `=`, also when an operand is absent.
    NotEqual,
    /// `<`: of one ordered kind and smaller.
    Less,
    /// `<=`: of one ordered kind and not larger.
    LessOrEqual,
    /// `>`: of one ordered kind and larger.
    Greater,
    /// `>=`: of one ordered kind and not smaller.
    GreaterOrEqual,
}

/// A value in a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// The value that the path leads to.
    Path(Path),
    /// A given value.
    Value(Value),
    /// The size of the value that the path leads to: units of a text in UTF-16, bytes of bytes, members of
    /// the rest. Source: captures of DynamoDB in a public suite, read 2026-11.
    Size(Path),
}

/// A condition over one item.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// All of these hold.
    And(Vec<Condition>),
    /// At least one of these holds.
    Or(Vec<Condition>),
    /// This does not hold.
    Not(Box<Condition>),
    /// The comparison holds.
    Compare(Comparison, Operand, Operand),
    /// The first lies between the others, both included.
    Between(Operand, Operand, Operand),
    /// The first equals one of the others.
    In(Operand, Vec<Operand>),
    /// The path leads somewhere.
    Exists(Path),
    /// The path leads nowhere.
    NotExists(Path),
    /// The path leads to a value of one of these kinds.
    KindIn(Path, Vec<ValueKind>),
    /// The path leads to a set whose members are of this kind.
    SetOf(Path, ValueKind),
    /// Text or bytes begin with the other.
    BeginsWith(Operand, Operand),
    /// Text or bytes have the other inside; a set or list has it as a member.
    Contains(Operand, Operand),
}

#[cfg(test)]
mod tests;
