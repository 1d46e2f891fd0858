//! Parses expressions by the ranks of their operators (Pratt, "Top down operator precedence", 1973).
//!
//! The grammar is wider than what DynamoDB does with it: what nobody supports is parsed and named, so
//! that the service's words can be said about it later.

use super::ast::{Binary, Expr, ExprKind, Statement, Step};
use super::lexer::{Place, TokenKind};
use super::malformed;
use super::parser::Parser;
use super::statement;
use super::words::{TypeName, is_function, type_named};
use crate::errors::{Result, texts};
use crate::limits::LIST_INDEX_MAX;

/// The rank of set operators, and of what stands behind a clause of SELECT.
pub(super) const SELECT_RANK: u8 = 6;
const NOT_RANK: u8 = 30;

/// An operator behind an operand.
#[derive(Clone, Copy)]
enum Infix {
    And,
    Or,
    Is,
    In,
    Between,
    Like,
    Binary(Binary),
}

/// An operator behind an operand: its rank, its number of tokens, and true if it is negated.
struct Found {
    infix: Infix,
    rank: u8,
    tokens: usize,
    is_negated: bool,
}

/// Parses an expression whose operators have a rank above `rank`.
pub(super) fn expression(parser: &mut Parser<'_>, rank: u8) -> Result<Expr> {
    parser.deeper(|parser| {
        let mut left = unary(parser)?;
        while let Some(found) = infix(parser).filter(|found| found.rank > rank) {
            parser.count_operator()?;
            let is_behind_not = found.is_negated && !matches!(found.infix, Infix::Is);
            let place = parser.ahead(usize::from(is_behind_not)).map(|token| token.place);
            parser.skip(found.tokens);
            left = right_of(parser, left, &found, place.unwrap_or_default())?;
        }
        Ok(left)
    })
}

/// Finds the operator at the parser's position.
fn infix(parser: &Parser<'_>) -> Option<Found> {
    let is_word = parser.kind() == TokenKind::Keyword;
    let negated = usize::from(parser.is_keyword("not"));
    if is_word {
        for (word, infix, rank) in
            [("in", Infix::In, 40), ("between", Infix::Between, 50), ("like", Infix::Like, 50)]
        {
            if parser.keyword_ahead(negated, word) {
                return Some(Found { infix, rank, tokens: negated + 1, is_negated: negated > 0 });
            }
        }
    }
    let one = |infix, rank| Some(Found { infix, rank, tokens: 1, is_negated: false });
    if parser.is_keyword("is") {
        let not = usize::from(parser.keyword_ahead(1, "not"));
        let found = Found { infix: Infix::Is, rank: 40, tokens: 1 + not, is_negated: not > 0 };
        return Some(found);
    }
    match parser.text() {
        "and" if is_word => one(Infix::And, 20),
        "or" if is_word => one(Infix::Or, 10),
        "union" if is_word => one(Infix::Binary(Binary::Set("Union")), 5),
        "except" if is_word => one(Infix::Binary(Binary::Set("Except")), 5),
        "intersect" if is_word => one(Infix::Binary(Binary::Set("Intersect")), 5),
        _ if parser.kind() != TokenKind::Symbol => None,
        "=" => one(Infix::Binary(Binary::Equal), 40),
        "<>" | "!=" => one(Infix::Binary(Binary::NotEqual), 40),
        "<" => one(Infix::Binary(Binary::Less), 50),
        "<=" => one(Infix::Binary(Binary::LessOrEqual), 50),
        ">" => one(Infix::Binary(Binary::Greater), 50),
        ">=" => one(Infix::Binary(Binary::GreaterOrEqual), 50),
        "+" => one(Infix::Binary(Binary::Plus), 60),
        "-" => one(Infix::Binary(Binary::Minus), 60),
        "||" => one(Infix::Binary(Binary::Concat), 60),
        "*" => one(Infix::Binary(Binary::Times), 70),
        "/" => one(Infix::Binary(Binary::Divide), 70),
        "%" => one(Infix::Binary(Binary::Modulo), 70),
        _ => None,
    }
}

