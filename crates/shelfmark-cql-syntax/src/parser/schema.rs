//! Keyspaces, indexes, triggers, properties.

use super::cursor::{Parse, Parser};
use crate::ast::{
    AlterKeyspace, CreateIndex, CreateKeyspace, CreateTrigger, DropTrigger, Dropped, IndexTarget,
    IndexTargetKind, Literal, Property, PropertyValue, QualifiedName, Term,
};
use crate::lexer::Kind;

impl Parser<'_> {
    /// Parses `CREATE KEYSPACE`, from behind `KEYSPACE`.
    pub(super) fn create_keyspace(&mut self) -> Parse<CreateKeyspace> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.keyspace_name()?;
        self.expect(Kind::With)?;
        Ok(CreateKeyspace { if_not_exists, name, properties: self.properties()? })
    }

    /// Parses `ALTER KEYSPACE`, from behind `KEYSPACE`.
    pub(super) fn alter_keyspace(&mut self) -> Parse<AlterKeyspace> {
        let if_exists = self.if_exists()?;
        let name = self.keyspace_name()?;
        self.expect(Kind::With)?;
        Ok(AlterKeyspace { if_exists, name, properties: self.properties()? })
    }

    /// Parses `DROP KEYSPACE`, from behind `KEYSPACE`.
    pub(super) fn drop_keyspace(&mut self) -> Parse<Dropped> {
        let if_exists = self.if_exists()?;
        let name = self.keyspace_name()?;
        Ok(Dropped { if_exists, name: QualifiedName { keyspace: None, name } })
    }

    /// Parses `DROP`, from behind the word that says what.
    pub(super) fn dropped(
        &mut self,
        name: fn(&mut Self) -> Parse<QualifiedName>,
    ) -> Parse<Dropped> {
        let if_exists = self.if_exists()?;
        Ok(Dropped { if_exists, name: name(self)? })
    }

    /// Parses `a = 1 AND b = {…}`
    pub(super) fn properties(&mut self) -> Parse<Vec<Property>> {
        let mut properties = Vec::new();
        loop {
            self.property_into(&mut properties)?;
            if !self.eat(Kind::And) {
                return Ok(properties);
            }
        }
    }

    /// Parses one property, which must not be there yet.
    pub(super) fn property_into(&mut self, properties: &mut Vec<Property>) -> Parse<()> {
        let property = self.property()?;
        if properties.iter().any(|other| other.name == property.name) {
            let name = property.name.as_str();
            self.note(|| format!("Multiple definitions for property '{name}'"));
        }
        properties.push(property);
        Ok(())
    }

    fn property(&mut self) -> Parse<Property> {
        if !self.now().is_name() {
            return self.no_viable(1);
        }
        if self.peek(2) != Kind::Equal {
            return self.no_viable(2);
        }
        let value = self.peek(3);
        if value != Kind::LeftBrace && !value.is_constant() && !is_word(value) {
            return self.no_viable(3);
        }
        self.looked(4);
        let name = self.name()?;
        self.expect(Kind::Equal)?;
        let value = if value == Kind::LeftBrace {
            PropertyValue::Map(self.property_map()?)
        } else if value.is_constant() {
            PropertyValue::Literal(self.literal()?)
        } else {
            let token = self.bump();
            PropertyValue::Word(self.slice(token).into())
        };
        Ok(Property { name, value })
    }

    /// Parses `{'k': 'v'}`: a map of constants.
    pub(super) fn property_map(&mut self) -> Parse<Vec<(Literal, Literal)>> {
        self.expect(Kind::LeftBrace)?;
        let mut entries = Vec::new();
        if Self::starts_term(self.now()) {
            entries = self.list(Self::entry)?;
        }
        self.expect(Kind::RightBrace)?;
        let mut properties: Vec<(Literal, Literal)> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let Term::Literal(key) = key else {
                self.note(|| format!("Invalid property name: {key}{}", bound(&key)));
                break;
            };
            let Term::Literal(value) = value else {
                let key = quoted(&key);
                self.note(|| {
                    format!("Invalid property value: {value} for property: {key}{}", bound(&value))
                });
                break;
            };
            if properties.iter().any(|(other, _)| other.text == key.text) {
                self.note(|| format!("Multiple definition for property {}", key.text));
            }
            properties.push((key, value));
        }
        Ok(properties)
    }

    /// Parses `CREATE [CUSTOM] INDEX`, from behind `CREATE`.
    pub(super) fn create_index(&mut self) -> Parse<CreateIndex> {
        let custom = self.eat(Kind::Custom);
        self.expect(Kind::Index)?;
        let if_not_exists = self.if_not_exists()?;
        let named = self.now().is_name() || self.now() == Kind::Question;
        let name = if named { Some(self.name_not_bound("index")?) } else { None };
        self.expect(Kind::On)?;
        let table = self.table_name()?;
        self.expect(Kind::LeftParen)?;
        let targets =
            if starts_target(self.now()) { self.list(Self::index_target)? } else { Vec::new() };
        self.expect(Kind::RightParen)?;
        let using =
            if self.eat(Kind::Using) { Some(self.expect_text(Kind::String)?) } else { None };
        let properties = if self.eat(Kind::With) { self.properties()? } else { Vec::new() };
        Ok(CreateIndex { custom, if_not_exists, name, table, targets, using, properties })
    }

    fn index_target(&mut self) -> Parse<IndexTarget> {
        let kind = match self.now() {
            Kind::Values => IndexTargetKind::Values,
            Kind::Keys => IndexTargetKind::Keys,
            Kind::Entries => IndexTargetKind::Entries,
            Kind::Full => IndexTargetKind::Full,
            _ => IndexTargetKind::Simple,
        };
        let reserved = matches!(kind, IndexTargetKind::Entries | IndexTargetKind::Full);
        if kind == IndexTargetKind::Simple {
            return Ok(IndexTarget { column: self.column()?, kind });
        }
        // `values` and `keys` may also be columns.
        if !reserved {
            match self.peek(2) {
                Kind::LeftParen => {}
                Kind::Comma | Kind::RightParen => {
                    let column = self.column()?;
                    return Ok(IndexTarget { column, kind: IndexTargetKind::Simple });
                }
                _ => return self.no_viable(2),
            }
        }
        self.bump();
        self.expect(Kind::LeftParen)?;
        let column = self.column()?;
        self.expect(Kind::RightParen)?;
        Ok(IndexTarget { column, kind })
    }

    /// Parses `CREATE TRIGGER`, from behind `TRIGGER`.
    pub(super) fn create_trigger(&mut self) -> Parse<CreateTrigger> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.name()?;
        self.expect(Kind::On)?;
        let table = self.table_name()?;
        self.expect(Kind::Using)?;
        let class = self.expect_text(Kind::String)?;
        Ok(CreateTrigger { if_not_exists, name, table, class })
    }

    /// Parses `DROP TRIGGER`, from behind `TRIGGER`.
    pub(super) fn drop_trigger(&mut self) -> Parse<DropTrigger> {
        let if_exists = self.if_exists()?;
        let name = self.name()?;
        self.expect(Kind::On)?;
        Ok(DropTrigger { if_exists, name, table: self.table_name()? })
    }
}

fn starts_target(kind: Kind) -> bool {
    matches!(kind, Kind::EmptyQuoted | Kind::Entries | Kind::Full) || kind.is_name()
}

/// Returns an unreserved keyword, which may stand bare as the value of a property.
fn is_word(kind: Kind) -> bool {
    kind.is_name() && !matches!(kind, Kind::Ident | Kind::Quoted)
}

fn bound(term: &Term) -> &'static str {
    match term {
        Term::Marker(_) => " (bind variables are not supported in DDL queries)",
        _ => "",
    }
}

fn quoted(literal: &Literal) -> String {
    Term::Literal(literal.clone()).to_string()
}
