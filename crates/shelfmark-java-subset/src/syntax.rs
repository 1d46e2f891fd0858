//! The syntax tree of a body.
//!
//! What it is not: typed. Names may stand for variables, packages or classes; the check decides.
//!
//! Invariant: no tree is deeper than [`DEPTH_MAX`](crate::limits::DEPTH_MAX) lets the parser go.

/// A type as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypeName {
    pub(crate) line: u32,
    /// The name, with its packages.
    pub(crate) name: String,
    /// Its arguments; of a diamond an empty list.
    pub(crate) arguments: Option<Vec<TypeName>>,
    /// The number of `[]` behind it.
    pub(crate) dimensions: u32,
}

/// An expression and its line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expression {
    pub(crate) line: u32,
    pub(crate) kind: ExpressionKind,
}

/// The kinds of expressions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExpressionKind {
    Null,
    Boolean(bool),
    Number(String, Option<char>),
    Text(Vec<u16>),
    Character(u16),
    /// A name without a dot before it.
    Name(String),
    /// `of.name`
    Member(Box<Expression>, String),
    /// `of[at]`
    Element(Box<Expression>, Box<Expression>),
    /// `of.name(…)`, or `name(…)`
    Call(Option<Box<Expression>>, String, Vec<Expression>),
    /// `new T(…)`
    New(TypeName, Vec<Expression>),
    /// `new T[…]`
    NewArray(TypeName, Box<Expression>),
    /// `new T[] {…}`, or `{…}` behind a declaration
    ArrayOf(Option<TypeName>, Vec<Expression>),
    /// `T.class`
    Class(TypeName),
    /// `(T) of`
    Cast(TypeName, Box<Expression>),
    /// `-of` and the like
    Prefix(&'static str, Box<Expression>),
    /// `++of`, `of--`: the sign, and whether it stands behind
    Step(&'static str, bool, Box<Expression>),
    /// `left + right` and the like
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// `of instanceof T`
    InstanceOf(Box<Expression>, TypeName),
    /// `condition ? yes : no`
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `place = value`, or `place += value` with its operator
    Assign(Box<Expression>, Option<&'static str>, Box<Expression>),
}

/// A statement and its line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    pub(crate) kind: StatementKind,
}

/// A variable that a declaration makes: its name, further `[]`, and its first value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Declarator {
    pub(crate) line: u32,
    pub(crate) name: String,
    pub(crate) dimensions: u32,
    pub(crate) value: Option<Expression>,
}

/// A `catch`: its exceptions, variable and block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Catch {
    pub(crate) types: Vec<TypeName>,
    pub(crate) name: String,
    pub(crate) block: Vec<Statement>,
}

/// The statements behind some labels of a `switch`; `None` is `default`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub(crate) labels: Vec<Option<Expression>>,
    pub(crate) block: Vec<Statement>,
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StatementKind {
    Empty,
    Block(Vec<Statement>),
    Expression(Expression),
    /// The type, whether it is final, and the variables.
    Declaration(TypeName, bool, Vec<Declarator>),
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    While(Expression, Box<Statement>),
    Do(Box<Statement>, Expression),
    For(Vec<Statement>, Option<Expression>, Vec<Expression>, Box<Statement>),
    ForEach(TypeName, String, Expression, Box<Statement>),
    Switch(Expression, Vec<Group>),
    Return(Option<Expression>),
    Throw(Expression),
    Try(Vec<Statement>, Vec<Catch>, Option<Vec<Statement>>),
    Break(Option<String>),
    Continue(Option<String>),
    Labelled(String, Box<Statement>),
}
