//! Terms: what may stand where a value is wanted.

use crate::ast::{FunctionName, Name, NativeType, Type};
use crate::span::Span;

/// A value, or how to come by one.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A constant.
    Literal(Literal),
    /// `NULL`.
    Null,
    /// A bind marker, `?` or `:name`.
    Marker(Marker),
    /// `[a, b]`: a list, or a vector where the type is one.
    List(Vec<Term>),
    /// `{a, b}`. `{}` stands here too, although an empty map is written the same way.
    Set(Vec<Term>),
    /// `{k: v}` with at least one entry. Where every key is a plain name, it is a
    /// [`Term::UserType`] instead.
    Map(Vec<(Term, Term)>),
    /// `{field: value}` with at least one field.
    UserType(Vec<(Name, Term)>),
    /// `(a, b)`. With one element it is either a tuple of one or a term in parentheses: the
    /// expected type decides.
    Tuple(Vec<Term>),
    /// `f(a, b)`.
    Function {
        /// The function.
        name: FunctionName,
        /// Its arguments in order.
        arguments: Vec<Term>,
    },
    /// `a + b` and the other operators.
    Arithmetic {
        /// The operator.
        operator: ArithmeticOperator,
        /// The left operand.
        left: Box<Term>,
        /// The right operand.
        right: Box<Term>,
    },
    /// `- a` before anything but a number.
    Negate(Box<Term>),
    /// `(type) a`.
    TypeHint {
        /// The type that `term` is to be taken as.
        target: Type,
        /// The value.
        term: Box<Term>,
    },
    /// `CAST(a AS type)`.
    Cast {
        /// The value.
        term: Box<Term>,
        /// The type to convert it to.
        target: NativeType,
    },
}

/// A constant as it was written.
#[derive(Clone, Debug)]
pub struct Literal {
    /// The kind that the lexer took it for; the column's type says what it must become.
    pub kind: LiteralKind,
    /// The text: of a string what is between its quotes with doubled quotes reduced, of all
    /// others the characters as they were written (`NaN`, `Infinity` and `-Infinity` in this
    /// spelling).
    pub text: Box<str>,
    /// The place in the text.
    pub span: Span,
}

impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        self.kind == other.kind && self.text == other.text
    }
}

impl Eq for Literal {}

/// The kinds of constants that the lexer tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    /// `'text'` or `$$text$$`.
    String,
    /// Digits, perhaps with a minus sign.
    Integer,
    /// A number with a point or an exponent, `NaN`, `Infinity`, `-Infinity`.
    Float,
    /// `true` or `false`, in any case.
    Boolean,
    /// `1h30m`, `P1Y2M`, `P3W`, `P0001-02-03T04:05:06`.
    Duration,
    /// Thirty-two hexadecimal digits in five groups.
    Uuid,
    /// `0x` and hexadecimal digits; an odd number of them is refused only later.
    Hex,
}

/// A bind marker by its place among all markers of the statement, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Marker {
    /// Index into [`crate::ast::Parsed::markers`].
    pub index: usize,
}

/// A whole number or a marker, where the grammar takes nothing else: `LIMIT`, `TTL`, `TIMESTAMP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntegerValue {
    /// The digits as written, perhaps with a minus sign; of any length.
    Integer(Box<str>),
    /// A bind marker.
    Marker(Marker),
}

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithmeticOperator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

impl ArithmeticOperator {
    /// Returns the operator's character.
    #[must_use]
    pub fn symbol(self) -> char {
        match self {
            ArithmeticOperator::Add => '+',
            ArithmeticOperator::Subtract => '-',
            ArithmeticOperator::Multiply => '*',
            ArithmeticOperator::Divide => '/',
            ArithmeticOperator::Modulo => '%',
        }
    }

    /// Tells whether the operator binds as strongly as a multiplication.
    #[must_use]
    pub fn binds_tighter(self) -> bool {
        !matches!(self, ArithmeticOperator::Add | ArithmeticOperator::Subtract)
    }
}
