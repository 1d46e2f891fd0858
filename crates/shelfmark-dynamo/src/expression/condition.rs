//! The grammar of conditions: of writes, filters and key conditions.
//!
//! A parenthesis may open a condition or an operand; what it was shows only behind it, so both are
//! parsed by the same functions and told apart by what they return. Nothing is parsed twice.

use shelfmark_model::Comparison;

use super::ast::{Arg, Leaf, Node, Operator};
use super::parser::{CONDITION_KEYWORDS, Parser};
use super::{Problem, Refused};
use crate::errors::texts;

/// What stood there.
enum Term<'a> {
    Condition(Node<'a>),
    /// Not a condition by itself, unless it is a call.
    Operand(Arg<'a>),
}

/// What stood there, and whether it was one pair of parentheses and what is in them.
struct Parsed<'a> {
    term: Term<'a>,
    grouped: bool,
}

/// Parses a whole condition.
pub(super) fn parse(source: &str) -> Refused<Node<'_>> {
    let mut parser = Parser::new(source, CONDITION_KEYWORDS);
    let parsed = or(&mut parser)?;
    let node = condition(&parser, parsed)?;
    parser.end()?;
    if parser.redundant_parentheses {
        return Err(Problem::Other(texts::REDUNDANT_PARENTHESES.to_owned()));
    }
    Ok(node)
}

fn or<'a>(parser: &mut Parser<'a>) -> Refused<Parsed<'a>> {
    joined(parser, "OR", and, Node::Or)
}

fn and<'a>(parser: &mut Parser<'a>) -> Refused<Parsed<'a>> {
    joined(parser, "AND", not, Node::And)
}

fn joined<'a>(
    parser: &mut Parser<'a>,
    keyword: &str,
    parse: fn(&mut Parser<'a>) -> Refused<Parsed<'a>>,
    join: fn(Vec<Node<'a>>) -> Node<'a>,
) -> Refused<Parsed<'a>> {
    let first = parse(parser)?;
    if !parser.peek().is_word(keyword) {
        return Ok(first);
    }
    let mut nodes = vec![condition(parser, first)?];
    while parser.take_word(keyword) {
        parser.count_operator()?;
        let next = parse(parser)?;
        nodes.push(condition(parser, next)?);
    }
    Ok(Parsed { term: Term::Condition(join(nodes)), grouped: false })
}

fn not<'a>(parser: &mut Parser<'a>) -> Refused<Parsed<'a>> {
    if !parser.take_word("NOT") {
        return comparison(parser);
    }
    parser.count_operator()?;
    parser.deeper(|parser| {
        let negated = not(parser)?;
        let node = Node::Not(Box::new(condition(parser, negated)?));
        Ok(Parsed { term: Term::Condition(node), grouped: false })
    })
}

fn comparison<'a>(parser: &mut Parser<'a>) -> Refused<Parsed<'a>> {
    let Parsed { term, grouped } = group(parser)?;
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

/// Parses an operand, or anything in parentheses.
fn group<'a>(parser: &mut Parser<'a>) -> Refused<Parsed<'a>> {
    if !parser.peek().is("(") {
        return Ok(Parsed { term: Term::Operand(parser.bare_operand()?), grouped: false });
    }
    parser.deeper(|parser| {
        parser.advance();
        let inner = or(parser)?;
        parser.expect(")")?;
        parser.redundant_parentheses |= inner.grouped;
        Ok(Parsed { term: inner.term, grouped: true })
    })
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

/// Takes a term for a condition; a path or a value is none.
fn condition<'a>(parser: &Parser<'a>, parsed: Parsed<'a>) -> Refused<Node<'a>> {
    match parsed.term {
        Term::Condition(node) => Ok(node),
        Term::Operand(Arg::Call(leaf)) => Ok(Node::Leaf(leaf)),
        Term::Operand(Arg::Path(_) | Arg::Value(_)) => Err(parser.unexpected()),
    }
}
