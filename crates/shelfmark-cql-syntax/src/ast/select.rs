//! `SELECT`.

use crate::ast::{
    ArithmeticOperator, Direction, FunctionName, IntegerValue, Literal, Marker, Name, NativeType,
    QualifiedName, Relation, Term, Type,
};

/// `SELECT … FROM table …`
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// `JSON`
    pub json: bool,
    /// `DISTINCT`
    pub distinct: bool,
    /// The select clause.
    pub selection: SelectClause,
    /// The table or view.
    pub table: QualifiedName,
    /// The `WHERE`; none when empty.
    pub relations: Vec<Relation>,
    /// `GROUP BY`
    pub group_by: Vec<Selector>,
    /// `ORDER BY`
    pub order_by: Vec<Ordering>,
    /// `PER PARTITION LIMIT`
    pub per_partition_limit: Option<IntegerValue>,
    /// `LIMIT`
    pub limit: Option<IntegerValue>,
    /// `ALLOW FILTERING`
    pub allow_filtering: bool,
}

/// A select clause: the items between `SELECT` and `FROM`.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectClause {
    /// `*`
    All,
    /// A list; at least one.
    Items(Vec<SelectedItem>),
}

/// One selected thing.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectedItem {
    /// Its kind.
    pub selector: Selector,
    /// `AS alias`
    pub alias: Option<Name>,
}

/// An expression that can be selected or grouped by.
#[derive(Clone, Debug, PartialEq)]
pub enum Selector {
    /// A column.
    Column(Name),
    /// A constant.
    Literal(Literal),
    /// `NULL`
    Null,
    /// A bind marker.
    Marker(Marker),
    /// `COUNT(*)`
    CountRows,
    /// `WRITETIME(c)`, `MAXWRITETIME(c)`, `TTL(c)`, perhaps of an element, a slice or a field.
    Metadata {
        /// The property.
        kind: WriteMetadata,
        /// A [`Selector::Column`], or elements, slices and fields of one.
        of: Box<Selector>,
    },
    /// `CAST(s AS type)`
    Cast {
        /// The selector that is converted.
        selector: Box<Selector>,
        /// To what.
        target: NativeType,
    },
    /// `f(a, b)`
    Function {
        /// The function.
        name: FunctionName,
        /// Its arguments.
        arguments: Vec<Selector>,
    },
    /// `s[key]`
    Element {
        /// The collection.
        of: Box<Selector>,
        /// The key, or the element of a set.
        key: Term,
    },
    /// `s[from..to]`; one end may be missing.
    Slice {
        /// The collection.
        of: Box<Selector>,
        /// The first key, included.
        from: Option<Term>,
        /// The last key, included.
        to: Option<Term>,
    },
    /// `s.field`
    Field {
        /// The value of a user type.
        of: Box<Selector>,
        /// The field.
        field: Name,
    },
    /// `(type) s`
    TypeHint {
        /// The type that `selector` is to be taken as.
        target: Type,
        /// The value.
        selector: Box<Selector>,
    },
    /// `(a, b)`. With one element it is a selector in parentheses.
    Tuple(Vec<Selector>),
    /// `[a, b]`: a list or a vector.
    List(Vec<Selector>),
    /// `{a, b}`, `{}` included.
    Set(Vec<Selector>),
    /// `{k: v}` with at least one entry: a map, or a value of a user type whose fields stand as
    /// columns.
    MapOrUserType(Vec<(Selector, Selector)>),
    /// `a + b` and the other operators.
    Arithmetic {
        /// The operator.
        operator: ArithmeticOperator,
        /// The left operand.
        left: Box<Selector>,
        /// The right operand.
        right: Box<Selector>,
    },
    /// `- s`
    Negate(Box<Selector>),
}

/// A property of a cell beside its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteMetadata {
    /// `WRITETIME`
    WriteTime,
    /// `MAXWRITETIME`
    MaxWriteTime,
    /// `TTL`
    Ttl,
}

impl WriteMetadata {
    /// Returns the function's name in lower case, as result columns carry it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WriteMetadata::WriteTime => "writetime",
            WriteMetadata::MaxWriteTime => "maxwritetime",
            WriteMetadata::Ttl => "ttl",
        }
    }
}

/// One part of an `ORDER BY`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordering {
    /// The column.
    pub column: Name,
    /// `ANN OF term`: by nearness to a vector.
    pub ann_of: Option<Term>,
    /// Ascending unless said otherwise.
    pub direction: Direction,
}
