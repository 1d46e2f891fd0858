//! Statements of CQL.
//!
//! A statement is known by its text; its values are the client's or stand in it, and are not looked at:
//! tables of CQL have columns where items have templates.

use shelfmark_cql_syntax::ast::{
    self, Delete, Direction, Insert, InsertValues, Modification, Operator, QualifiedName, Relation,
    Select, Update,
};
use shelfmark_cql_syntax::parse;

use super::{Asked, AskedBound, AskedOrder, Reading};
use crate::shape::Kind;

/// The beginning of the keyspaces that are the server's own.
const SYSTEM: &str = "system";

/// A statement as what it asks. Cheap to keep: it holds no value.
pub type Statement = Reading;

/// Reads a statement.
#[must_use]
pub fn statement(text: &str) -> Statement {
    let Ok(parsed) = parse(text) else { return Reading::Unread };
    let asked = match parsed.statement {
        ast::Statement::Select(select) => of_select(&select).map(|own| vec![own]),
        ast::Statement::Insert(own) => of_insert(&own).map(|own| vec![own]),
        ast::Statement::Update(own) => Some(vec![of_update(&own)]),
        ast::Statement::Delete(own) => Some(vec![of_delete(&own)]),
        ast::Statement::Batch(batch) => batch.statements.iter().map(of_modification).collect(),
        _ => Some(Vec::new()),
    };
    let is_ours = |table: &str| !(table.contains('.') && table.starts_with(SYSTEM));
    match asked {
        // Drivers ask the system tables all the time.
        Some(asked) => Reading::Asks(
            asked.into_iter().filter(|own| is_ours(&own.table)).map(unqualified).collect(),
        ),
        None => Reading::Unread,
    }
}

fn of_modification(modification: &Modification) -> Option<Asked> {
    match modification {
        Modification::Insert(own) => of_insert(own),
        Modification::Update(own) => Some(of_update(own)),
        Modification::Delete(own) => Some(of_delete(own)),
    }
}

/// Returns the name with its keyspace, by which tables of the system are told.
fn name(table: &QualifiedName) -> String {
    match &table.keyspace {
        Some(keyspace) => format!("{}.{}", keyspace.as_str(), table.name.as_str()),
        None => table.name.as_str().to_owned(),
    }
}

/// Drops the keyspace: a model names tables alone.
fn unqualified(asked: Asked) -> Asked {
    let table = asked.table.rsplit('.').next().unwrap_or_default().to_owned();
    Asked { table, ..asked }
}

fn of_select(select: &Select) -> Option<Asked> {
    let mut asked = Asked::new(Kind::Read, &name(&select.table));
    bind(&mut asked, &select.relations);
    if let Some(first) = select.order_by.first() {
        // By nearness to a vector is no order of a key.
        if first.ann_of.is_some() {
            return None;
        }
        asked.order = AskedOrder::Column {
            name: first.column.as_str().to_owned(),
            descending: first.direction == Direction::Descending,
        };
    }
    asked.limited = select.limit.is_some();
    asked.filtered |= select.allow_filtering;
    Some(asked)
}

fn of_insert(insert: &Insert) -> Option<Asked> {
    let InsertValues::Columns { columns, .. } = &insert.values else { return None };
    let mut asked = Asked::new(Kind::Put, &name(&insert.table));
    let bound = columns.iter().map(|own| (own.as_str().to_owned(), AskedBound::Equal(None)));
    asked.bound = bound.collect();
    Some(asked)
}

fn of_update(update: &Update) -> Asked {
    let mut asked = Asked::new(Kind::Update, &name(&update.table));
    bind(&mut asked, &update.relations);
    let names = update.assignments.iter().map(|own| own.column.as_str().to_owned());
    asked.changes = sorted(names.collect());
    asked
}

fn of_delete(delete: &Delete) -> Asked {
    let mut asked = Asked::new(Kind::Delete, &name(&delete.table));
    bind(&mut asked, &delete.relations);
    let names = delete.deletions.iter().map(|own| {
        let (ast::Deletion::Column(column)
        | ast::Deletion::Element { column, .. }
        | ast::Deletion::Field { column, .. }) = own;
        column.as_str().to_owned()
    });
    asked.changes = sorted(names.collect());
    asked
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

fn bind(asked: &mut Asked, relations: &[Relation]) {
    for relation in relations {
        match relation {
            Relation::Column { column, operator, .. } => {
                compare(asked, column.as_str(), *operator);
            }
            Relation::In { column, .. } => equal(asked, column.as_str()),
            Relation::Tuple { columns, operator, .. } => {
                columns.iter().for_each(|column| compare(asked, column.as_str(), *operator));
            }
            Relation::TupleIn { columns, .. } => {
                columns.iter().for_each(|column| equal(asked, column.as_str()));
            }
            Relation::Token { operator, .. } => compare(asked, "token", *operator),
            Relation::IsNotNull { .. } | Relation::Element { .. } | Relation::Custom { .. } => {
                asked.filtered = true;
            }
        }
    }
}

fn equal(asked: &mut Asked, column: &str) {
    asked.bound.push((column.to_owned(), AskedBound::Equal(None)));
}

fn compare(asked: &mut Asked, column: &str, operator: Operator) {
    let (from, to) = match operator {
        Operator::Equal => return equal(asked, column),
        Operator::Greater | Operator::GreaterOrEqual => (Some(None), None),
        Operator::Less | Operator::LessOrEqual => (None, Some(None)),
        Operator::NotEqual | Operator::Contains | Operator::ContainsKey | Operator::Like => {
            asked.filtered = true;
            return;
        }
    };
    // Two comparisons of one column are one range.
    let open = asked
        .bound
        .iter_mut()
        .find(|(name, bound)| name == column && matches!(bound, AskedBound::Range(..)));
    match open {
        Some((_, AskedBound::Range(own_from, own_to))) => {
            *own_from = own_from.take().or(from);
            *own_to = own_to.take().or(to);
        }
        _ => asked.bound.push((column.to_owned(), AskedBound::Range(from, to))),
    }
}
