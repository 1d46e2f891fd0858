//! `SELECT`.

use std::fmt::{self, Display, Formatter};

use super::names::strictly_quoted;
use super::terms::{braced, bracketed, relations};
use super::{list, word};
use crate::ast::{Direction, LiteralKind, Ordering, Select, SelectClause, SelectedItem, Selector};

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("SELECT ")?;
        word(f, self.json, "JSON ")?;
        word(f, self.distinct, "DISTINCT ")?;
        write!(f, "{} FROM {}", self.selection, self.table)?;
        relations(f, &self.relations)?;
        if !self.group_by.is_empty() {
            f.write_str(" GROUP BY ")?;
            list(f, &self.group_by, ", ")?;
        }
        if !self.order_by.is_empty() {
            f.write_str(" ORDER BY ")?;
            list(f, &self.order_by, ", ")?;
        }
        if let Some(limit) = &self.per_partition_limit {
            write!(f, " PER PARTITION LIMIT {limit}")?;
        }
        if let Some(limit) = &self.limit {
            write!(f, " LIMIT {limit}")?;
        }
        word(f, self.allow_filtering, " ALLOW FILTERING")
    }
}

impl Display for SelectClause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SelectClause::All => f.write_str("*"),
            SelectClause::Items(items) => list(f, items, ", "),
        }
    }
}

impl Display for SelectedItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.selector.fmt(f)?;
        match &self.alias {
            Some(alias) => write!(f, " AS {alias}"),
            None => Ok(()),
        }
    }
}

impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            // In front of a selection these two would be modifiers.
            Selector::Column(name) if matches!(name.as_str(), "json" | "distinct") => {
                f.write_str(&strictly_quoted(name))
            }
            Selector::Column(name) => name.fmt(f),
            Selector::Literal(literal) => literal.fmt(f),
            Selector::Null => f.write_str("NULL"),
            Selector::Marker(marker) => marker.fmt(f),
            Selector::CountRows => f.write_str("count(*)"),
            Selector::Metadata { kind, of } => write!(f, "{}({of})", kind.name()),
            Selector::Cast { selector, target } => {
                write!(f, "CAST({selector} AS {})", target.name())
            }
            Selector::Function { name, arguments } => {
                name.fmt(f)?;
                bracketed(f, '(', arguments, ')')
            }
            Selector::Element { of, key } => write!(f, "{of}[{key}]"),
            Selector::Slice { of, from, to } => {
                write!(f, "{of}[")?;
                if let Some(from) = from {
                    from.fmt(f)?;
                }
                f.write_str("..")?;
                if let Some(to) = to {
                    to.fmt(f)?;
                }
                f.write_str("]")
            }
            // `1.key` would be read as the number `1.` and a word.
            Selector::Field { of, field } if ends_in_an_integer(of) => write!(f, "{of} .{field}"),
            Selector::Field { of, field } => write!(f, "{of}.{field}"),
            Selector::TypeHint { target, selector } => write!(f, "({target}) {selector}"),
            Selector::Tuple(items) => bracketed(f, '(', items, ')'),
            Selector::List(items) => bracketed(f, '[', items, ']'),
            Selector::Set(items) => bracketed(f, '{', items, '}'),
            Selector::MapOrUserType(entries) => braced(f, entries),
            Selector::Arithmetic { operator, left, right } => {
                write!(f, "{left} {} {right}", operator.symbol())
            }
            Selector::Negate(selector) => write!(f, "- {selector}"),
        }
    }
}

fn ends_in_an_integer(selector: &Selector) -> bool {
    match selector {
        Selector::Literal(literal) => literal.kind == LiteralKind::Integer,
        Selector::TypeHint { selector, .. } => ends_in_an_integer(selector),
        _ => false,
    }
}

impl Display for Ordering {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.column.fmt(f)?;
        if let Some(term) = &self.ann_of {
            write!(f, " ANN OF {term}")?;
        }
        word(f, self.direction == Direction::Descending, " DESC")
    }
}
