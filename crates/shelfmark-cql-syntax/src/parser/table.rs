//! Tables, types and views.

use super::cursor::{Parse, Parser};
use crate::ast::{
    AlterTable, AlterTableAction, AlterType, AlterTypeAction, AlterView, ColumnDefinition,
    ColumnMask, CreateTable, CreateType, CreateView, Direction, Field, Name, PrimaryKey, Rename,
    TableOptions,
};
use crate::lexer::Kind;

impl Parser<'_> {
    /// Parses `CREATE TABLE`, from behind `TABLE`.
    pub(super) fn create_table(&mut self) -> Parse<CreateTable> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.table_name()?;
        let mut columns = Vec::new();
        let mut primary_keys = Vec::new();
        self.expect(Kind::LeftParen)?;
        self.table_part(&mut columns, &mut primary_keys)?;
        while self.eat(Kind::Comma) {
            // A comma may stand without anything behind it.
            if self.now().is_name() || self.now() == Kind::Primary {
                self.table_part(&mut columns, &mut primary_keys)?;
            }
        }
        self.expect(Kind::RightParen)?;
        let options = self.table_options(true)?;
        Ok(CreateTable { if_not_exists, name, columns, primary_keys, options })
    }

    fn table_part(
        &mut self,
        columns: &mut Vec<ColumnDefinition>,
        primary_keys: &mut Vec<PrimaryKey>,
    ) -> Parse<()> {
        if self.now() == Kind::Primary {
            primary_keys.push(self.primary_key()?);
            return Ok(());
        }
        let column = self.column_definition()?;
        if self.eat(Kind::Primary) {
            self.expect(Kind::Key)?;
            primary_keys
                .push(PrimaryKey { partition: vec![column.name.clone()], clustering: Vec::new() });
        }
        columns.push(column);
        Ok(())
    }

    fn column_definition(&mut self) -> Parse<ColumnDefinition> {
        let name = self.name()?;
        let column_type = self.cql_type()?;
        let is_static = self.eat(Kind::Static);
        let mask = if self.now() == Kind::Masked { Some(self.mask()?) } else { None };
        Ok(ColumnDefinition { name, column_type, is_static, mask })
    }

    /// Parses `MASKED WITH …`
    fn mask(&mut self) -> Parse<ColumnMask> {
        if self.peek(2) != Kind::With {
            return self.no_viable(2);
        }
        let third = self.peek(3);
        let by_default = third == Kind::Default
            && match self.peek(4) {
                Kind::LeftParen | Kind::Dot => false,
                Kind::RightParen | Kind::Comma | Kind::Primary | Kind::Semicolon | Kind::End => {
                    true
                }
                _ => return self.no_viable(4),
            };
        if !third.is_name() && !matches!(third, Kind::Token | Kind::Question) {
            return self.no_viable(3);
        }
        self.bump();
        self.bump();
        if by_default {
            self.bump();
            return Ok(ColumnMask::Default);
        }
        let name = self.function_name()?;
        if self.now() != Kind::LeftParen {
            return self.no_viable(1);
        }
        let first = self.peek(2);
        if first != Kind::RightParen && !Self::starts_term(first) {
            return self.no_viable(2);
        }
        self.bump();
        let arguments = self.optional_terms()?;
        self.expect(Kind::RightParen)?;
        Ok(ColumnMask::Function { name, arguments })
    }

    /// Parses `PRIMARY KEY ((a, b), c)`
    fn primary_key(&mut self) -> Parse<PrimaryKey> {
        self.expect(Kind::Primary)?;
        self.expect(Kind::Key)?;
        self.expect(Kind::LeftParen)?;
        let partition = if self.eat(Kind::LeftParen) {
            let columns = self.list(Self::name)?;
            self.expect(Kind::RightParen)?;
            columns
        } else {
            vec![self.name()?]
        };
        let mut clustering = Vec::new();
        while self.eat(Kind::Comma) {
            clustering.push(self.name()?);
        }
        self.expect(Kind::RightParen)?;
        Ok(PrimaryKey { partition, clustering })
    }

    /// Parses `WITH …` of a table or a view.
    fn table_options(&mut self, table: bool) -> Parse<TableOptions> {
        let mut options = TableOptions::default();
        if !self.eat(Kind::With) {
            return Ok(options);
        }
        loop {
            let words = match self.now() {
                Kind::Compact => Some(Kind::Storage),
                Kind::Clustering => Some(Kind::Order),
                _ => None,
            };
            match words {
                Some(word) if self.peek(2) == word => self.table_words(&mut options, table)?,
                Some(_) if self.peek(2) != Kind::Equal => return self.no_viable(2),
                _ => self.property_into(&mut options.properties)?,
            }
            if !self.eat(Kind::And) {
                return Ok(options);
            }
        }
    }

    /// Parses `COMPACT STORAGE` or `CLUSTERING ORDER BY (…)`
    fn table_words(&mut self, options: &mut TableOptions, table: bool) -> Parse<()> {
        let first = self.bump().kind;
        self.bump();
        if first == Kind::Compact {
            if !table {
                let refused = "COMPACT STORAGE tables are not allowed starting with version 4.0";
                self.broken_rule = None;
                return self.refuse(refused);
            }
            options.compact_storage = true;
            return Ok(());
        }
        self.expect(Kind::By)?;
        self.expect(Kind::LeftParen)?;
        options.clustering_order.extend(self.list(Self::clustering_order)?);
        self.expect(Kind::RightParen)?;
        Ok(())
    }

    fn clustering_order(&mut self) -> Parse<(Name, Direction)> {
        let column = self.name()?;
        let direction = match self.now() {
            Kind::Asc => Direction::Ascending,
            Kind::Desc => Direction::Descending,
            _ => return self.no_viable(1),
        };
        self.bump();
        Ok((column, direction))
    }

    /// Parses `ALTER TABLE`, from behind `TABLE`.
    pub(super) fn alter_table(&mut self) -> Parse<AlterTable> {
        let if_exists = self.if_exists()?;
        let name = self.table_name()?;
        let action = match self.now() {
            Kind::Alter => self.alter_column()?,
            Kind::Add => {
                self.looked(2);
                self.bump();
                let if_not_exists = self.if_not_exists()?;
                let columns = self.one_or_parentheses(Self::column_definition)?;
                AlterTableAction::Add { if_not_exists, columns }
            }
            Kind::Drop => self.drop_columns()?,
            Kind::Rename => {
                self.looked(2);
                self.bump();
                let if_exists = self.if_exists()?;
                AlterTableAction::Rename { if_exists, renames: self.renames()? }
            }
            Kind::With => {
                self.looked(2);
                self.bump();
                AlterTableAction::With(self.properties()?)
            }
            _ => return self.no_viable(1),
        };
        Ok(AlterTable { if_exists, name, action })
    }

    fn one_or_parentheses<T>(&mut self, item: fn(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        if !self.now().is_name() && self.now() != Kind::LeftParen {
            return self.no_viable(1);
        }
        if !self.eat(Kind::LeftParen) {
            return Ok(vec![item(self)?]);
        }
        let items = self.list(item)?;
        self.expect(Kind::RightParen)?;
        Ok(items)
    }

    /// Parses `ALTER c TYPE t`, `ALTER [IF EXISTS] c MASKED WITH …`, `ALTER [IF EXISTS] c DROP
    /// MASKED`
    fn alter_column(&mut self) -> Parse<AlterTableAction> {
        let next = self.peek(2);
        if next == Kind::If {
            self.looked(3);
        } else if !Self::is_column(next) {
            return self.no_viable(2);
        } else if !matches!(self.peek(3), Kind::Type | Kind::Drop | Kind::Masked) {
            return self.no_viable(3);
        } else {
            self.looked(4);
        }
        self.bump();
        let if_exists = self.if_exists()?;
        let column = self.column()?;
        match self.now() {
            Kind::Type if !if_exists => {
                self.bump();
                Ok(AlterTableAction::AlterType { column, column_type: self.cql_type()? })
            }
            Kind::Masked => {
                let mask = Some(self.mask()?);
                Ok(AlterTableAction::Mask { if_exists, column, mask })
            }
            Kind::Drop => {
                self.bump();
                self.expect(Kind::Masked)?;
                Ok(AlterTableAction::Mask { if_exists, column, mask: None })
            }
            _ => self.no_viable(1),
        }
    }

    fn drop_columns(&mut self) -> Parse<AlterTableAction> {
        match self.peek(2) {
            Kind::Compact => match self.peek(3) {
                Kind::Storage => {
                    self.looked(4);
                    self.bump();
                    self.bump();
                    self.bump();
                    return Ok(AlterTableAction::DropCompactStorage);
                }
                Kind::Semicolon | Kind::Using => self.looked(4),
                Kind::End => {}
                _ => return self.no_viable(3),
            },
            Kind::If | Kind::LeftParen => self.looked(3),
            kind if kind.is_name() => self.looked(3),
            _ => return self.no_viable(2),
        }
        self.bump();
        let if_exists = self.if_exists()?;
        let columns = self.one_or_parentheses(Self::name)?;
        let timestamp = if self.eat(Kind::Using) {
            self.expect(Kind::Timestamp)?;
            Some(self.expect_text(Kind::Integer)?)
        } else {
            None
        };
        Ok(AlterTableAction::Drop { if_exists, columns, timestamp })
    }

    /// Parses `a TO b AND c TO d`
    fn renames(&mut self) -> Parse<Vec<Rename>> {
        let mut renames = Vec::new();
        loop {
            let from = self.name()?;
            self.expect(Kind::To)?;
            renames.push(Rename { from, to: self.name()? });
            if !self.eat(Kind::And) {
                return Ok(renames);
            }
        }
    }

    /// Parses `CREATE TYPE`, from behind `TYPE`.
    pub(super) fn create_type(&mut self) -> Parse<CreateType> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.user_type_name()?;
        self.expect(Kind::LeftParen)?;
        let mut fields = vec![self.field()?];
        while self.eat(Kind::Comma) {
            if self.now().is_name() {
                fields.push(self.field()?);
            }
        }
        self.expect(Kind::RightParen)?;
        Ok(CreateType { if_not_exists, name, fields })
    }

    fn field(&mut self) -> Parse<Field> {
        let name = self.name()?;
        Ok(Field { name, field_type: self.cql_type()? })
    }

    /// Parses `ALTER TYPE`, from behind `TYPE`.
    pub(super) fn alter_type(&mut self) -> Parse<AlterType> {
        let if_exists = self.if_exists()?;
        let name = self.user_type_name()?;
        let action = match self.now() {
            Kind::Alter => {
                self.bump();
                let name = self.name()?;
                self.expect(Kind::Type)?;
                AlterTypeAction::Alter(Field { name, field_type: self.cql_type()? })
            }
            Kind::Add => {
                self.bump();
                let if_not_exists = self.if_not_exists()?;
                AlterTypeAction::Add { if_not_exists, field: self.field()? }
            }
            Kind::Rename => {
                self.bump();
                let if_exists = self.if_exists()?;
                AlterTypeAction::Rename { if_exists, renames: self.renames()? }
            }
            _ => return self.no_viable(1),
        };
        Ok(AlterType { if_exists, name, action })
    }

    /// Parses `CREATE MATERIALIZED VIEW`, from behind `VIEW`.
    pub(super) fn create_view(&mut self) -> Parse<CreateView> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.table_name()?;
        self.expect(Kind::As)?;
        self.expect(Kind::Select)?;
        let selection = self.select_clause()?;
        self.expect(Kind::From)?;
        let base = self.table_name()?;
        let relations = if self.eat(Kind::Where) { self.relations()? } else { Vec::new() };
        let primary_key = self.primary_key()?;
        let options = self.table_options(false)?;
        Ok(CreateView { if_not_exists, name, selection, base, relations, primary_key, options })
    }

    /// Parses `ALTER MATERIALIZED VIEW`, from behind `VIEW`.
    pub(super) fn alter_view(&mut self) -> Parse<AlterView> {
        let if_exists = self.if_exists()?;
        let name = self.table_name()?;
        self.expect(Kind::With)?;
        Ok(AlterView { if_exists, name, properties: self.properties()? })
    }
}
