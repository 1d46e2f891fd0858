//! Terms, relations, conditions.

use std::fmt::{self, Display, Formatter};

use super::list;
use crate::ast::{
    Condition, ConditionPath, ConditionTest, Conditions, InValues, Name, Relation, Term,
};

pub(super) struct Pair<'a, K, V>(pub(super) &'a K, pub(super) &'a V);

impl<K: Display, V: Display> Display for Pair<'_, K, V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0, self.1)
    }
}

pub(super) fn braced<K: Display, V: Display>(
    f: &mut Formatter<'_>,
    entries: &[(K, V)],
) -> fmt::Result {
    let pairs: Vec<Pair<'_, K, V>> = entries.iter().map(|(key, value)| Pair(key, value)).collect();
    bracketed(f, '{', &pairs, '}')
}

pub(super) fn bracketed<T: Display>(
    f: &mut Formatter<'_>,
    open: char,
    items: &[T],
    close: char,
) -> fmt::Result {
    write!(f, "{open}")?;
    list(f, items, ", ")?;
    write!(f, "{close}")
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Term::Literal(literal) => literal.fmt(f),
            Term::Null => f.write_str("NULL"),
            Term::Marker(marker) => marker.fmt(f),
            Term::List(items) => bracketed(f, '[', items, ']'),
            Term::Set(items) => bracketed(f, '{', items, '}'),
            Term::Map(entries) => braced(f, entries),
            Term::UserType(fields) => braced(f, fields),
            Term::Tuple(items) => bracketed(f, '(', items, ')'),
            Term::Function { name, arguments } => {
                name.fmt(f)?;
                bracketed(f, '(', arguments, ')')
            }
            Term::Arithmetic { operator, left, right } => {
                write!(f, "{left} {} {right}", operator.symbol())
            }
            // A space, lest two minus signs begin a comment or one belong to a number.
            Term::Negate(term) => write!(f, "- {term}"),
            Term::TypeHint { target, term } => write!(f, "({target}) {term}"),
            Term::Cast { term, target } => write!(f, "CAST({term} AS {})", target.name()),
        }
    }
}

impl Display for InValues {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            InValues::List(values) => bracketed(f, '(', values, ')'),
            InValues::Marker(marker) => marker.fmt(f),
        }
    }
}

fn columns(f: &mut Formatter<'_>, columns: &[Name]) -> fmt::Result {
    bracketed(f, '(', columns, ')')
}

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Relation::Column { column, operator, value } => {
                write!(f, "{column} {} {value}", operator.text())
            }
            Relation::In { column, values } => write!(f, "{column} IN {values}"),
            Relation::IsNotNull { column } => write!(f, "{column} IS NOT NULL"),
            Relation::Element { column, key, operator, value } => {
                write!(f, "{column}[{key}] {} {value}", operator.text())
            }
            Relation::Token { columns: names, operator, value } => {
                f.write_str("token")?;
                columns(f, names)?;
                write!(f, " {} {value}", operator.text())
            }
            Relation::Tuple { columns: names, operator, value } => {
                columns(f, names)?;
                write!(f, " {} {value}", operator.text())
            }
            Relation::TupleIn { columns: names, values } => {
                columns(f, names)?;
                write!(f, " IN {values}")
            }
            Relation::Custom { index, expression } => write!(f, "expr({index}, {expression})"),
        }
    }
}

/// Writes ` WHERE …`, or nothing.
pub(super) fn relations(f: &mut Formatter<'_>, relations: &[Relation]) -> fmt::Result {
    if relations.is_empty() {
        return Ok(());
    }
    f.write_str(" WHERE ")?;
    list(f, relations, " AND ")
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.column.fmt(f)?;
        match &self.path {
            ConditionPath::Whole => {}
            ConditionPath::Element(key) => write!(f, "[{key}]")?,
            ConditionPath::Field(field) => write!(f, ".{field}")?,
        }
        match &self.test {
            ConditionTest::Compare { operator, value } => {
                write!(f, " {} {value}", operator.text())
            }
            ConditionTest::In(values) => write!(f, " IN {values}"),
        }
    }
}

impl Display for Conditions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Conditions::None => Ok(()),
            Conditions::Exists => f.write_str(" IF EXISTS"),
            Conditions::All(conditions) => {
                f.write_str(" IF ")?;
                list(f, conditions, " AND ")
            }
        }
    }
}
