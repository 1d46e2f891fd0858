//! Selectors: what stands between `SELECT` and `FROM`.

use super::cursor::{Parse, Parser};
use super::terms::starts_value;
use crate::ast::{ArithmeticOperator, Selector, Term, WriteMetadata};
use crate::lexer::Kind;

impl Parser<'_> {
    /// Parses a selector: sums of products of selectors.
    pub(super) fn selector(&mut self) -> Parse<Selector> {
        self.chain(Self::selector_product, Self::selector_sum_goes_on, arithmetic)
    }

    fn selector_sum_goes_on(&mut self) -> Parse<Option<ArithmeticOperator>> {
        Ok(match self.now() {
            Kind::Plus => Some(ArithmeticOperator::Add),
            Kind::Minus => Some(ArithmeticOperator::Subtract),
            _ => None,
        })
    }

    fn selector_product(&mut self) -> Parse<Selector> {
        self.chain(Self::selector_group, Self::product_goes_on, arithmetic)
    }

    /// Tells whether a selector may begin with this token.
    pub(super) fn starts_selector(kind: Kind) -> bool {
        starts_value(kind) || matches!(kind, Kind::Minus | Kind::Token) || kind.is_name()
    }

    fn selector_group(&mut self) -> Parse<Selector> {
        self.deeper(|parser| {
            let first = parser.now();
            if first == Kind::Minus {
                parser.looked(2);
                parser.bump();
                return Ok(Selector::Negate(Box::new(parser.selector_group()?)));
            }
            if !Self::starts_selector(first) {
                return parser.no_viable(1);
            }
            parser.looked(3);
            let selector = parser.plain_selector()?;
            parser.modified(selector)
        })
    }

    /// Parses the elements, slices and fields behind a selector. What does not parse as one is left
    /// for the caller to stumble over.
    fn modified(&mut self, selector: Selector) -> Parse<Selector> {
        if !matches!(self.now(), Kind::Dot | Kind::LeftBracket) {
            return Ok(selector);
        }
        let plain = selector.clone();
        Ok(self.attempt(|parser| parser.modifiers(selector))?.unwrap_or(plain))
    }

    fn modifiers(&mut self, mut selector: Selector) -> Parse<Selector> {
        let mut levels = 0;
        loop {
            let of = |selector| Box::new(selector);
            if self.eat(Kind::Dot) {
                self.descend()?;
                selector = Selector::Field { of: of(selector), field: self.name()? };
            } else if self.eat(Kind::LeftBracket) {
                self.descend()?;
                selector = self.subscript(of(selector))?;
                self.expect(Kind::RightBracket)?;
            } else {
                break;
            }
            levels += 1;
        }
        let next = self.now();
        if next != Kind::End && !follows_column(next) {
            return self.no_viable(1);
        }
        self.ascend(levels);
        Ok(selector)
    }

    fn subscript(&mut self, of: Box<Selector>) -> Parse<Selector> {
        if self.eat(Kind::Range) {
            return Ok(Selector::Slice { of, from: None, to: Some(self.term()?) });
        }
        let key = self.term()?;
        if !self.eat(Kind::Range) {
            return Ok(Selector::Element { of, key });
        }
        let to: Option<Term> =
            if Self::starts_term(self.now()) { Some(self.term()?) } else { None };
        Ok(Selector::Slice { of, from: Some(key), to })
    }

    /// Parses a selector without anything behind it.
    fn plain_selector(&mut self) -> Parse<Selector> {
        match self.now() {
            Kind::LeftParen => {
                self.looked(3);
                self.selector_parentheses()
            }
            Kind::LeftBracket => {
                self.looked(2);
                self.bump();
                let items = if Self::starts_selector(self.now()) {
                    self.list(Self::selector)?
                } else {
                    Vec::new()
                };
                self.expect(Kind::RightBracket)?;
                Ok(Selector::List(items))
            }
            Kind::LeftBrace => {
                self.looked(2);
                self.selector_braces()
            }
            kind if Self::starts_selector(kind) && kind != Kind::Minus => {
                self.looked(2);
                self.simple_selector()
            }
            _ => self.no_viable(1),
        }
    }

    /// Parses `(type) selector`, else `(a, b)`.
    fn selector_parentheses(&mut self) -> Parse<Selector> {
        if let Some(hint) = self.attempt(|parser| parser.deeper(Self::selector_type_hint))? {
            return Ok(hint);
        }
        self.expect(Kind::LeftParen)?;
        let items = self.list(Self::selector)?;
        self.expect(Kind::RightParen)?;
        Ok(Selector::Tuple(items))
    }

    fn selector_type_hint(&mut self) -> Parse<Selector> {
        self.expect(Kind::LeftParen)?;
        let target = self.cql_type()?;
        self.expect(Kind::RightParen)?;
        Ok(Selector::TypeHint { target, selector: Box::new(self.plain_selector()?) })
    }

    fn selector_braces(&mut self) -> Parse<Selector> {
        let next = self.peek(2);
        if next != Kind::RightBrace && !Self::starts_selector(next) {
            return self.no_viable(2);
        }
        self.bump();
        if self.eat(Kind::RightBrace) {
            return Ok(Selector::Set(Vec::new()));
        }
        let first = self.selector()?;
        let selector = match self.now() {
            Kind::Colon => {
                self.bump();
                let mut entries = vec![(first, self.selector()?)];
                while self.eat(Kind::Comma) {
                    let key = self.selector()?;
                    self.expect(Kind::Colon)?;
                    entries.push((key, self.selector()?));
                }
                Selector::MapOrUserType(entries)
            }
            Kind::Comma | Kind::RightBrace => {
                let mut elements = vec![first];
                while self.eat(Kind::Comma) {
                    elements.push(self.selector()?);
                }
                Selector::Set(elements)
            }
            _ => return self.no_viable(1),
        };
        self.expect(Kind::RightBrace)?;
        Ok(selector)
    }

    /// Parses a column, a constant, a marker or a function.
    fn simple_selector(&mut self) -> Parse<Selector> {
        let first = self.now();
        if first == Kind::Token {
            self.looked(2);
            return self.selector_function();
        }
        if first.is_name() || first == Kind::Question {
            if self.is_function_ahead()? {
                return self.selector_function();
            }
            if first == Kind::Question {
                return Ok(Selector::Marker(self.marker()?));
            }
            return Ok(Selector::Column(self.name()?));
        }
        self.looked(2);
        match first {
            Kind::Null => {
                self.bump();
                Ok(Selector::Null)
            }
            Kind::Colon => Ok(Selector::Marker(self.marker()?)),
            _ => Ok(Selector::Literal(self.literal()?)),
        }
    }

    /// Decides between a column (or a marker) and a function, whose name may have a keyspace.
    fn is_function_ahead(&mut self) -> Parse<bool> {
        let first = self.now();
        let callable = !matches!(first, Kind::Distinct | Kind::Json | Kind::Key | Kind::Question);
        match self.peek(2) {
            Kind::LeftParen if callable => {
                self.looked(3);
                return Ok(true);
            }
            Kind::Dot => {}
            Kind::End => return Ok(false),
            kind if follows_column(kind) => {
                self.looked(3);
                return Ok(false);
            }
            _ => return self.no_viable(2),
        }
        let second = self.peek(3);
        if second == Kind::Token {
            self.looked(4);
            return Ok(true);
        }
        if second.is_name_only() {
            self.looked(4);
            return Ok(false);
        }
        if !second.is_name() {
            return self.no_viable(3);
        }
        let function = match self.peek(4) {
            Kind::LeftParen => true,
            Kind::End => return Ok(false),
            Kind::Dot => false,
            kind if follows_column(kind) => false,
            _ => return self.no_viable(4),
        };
        self.looked(5);
        Ok(function)
    }

    fn selector_function(&mut self) -> Parse<Selector> {
        let first = self.now();
        let metadata = match first {
            Kind::Maxwritetime => Some(WriteMetadata::MaxWriteTime),
            Kind::Writetime => Some(WriteMetadata::WriteTime),
            Kind::Ttl => Some(WriteMetadata::Ttl),
            _ => None,
        };
        if metadata.is_some() || matches!(first, Kind::Count | Kind::Cast) {
            match self.peek(2) {
                Kind::Dot => self.looked(3),
                Kind::LeftParen => {
                    self.looked(3);
                    if let Some(kind) = metadata {
                        return self.write_metadata(kind);
                    }
                    if first == Kind::Cast {
                        return self.selector_cast();
                    }
                    if self.peek(3) == Kind::Star {
                        self.looked(4);
                        return self.count_rows();
                    }
                    if self.peek(3) != Kind::RightParen && !Self::starts_selector(self.peek(3)) {
                        return self.no_viable(3);
                    }
                    self.looked(4);
                }
                _ => return self.no_viable(2),
            }
        } else {
            self.looked(2);
        }
        let name = self.function_name()?;
        self.expect(Kind::LeftParen)?;
        let arguments =
            if Self::starts_selector(self.now()) { self.list(Self::selector)? } else { Vec::new() };
        self.expect(Kind::RightParen)?;
        Ok(Selector::Function { name, arguments })
    }

    fn count_rows(&mut self) -> Parse<Selector> {
        self.bump();
        self.bump();
        self.bump();
        self.expect(Kind::RightParen)?;
        Ok(Selector::CountRows)
    }

    fn write_metadata(&mut self, kind: WriteMetadata) -> Parse<Selector> {
        self.bump();
        self.expect(Kind::LeftParen)?;
        let column = Selector::Column(self.name()?);
        let of = Box::new(self.modifiers(column)?);
        self.expect(Kind::RightParen)?;
        Ok(Selector::Metadata { kind, of })
    }

    fn selector_cast(&mut self) -> Parse<Selector> {
        self.bump();
        self.expect(Kind::LeftParen)?;
        let selector = Box::new(self.selector()?);
        self.expect(Kind::As)?;
        let target = self.native_type()?;
        self.expect(Kind::RightParen)?;
        Ok(Selector::Cast { selector, target })
    }
}

fn arithmetic(operator: ArithmeticOperator, left: Selector, right: Selector) -> Selector {
    Selector::Arithmetic { operator, left: Box::new(left), right: Box::new(right) }
}

/// Returns the tokens that may follow a selected column, anywhere in the grammar.
fn follows_column(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Percent
            | Kind::RightParen
            | Kind::Plus
            | Kind::Minus
            | Kind::Slash
            | Kind::Colon
            | Kind::Semicolon
            | Kind::Comma
            | Kind::LeftBracket
            | Kind::Star
            | Kind::RightBracket
            | Kind::RightBrace
            | Kind::Allow
            | Kind::As
            | Kind::From
            | Kind::Limit
            | Kind::Order
            | Kind::Per
    )
}
