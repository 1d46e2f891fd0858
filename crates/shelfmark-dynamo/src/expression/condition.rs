//! Parses conditions: of writes, filters and key conditions.
//!
//! A parenthesis may open a condition or an operand; what it was shows only behind it, so both are
//! parsed alike and told apart when they end. Nothing is parsed twice.
//!
//! Invariant: the tree is no deeper than there are operators, of which an expression has at most
//! [`crate::limits::EXPRESSION_OPERATORS_MAX`]; parentheses add nothing to it.

use shelfmark_model::Comparison;

use super::ast::{Arg, Leaf, Node, Operator};
use super::parser::Parser;
use super::{Problem, Refused};
use crate::errors::texts;

/// A parsed term.
enum Term<'a> {
    Condition(Node<'a>),
    /// An operand; not a condition by itself, unless it is a call.
    Operand(Arg<'a>),
}

/// A parsed term, and its content if it was one pair of parentheses.
struct Parsed<'a> {
    term: Term<'a>,
    grouped: bool,
}

/// The terms parsed so far in one pair of parentheses, or in none.
#[derive(Default)]
struct Group<'a> {
    /// The alternatives before the last OR.
    or: Vec<Node<'a>>,
    /// The conditions since then, before the last AND.
    and: Vec<Node<'a>>,
    /// The NOTs since then.
    not: usize,
}

impl<'a> Group<'a> {
    /// Returns true if there are no terms.
    fn is_empty(&self) -> bool {
        self.or.is_empty() && self.and.is_empty() && self.not == 0
    }

    /// Adds a condition to those joined by AND.
    fn join(&mut self, mut node: Node<'a>) {
        for _ in 0..std::mem::take(&mut self.not) {
            node = Node::Not(Box::new(node));
        }
        self.and.push(node);
    }

    /// Ends the conditions joined by AND: they are one alternative of OR.
    fn alternate(&mut self) {
        self.or.push(joined(std::mem::take(&mut self.and), Node::And));
    }

    /// Returns the whole condition, with `last` as its last term.
    fn end(mut self, last: Node<'a>) -> Node<'a> {
        self.join(last);
        self.alternate();
        joined(self.or, Node::Or)
    }
}

/// Joins several nodes; returns a single one unchanged.
fn joined<'a>(mut nodes: Vec<Node<'a>>, join: fn(Vec<Node<'a>>) -> Node<'a>) -> Node<'a> {
    match nodes.pop() {
        Some(only) if nodes.is_empty() => only,
        last => {
            nodes.extend(last);
            join(nodes)
        }
    }
}

/// Parses a whole condition.
///
/// Open parentheses lie on a list and not on the stack of the thread: the service allows hundreds
/// of them inside each other.
pub(super) fn parse(source: &str) -> Refused<Node<'_>> {
    let mut parser = Parser::new(source);
    let mut open: Vec<Group<'_>> = Vec::new();
    let mut group = Group::default();
    loop {
        while parser.take_word("NOT") {
            parser.count_operator()?;
            group.not += 1;
        }
        if parser.take("(") {
            open.push(std::mem::take(&mut group));
            continue;
        }
        let operand = Term::Operand(parser.bare_operand()?);
        let mut parsed = comparison(&mut parser, Parsed { term: operand, grouped: false })?;
        while parser.peek().is(")")
            && let Some(outer) = open.pop()
        {
            parsed = closed(&mut parser, std::mem::replace(&mut group, outer), parsed)?;
        }
        if parser.peek().is_word("AND") || parser.peek().is_word("OR") {
            group.join(condition(&parser, parsed)?);
            if parser.advance().is_word("OR") {
                group.alternate();
            }
            parser.count_operator()?;
        } else if open.is_empty() {
            let node = group.end(condition(&parser, parsed)?);
            parser.end()?;
            if parser.redundant_parentheses {
                return Err(Problem::Other(texts::REDUNDANT_PARENTHESES.to_owned()));
            }
            return Ok(node);
        } else {
            return Err(parser.unexpected());
        }
    }
}

/// Closes a pair of parentheses after its last term.
fn closed<'a>(parser: &mut Parser<'a>, group: Group<'a>, last: Parsed<'a>) -> Refused<Parsed<'a>> {
    let term = if group.is_empty() {
        parser.redundant_parentheses |= last.grouped;
        last.term
    } else {
        Term::Condition(group.end(condition(parser, last)?))
    };
    parser.advance();
    comparison(parser, Parsed { term, grouped: true })
}

/// Parses the comparison after an operand, if there is one.
fn comparison<'a>(parser: &mut Parser<'a>, parsed: Parsed<'a>) -> Refused<Parsed<'a>> {
    let Parsed { term, grouped } = parsed;
    let left = match term {
        Term::Operand(left) => left,
        term @ Term::Condition(_) => return Ok(Parsed { term, grouped }),
    };
    let (operator, others) = if let Some(comparison) = comparator(parser) {
        (Operator::Compare(comparison), vec![parser.operand()?])
    } else if parser.take_word("BETWEEN") {
        let lower = parser.operand()?;
        if !parser.take_word("AND") {
            return Err(parser.unexpected());
        }
        (Operator::Between, vec![lower, parser.operand()?])
    } else if parser.take_word("IN") {
        parser.expect("(")?;
        let among = parser.list(Parser::operand)?;
        parser.expect(")")?;
        (Operator::In, among)
    } else {
        return Ok(Parsed { term: Term::Operand(left), grouped });
    };
    parser.count_operator()?;
    let args = std::iter::once(left).chain(others).collect();
    Ok(Parsed { term: Term::Condition(Node::Leaf(Leaf { operator, args })), grouped: false })
}

fn comparator(parser: &mut Parser<'_>) -> Option<Comparison> {
    const COMPARATORS: [(&str, Comparison); 6] = [
        ("=", Comparison::Equal),
        ("<>", Comparison::NotEqual),
        ("<", Comparison::Less),
        ("<=", Comparison::LessOrEqual),
        (">", Comparison::Greater),
        (">=", Comparison::GreaterOrEqual),
    ];
    let (_, comparison) = COMPARATORS.iter().find(|(symbol, _)| parser.take(symbol))?;
    Some(*comparison)
}

/// Converts a term to a condition; a path or a value is none.
fn condition<'a>(parser: &Parser<'a>, parsed: Parsed<'a>) -> Refused<Node<'a>> {
    match parsed.term {
        Term::Condition(node) => Ok(node),
        Term::Operand(Arg::Call(leaf)) => Ok(Node::Leaf(leaf)),
        Term::Operand(Arg::Path(_) | Arg::Value(_)) => Err(parser.unexpected()),
    }
}
