//! `INSERT`, `UPDATE`, `DELETE`, batches.

use super::cursor::{Parse, Parser};
use super::terms::starts_value;
use crate::ast::{
    Assignment, Attributes, Batch, BatchKind, Delete, Deletion, Insert, InsertValues, JsonDefault,
    JsonValue, Literal, LiteralKind, Modification, Name, Operation, Term, Update,
};
use crate::lexer::Kind;
use crate::span::Span;

impl Parser<'_> {
    pub(super) fn insert(&mut self) -> Parse<Insert> {
        self.expect(Kind::Insert)?;
        self.expect(Kind::Into)?;
        let table = self.table_name()?;
        let values = match self.now() {
            Kind::LeftParen => self.insert_columns()?,
            Kind::Json => self.insert_json()?,
            _ => return self.no_viable(1),
        };
        let if_not_exists = self.if_not_exists()?;
        Ok(Insert { table, values, if_not_exists, attributes: self.attributes()? })
    }

    fn insert_columns(&mut self) -> Parse<InsertValues> {
        let columns = self.columns_in_parentheses()?;
        self.expect(Kind::Values)?;
        self.expect(Kind::LeftParen)?;
        let values = self.list(Self::term)?;
        self.expect(Kind::RightParen)?;
        Ok(InsertValues::Columns { columns, values })
    }

    fn insert_json(&mut self) -> Parse<InsertValues> {
        self.bump();
        let value = match self.now() {
            Kind::String => JsonValue::Text(self.expect_text(Kind::String)?),
            kind if Self::is_marker(kind) => JsonValue::Marker(self.marker()?),
            _ => return self.no_viable(1),
        };
        let mut default = JsonDefault::Null;
        if self.eat(Kind::Default) {
            match self.now() {
                Kind::Null => {}
                Kind::Unset => default = JsonDefault::Unset,
                _ => return self.no_viable(1),
            }
            self.bump();
        }
        Ok(InsertValues::Json { value, default })
    }

    /// Parses `USING …`
    fn attributes(&mut self) -> Parse<Attributes> {
        let mut attributes = Attributes::default();
        if !self.eat(Kind::Using) {
            return Ok(attributes);
        }
        loop {
            let part = match self.now() {
                Kind::Timestamp => &mut attributes.timestamp,
                Kind::Ttl => &mut attributes.ttl,
                _ => return self.no_viable(1),
            };
            self.bump();
            *part = Some(self.integer_value()?);
            if !self.eat(Kind::And) {
                return Ok(attributes);
            }
        }
    }

    pub(super) fn update(&mut self) -> Parse<Update> {
        self.expect(Kind::Update)?;
        let table = self.table_name()?;
        let attributes = self.attributes()?;
        self.expect(Kind::Set)?;
        let mut assignments: Vec<Assignment> = Vec::new();
        loop {
            let assignment = self.assignment()?;
            let column = &assignment.column;
            if assignments.iter().any(|other| &other.column == column && clash(other, &assignment))
            {
                let column = column.as_str();
                self.note(|| format!("Multiple incompatible setting of column {column}"));
            }
            assignments.push(assignment);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Where)?;
        let relations = self.relations()?;
        let conditions = self.conditions()?;
        Ok(Update { table, attributes, assignments, relations, conditions })
    }

    fn assignment(&mut self) -> Parse<Assignment> {
        let column = self.column()?;
        let operation = match self.now() {
            Kind::Equal => {
                self.bump();
                self.plain_assignment(&column)?
            }
            Kind::PlusEqual => {
                self.bump();
                Operation::Add(self.term()?)
            }
            Kind::MinusEqual => {
                self.bump();
                Operation::Subtract(self.term()?)
            }
            Kind::LeftBracket => {
                self.bump();
                let key = self.term()?;
                self.expect(Kind::RightBracket)?;
                self.expect(Kind::Equal)?;
                Operation::SetElement { key, value: self.term()? }
            }
            Kind::Dot => {
                self.bump();
                let field = self.name()?;
                self.expect(Kind::Equal)?;
                Operation::SetField { field, value: self.term()? }
            }
            _ => return self.no_viable(1),
        };
        Ok(Assignment { column, operation })
    }

    /// Parses what stands behind `column =`.
    fn plain_assignment(&mut self, column: &Name) -> Parse<Operation> {
        let first = self.now();
        if starts_value(first) || matches!(first, Kind::Minus | Kind::Token) {
            self.looked(2);
            return self.set_or_prepend(column);
        }
        if !Self::is_column(first) {
            return self.no_viable(1);
        }
        match self.peek(2) {
            Kind::Plus | Kind::Minus => {
                self.looked(3);
                self.add_or_subtract(column)
            }
            Kind::Integer => {
                self.looked(3);
                self.add_signed(column)
            }
            Kind::LeftParen
                if first.is_name() && (!first.is_name_only() || first == Kind::Cast) =>
            {
                self.looked(3);
                self.set_or_prepend(column)
            }
            Kind::Dot if first.is_name() => {
                self.looked(3);
                self.set_or_prepend(column)
            }
            _ => self.no_viable(2),
        }
    }

    /// Parses `value` or `value + column`
    fn set_or_prepend(&mut self, column: &Name) -> Parse<Operation> {
        let value = self.term()?;
        if !self.eat(Kind::Plus) {
            return Ok(Operation::Set(value));
        }
        if &self.column()? != column {
            self.note(|| "Only expressions of the form X = <value> + X are supported.".to_owned());
        }
        Ok(Operation::Prepend(value))
    }

    /// Parses `column + value` or `column - value`
    fn add_or_subtract(&mut self, column: &Name) -> Parse<Operation> {
        let other = self.column()?;
        let minus = self.bump().kind == Kind::Minus;
        let value = self.term()?;
        if &other != column {
            let sign = if minus { '-' } else { '+' };
            self.note(|| {
                format!("Only expressions of the form X = X {sign}<value> are supported.")
            });
        }
        Ok(if minus { Operation::Subtract(value) } else { Operation::Add(value) })
    }

    /// Parses `column -1`, where the minus sign belongs to the number.
    fn add_signed(&mut self, column: &Name) -> Parse<Operation> {
        let other = self.column()?;
        let token = self.bump();
        let text: Box<str> = self.slice(token).into();
        if &other != column {
            let sign = if text.starts_with('-') { '-' } else { '+' };
            self.note(|| {
                format!("Only expressions of the form X = X {sign} <value> are supported.")
            });
        }
        let span = Span { start: token.start, end: token.end };
        Ok(Operation::Add(Term::Literal(Literal { kind: LiteralKind::Integer, text, span })))
    }

    pub(super) fn delete(&mut self) -> Parse<Delete> {
        self.expect(Kind::Delete)?;
        let deletions =
            if Self::is_column(self.now()) { self.list(Self::deletion)? } else { Vec::new() };
        self.expect(Kind::From)?;
        let table = self.table_name()?;
        let mut attributes = Attributes::default();
        if self.eat(Kind::Using) {
            self.expect(Kind::Timestamp)?;
            attributes.timestamp = Some(self.integer_value()?);
        }
        self.expect(Kind::Where)?;
        let relations = self.relations()?;
        let conditions = self.conditions()?;
        Ok(Delete { deletions, table, attributes, relations, conditions })
    }

    fn deletion(&mut self) -> Parse<Deletion> {
        if !Self::is_column(self.now()) {
            return self.no_viable(1);
        }
        let next = self.peek(2);
        if !matches!(next, Kind::Comma | Kind::From | Kind::LeftBracket | Kind::Dot) {
            return self.no_viable(2);
        }
        self.looked(3);
        let column = self.column()?;
        match next {
            Kind::LeftBracket => {
                self.bump();
                let key = self.term()?;
                self.expect(Kind::RightBracket)?;
                Ok(Deletion::Element { column, key })
            }
            Kind::Dot => {
                self.bump();
                Ok(Deletion::Field { column, field: self.name()? })
            }
            _ => Ok(Deletion::Column(column)),
        }
    }

    /// Parses what stands behind `BEGIN`, when it is no transaction.
    pub(super) fn batch(&mut self) -> Parse<Batch> {
        let kind = match self.now() {
            Kind::Unlogged => BatchKind::Unlogged,
            Kind::Counter => BatchKind::Counter,
            _ => BatchKind::Logged,
        };
        if kind != BatchKind::Logged {
            self.bump();
        }
        self.expect(Kind::Batch)?;
        let attributes = self.attributes()?;
        let mut statements = Vec::new();
        while let Some(statement) = self.modification()? {
            statements.push(statement);
            self.eat(Kind::Semicolon);
        }
        self.expect(Kind::Apply)?;
        self.expect(Kind::Batch)?;
        Ok(Batch { kind, attributes, statements })
    }

    /// Parses a statement that writes, if one begins here.
    pub(super) fn modification(&mut self) -> Parse<Option<Modification>> {
        Ok(Some(match self.now() {
            Kind::Insert => Modification::Insert(self.insert()?),
            Kind::Update => Modification::Update(self.update()?),
            Kind::Delete => Modification::Delete(self.delete()?),
            _ => return Ok(None),
        }))
    }
}

/// Tells whether two assignments to one column exclude each other.
fn clash(left: &Assignment, right: &Assignment) -> bool {
    match (&left.operation, &right.operation) {
        (Operation::SetField { field, .. }, Operation::SetField { field: other, .. }) => {
            field == other
        }
        (Operation::Set(_), _) | (_, Operation::Set(_)) => true,
        _ => false,
    }
}
