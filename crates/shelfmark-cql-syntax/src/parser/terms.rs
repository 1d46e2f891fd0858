//! Terms.

use super::cursor::{Parse, Parser};
use crate::ast::{ArithmeticOperator, Term};
use crate::lexer::{Class, Kind};

impl Parser<'_> {
    /// Parses a term: sums of products of simple terms.
    pub(super) fn term(&mut self) -> Parse<Term> {
        self.chain(Self::product, Self::sum_goes_on, arithmetic)
    }

    /// Decides whether a sum goes on. `x = 1 + x` is no sum: there the plus sign is a prepend.
    fn sum_goes_on(&mut self) -> Parse<Option<ArithmeticOperator>> {
        match self.now() {
            Kind::Minus => {
                self.looked(2);
                Ok(Some(ArithmeticOperator::Subtract))
            }
            Kind::Plus => {
                let add = Ok(Some(ArithmeticOperator::Add));
                let next = self.peek(2);
                if starts_value(next) || matches!(next, Kind::Minus | Kind::Token) {
                    self.looked(3);
                    return add;
                }
                if next == Kind::EmptyQuoted {
                    self.looked(3);
                    return Ok(None);
                }
                if !next.is_name() {
                    return self.no_viable(2);
                }
                match self.peek(3) {
                    Kind::Comma | Kind::Where => {
                        self.looked(4);
                        Ok(None)
                    }
                    Kind::LeftParen if !next.is_name_only() || next == Kind::Cast => {
                        self.looked(4);
                        add
                    }
                    Kind::Dot => {
                        self.looked(4);
                        add
                    }
                    _ => self.no_viable(3),
                }
            }
            Kind::End => Ok(None),
            kind if follows_term(kind) => {
                self.looked(2);
                Ok(None)
            }
            _ if self.in_transaction && self.is_word("then") => Ok(None),
            _ => self.no_viable(1),
        }
    }

    fn product(&mut self) -> Parse<Term> {
        self.chain(Self::signed_term, Self::product_goes_on, arithmetic)
    }

    fn signed_term(&mut self) -> Parse<Term> {
        if self.eat(Kind::Minus) {
            return Ok(Term::Negate(Box::new(self.simple_term()?)));
        }
        self.simple_term()
    }

    /// Tells whether a term may begin with this token.
    pub(super) fn starts_term(kind: Kind) -> bool {
        starts_value(kind) || matches!(kind, Kind::Minus | Kind::Token) || kind.is_name()
    }

    fn simple_term(&mut self) -> Parse<Term> {
        self.deeper(|parser| match parser.now() {
            Kind::LeftParen => {
                if parser.is_type_hint()? {
                    parser.type_hint()
                } else {
                    parser.value()
                }
            }
            Kind::Question => match parser.peek(2) {
                Kind::Dot => {
                    parser.looked(3);
                    parser.function()
                }
                Kind::End => parser.value(),
                kind if follows_term(kind) || follows_factor(kind) => {
                    parser.looked(3);
                    parser.value()
                }
                _ => parser.no_viable(2),
            },
            Kind::Cast => match parser.peek(2) {
                Kind::LeftParen => {
                    parser.looked(3);
                    parser.cast()
                }
                Kind::Dot => {
                    parser.looked(3);
                    parser.function()
                }
                _ => parser.no_viable(2),
            },
            kind if starts_value(kind) => {
                parser.looked(2);
                parser.value()
            }
            kind if kind.is_name() || kind == Kind::Token => {
                parser.looked(2);
                parser.function()
            }
            _ => parser.no_viable(1),
        })
    }

    fn cast(&mut self) -> Parse<Term> {
        self.bump();
        self.expect(Kind::LeftParen)?;
        let term = Box::new(self.simple_term()?);
        self.expect(Kind::As)?;
        let target = self.native_type()?;
        self.expect(Kind::RightParen)?;
        Ok(Term::Cast { term, target })
    }

    fn type_hint(&mut self) -> Parse<Term> {
        self.expect(Kind::LeftParen)?;
        let target = self.cql_type()?;
        self.expect(Kind::RightParen)?;
        Ok(Term::TypeHint { target, term: Box::new(self.simple_term()?) })
    }

    /// Decides whether a parenthesis opens a type before a term, or a tuple.
    fn is_type_hint(&mut self) -> Parse<bool> {
        let next = self.peek(2);
        if next == Kind::String {
            return self.is_custom_type_hint();
        }
        if next == Kind::Set {
            self.looked(3);
            return Ok(true);
        }
        if starts_value(next) || matches!(next, Kind::Minus | Kind::Token) {
            self.looked(3);
            return Ok(false);
        }
        if !next.is_name() {
            return self.no_viable(2);
        }
        let callable = next.is_function() || next == Kind::Cast;
        let typed = !matches!(next.class(), Some(Class::NotFunction | Class::Count));
        let parameters = matches!(
            next,
            Kind::Quoted | Kind::List | Kind::Map | Kind::Tuple | Kind::Vector | Kind::Frozen
        );
        match self.peek(3) {
            Kind::LeftParen if callable => {}
            Kind::RightParen if typed => {
                self.looked(4);
                return Ok(true);
            }
            Kind::Less if parameters => {
                self.looked(4);
                return Ok(true);
            }
            Kind::Dot => return self.is_qualified_type_hint(),
            _ => return self.no_viable(3),
        }
        self.looked(4);
        Ok(false)
    }

    fn is_qualified_type_hint(&mut self) -> Parse<bool> {
        let name = self.peek(4);
        if name == Kind::Key {
            self.looked(5);
            return Ok(true);
        }
        if matches!(name, Kind::Token | Kind::Count) || matches!(name.class(), Some(Class::Type(_)))
        {
            self.looked(5);
            return Ok(false);
        }
        if !name.is_user_type() {
            return self.no_viable(4);
        }
        let hint = match self.peek(5) {
            Kind::LeftParen => false,
            Kind::RightParen => true,
            _ => return self.no_viable(5),
        };
        self.looked(6);
        Ok(hint)
    }

    /// Parses `('class') term` or `('text')`.
    fn is_custom_type_hint(&mut self) -> Parse<bool> {
        match self.peek(3) {
            Kind::RightParen => {}
            Kind::Plus | Kind::Comma => {
                self.looked(4);
                return Ok(false);
            }
            Kind::Minus => {
                self.looked(4);
                return Ok(false);
            }
            kind if follows_factor(kind) && kind != Kind::As => {
                self.looked(4);
                return Ok(false);
            }
            _ => return self.no_viable(3),
        }
        let behind = self.peek(4);
        match behind {
            Kind::End => return Ok(false),
            Kind::Colon => return self.is_custom_type_hint_of_marker(),
            Kind::Per => return Ok(self.peek(5) != Kind::Partition),
            Kind::Group => return Ok(self.peek(5) != Kind::By),
            Kind::As => return Ok(!matches!(self.peek(5).class(), Some(Class::Type(_)))),
            _ => {}
        }
        if starts_value(behind) || behind.is_name() || behind == Kind::Token {
            self.looked(5);
            return Ok(true);
        }
        if follows_term(behind) || follows_factor(behind) {
            self.looked(5);
            return Ok(false);
        }
        self.no_viable(4)
    }

    fn is_custom_type_hint_of_marker(&mut self) -> Parse<bool> {
        if !self.peek(5).is_name() {
            self.looked(6);
            return Ok(false);
        }
        let behind = self.peek(6);
        Ok(!matches!(behind, Kind::LeftParen | Kind::Dot))
    }

    fn value(&mut self) -> Parse<Term> {
        match self.now() {
            Kind::LeftBracket => {
                self.looked(2);
                self.bump();
                let items = self.optional_terms()?;
                self.expect(Kind::RightBracket)?;
                Ok(Term::List(items))
            }
            Kind::LeftBrace => self.braces(),
            Kind::LeftParen => {
                self.looked(2);
                self.bump();
                let items = self.list(Self::term)?;
                self.expect(Kind::RightParen)?;
                Ok(Term::Tuple(items))
            }
            Kind::Null => {
                self.looked(2);
                self.bump();
                Ok(Term::Null)
            }
            kind if Self::is_marker(kind) => {
                self.looked(2);
                Ok(Term::Marker(self.marker()?))
            }
            _ => {
                self.looked(2);
                Ok(Term::Literal(self.literal()?))
            }
        }
    }

    /// Parses zero or more terms with commas between.
    pub(super) fn optional_terms(&mut self) -> Parse<Vec<Term>> {
        if Self::starts_term(self.now()) { self.list(Self::term) } else { Ok(Vec::new()) }
    }

    /// Parses `{…}`: a set, a map, or a value of a user type.
    fn braces(&mut self) -> Parse<Term> {
        let next = self.peek(2);
        let fields = if next.is_name() {
            match self.peek(3) {
                Kind::Colon => true,
                Kind::Dot => false,
                Kind::LeftParen if !next.is_name_only() || next == Kind::Cast => false,
                _ => return self.no_viable(3),
            }
        } else if starts_value(next) || matches!(next, Kind::Minus | Kind::Token | Kind::RightBrace)
        {
            false
        } else {
            return self.no_viable(2);
        };
        self.looked(if next.is_name() { 4 } else { 3 });
        self.bump();
        let term = if fields {
            Term::UserType(self.list(Self::field_value)?)
        } else if self.now() == Kind::RightBrace {
            Term::Set(Vec::new())
        } else {
            self.set_or_map()?
        };
        self.expect(Kind::RightBrace)?;
        Ok(term)
    }

    fn field_value(&mut self) -> Parse<(crate::ast::Name, Term)> {
        let field = self.name()?;
        self.expect(Kind::Colon)?;
        Ok((field, self.term()?))
    }

    fn set_or_map(&mut self) -> Parse<Term> {
        let first = self.term()?;
        match self.now() {
            Kind::Colon => {
                self.bump();
                let mut entries = vec![(first, self.term()?)];
                while self.eat(Kind::Comma) {
                    entries.push(self.entry()?);
                }
                Ok(Term::Map(entries))
            }
            Kind::Comma | Kind::RightBrace => {
                let mut elements = vec![first];
                while self.eat(Kind::Comma) {
                    elements.push(self.term()?);
                }
                Ok(Term::Set(elements))
            }
            _ => self.no_viable(1),
        }
    }

    /// Parses `key: value`
    pub(super) fn entry(&mut self) -> Parse<(Term, Term)> {
        let key = self.term()?;
        self.expect(Kind::Colon)?;
        Ok((key, self.term()?))
    }

    fn function(&mut self) -> Parse<Term> {
        self.look_over_call()?;
        let name = self.function_name()?;
        self.expect(Kind::LeftParen)?;
        let arguments =
            if self.now() == Kind::RightParen { Vec::new() } else { self.list(Self::term)? };
        self.expect(Kind::RightParen)?;
        Ok(Term::Function { name, arguments })
    }

    /// Looks over the whole name and the parenthesis, as the original does, to see whether
    /// arguments follow.
    fn look_over_call(&mut self) -> Parse<()> {
        let first = self.now();
        let mut ahead = 2;
        let second = self.peek(2);
        let plain = first == Kind::Token || (first.is_name() && !first.is_name_only());
        if second == Kind::Dot && first != Kind::Token {
            if !self.peek(3).is_function() {
                return self.no_viable(3);
            }
            if self.peek(4) != Kind::LeftParen {
                return self.no_viable(4);
            }
            ahead = 4;
        } else if second != Kind::LeftParen || !plain {
            return self.no_viable(2);
        }
        let argument = self.peek(ahead + 1);
        if argument != Kind::RightParen && !Self::starts_term(argument) {
            return self.no_viable(ahead + 1);
        }
        self.looked(ahead + 2);
        Ok(())
    }
}