/// Parses what stands behind an operator.
fn right_of(parser: &mut Parser<'_>, left: Expr, found: &Found, place: Place) -> Result<Expr> {
    let operand = |parser: &mut Parser<'_>| {
        if parser.is_empty() {
            return Err(malformed(texts::RIGHT_HAND_SIDE_MISSING));
        }
        expression(parser, found.rank)
    };
    let kind = match found.infix {
        Infix::And => joined(left, operand(parser)?, true),
        Infix::Or => joined(left, operand(parser)?, false),
        Infix::Is => ExprKind::Is(Box::new(left), type_name(parser)?),
        Infix::In if parser.is("(") => ExprKind::In(Box::new(left), Box::new(list(parser)?)),
        Infix::In => ExprKind::In(Box::new(left), Box::new(operand(parser)?)),
        Infix::Between => {
            let lower = operand(parser)?;
            parser.expect_keyword("and")?;
            if parser.is_at_end() {
                return Err(malformed("Expected expression after AND"));
            }
            let upper = expression(parser, found.rank)?;
            ExprKind::Between(Box::new([left, lower, upper]))
        }
        Infix::Like => {
            operand(parser)?;
            if parser.take_keyword("escape") {
                expression(parser, found.rank)?;
            }
            ExprKind::Like
        }
        Infix::Binary(binary) => {
            ExprKind::Binary(binary, Box::new(left), Box::new(operand(parser)?))
        }
    };
    let expr = Expr { place, kind };
    if !found.is_negated {
        return Ok(expr);
    }
    Ok(Expr { place, kind: ExprKind::Not(Box::new(expr)) })
}

/// Parses a list in parentheses; also one element is a list.
fn list(parser: &mut Parser<'_>) -> Result<Expr> {
    let place = parser.place();
    parser.expect("(")?;
    let elements = parser.list(|parser| expression(parser, 0))?;
    parser.expect(")")?;
    Ok(Expr { place, kind: ExprKind::List(elements) })
}

/// Joins two conditions by AND or OR; several in a row are one node, so that chains are not deep.
fn joined(left: Expr, right: Expr, is_and: bool) -> ExprKind {
    match left.kind {
        ExprKind::And(mut list) if is_and => {
            list.push(right);
            ExprKind::And(list)
        }
        ExprKind::Or(mut list) if !is_and => {
            list.push(right);
            ExprKind::Or(list)
        }
        kind => {
            let list = vec![Expr { place: left.place, kind }, right];
            if is_and { ExprKind::And(list) } else { ExprKind::Or(list) }
        }
    }
}

fn type_name(parser: &mut Parser<'_>) -> Result<TypeName> {
    let is_word = parser.kind() == TokenKind::Keyword;
    let second = parser.ahead(1).map(|token| token.text.as_ref());
    let two = match (parser.text(), second) {
        ("double", Some("precision")) => Some("double precision"),
        ("character", Some("varying")) => Some("character varying"),
        _ => None,
    };
    let found = type_named(two.unwrap_or(parser.text())).filter(|_| is_word);
    let found = found.ok_or_else(|| malformed("Expected type name"))?;
    parser.skip(if two.is_some() { 2 } else { 1 });
    if parser.take("(") {
        parser.list(|parser| expression(parser, 0))?;
        parser.expect(")")?;
    }
    Ok(found)
}

/// Parses an operand behind its signs and NOTs.
fn unary(parser: &mut Parser<'_>) -> Result<Expr> {
    let place = parser.place();
    if parser.take_keyword("not") {
        parser.count_operator()?;
        let inner = expression(parser, NOT_RANK)?;
        return Ok(Expr { place, kind: ExprKind::Not(Box::new(inner)) });
    }
    let is_minus = parser.is("-");
    if !is_minus && !parser.is("+") {
        return path_or_term(parser);
    }
    parser.skip(1);
    let inner = parser.deeper(unary)?;
    Ok(match inner.kind {
        ExprKind::Number(text) => {
            let text = if is_minus { negated(&text) } else { text };
            Expr { place: inner.place, kind: ExprKind::Number(text) }
        }
        _ => {
            let sign = if is_minus { '-' } else { '+' };
            Expr { place, kind: ExprKind::Signed(sign, Box::new(inner)) }
        }
    })
}

