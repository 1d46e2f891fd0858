//! Names of all sorts, markers, constants.

use super::cursor::{Parse, Parser};
use crate::ast::{FunctionName, IntegerValue, Literal, LiteralKind, Marker, Name, QualifiedName};
use crate::lexer::Kind;
use crate::span::Span;

impl Parser<'_> {
    /// Parses the name of a column, in places where it is defined.
    pub(super) fn name(&mut self) -> Parse<Name> {
        if self.now().is_name() {
            let token = self.bump();
            return Ok(self.as_name(token));
        }
        self.no_viable(1)
    }

    /// Parses the name of a column, in places where it is used: `""` is one there.
    pub(super) fn column(&mut self) -> Parse<Name> {
        if self.now() == Kind::EmptyQuoted {
            let token = self.bump();
            return Ok(self.as_name(token));
        }
        self.name()
    }

    pub(super) fn is_column(kind: Kind) -> bool {
        kind.is_name() || kind == Kind::EmptyQuoted
    }

    /// Parses `(a, b)`
    pub(super) fn columns_in_parentheses(&mut self) -> Parse<Vec<Name>> {
        self.expect(Kind::LeftParen)?;
        let columns = self.list(Self::column)?;
        self.expect(Kind::RightParen)?;
        Ok(columns)
    }

    /// Parses one or more of something, with commas between.
    pub(super) fn list<T>(&mut self, item: impl Fn(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(Kind::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Parses a name where a question mark is understood, and refused in the end.
    pub(super) fn name_not_bound(&mut self, of: &str) -> Parse<Name> {
        if self.now() == Kind::Question {
            let token = self.bump();
            self.note(|| format!("Bind variables cannot be used for {of} names"));
            return Ok(self.as_name(token));
        }
        self.name()
    }

    pub(super) fn keyspace_name(&mut self) -> Parse<Name> {
        self.name_not_bound("keyspace")
    }

    pub(super) fn table_name(&mut self) -> Parse<QualifiedName> {
        self.qualified("table", |kind| {
            matches!(
                kind,
                Kind::LeftParen
                    | Kind::Semicolon
                    | Kind::End
                    | Kind::Add
                    | Kind::Allow
                    | Kind::Alter
                    | Kind::As
                    | Kind::Drop
                    | Kind::From
                    | Kind::Group
                    | Kind::Json
                    | Kind::Limit
                    | Kind::Norecursive
                    | Kind::Of
                    | Kind::Order
                    | Kind::Per
                    | Kind::Primary
                    | Kind::Rename
                    | Kind::Set
                    | Kind::To
                    | Kind::Using
                    | Kind::Where
                    | Kind::With
            )
        })
    }

    pub(super) fn index_name(&mut self) -> Parse<QualifiedName> {
        self.qualified("index", |kind| matches!(kind, Kind::Semicolon | Kind::End))
    }

    /// Parses `[keyspace.]name`; the original checks what may follow anywhere in the grammar.
    fn qualified(&mut self, of: &str, follows: fn(Kind) -> bool) -> Parse<QualifiedName> {
        let first = self.now();
        if !first.is_name() && first != Kind::Question {
            return self.no_viable(1);
        }
        let keyspace = match self.peek(2) {
            Kind::Dot => {
                self.looked(3);
                let keyspace = self.keyspace_name()?;
                self.expect(Kind::Dot)?;
                Some(keyspace)
            }
            Kind::End => None,
            kind if follows(kind) => {
                self.looked(3);
                None
            }
            _ => return self.no_viable(2),
        };
        Ok(QualifiedName { keyspace, name: self.name_not_bound(of)? })
    }

    /// Parses the name of a user type, which is not one of the native types' names.
    pub(super) fn user_type_name(&mut self) -> Parse<QualifiedName> {
        let first = self.now();
        let qualified =
            if first.is_user_type() { self.peek(2) == Kind::Dot } else { first.is_name() };
        let keyspace = if qualified {
            let keyspace = self.name()?;
            self.expect(Kind::Dot)?;
            Some(keyspace)
        } else {
            None
        };
        if !self.now().is_user_type() {
            return self.no_viable(1);
        }
        let token = self.bump();
        let written = self.slice(token);
        if token.kind == Kind::Ident && RESERVED_TYPES.contains(&written) {
            self.note(|| format!("Invalid (reserved) user type name {written}"));
        }
        Ok(QualifiedName { keyspace, name: self.as_name(token) })
    }

    /// Parses the name of a function where it is called or dropped.
    pub(super) fn function_name(&mut self) -> Parse<FunctionName> {
        let first = self.now();
        let qualified = if first == Kind::Token {
            self.looked(2);
            false
        } else if first.is_name_only() || first == Kind::Question {
            self.looked(2);
            true
        } else if first.is_name() {
            match self.peek(2) {
                Kind::Dot => {
                    self.looked(3);
                    true
                }
                Kind::End => false,
                Kind::LeftParen | Kind::Semicolon | Kind::With => {
                    self.looked(3);
                    false
                }
                _ => return self.no_viable(2),
            }
        } else {
            return self.no_viable(1);
        };
        let keyspace = if qualified {
            let keyspace = self.keyspace_name()?;
            self.expect(Kind::Dot)?;
            Some(keyspace)
        } else {
            None
        };
        Ok(FunctionName { keyspace, name: self.bare_function_name()? })
    }

    /// Parses the name of a function without its keyspace.
    pub(super) fn bare_function_name(&mut self) -> Parse<Name> {
        if self.now().is_function() {
            let token = self.bump();
            return Ok(self.as_name(token));
        }
        self.no_viable(1)
    }

    /// Parses `?` or `:name`, where it is known that one stands here.
    pub(super) fn marker(&mut self) -> Parse<Marker> {
        let token = self.bump();
        let mut span = Span { start: token.start, end: token.end };
        if token.kind != Kind::Colon {
            return Ok(self.bind(None, span));
        }
        let name = self.name()?;
        span = span.to(name.span());
        Ok(self.bind(Some(name), span))
    }

    pub(super) fn is_marker(kind: Kind) -> bool {
        matches!(kind, Kind::Question | Kind::Colon)
    }

    /// Parses a whole number or a marker.
    pub(super) fn integer_value(&mut self) -> Parse<IntegerValue> {
        match self.now() {
            Kind::Integer => {
                let token = self.bump();
                Ok(IntegerValue::Integer(self.slice(token).into()))
            }
            kind if Self::is_marker(kind) => Ok(IntegerValue::Marker(self.marker()?)),
            _ => self.no_viable(1),
        }
    }

    /// Parses a constant.
    pub(super) fn literal(&mut self) -> Parse<Literal> {
        let first = self.now();
        let kind = match first {
            Kind::String => LiteralKind::String,
            Kind::Integer => LiteralKind::Integer,
            Kind::Boolean => LiteralKind::Boolean,
            Kind::Duration => LiteralKind::Duration,
            Kind::Uuid => LiteralKind::Uuid,
            Kind::Hex => LiteralKind::Hex,
            Kind::Float
            | Kind::Nan
            | Kind::NegativeNan
            | Kind::Infinity
            | Kind::NegativeInfinity => LiteralKind::Float,
            _ => return self.no_viable(1),
        };
        let token = self.bump();
        let text = match first {
            Kind::Nan | Kind::NegativeNan => "NaN".into(),
            Kind::Infinity => "Infinity".into(),
            Kind::NegativeInfinity => "-Infinity".into(),
            _ => self.meaning(token),
        };
        if first == Kind::Float && text.parse::<f64>().is_ok_and(f64::is_infinite) {
            // The original finds the type of a number by way of a double.
            self.note_number_format(
                "Character I is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark.",
            );
        }
        Ok(Literal { kind, text, span: Span { start: token.start, end: token.end } })
    }

    /// Notes that the original cannot read a number, and goes on.
    pub(super) fn note_number_format(&mut self, why: &str) {
        let whole = self.text;
        self.note(|| {
            format!("Failed parsing statement: [{whole}] reason: NumberFormatException {why}")
        });
    }

    /// Parses `IF NOT EXISTS`
    pub(super) fn if_not_exists(&mut self) -> Parse<bool> {
        if !self.eat(Kind::If) {
            return Ok(false);
        }
        self.expect(Kind::Not)?;
        self.expect(Kind::Exists)?;
        Ok(true)
    }

    /// Parses `IF EXISTS`
    pub(super) fn if_exists(&mut self) -> Parse<bool> {
        if !self.eat(Kind::If) {
            return Ok(false);
        }
        self.expect(Kind::Exists)?;
        Ok(true)
    }
}

/// Names kept for types to come.
pub(crate) const RESERVED_TYPES: [&str; 7] =
    ["byte", "complex", "enum", "date", "interval", "macaddr", "bitstring"];