fn arithmetic(operator: ArithmeticOperator, left: Term, right: Term) -> Term {
    Term::Arithmetic { operator, left: Box::new(left), right: Box::new(right) }
}

/// Tells whether a value that is neither name nor function begins with this token.
pub(super) fn starts_value(kind: Kind) -> bool {
    kind.is_constant()
        || matches!(
            kind,
            Kind::LeftParen
                | Kind::LeftBracket
                | Kind::LeftBrace
                | Kind::Colon
                | Kind::Question
                | Kind::Null
        )
}

/// Returns the tokens that may follow a term, anywhere in the grammar.
fn follows_term(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::RightParen
            | Kind::Colon
            | Kind::Semicolon
            | Kind::Comma
            | Kind::RightBracket
            | Kind::RightBrace
            | Kind::Allow
            | Kind::And
            | Kind::Apply
            | Kind::Asc
            | Kind::Delete
            | Kind::Desc
            | Kind::Group
            | Kind::If
            | Kind::Insert
            | Kind::Limit
            | Kind::Order
            | Kind::Per
            | Kind::Primary
            | Kind::Update
            | Kind::Where
            | Kind::Range
    )
}

/// Returns the tokens that may follow a part of a term and not behind a whole one.
fn follows_factor(kind: Kind) -> bool {
    matches!(kind, Kind::Percent | Kind::Plus | Kind::Minus | Kind::Slash | Kind::Star | Kind::As)
}
