//! `SELECT`.

use super::cursor::{Parse, Parser};
use crate::ast::{Direction, Ordering, Select, SelectClause, SelectedItem};
use crate::lexer::Kind;

impl Parser<'_> {
    pub(super) fn select(&mut self) -> Parse<Select> {
        self.expect(Kind::Select)?;
        let (json, distinct, selection) = self.json_clause()?;
        self.expect(Kind::From)?;
        let table = self.table_name()?;
        let relations = if self.eat(Kind::Where) { self.relations()? } else { Vec::new() };
        let group_by = if self.eat(Kind::Group) {
            self.expect(Kind::By)?;
            self.list(Self::selector)?
        } else {
            Vec::new()
        };
        let order_by = if self.eat(Kind::Order) {
            self.expect(Kind::By)?;
            self.list(Self::ordering)?
        } else {
            Vec::new()
        };
        let per_partition_limit = if self.eat(Kind::Per) {
            self.expect(Kind::Partition)?;
            self.expect(Kind::Limit)?;
            Some(self.integer_value()?)
        } else {
            None
        };
        let limit = if self.eat(Kind::Limit) { Some(self.integer_value()?) } else { None };
        let allow_filtering = self.eat(Kind::Allow);
        if allow_filtering {
            self.expect(Kind::Filtering)?;
        }
        Ok(Select {
            json,
            distinct,
            selection,
            table,
            relations,
            group_by,
            order_by,
            per_partition_limit,
            limit,
            allow_filtering,
        })
    }

    /// Parses a select clause: `JSON` is a modifier where a selection can follow it, else the name
    /// of a column.
    fn json_clause(&mut self) -> Parse<(bool, bool, SelectClause)> {
        match self.now() {
            Kind::Json => {
                self.looked(3);
                let clause = self.attempt(|parser| {
                    parser.bump();
                    parser.distinct_clause()
                })?;
                if let Some((distinct, selection)) = clause {
                    return Ok((true, distinct, selection));
                }
            }
            kind if kind == Kind::Star || Self::starts_selector(kind) => self.looked(2),
            _ => return self.no_viable(1),
        }
        let (distinct, selection) = self.distinct_clause()?;
        Ok((false, distinct, selection))
    }

    /// Parses a select clause: `DISTINCT` is a modifier where a selection can follow it, else the
    /// name of a column.
    fn distinct_clause(&mut self) -> Parse<(bool, SelectClause)> {
        match self.now() {
            Kind::Distinct => {
                self.looked(3);
                let clause = self.attempt(|parser| {
                    parser.bump();
                    parser.select_clause()
                })?;
                if let Some(selection) = clause {
                    return Ok((true, selection));
                }
            }
            kind if kind == Kind::Star || Self::starts_selector(kind) => self.looked(2),
            _ => return self.no_viable(1),
        }
        Ok((false, self.select_clause()?))
    }

    /// Parses `*` or a list.
    pub(super) fn select_clause(&mut self) -> Parse<SelectClause> {
        if self.eat(Kind::Star) {
            return Ok(SelectClause::All);
        }
        if !Self::starts_selector(self.now()) {
            return self.no_viable(1);
        }
        Ok(SelectClause::Items(self.list(Self::selected_item)?))
    }

    fn selected_item(&mut self) -> Parse<SelectedItem> {
        let selector = self.selector()?;
        let alias = if self.eat(Kind::As) { Some(self.name()?) } else { None };
        Ok(SelectedItem { selector, alias })
    }

    fn ordering(&mut self) -> Parse<Ordering> {
        let column = self.column()?;
        let ann_of = if self.eat(Kind::Ann) {
            self.expect(Kind::Of)?;
            Some(self.term()?)
        } else {
            None
        };
        let descending = !self.eat(Kind::Asc) && self.eat(Kind::Desc);
        let direction = if descending { Direction::Descending } else { Direction::Ascending };
        Ok(Ordering { column, ann_of, direction })
    }
}
