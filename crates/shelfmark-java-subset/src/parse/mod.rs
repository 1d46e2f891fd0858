//! Parses a body into its syntax tree.
//!
//! What it is not: all of Java. Lambdas, classes, generic methods, text blocks, patterns and the
//! `switch` with arrows are refused.
//!
//! Invariant: it goes at most [`DEPTH_MAX`] calls of itself deep, and a chain of operators or calls
//! counts as nesting, since the tree of it is as deep.

mod expression;
mod statement;
mod types;

use crate::CompileError;
use crate::lexer::{Token, TokenKind, tokens};
use crate::limits::{BODY_SIZE_BYTES_MAX, DEPTH_MAX};
use crate::syntax::Statement;

pub(crate) use expression::dotted;

type Parse<T> = Result<T, CompileError>;

/// Parses a body.
pub(crate) fn parse(body: &str) -> Parse<Vec<Statement>> {
    if body.len() > BODY_SIZE_BYTES_MAX {
        let message = format!(
            "The body is {} bytes long, at most {BODY_SIZE_BYTES_MAX} are taken",
            body.len()
        );
        return Err(CompileError::new(1, &message));
    }
    let mut parser = Parser { tokens: tokens(body)?, at: 0, depth: 0 };
    let mut out = Vec::new();
    while *parser.now() != TokenKind::End {
        if parser.is_sign("}") {
            return Err(parser.unexpected());
        }
        out.push(parser.statement()?);
    }
    Ok(out)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self, ahead: usize) -> &TokenKind {
        self.tokens.get(self.at + ahead).map_or(&TokenKind::End, |own| &own.kind)
    }

    fn now(&self) -> &TokenKind {
        self.peek(0)
    }

    fn line(&self) -> u32 {
        let token = self.tokens.get(self.at).or(self.tokens.last());
        token.map_or(1, |own| own.line)
    }

    fn bump(&mut self) {
        self.at += 1;
    }

    fn is_sign_at(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.peek(ahead), TokenKind::Sign(own) if *own == sign)
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.is_sign_at(0, sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.now(), TokenKind::Word(own) if own == word)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is_it = self.is_sign(sign);
        if is_it {
            self.bump();
        }
        is_it
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_it = self.is_word(word);
        if is_it {
            self.bump();
        }
        is_it
    }

    /// Takes a sign that has to be there; `what` it would complete.
    fn expect(&mut self, sign: &str, what: &str) -> Parse<()> {
        if self.eat(sign) {
            return Ok(());
        }
        let line = self.line_before();
        Err(CompileError::new(line, &format!("Syntax error, insert \"{sign}\" to complete {what}")))
    }

    /// Returns the line of the token before this one.
    fn line_before(&self) -> u32 {
        let token = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        token.map_or(1, |own| own.line)
    }

    fn name(&mut self) -> Parse<String> {
        match self.now() {
            TokenKind::Word(own) if !is_reserved(own) => {
                let own = own.clone();
                self.bump();
                Ok(own)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn unexpected(&self) -> CompileError {
        let shown = self.now().shown();
        let message = match self.now() {
            TokenKind::Sign("->" | "::") => format!(
                "Syntax error on token \"{shown}\": lambda expressions and method references are not in the part of Java that functions are written in here"
            ),
            _ => format!("Syntax error on token \"{shown}\", delete this token"),
        };
        let line = if *self.now() == TokenKind::End { self.line_before() } else { self.line() };
        CompileError::new(line, &message)
    }

    /// Runs a step one level deeper.
    fn deeper<T>(&mut self, step: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.sink()?;
        let out = step(self);
        self.depth -= 1;
        out
    }

    /// Counts one more level.
    fn sink(&mut self) -> Parse<()> {
        if self.depth >= DEPTH_MAX {
            let message = format!("The body is nested more than {DEPTH_MAX} deep");
            return Err(CompileError::new(self.line(), &message));
        }
        self.depth += 1;
        Ok(())
    }
}

/// Returns true if Java reserves a word.
fn is_reserved(word: &str) -> bool {
    const RESERVED: [&str; 53] = [
        "abstract",
        "assert",
        "boolean",
        "break",
        "byte",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extends",
        "false",
        "final",
        "finally",
        "float",
        "for",
        "goto",
        "if",
        "implements",
        "import",
        "instanceof",
        "int",
        "interface",
        "long",
        "native",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "short",
        "static",
        "strictfp",
        "super",
        "switch",
        "synchronized",
        "this",
        "throw",
        "throws",
        "transient",
        "true",
        "try",
        "void",
        "volatile",
        "while",
    ];
    RESERVED.contains(&word)
}

pub(crate) fn is_primitive(name: &str) -> bool {
    matches!(name, "boolean" | "byte" | "short" | "char" | "int" | "long" | "float" | "double")
}
