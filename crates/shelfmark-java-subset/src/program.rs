//! A body that was checked, as a tree that is run.
//!
//! What it is not: bound to a thread; it holds nothing that changes.
//!
//! Invariant: operands have the types that their operator needs: every conversion is a node.

use std::sync::Arc;

use crate::data_type::DataType;
use crate::library::{ClassId, Method};

/// A function that can be called.
#[derive(Debug, Clone)]
pub struct Program {
    pub(crate) parameters: Vec<(String, DataType)>,
    pub(crate) returns: DataType,
    /// The number of variables, parameters first.
    pub(crate) locals: usize,
    pub(crate) body: Vec<Step>,
}

/// A value that is written down.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Constant {
    Null,
    Boolean(bool),
    Byte(i8),
    Short(i16),
    Char(u16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Text(Arc<[u16]>),
}

/// The primitive types, where values are converted and computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Primitive {
    Boolean,
    Byte,
    Short,
    Char,
    Int,
    Long,
    Float,
    Double,
}

/// A type that a value can be asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    Class(ClassId),
    Array,
}

/// A place that is written.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Local(usize),
    Element(Box<Code>, Box<Code>),
}

/// An expression.
#[derive(Debug, Clone)]
pub(crate) enum Code {
    Constant(Constant),
    Local(usize),
    Element(Box<Code>, Box<Code>),
    Set(Place, Box<Code>),
    /// Writes a value made of the old one; true if the old one is its value.
    Update(Place, Box<Code>, bool),
    /// The old value, inside an update.
    Old,
    Negate(Primitive, Box<Code>),
    Invert(Primitive, Box<Code>),
    Not(Box<Code>),
    Arithmetic(&'static str, Primitive, Box<Code>, Box<Code>),
    Compare(&'static str, Primitive, Box<Code>, Box<Code>),
    /// Compares two references; true if it asks whether they are the same.
    Same(bool, Box<Code>, Box<Code>),
    And(Box<Code>, Box<Code>),
    Or(Box<Code>, Box<Code>),
    Conditional(Box<Code>, Box<Code>, Box<Code>),
    Concat(Vec<Code>),
    Convert(Primitive, Box<Code>),
    /// Takes the value out of its box; the text says why it is null if it is.
    Unbox(Box<Code>, Arc<str>),
    Cast(Asked, Box<Code>),
    InstanceOf(Box<Code>, Asked),
    Call(Box<Call>),
    New(ClassId, Vec<Code>),
    /// An array of so many values.
    NewArray(Constant, Box<Code>),
    ArrayOf(Vec<Code>),
    Length(Box<Code>, Arc<str>),
    Class(ClassId),
    Context,
}

/// A call of a method.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) class: ClassId,
    pub(crate) method: &'static Method,
    /// The object; none for a static method.
    pub(crate) receiver: Option<Code>,
    pub(crate) arguments: Vec<Code>,
    /// The text of the error where the object is null.
    pub(crate) null: Arc<str>,
}

/// A `catch`: classes, the place of the exception, and what it does.
#[derive(Debug, Clone)]
pub(crate) struct Handler {
    pub(crate) classes: Vec<ClassId>,
    pub(crate) local: usize,
    pub(crate) body: Vec<Step>,
}

/// The number of a statement that can be left.
pub(crate) type Label = usize;

/// A statement.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Block(Vec<Step>),
    Do(Code),
    If(Code, Vec<Step>, Vec<Step>),
    Loop(Box<Loop>),
    ForEach { label: Label, local: usize, all: Code, value: Code, body: Vec<Step> },
    Switch { label: Label, subject: Code, groups: Vec<(Vec<Option<Constant>>, Vec<Step>)> },
    Labelled(Label, Vec<Step>),
    Return(Code),
    Throw(Code),
    Try(Vec<Step>, Vec<Handler>, Vec<Step>),
    Break(Label),
    Continue(Label),
}

/// A loop with a condition.
#[derive(Debug, Clone)]
pub(crate) struct Loop {
    pub(crate) label: Label,
    /// Holds before each round; none is always true.
    pub(crate) condition: Option<Code>,
    /// True if the first round needs no condition.
    pub(crate) runs_first: bool,
    pub(crate) steps: Vec<Code>,
    pub(crate) body: Vec<Step>,
}
