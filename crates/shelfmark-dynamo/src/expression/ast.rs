//! The syntax tree of expressions: names not yet resolved, nothing checked but the grammar.

use shelfmark_model::Comparison;

/// A step of a document path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawStep<'a> {
    /// A name written out.
    Word(&'a str),
    /// `#name`.
    Name(&'a str),
    /// A name of another language, which no word is reserved from.
    Exact(&'a str),
    /// `[3]`.
    Index(usize),
}

/// A document path; never empty, and its first step is no index.
pub(crate) type RawPath<'a> = Vec<RawStep<'a>>;

/// An operand.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Arg<'a> {
    Path(RawPath<'a>),
    /// `:value`.
    Value(&'a str),
    Call(Leaf<'a>),
}

/// An operator on operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator<'a> {
    Compare(Comparison),
    Between,
    In,
    Plus,
    Minus,
    Call(&'a str),
}

/// An operator or function and its operands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leaf<'a> {
    pub(crate) operator: Operator<'a>,
    pub(crate) args: Vec<Arg<'a>>,
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node<'a> {
    And(Vec<Node<'a>>),
    Or(Vec<Node<'a>>),
    Not(Box<Node<'a>>),
    Leaf(Leaf<'a>),
}

/// A section of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Set,
    Remove,
    Add,
    Delete,
}

/// One change of an update. REMOVE has no operand, the others have one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change<'a> {
    pub(crate) section: Section,
    pub(crate) path: RawPath<'a>,
    pub(crate) arg: Option<Arg<'a>>,
}

impl Section {
    /// Every section.
    pub(crate) const ALL: [Self; 4] = [Self::Set, Self::Remove, Self::Add, Self::Delete];

    /// Returns the keyword.
    pub(crate) const fn keyword(self) -> &'static str {
        match self {
            Self::Set => "SET",
            Self::Remove => "REMOVE",
            Self::Add => "ADD",
            Self::Delete => "DELETE",
        }
    }
}

impl Operator<'_> {
    /// Returns the name of an operator or function in messages.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Compare(Comparison::Equal) => "=",
            Self::Compare(Comparison::NotEqual) => "<>",
            Self::Compare(Comparison::Less) => "<",
            Self::Compare(Comparison::LessOrEqual) => "<=",
            Self::Compare(Comparison::Greater) => ">",
            Self::Compare(Comparison::GreaterOrEqual) => ">=",
            Self::Between => "BETWEEN",
            Self::In => "IN",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Call(name) => name,
        }
    }
}

impl<'a> Node<'a> {
    /// Visits the operators and functions that make conditions, in the order they are written.
    pub(crate) fn leaves<'n>(&'n self, visit: &mut impl FnMut(&'n Leaf<'a>)) {
        match self {
            Self::And(nodes) | Self::Or(nodes) => nodes.iter().for_each(|node| node.leaves(visit)),
            Self::Not(node) => node.leaves(visit),
            Self::Leaf(leaf) => visit(leaf),
        }
    }
}

impl<'a> Arg<'a> {
    /// Visits the paths in the operand, in the order they are written.
    pub(crate) fn paths<'n>(&'n self, visit: &mut impl FnMut(&'n RawPath<'a>)) {
        match self {
            Self::Path(path) => visit(path),
            Self::Value(_) => {}
            Self::Call(leaf) => leaf.args.iter().for_each(|arg| arg.paths(visit)),
        }
    }

    /// Visits the calls in the operand, from the outside in.
    pub(crate) fn calls<'n>(&'n self, visit: &mut impl FnMut(&'n Leaf<'a>)) {
        if let Self::Call(leaf) = self {
            visit(leaf);
            leaf.args.iter().for_each(|arg| arg.calls(visit));
        }
    }
}
