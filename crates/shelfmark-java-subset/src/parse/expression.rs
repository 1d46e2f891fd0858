//! Parses expressions, by the precedence of their operators.
//!
//! What it is not: a look at types; `(a) -b` is a cast only if `a` is the name of a primitive type.
//!
//! Invariant: each operator of a chain and each call behind another is a level deeper while the rest
//! of the chain is parsed.

use super::{Parse, Parser, is_primitive};
use crate::CompileError;
use crate::lexer::TokenKind;
use crate::syntax::{Expression, ExpressionKind, TypeName};

/// Binary operators, those that bind less before the others.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>", ">>>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// The level of comparisons, which `instanceof` belongs to.
const COMPARISONS: usize = 6;

/// Operators of assignments that compute.
const COMPOUND: [(&str, &str); 11] = [
    ("+=", "+"),
    ("-=", "-"),
    ("*=", "*"),
    ("/=", "/"),
    ("%=", "%"),
    ("&=", "&"),
    ("|=", "|"),
    ("^=", "^"),
    ("<<=", "<<"),
    (">>=", ">>"),
    (">>>=", ">>>"),
];

fn at(line: u32, kind: ExpressionKind) -> Expression {
    Expression { line, kind }
}

impl Parser {
    /// Parses an expression.
    pub(super) fn expression(&mut self) -> Parse<Expression> {
        self.deeper(|own| {
            let left = own.conditional()?;
            let line = left.line;
            if own.eat("=") {
                let value = own.expression()?;
                return Ok(at(line, ExpressionKind::Assign(Box::new(left), None, Box::new(value))));
            }
            if let Some((sign, operator)) = COMPOUND.iter().find(|(sign, _)| own.is_sign(sign)) {
                own.eat(sign);
                let value = Box::new(own.expression()?);
                let kind = ExpressionKind::Assign(Box::new(left), Some(operator), value);
                return Ok(at(line, kind));
            }
            Ok(left)
        })
    }

    fn conditional(&mut self) -> Parse<Expression> {
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        let yes = self.expression()?;
        self.expect(":", "Expression")?;
        let no = self.deeper(Self::conditional)?;
        let line = condition.line;
        let parts = (Box::new(condition), Box::new(yes), Box::new(no));
        Ok(at(line, ExpressionKind::Conditional(parts.0, parts.1, parts.2)))
    }

    /// Returns the operator that stands here, its level and its number of tokens. `>` is a token of
    /// its own, so that types can end with several.
    fn operator(&self) -> Option<(&'static str, usize, usize)> {
        let closes = |ahead| self.is_sign_at(ahead, ">");
        let (found, length) = match (closes(0), closes(1), closes(2)) {
            (true, true, true) if !self.is_sign_at(3, "=") => (">>>", 3),
            (true, true, false) if !self.is_sign_at(1, ">=") => (">>", 2),
            (true, ..) => (">", 1),
            _ => match self.now() {
                TokenKind::Sign(own) => (*own, 1),
                _ => return None,
            },
        };
        let level = LEVELS.iter().position(|level| level.contains(&found))?;
        Some((found, level, length))
    }

    /// Parses operators of a level and of those that bind more.
    fn binary(&mut self, least: usize) -> Parse<Expression> {
        let mut left = self.unary()?;
        let mut sunk = 0;
        let result = loop {
            let line = left.line;
            if least <= COMPARISONS && self.is_word("instanceof") {
                self.bump();
                match self.type_name() {
                    Ok(ty) => left = at(line, ExpressionKind::InstanceOf(Box::new(left), ty)),
                    Err(error) => break Err(error),
                }
                continue;
            }
            let Some((operator, level, length)) = self.operator().filter(|own| own.1 >= least)
            else {
                break Ok(left);
            };
            self.at += length;
            if let Err(error) = self.sink() {
                break Err(error);
            }
            sunk += 1;
            match self.binary(level + 1) {
                Ok(right) => {
                    let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
                    left = at(line, kind);
                }
                Err(error) => break Err(error),
            }
        };
        self.depth -= sunk;
        result
    }

