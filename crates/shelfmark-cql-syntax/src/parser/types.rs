//! Types.

use super::cursor::{Parse, Parser};
use crate::ast::{NativeType, Type};
use crate::lexer::{Class, Kind};

impl Parser<'_> {
    /// Parses a type.
    pub(super) fn cql_type(&mut self) -> Parse<Type> {
        let first = self.now();
        match first {
            Kind::Set => {
                self.looked(2);
                self.collection(first)
            }
            Kind::String => {
                self.looked(2);
                Ok(Type::Custom(self.expect_text(Kind::String)?))
            }
            Kind::Map | Kind::List | Kind::Tuple | Kind::Vector | Kind::Frozen => {
                match self.peek(2) {
                    Kind::Less => {
                        self.looked(3);
                        self.collection(first)
                    }
                    Kind::Dot => self.user_type(3),
                    kind if follows_type(kind) => self.user_type(3),
                    _ => self.no_viable(2),
                }
            }
            _ => match first.class() {
                Some(Class::Type(native)) => match self.peek(2) {
                    Kind::Dot => self.user_type(3),
                    Kind::End => {
                        self.bump();
                        Ok(Type::Native(native))
                    }
                    kind if follows_type(kind) => {
                        self.looked(3);
                        self.bump();
                        Ok(Type::Native(native))
                    }
                    _ => self.no_viable(2),
                },
                _ if first.is_name() => self.user_type(2),
                _ => self.no_viable(1),
            },
        }
    }

    fn user_type(&mut self, looked: usize) -> Parse<Type> {
        if self.peek(2) != Kind::End {
            self.looked(looked);
        }
        Ok(Type::User(self.user_type_name()?))
    }

    /// Parses a native type where nothing else is taken, as in `CAST`.
    pub(super) fn native_type(&mut self) -> Parse<NativeType> {
        match self.now().class() {
            Some(Class::Type(native)) => {
                self.bump();
                Ok(native)
            }
            _ => self.no_viable(1),
        }
    }

    fn collection(&mut self, kind: Kind) -> Parse<Type> {
        self.bump();
        self.expect(Kind::Less)?;
        let inner = self.deeper(|parser| match kind {
            Kind::Tuple => Ok(Type::Tuple(parser.list(Self::cql_type)?)),
            Kind::Map => {
                let key = parser.cql_type()?;
                parser.expect(Kind::Comma)?;
                Ok(Type::Map(Box::new(key), Box::new(parser.cql_type()?)))
            }
            Kind::Vector => parser.vector(),
            Kind::List => Ok(Type::List(Box::new(parser.cql_type()?))),
            Kind::Set => Ok(Type::Set(Box::new(parser.cql_type()?))),
            _ => parser.frozen(),
        })?;
        self.expect(Kind::Greater)?;
        Ok(inner)
    }

    fn vector(&mut self) -> Parse<Type> {
        let element = Box::new(self.cql_type()?);
        self.expect(Kind::Comma)?;
        let token = self.expect(Kind::Integer)?;
        let digits = self.slice(token).to_owned();
        let Ok(dimension) = digits.parse::<i32>() else {
            self.note_number_format(&format!("For input string: \"{digits}\""));
            return Ok(Type::Vector { element, dimension: 1 });
        };
        Ok(Type::Vector { element, dimension })
    }

    fn frozen(&mut self) -> Parse<Type> {
        let inner = self.cql_type()?;
        if let Type::Native(native) = &inner {
            let name = native.name();
            self.note(|| {
                format!(
                    "frozen<> is only allowed on collections, tuples, and user-defined types \
                     (got {name})"
                )
            });
        }
        Ok(Type::Frozen(Box::new(inner)))
    }
}

/// Returns the tokens that may follow a type, anywhere in the grammar.
fn follows_type(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::RightParen
            | Kind::Semicolon
            | Kind::Greater
            | Kind::Comma
            | Kind::Finalfunc
            | Kind::Initcond
            | Kind::Language
            | Kind::Masked
            | Kind::Primary
            | Kind::Static
            | Kind::End
    )
}