fn negated(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(positive) => positive.to_owned(),
        None => format!("-{number}"),
    }
}

/// Parses a term and the steps into it.
fn path_or_term(parser: &mut Parser<'_>) -> Result<Expr> {
    let term = term(parser)?;
    if !parser.is(".") && !parser.is("[") {
        return Ok(term);
    }
    let mut steps = match term.kind {
        ExprKind::Path(steps) => steps,
        _ => vec![Step::Other(term.place)],
    };
    more_steps(parser, &mut steps)?;
    let is_path = !matches!(steps.first(), Some(Step::Other(_)));
    let kind = if is_path { ExprKind::Path(steps) } else { ExprKind::Other("Path") };
    Ok(Expr { place: term.place, kind })
}

/// Parses `.b[3].c` behind the first name of a path.
pub(super) fn more_steps(parser: &mut Parser<'_>, steps: &mut Vec<Step>) -> Result<()> {
    loop {
        if parser.take(".") {
            match parser.kind() {
                TokenKind::Word | TokenKind::Quoted => steps.push(Step::Name(parser.take_text())),
                TokenKind::Symbol if parser.take("*") => steps.push(Step::Star),
                TokenKind::Symbol
                | TokenKind::Keyword
                | TokenKind::Text
                | TokenKind::Number
                | TokenKind::End => return Err(malformed("Invalid path dot component")),
            }
        } else if parser.take("[") {
            let step = if parser.take("*") { Step::Star } else { bracketed(parser)? };
            parser.expect("]")?;
            steps.push(step);
        } else {
            return Ok(());
        }
    }
}

/// Parses the step in a pair of brackets.
fn bracketed(parser: &mut Parser<'_>) -> Result<Step> {
    let Expr { place, kind } = expression(parser, 0)?;
    Ok(match kind {
        ExprKind::Text(name) => Step::Name(name),
        ExprKind::Number(text) => match text.parse::<i128>() {
            Ok(index) => match usize::try_from(index) {
                Ok(index) if index <= LIST_INDEX_MAX => Step::Index(index),
                _ => Step::Beyond(text, place),
            },
            Err(_) => Step::Other(place),
        },
        _ => Step::Other(place),
    })
}

fn term(parser: &mut Parser<'_>) -> Result<Expr> {
    let place = parser.place();
    let kind = match parser.kind() {
        TokenKind::Text => ExprKind::Text(parser.take_text()),
        TokenKind::Number => ExprKind::Number(parser.take_text()),
        TokenKind::Word | TokenKind::Quoted => {
            let name = parser.take_text();
            if parser.is("(") {
                call(parser, &name)?
            } else {
                ExprKind::Path(vec![Step::Name(name)])
            }
        }
        TokenKind::Keyword => keyword(parser)?,
        TokenKind::Symbol => symbol(parser)?,
        TokenKind::End => return Err(malformed("Unexpected term")),
    };
    Ok(Expr { place, kind })
}

/// Parses a term that begins with a keyword.
fn keyword(parser: &mut Parser<'_>) -> Result<ExprKind> {
    match parser.text() {
        "true" | "false" => Ok(ExprKind::Bool(parser.take_text() == "true")),
        "null" => {
            parser.skip(1);
            Ok(ExprKind::Null)
        }
        "missing" => {
            parser.skip(1);
            Ok(ExprKind::Missing)
        }
        "and" | "or" | "is" | "in" | "between" | "like" | "union" | "except" | "intersect" => {
            Err(malformed("Unexpected operator"))
        }
        name if is_function(name) && parser.ahead(1).is_some_and(|token| token.is("(")) => {
            let name = parser.take_text();
            call(parser, &name)
        }
        _ => match parser.deeper(statement::of_keyword)? {
            Some(statement) => Ok(ExprKind::Statement(Box::new(statement))),
            None => Err(malformed(texts::UNEXPECTED_KEYWORD)),
        },
    }
}

