//! The syntax tree of statements: nothing resolved, nothing checked but the grammar.

use super::lexer::Place;
use super::words::TypeName;

/// An expression, and the place of its token: of an operator if it has one, else of its first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub(super) place: Place,
    pub(super) kind: ExprKind,
}

/// The kind of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExprKind {
    Text(String),
    /// A number as it is written.
    Number(String),
    Bool(bool),
    Null,
    Missing,
    /// `?`, by its position among those of the statement, from 0.
    Parameter(usize),
    List(Vec<Expr>),
    /// `<< … >>`.
    Bag(Vec<Expr>),
    Struct(Vec<(Expr, Expr)>),
    /// A document path; never empty, and its first step is a name.
    Path(Vec<Step>),
    /// A call, by the name of the function in small letters.
    Call(String, Vec<Expr>),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// BETWEEN: a value and its two bounds.
    Between(Box<[Expr; 3]>),
    In(Box<Expr>, Box<Expr>),
    Is(Box<Expr>, TypeName),
    /// A statement in parentheses or alone.
    Statement(Box<Statement>),
    /// LIKE, of which nothing is kept.
    Like,
    /// A sign before what is no number: the sign, and what it stands before.
    Signed(char, Box<Expr>),
    /// Something of the grammar that DynamoDB does not support, by the name of its node.
    Other(&'static str),
}

/// A step of a document path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Name(String),
    Index(usize),
    /// An index that is negative or too large, and where it stands.
    Beyond(String, Place),
    /// `*`.
    Star,
    /// A step that nothing has, and where it stands.
    Other(Place),
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    /// Something that DynamoDB does not support, by the name of its node.
    Times,
    Divide,
    Modulo,
    Concat,
    /// `UNION` and the like, by the name of its node.
    Set(&'static str),
}

/// A whole statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statement {
    Select(Select),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    /// `EXISTS(SELECT …)`, a condition of a transaction.
    Exists(Select),
    /// Something that is no operation, by the name of its node.
    Other(&'static str),
}

/// A SELECT.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Select {
    /// The projection; `None` for `*`.
    pub(super) items: Option<Vec<SelectItem>>,
    pub(super) source: Source,
    pub(crate) filter: Option<Expr>,
    pub(crate) order: Vec<OrderBy>,
    /// The text about the first clause that DynamoDB does not support.
    pub(super) fault: Option<String>,
}

/// An element of a projection.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SelectItem {
    pub(super) expr: Expr,
    pub(super) is_aliased: bool,
}

/// An element of ORDER BY.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OrderBy {
    pub(super) expr: Expr,
    pub(crate) descending: bool,
}

/// The table of a statement, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Source {
    /// The names; `None` if it is no path of names.
    pub(super) names: Option<Vec<String>>,
    pub(super) is_aliased: bool,
    /// True if it is a path with an index of a list.
    pub(super) is_indexed: bool,
}

/// The table of a statement, and its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) table: String,
    pub(crate) index: Option<String>,
}

/// An INSERT.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Insert {
    pub(super) source: Source,
    pub(crate) value: Expr,
    pub(super) has_returning: bool,
    /// A clause that DynamoDB does not support.
    pub(super) clause: Option<&'static str>,
}

/// An UPDATE.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Update {
    pub(super) source: Source,
    pub(super) changes: Vec<Change>,
    pub(crate) filter: Option<Expr>,
    pub(crate) returning: Option<Returning>,
}

/// One change of an UPDATE.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    Set(Vec<Step>, Expr),
    Remove(Vec<Step>),
}

/// A DELETE.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Delete {
    pub(super) source: Source,
    pub(crate) filter: Option<Expr>,
    pub(crate) returning: Option<Returning>,
}

/// The image that RETURNING asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Image {
    AllOld,
    AllNew,
    ModifiedOld,
    ModifiedNew,
}

/// A RETURNING clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Returning {
    pub(crate) image: Image,
    /// True for `*`, which is all that DynamoDB supports.
    pub(super) is_of_all: bool,
    /// True if it is the only element.
    pub(super) is_one: bool,
}

impl Image {
    /// Returns the keywords.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::AllOld => "ALL OLD",
            Self::AllNew => "ALL NEW",
            Self::ModifiedOld => "MODIFIED OLD",
            Self::ModifiedNew => "MODIFIED NEW",
        }
    }
}

impl Binary {
    /// Returns the operator as it is written; the node's name for operators of sets.
    pub(super) const fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Concat => "||",
            Self::Set(name) => name,
        }
    }
}