    fn unary(&mut self) -> Parse<Expression> {
        let line = self.line();
        for sign in ["++", "--"] {
            if self.eat(sign) {
                let of = Box::new(self.deeper(Self::unary)?);
                return Ok(at(line, ExpressionKind::Step(sign, false, of)));
            }
        }
        if self.is_sign("-") && matches!(self.peek(1), TokenKind::Number(..)) {
            self.bump();
            if let TokenKind::Number(digits, suffix) = self.now().clone() {
                self.bump();
                let number = at(line, ExpressionKind::Number(format!("-{digits}"), suffix));
                return self.behind(number);
            }
        }
        for sign in ["-", "+", "!", "~"] {
            if self.eat(sign) {
                let of = Box::new(self.deeper(Self::unary)?);
                return Ok(at(line, ExpressionKind::Prefix(sign, of)));
            }
        }
        if self.is_sign("(")
            && let Some(length) = self.type_length(1)
            && self.is_sign_at(length + 1, ")")
            && self.casts(length)
        {
            self.bump();
            let to = self.type_name()?;
            self.bump();
            let of = Box::new(self.deeper(Self::unary)?);
            return Ok(at(line, ExpressionKind::Cast(to, of)));
        }
        let first = self.primary()?;
        self.behind(first)
    }

    /// Returns true if what stands in parentheses, a type of so many tokens, is a cast of what follows.
    fn casts(&self, length: usize) -> bool {
        if length == 1 && matches!(self.peek(1), TokenKind::Word(own) if is_primitive(own)) {
            return true;
        }
        match self.peek(length + 2) {
            TokenKind::Word(own) => own != "instanceof",
            TokenKind::Number(..) | TokenKind::Text(_) | TokenKind::Character(_) => true,
            TokenKind::Sign(own) => matches!(*own, "(" | "!" | "~"),
            TokenKind::End => false,
        }
    }

    /// Parses what may stand behind an expression: members, calls, elements, steps.
    fn behind(&mut self, first: Expression) -> Parse<Expression> {
        let mut found = first;
        let mut sunk = 0;
        let result = loop {
            let step = self.suffix(&mut found);
            match step {
                Ok(true) => match self.sink() {
                    Ok(()) => sunk += 1,
                    Err(error) => break Err(error),
                },
                Ok(false) => break Ok(found),
                Err(error) => break Err(error),
            }
        };
        self.depth -= sunk;
        result
    }