/// Parses a term that begins with a symbol.
fn symbol(parser: &mut Parser<'_>) -> Result<ExprKind> {
    let one = |parser: &mut Parser<'_>| expression(parser, 0);
    if parser.take("?") {
        parser.parameters += 1;
        return Ok(ExprKind::Parameter(parser.parameters - 1));
    }
    if parser.take("(") {
        let mut list = parser.list(one)?;
        parser.expect(")")?;
        return Ok(match list.pop() {
            Some(only) if list.is_empty() => only.kind,
            last => ExprKind::List(list.into_iter().chain(last).collect()),
        });
    }
    for (open, close) in [("[", "]"), ("<<", ">>")] {
        if parser.take(open) {
            let list = if parser.is(close) { Vec::new() } else { parser.list(one)? };
            parser.expect(close)?;
            return Ok(if open == "[" { ExprKind::List(list) } else { ExprKind::Bag(list) });
        }
    }
    if parser.take("{") {
        let pair = |parser: &mut Parser<'_>| {
            let name = expression(parser, 0)?;
            parser.expect(":")?;
            Ok((name, expression(parser, 0)?))
        };
        let pairs = if parser.is("}") { Vec::new() } else { parser.list(pair)? };
        parser.expect("}")?;
        return Ok(ExprKind::Struct(pairs));
    }
    const OPERATORS: [&str; 13] =
        ["=", "<>", "!=", "<", "<=", ">", ">=", "+", "-", "/", "%", "||", "@"];
    let is_operator = OPERATORS.contains(&parser.text());
    Err(malformed(if is_operator { "Unexpected operator" } else { "Unexpected term" }))
}

/// Parses the operands of a call.
fn call(parser: &mut Parser<'_>, name: &str) -> Result<ExprKind> {
    parser.count_operator()?;
    parser.expect("(")?;
    let name = name.to_ascii_lowercase();
    if parser.take("*") {
        parser.expect(")")?;
        return Ok(ExprKind::Other("CallAgg"));
    }
    if parser.take(")") {
        return Ok(ExprKind::Call(name, Vec::new()));
    }
    let operands = parser.list(|parser| expression(parser, 0))?;
    parser.expect(")")?;
    Ok(ExprKind::Call(name, operands))
}

impl Expr {
    /// Returns the statement, if the expression is one, or the name of what it is instead.
    pub(super) fn into_statement(self) -> Statement {
        Statement::Other(match self.kind {
            ExprKind::Statement(statement) => return *statement,
            ExprKind::Call(name, mut operands) => {
                let only = operands.pop().filter(|_| name == "exists" && operands.is_empty());
                match only.map(|only| only.kind) {
                    Some(ExprKind::Statement(inner)) => match *inner {
                        Statement::Select(select) => return Statement::Exists(select),
                        _ => "Call",
                    },
                    _ => "Call",
                }
            }
            ExprKind::Text(_)
            | ExprKind::Number(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Missing => "Lit",
            ExprKind::Parameter(_) => "Parameter",
            ExprKind::List(_) => "List",
            ExprKind::Bag(_) => "Bag",
            ExprKind::Struct(_) => "Struct",
            ExprKind::Path(steps) if steps.len() > 1 => "Path",
            ExprKind::Path(_) => "Id",
            ExprKind::Not(_) => "Not",
            ExprKind::And(_) => "And",
            ExprKind::Or(_) => "Or",
            ExprKind::Between(_) => "Between",
            ExprKind::In(..) => "InCollection",
            ExprKind::Is(..) => "IsType",
            ExprKind::Binary(binary, ..) => match binary {
                Binary::Equal => "Eq",
                Binary::NotEqual => "Ne",
                Binary::Less => "Lt",
                Binary::LessOrEqual => "Lte",
                Binary::Greater => "Gt",
                Binary::GreaterOrEqual => "Gte",
                Binary::Plus => "Plus",
                Binary::Minus => "Minus",
                Binary::Times => "Times",
                Binary::Divide => "Divide",
                Binary::Modulo => "Modulo",
                Binary::Concat => "Concat",
                Binary::Set(name) => name,
            },
            ExprKind::Like => "Like",
            ExprKind::Signed('-', _) => "Neg",
            ExprKind::Signed(..) => "Pos",
            ExprKind::Other(name) => name,
        })
    }
}
