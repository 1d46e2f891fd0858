//! Relations and conditions.

use super::cursor::{Parse, Parser};
use crate::ast::{
    Condition, ConditionPath, ConditionTest, Conditions, InValues, Operator, Relation, Term,
};
use crate::lexer::Kind;

impl Parser<'_> {
    /// Parses the relations of a `WHERE`.
    pub(super) fn relations(&mut self) -> Parse<Vec<Relation>> {
        let mut relations = vec![self.relation_or_expression()?];
        while self.eat(Kind::And) {
            relations.push(self.relation_or_expression()?);
        }
        Ok(relations)
    }

    fn relation_or_expression(&mut self) -> Parse<Relation> {
        if !self.eat(Kind::ExprParen) {
            return self.relation();
        }
        let name = self.name_not_bound("index")?;
        self.expect(Kind::Comma)?;
        let expression = self.term()?;
        self.expect(Kind::RightParen)?;
        Ok(Relation::Custom {
            index: crate::ast::QualifiedName { keyspace: None, name },
            expression,
        })
    }

    fn relation(&mut self) -> Parse<Relation> {
        let first = self.now();
        if first == Kind::Token {
            self.looked(2);
            return self.token_relation();
        }
        if first == Kind::LeftParen {
            return self.relation_in_parentheses();
        }
        if !Self::is_column(first) {
            return self.no_viable(1);
        }
        let next = self.peek(2);
        match next {
            Kind::Like | Kind::Is | Kind::Contains | Kind::LeftBracket => self.looked(3),
            Kind::In => {
                if !matches!(self.peek(3), Kind::LeftParen | Kind::Question | Kind::Colon) {
                    return self.no_viable(3);
                }
                self.looked(4);
            }
            kind if comparison(kind).is_some() => self.looked(3),
            _ => return self.no_viable(2),
        }
        self.column_relation()
    }

    fn column_relation(&mut self) -> Parse<Relation> {
        let column = self.column()?;
        match self.now() {
            Kind::Is => {
                self.bump();
                self.expect(Kind::Not)?;
                self.expect(Kind::Null)?;
                Ok(Relation::IsNotNull { column })
            }
            Kind::In => {
                self.bump();
                Ok(Relation::In { column, values: self.in_values()? })
            }
            Kind::LeftBracket => {
                self.bump();
                let key = self.term()?;
                self.expect(Kind::RightBracket)?;
                let operator = self.comparison()?;
                Ok(Relation::Element { column, key, operator, value: self.term()? })
            }
            Kind::Contains => {
                let (operator, value) = self.contains()?;
                Ok(Relation::Column { column, operator, value })
            }
            Kind::Like => {
                self.bump();
                Ok(Relation::Column { column, operator: Operator::Like, value: self.term()? })
            }
            _ => {
                let operator = self.comparison()?;
                Ok(Relation::Column { column, operator, value: self.term()? })
            }
        }
    }

    /// Parses `CONTAINS value` or `CONTAINS KEY value`; a function's keyspace may be called `key`.
    fn contains(&mut self) -> Parse<(Operator, Term)> {
        self.expect(Kind::Contains)?;
        let key = self.now() == Kind::Key && self.peek(2) != Kind::Dot;
        if key {
            if !Self::starts_term(self.peek(2)) {
                return self.no_viable(2);
            }
            self.bump();
        }
        let operator = if key { Operator::ContainsKey } else { Operator::Contains };
        Ok((operator, self.term()?))
    }

    fn comparison(&mut self) -> Parse<Operator> {
        match comparison(self.now()) {
            Some(operator) => {
                self.bump();
                Ok(operator)
            }
            None => self.no_viable(1),
        }
    }

    fn token_relation(&mut self) -> Parse<Relation> {
        self.bump();
        let columns = self.columns_in_parentheses()?;
        let operator = self.comparison()?;
        Ok(Relation::Token { columns, operator, value: self.term()? })
    }

    /// Parses `(a, b) = …`, or a relation that stands in parentheses.
    fn relation_in_parentheses(&mut self) -> Parse<Relation> {
        let next = self.peek(2);
        let tuple = if matches!(next, Kind::LeftParen | Kind::Token) {
            self.looked(3);
            false
        } else if Self::is_column(next) {
            let tuple = match self.peek(3) {
                Kind::RightParen | Kind::Comma => true,
                Kind::LeftBracket | Kind::Contains | Kind::In | Kind::Is | Kind::Like => false,
                kind if comparison(kind).is_some() => false,
                _ => return self.no_viable(3),
            };
            self.looked(4);
            tuple
        } else {
            return self.no_viable(2);
        };
        if tuple {
            return self.tuple_relation();
        }
        self.deeper(|parser| {
            parser.bump();
            let relation = parser.relation()?;
            parser.expect(Kind::RightParen)?;
            Ok(relation)
        })
    }

    fn tuple_relation(&mut self) -> Parse<Relation> {
        let columns = self.columns_in_parentheses()?;
        if self.now() == Kind::In {
            self.looked(2);
            self.bump();
            return Ok(Relation::TupleIn { columns, values: self.tuple_values()? });
        }
        if comparison(self.now()).is_none() {
            return self.no_viable(1);
        }
        if !matches!(self.peek(2), Kind::LeftParen | Kind::Colon | Kind::Question) {
            return self.no_viable(2);
        }
        self.looked(3);
        let operator = self.comparison()?;
        let value = self.tuple_or_marker()?;
        Ok(Relation::Tuple { columns, operator, value })
    }

    fn tuple_or_marker(&mut self) -> Parse<Term> {
        if Self::is_marker(self.now()) {
            return Ok(Term::Marker(self.marker()?));
        }
        self.tuple_literal()
    }

    fn tuple_literal(&mut self) -> Parse<Term> {
        self.expect(Kind::LeftParen)?;
        let items = self.list(Self::term)?;
        self.expect(Kind::RightParen)?;
        Ok(Term::Tuple(items))
    }

    /// Parses what stands behind `(a, b) IN`: tuples or markers in parentheses, or one marker for
    /// all.
    fn tuple_values(&mut self) -> Parse<InValues> {
        let now = self.now();
        if Self::is_marker(now) {
            return Ok(InValues::Marker(self.marker()?));
        }
        if now != Kind::LeftParen {
            return self.no_viable(1);
        }
        let next = self.peek(2);
        let item = match next {
            Kind::RightParen | Kind::LeftParen => Self::tuple_literal,
            Kind::Question | Kind::Colon => Self::marker_term,
            _ => return self.no_viable(2),
        };
        self.bump();
        let values = if next == Kind::RightParen { Vec::new() } else { self.list(item)? };
        self.expect(Kind::RightParen)?;
        Ok(InValues::List(values))
    }

    fn marker_term(&mut self) -> Parse<Term> {
        if Self::is_marker(self.now()) {
            return Ok(Term::Marker(self.marker()?));
        }
        self.no_viable(1)
    }

    /// Parses what stands behind `c IN`: terms in parentheses, or one marker for all.
    fn in_values(&mut self) -> Parse<InValues> {
        match self.now() {
            Kind::LeftParen => {
                self.bump();
                let values = self.optional_terms()?;
                self.expect(Kind::RightParen)?;
                Ok(InValues::List(values))
            }
            kind if Self::is_marker(kind) => Ok(InValues::Marker(self.marker()?)),
            _ => self.no_viable(1),
        }
    }

    /// Parses `IF …` behind an `UPDATE` or a `DELETE`.
    pub(super) fn conditions(&mut self) -> Parse<Conditions> {
        if !self.eat(Kind::If) {
            return Ok(Conditions::None);
        }
        // `exists` may also be a column.
        if self.now() == Kind::Exists {
            match self.peek(2) {
                Kind::Contains | Kind::In | Kind::LeftBracket | Kind::Dot => {}
                kind if comparison(kind).is_some() => {}
                kind if ends_conditions(kind) => {
                    self.bump();
                    return Ok(Conditions::Exists);
                }
                _ => return self.no_viable(2),
            }
        }
        let mut conditions = vec![self.condition()?];
        while self.eat(Kind::And) {
            conditions.push(self.condition()?);
        }
        Ok(Conditions::All(conditions))
    }

    fn condition(&mut self) -> Parse<Condition> {
        let column = self.column()?;
        let path = match self.now() {
            Kind::LeftBracket => {
                self.bump();
                let key = self.term()?;
                self.expect(Kind::RightBracket)?;
                ConditionPath::Element(key)
            }
            Kind::Dot => {
                self.bump();
                ConditionPath::Field(self.name()?)
            }
            _ => ConditionPath::Whole,
        };
        let test = match self.now() {
            Kind::In => {
                self.bump();
                ConditionTest::In(self.in_values()?)
            }
            Kind::Contains if path == ConditionPath::Whole => {
                let (operator, value) = self.contains()?;
                ConditionTest::Compare { operator, value }
            }
            _ => {
                let operator = self.comparison()?;
                ConditionTest::Compare { operator, value: self.term()? }
            }
        };
        Ok(Condition { column, path, test })
    }
}

fn ends_conditions(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::End | Kind::Semicolon | Kind::Insert | Kind::Update | Kind::Delete | Kind::Apply
    )
}

fn comparison(kind: Kind) -> Option<Operator> {
    Some(match kind {
        Kind::Equal => Operator::Equal,
        Kind::NotEqual => Operator::NotEqual,
        Kind::Less => Operator::Less,
        Kind::LessOrEqual => Operator::LessOrEqual,
        Kind::Greater => Operator::Greater,
        Kind::GreaterOrEqual => Operator::GreaterOrEqual,
        _ => return None,
    })
}