    /// Parses one suffix; returns false if there is none.
    fn suffix(&mut self, found: &mut Expression) -> Parse<bool> {
        let line = self.line();
        let before = |found: &mut Expression| {
            Box::new(std::mem::replace(found, at(line, ExpressionKind::Null)))
        };
        if self.eat(".") {
            if self.eat_word("class") {
                let ty = class_of(found, line).ok_or_else(|| self.unexpected())?;
                *found = at(line, ExpressionKind::Class(ty));
                return Ok(true);
            }
            let name = self.name()?;
            let kind = if self.is_sign("(") {
                let arguments = self.arguments()?;
                ExpressionKind::Call(Some(before(found)), name, arguments)
            } else {
                ExpressionKind::Member(before(found), name)
            };
            *found = at(line, kind);
            return Ok(true);
        }
        if self.eat("[") {
            let place = self.expression()?;
            self.expect("]", "ArrayAccess")?;
            *found = at(line, ExpressionKind::Element(before(found), Box::new(place)));
            return Ok(true);
        }
        for sign in ["++", "--"] {
            if self.eat(sign) {
                *found = at(line, ExpressionKind::Step(sign, true, before(found)));
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn arguments(&mut self) -> Parse<Vec<Expression>> {
        self.expect("(", "Arguments")?;
        let mut all = Vec::new();
        if self.eat(")") {
            return Ok(all);
        }
        loop {
            all.push(self.expression()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "Expression")?;
        Ok(all)
    }

    fn primary(&mut self) -> Parse<Expression> {
        let line = self.line();
        let kind = match self.now().clone() {
            TokenKind::Number(digits, suffix) => ExpressionKind::Number(digits, suffix),
            TokenKind::Text(own) => ExpressionKind::Text(own),
            TokenKind::Character(own) => ExpressionKind::Character(own),
            TokenKind::Sign("(") => {
                self.bump();
                let inner = self.expression()?;
                self.expect(")", "Expression")?;
                return Ok(inner);
            }
            TokenKind::Word(word) => match word.as_str() {
                "null" => ExpressionKind::Null,
                "true" => ExpressionKind::Boolean(true),
                "false" => ExpressionKind::Boolean(false),
                "new" => return self.creation(),
                own if is_primitive(own) => {
                    let ty = self.type_name()?;
                    if self.eat(".") && self.eat_word("class") {
                        return Ok(at(line, ExpressionKind::Class(ty)));
                    }
                    return Err(self.unexpected());
                }
                _ => {
                    let name = self.name()?;
                    let kind = if self.is_sign("(") {
                        ExpressionKind::Call(None, name, self.arguments()?)
                    } else {
                        ExpressionKind::Name(name)
                    };
                    return Ok(at(line, kind));
                }
            },
            TokenKind::Sign(_) | TokenKind::End => return Err(self.unexpected()),
        };
        self.bump();
        Ok(at(line, kind))
    }

    /// Parses what stands behind `new`.
    fn creation(&mut self) -> Parse<Expression> {
        let line = self.line();
        self.bump();
        let mut ty = self.plain_type()?;
        if self.is_sign("[") {
            if self.is_sign_at(1, "]") {
                while self.eat("[") {
                    self.expect("]", "Dimensions")?;
                    ty.dimensions += 1;
                }
                return self.array_values(Some(ty));
            }
            self.bump();
            let size = self.expression()?;
            self.expect("]", "Dimensions")?;
            while self.is_sign("[") && self.is_sign_at(1, "]") {
                self.bump();
                self.bump();
                ty.dimensions += 1;
            }
            return Ok(at(line, ExpressionKind::NewArray(ty, Box::new(size))));
        }
        let arguments = self.arguments()?;
        if self.is_sign("{") {
            let message = "Syntax error on token \"{\": classes are not in the part of Java that functions are written in here";
            return Err(CompileError::new(self.line(), message));
        }
        Ok(at(line, ExpressionKind::New(ty, arguments)))
    }

    /// Parses `{…}` as the values of an array.
    pub(super) fn array_values(&mut self, ty: Option<TypeName>) -> Parse<Expression> {
        let line = self.line();
        self.expect("{", "ArrayInitializer")?;
        let mut all = Vec::new();
        while !self.eat("}") {
            let value = match self.is_sign("{") {
                true => self.deeper(|own| own.array_values(None))?,
                false => self.expression()?,
            };
            all.push(value);
            if !self.eat(",") && !self.is_sign("}") {
                return Err(self.unexpected());
            }
        }
        Ok(at(line, ExpressionKind::ArrayOf(ty, all)))
    }
}

/// Returns the type that a name with dots stands for.
fn class_of(of: &Expression, line: u32) -> Option<TypeName> {
    Some(TypeName { line, name: dotted(of)?, arguments: None, dimensions: 0 })
}

/// Returns a name with dots as a text; `None` if it is something else.
pub(crate) fn dotted(of: &Expression) -> Option<String> {
    match &of.kind {
        ExpressionKind::Name(name) => Some(name.clone()),
        ExpressionKind::Member(of, name) => Some(format!("{}.{name}", dotted(of)?)),
        _ => None,
    }
}
