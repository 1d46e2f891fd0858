//! Parses types.
//!
//! What it is not: a look at which classes there are.
//!
//! Invariant: whether a type stands somewhere is found out without taking a token.

use super::{Parse, Parser, is_primitive, is_reserved};
use crate::lexer::TokenKind;
use crate::syntax::TypeName;

impl Parser {
    /// Parses a type.
    pub(super) fn type_name(&mut self) -> Parse<TypeName> {
        let mut found = self.plain_type()?;
        while self.is_sign("[") && self.is_sign_at(1, "]") {
            self.bump();
            self.bump();
            found.dimensions += 1;
        }
        Ok(found)
    }

    /// Parses a type without `[]` behind it.
    pub(super) fn plain_type(&mut self) -> Parse<TypeName> {
        let line = self.line();
        let name = match self.now() {
            TokenKind::Word(own) if is_primitive(own) => {
                let name = own.clone();
                self.bump();
                name
            }
            _ => {
                let mut name = self.name()?;
                while self.is_sign(".")
                    && matches!(self.peek(1), TokenKind::Word(own) if !is_reserved(own))
                {
                    self.bump();
                    name.push('.');
                    name.push_str(&self.name()?);
                }
                name
            }
        };
        let arguments = if self.is_sign("<") { Some(self.type_arguments()?) } else { None };
        Ok(TypeName { line, name, arguments, dimensions: 0 })
    }

    fn type_arguments(&mut self) -> Parse<Vec<TypeName>> {
        self.deeper(|own| {
            own.bump();
            let mut all = Vec::new();
            if own.eat(">") {
                return Ok(all);
            }
            loop {
                let line = own.line();
                if own.eat("?") {
                    if own.eat_word("extends") || own.eat_word("super") {
                        own.type_name()?;
                    }
                    let name = "?".to_owned();
                    all.push(TypeName { line, name, arguments: None, dimensions: 0 });
                } else {
                    all.push(own.type_name()?);
                }
                if !own.eat(",") {
                    break;
                }
            }
            own.expect(">", "ReferenceType")?;
            Ok(all)
        })
    }

    /// Returns the number of tokens that a type from here on has; `None` if there is none.
    pub(super) fn type_length(&self, from: usize) -> Option<usize> {
        let mut at = from;
        let mut last_was_word = false;
        let mut angles = 0_usize;
        loop {
            match self.peek(at) {
                TokenKind::Word(own)
                    if !last_was_word && (is_primitive(own) || !is_reserved(own)) =>
                {
                    last_was_word = true;
                }
                TokenKind::Word(own)
                    if angles > 0 && matches!(own.as_str(), "extends" | "super") =>
                {
                    last_was_word = false;
                }
                TokenKind::Sign(".") if last_was_word => last_was_word = false,
                TokenKind::Sign("?") if angles > 0 && !last_was_word => last_was_word = true,
                TokenKind::Sign(",") if angles > 0 => last_was_word = false,
                TokenKind::Sign("<") if last_was_word => {
                    angles += 1;
                    last_was_word = false;
                }
                TokenKind::Sign(">") if angles > 0 => {
                    angles -= 1;
                    last_was_word = true;
                }
                TokenKind::Sign("[") if last_was_word && self.is_sign_at(at + 1, "]") => at += 1,
                _ => break,
            }
            at += 1;
        }
        (last_was_word && angles == 0 && at > from).then(|| at - from)
    }
}
