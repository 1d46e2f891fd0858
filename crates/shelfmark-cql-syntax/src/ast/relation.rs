//! Relations: the parts of a `WHERE`.

use crate::ast::{Marker, Name, QualifiedName, Term};

/// One restriction of a `WHERE`; all of them hold together.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// `c = 1`, and with every other operator, `LIKE`, `CONTAINS` and `CONTAINS KEY` included.
    Column {
        /// The column.
        column: Name,
        /// The operator.
        operator: Operator,
        /// The value that the column is compared with.
        value: Term,
    },
    /// `c IN (1, 2)` or `c IN ?`.
    In {
        /// The column.
        column: Name,
        /// The values.
        values: InValues,
    },
    /// `c IS NOT NULL`; views alone take it.
    IsNotNull {
        /// The column.
        column: Name,
    },
    /// `m['k'] = 1`.
    Element {
        /// The map.
        column: Name,
        /// The key.
        key: Term,
        /// One of the six comparisons.
        operator: Operator,
        /// The value that the element is compared with.
        value: Term,
    },
    /// `token(a, b) > 1`.
    Token {
        /// The columns, as written.
        columns: Vec<Name>,
        /// One of the six comparisons.
        operator: Operator,
        /// The value that the token is compared with.
        value: Term,
    },
    /// `(a, b) > (1, 2)` or `(a, b) > ?`.
    Tuple {
        /// The columns, as written.
        columns: Vec<Name>,
        /// One of the six comparisons.
        operator: Operator,
        /// A [`Term::Tuple`] or a [`Term::Marker`].
        value: Term,
    },
    /// `(a, b) IN ((1, 2), (3, 4))`, with a marker for each tuple or for all of them.
    TupleIn {
        /// The columns, as written.
        columns: Vec<Name>,
        /// The tuples; each a [`Term::Tuple`] or a [`Term::Marker`].
        values: InValues,
    },
    /// `expr(index, 'text')`: an expression in the language of a custom index.
    Custom {
        /// The index.
        index: QualifiedName,
        /// The expression that is handed to it.
        expression: Term,
    },
}

/// The values right of `IN`.
#[derive(Clone, Debug, PartialEq)]
pub enum InValues {
    /// The values, none included.
    List(Vec<Term>),
    /// One marker for all values.
    Marker(Marker),
}

/// An operator of a relation or a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `CONTAINS`
    Contains,
    /// `CONTAINS KEY`
    ContainsKey,
    /// `LIKE`
    Like,
}

impl Operator {
    /// Returns the operator as CQL writes it.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Contains => "CONTAINS",
            Operator::ContainsKey => "CONTAINS KEY",
            Operator::Like => "LIKE",
        }
    }
}
