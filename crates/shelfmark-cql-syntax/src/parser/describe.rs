//! `DESCRIBE`.

use super::cursor::{Parse, Parser};
use crate::ast::{Describe, DescribeTarget, QualifiedName};
use crate::lexer::Kind;

impl Parser<'_> {
    /// Parses `DESCRIBE …`, from the first word.
    pub(super) fn describe(&mut self) -> Parse<Describe> {
        self.bump();
        let target = self.describe_target()?;
        let with_internals = self.eat(Kind::With);
        if with_internals {
            self.expect(Kind::Internals)?;
        }
        Ok(Describe { target, with_internals })
    }

    fn describe_target(&mut self) -> Parse<DescribeTarget> {
        let first = self.now();
        let plain = match first {
            Kind::Cluster => Some(DescribeTarget::Cluster),
            Kind::Keyspaces => Some(DescribeTarget::Keyspaces),
            Kind::Tables => Some(DescribeTarget::Tables),
            Kind::Types => Some(DescribeTarget::Types),
            Kind::Functions => Some(DescribeTarget::Functions),
            Kind::Aggregates => Some(DescribeTarget::Aggregates),
            _ => None,
        };
        if let Some(target) = plain {
            self.looked(3);
            self.bump();
            return Ok(target);
        }
        match first {
            Kind::Full | Kind::Schema => {
                self.looked(2);
                let full = self.eat(Kind::Full);
                self.expect(Kind::Schema)?;
                Ok(DescribeTarget::Schema { full })
            }
            Kind::Keyspace => {
                self.looked(2);
                self.described_keyspace(false)
            }
            Kind::Table => self.described(Self::table_name, DescribeTarget::Table),
            Kind::Index => self.described(Self::table_name, DescribeTarget::Index),
            Kind::Materialized => {
                self.looked(2);
                self.bump();
                self.expect(Kind::View)?;
                Ok(DescribeTarget::View(self.table_name()?))
            }
            Kind::Only | Kind::Type | Kind::Function | Kind::Aggregate => self.described_word(),
            kind if kind.is_name() => {
                self.looked(2);
                self.described_any()
            }
            _ => self.no_viable(1),
        }
    }

    fn described<T>(
        &mut self,
        name: fn(&mut Self) -> Parse<T>,
        target: fn(T) -> DescribeTarget,
    ) -> Parse<DescribeTarget> {
        self.looked(2);
        self.bump();
        Ok(target(name(self)?))
    }

    fn described_keyspace(&mut self, only: bool) -> Parse<DescribeTarget> {
        self.expect(Kind::Keyspace)?;
        let named = self.now().is_name() || self.now() == Kind::Question;
        let name = if named { Some(self.keyspace_name()?) } else { None };
        Ok(DescribeTarget::Keyspace { only, name })
    }

    /// Words that may also be names: what follows decides.
    fn described_word(&mut self) -> Parse<DescribeTarget> {
        let first = self.now();
        let next = self.peek(2);
        match next {
            Kind::End => return self.described_any(),
            Kind::Dot | Kind::Semicolon | Kind::With => {
                self.looked(3);
                return self.described_any();
            }
            _ => {}
        }
        if first == Kind::Only {
            if next != Kind::Keyspace {
                return self.no_viable(2);
            }
            self.looked(3);
            self.bump();
            return self.described_keyspace(true);
        }
        let function = first != Kind::Type;
        let fits = next.is_name() || (function && matches!(next, Kind::Token | Kind::Question));
        if !fits {
            return self.no_viable(2);
        }
        self.looked(3);
        self.bump();
        Ok(match first {
            Kind::Type => DescribeTarget::Type(self.user_type_name()?),
            Kind::Function => DescribeTarget::Function(self.function_name()?),
            _ => DescribeTarget::Aggregate(self.function_name()?),
        })
    }

    /// Parses a bare name, perhaps with its keyspace.
    fn described_any(&mut self) -> Parse<DescribeTarget> {
        if !self.now().is_name() {
            return self.no_viable(1);
        }
        let keyspace = match self.peek(2) {
            Kind::Dot => {
                self.looked(3);
                let keyspace = self.name()?;
                self.bump();
                Some(keyspace)
            }
            Kind::End => None,
            Kind::Semicolon | Kind::With => {
                self.looked(3);
                None
            }
            _ => return self.no_viable(2),
        };
        Ok(DescribeTarget::Any(QualifiedName { keyspace, name: self.name()? }))
    }
}
