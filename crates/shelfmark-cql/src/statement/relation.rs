//! A `WHERE` prepared: which column is restricted how, with Cassandra's words for what may not be.
//!
//! What it is not: whether the restrictions as a whole can be answered is decided by whoever plans
//! the statement.

use std::collections::BTreeMap;

use shelfmark_cql_protocol::{CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{InValues, Name, Operator, Relation, Term};
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::term::{Expr, Receiver, Scope, prepare, prepare_marker, term_text};

use super::tuples::{tuple_comparison, tuple_in_test};
use crate::schema::{Column, ColumnKind, Table};

/// The right side of `IN`.
#[derive(Debug, Clone)]
pub(crate) enum InList {
    Values(Vec<Expr>),
    /// A marker for the whole list; its type is a list.
    Marker(Expr),
}

/// A restriction of one column.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Equal(Expr),
    In(InList),
    /// Above this; the flag includes it.
    Lower(Expr, bool),
    /// Below this; the flag includes it.
    Upper(Expr, bool),
    Contains(Expr),
    ContainsKey(Expr),
    /// An entry of a map: key and value.
    Entry(Expr, Expr),
}

impl Test {
    pub(crate) const fn is_slice(&self) -> bool {
        matches!(self, Self::Lower(..) | Self::Upper(..))
    }

    pub(crate) const fn is_contains(&self) -> bool {
        matches!(self, Self::Contains(_) | Self::ContainsKey(_) | Self::Entry(..))
    }
}

/// A restriction of several clustering columns at once.
#[derive(Debug, Clone)]
pub(crate) struct Multi {
    /// Place of the first among the clustering columns, and how many.
    pub(crate) start: usize,
    pub(crate) count: usize,
    pub(crate) test: MultiTest,
}

/// A restriction of several columns as a tuple.
#[derive(Debug, Clone)]
pub(crate) enum MultiTest {
    Equal(TupleValue),
    In(Vec<TupleValue>),
    /// A marker for a list of tuples.
    InMarker(Expr),
    Lower(TupleValue, bool),
    Upper(TupleValue, bool),
}

/// A tuple: component by component, or one marker.
#[derive(Debug, Clone)]
pub(crate) enum TupleValue {
    Parts(Vec<Expr>),
    Marker(Expr),
}

/// The prepared `WHERE`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Restrictions {
    /// Restrictions of single columns, by their places in the table.
    pub(crate) single: BTreeMap<usize, Vec<Test>>,
    /// Restrictions of several clustering columns.
    pub(crate) multi: Vec<Multi>,
    /// Restrictions of the token.
    pub(crate) token: Vec<Test>,
    /// Columns of `IS NOT NULL`.
    pub(crate) not_null: Vec<usize>,
}

/// Returns the error for a column that is not there.
pub(crate) fn undefined_column(name: &str, table: &Table) -> CqlError {
    CqlError::invalid(format!(
        "Undefined column name {} in table {}",
        shelfmark_cql_types::maybe_quote(name),
        table.full_name()
    ))
}

/// The statement that a `WHERE` belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Select,
    View,
    /// A modification, by its name in messages.
    Write(&'static str),
}

impl Purpose {
    /// Refuses what such a `WHERE` does not take, whatever the column is.
    fn check(self, relation: &Relation) -> Result<()> {
        match (self, relation) {
            (Self::Select | Self::Write(_), Relation::IsNotNull { column }) => {
                invalid(format!("Unsupported restriction: {} IS NOT NULL", column.as_str()))
            }
            (
                Self::Write(name),
                Relation::Column {
                    operator: operator @ (Operator::Contains | Operator::ContainsKey),
                    ..
                },
            ) => invalid(format!("Cannot use {name} with {}", operator.text())),
            _ => Ok(()),
        }
    }
}

/// Prepares a `WHERE`. `filtering` is whether `ALLOW FILTERING` was said.
///
/// # Errors
///
/// * `Invalid`: a column is not there, a value does not fit, or two relations exclude each other.
pub(crate) fn restrictions(
    relations: &[Relation],
    table: &Table,
    filtering: bool,
    purpose: Purpose,
    scope: &mut Scope<'_>,
) -> Result<Restrictions> {
    let mut all = Restrictions::default();
    for relation in relations {
        purpose.check(relation)?;
        match relation {
            Relation::Column { column, operator: Operator::NotEqual, value } => {
                return invalid(format!(
                    "Unsupported \"!=\" relation: {} != {}",
                    column.as_str(),
                    term_text(value)
                ));
            }
            Relation::Column { column, operator, value } => {
                let at = find(column, table)?;
                let test = column_test(at, *operator, value, table, scope)?;
                all.add(at, test, table, filtering)?;
            }
            Relation::In { column, values } => {
                let at = find(column, table)?;
                all.add(at, in_test(at, values, table, scope)?, table, filtering)?;
            }
            Relation::IsNotNull { column } => all.not_null.push(find(column, table)?),
            Relation::Element { column, key, operator, value } => {
                let at = find(column, table)?;
                let test = entry_test(at, key, *operator, value, table, scope)?;
                all.add(at, test, table, filtering)?;
            }
            Relation::Token { columns, operator, value } => {
                all.add_token(token_test(columns, *operator, value, table, scope)?, columns)?;
            }
            Relation::Tuple { columns, operator, value } => {
                let multi = tuple_comparison(columns, *operator, value, table, scope)?;
                match served_by_index(&multi, table) {
                    // An index serves it as if it stood without parentheses.
                    Some((at, test)) => all.add(at, test, table, filtering)?,
                    None => all.add_multi(multi, table, filtering)?,
                }
            }
            Relation::TupleIn { columns, values } => {
                all.add_multi(tuple_in_test(columns, values, table, scope)?, table, filtering)?;
            }
            Relation::Custom { index, .. } => return Err(custom(index.name.as_str(), table)),
        }
    }
    Ok(all)
}

/// Returns the test of `column IN …`; an IN of one value is an equality.
fn in_test(at: usize, values: &InValues, table: &Table, scope: &mut Scope<'_>) -> Result<Test> {
    let column = column_of(at, table)?;
    if column.is_multi_cell() {
        return Err(unrestricted(column, "IN"));
    }
    Ok(match in_list(values, &column.name, &column.kind, scope)? {
        InList::Values(mut one) if one.len() == 1 => {
            one.pop().map_or(Test::In(InList::Values(Vec::new())), Test::Equal)
        }
        list => Test::In(list),
    })
}

/// Returns the refusal of a relation of a live collection or user type.
fn unrestricted(column: &Column, operator: &str) -> CqlError {
    let (name, ty) = (&column.name, &column.kind);
    CqlError::invalid(match ty.is_udt() {
        true => {
            format!("Non-frozen UDT column '{name}' ({ty}) cannot be restricted by any relation")
        }
        false => format!(
            "Collection column '{name}' ({ty}) cannot be restricted by a '{operator}' relation"
        ),
    })
}

/// Returns the test of `token(…)` against a value.
fn token_test(
    columns: &[Name],
    operator: Operator,
    value: &Term,
    table: &Table,
    scope: &mut Scope<'_>,
) -> Result<Test> {
    check_token(columns, table)?;
    let to = Receiver { name: "partition key token", ty: &CqlType::Bigint };
    let expr = prepare(value, to, scope)?;
    let names: Vec<&str> = columns.iter().map(Name::as_str).collect();
    comparison(operator, expr, || {
        format!("token({}) {} {}", names.join(", "), operator.text(), term_text(value))
    })
}

/// Returns column and test of a tuple of one column that an index serves.
fn served_by_index(multi: &Multi, table: &Table) -> Option<(usize, Test)> {
    let MultiTest::Equal(TupleValue::Parts(parts)) = &multi.test else { return None };
    let (at, [only]) = (table.partition_count + multi.start, parts.as_slice()) else { return None };
    (multi.count == 1 && is_indexed(at, table)).then(|| (at, Test::Equal(only.clone())))
}

/// Returns the error for a custom index expression: no index here takes one.
fn custom(index: &str, table: &Table) -> CqlError {
    let found = table.indexes.iter().find(|own| own.name == index);
    CqlError::invalid(match found.map(|found| found.class.is_some()) {
        None => {
            format!("Invalid index expression, index {index} not found for {}", table.full_name())
        }
        Some(false) => format!(
            "Only CUSTOM indexes may be used in custom index expressions, {index} is not valid"
        ),
        Some(true) => format!("Index {index} does not support custom expressions"),
    })
}

fn find(name: &Name, table: &Table) -> Result<usize> {
    table
        .find(name.as_str())
        .map(|(at, _)| at)
        .ok_or_else(|| undefined_column(name.as_str(), table))
}

fn column_of(at: usize, table: &Table) -> Result<&crate::schema::Column> {
    table.columns.get(at).ok_or_else(|| CqlError::invalid("Undefined column"))
}

fn is_indexed(at: usize, table: &Table) -> bool {
    let column = table.columns.get(at);
    column.is_some_and(|own| table.indexes.iter().any(|index| index.column == own.name))
}

/// Returns a test by an operator; `shown` is the relation as text.
fn comparison(operator: Operator, expr: Expr, shown: impl FnOnce() -> String) -> Result<Test> {
    Ok(match operator {
        Operator::Equal => Test::Equal(expr),
        Operator::Less => Test::Upper(expr, false),
        Operator::LessOrEqual => Test::Upper(expr, true),
        Operator::Greater => Test::Lower(expr, false),
        Operator::GreaterOrEqual => Test::Lower(expr, true),
        Operator::NotEqual | Operator::Contains | Operator::ContainsKey | Operator::Like => {
            return invalid(format!("Unsupported \"{}\" relation: {}", operator.text(), shown()));
        }
    })
}

fn column_test(
    at: usize,
    operator: Operator,
    value: &Term,
    table: &Table,
    scope: &mut Scope<'_>,
) -> Result<Test> {
    let column = column_of(at, table)?;
    let (name, ty) = (&column.name, &column.kind);
    match operator {
        Operator::Like if ty.is_udt() && column.is_multi_cell() => {
            return Err(unrestricted(column, "LIKE"));
        }
        Operator::Like => {
            prepare(value, Receiver { name, ty }, scope)?;
            return invalid(format!(
                "LIKE restriction is only supported on properly indexed columns. {name} LIKE {} is not valid.",
                term_text(value)
            ));
        }
        Operator::ContainsKey => {
            let CqlType::Map { key, .. } = ty else {
                return invalid(format!("Cannot use CONTAINS KEY on non-map column {name}"));
            };
            let shown = format!("key({name})");
            return prepare(value, Receiver { name: &shown, ty: key }, scope)
                .map(Test::ContainsKey);
        }
        Operator::Contains => {
            let (CqlType::List { element, .. }
            | CqlType::Set { element, .. }
            | CqlType::Map { value: element, .. }) = ty
            else {
                return invalid(format!("Cannot use CONTAINS on non-collection column {name}"));
            };
            let shown = format!("value({name})");
            return prepare(value, Receiver { name: &shown, ty: element }, scope)
                .map(Test::Contains);
        }
        _ => {}
    }
    if ty.is_multi_cell() {
        return Err(unrestricted(column, operator.text()));
    }
    if operator != Operator::Equal && ty.references_duration() {
        let what = match ty {
            CqlType::Native(_) => "duration columns".to_owned(),
            CqlType::Tuple(_) => "tuples containing durations".to_owned(),
            CqlType::User { .. } => "UDTs containing durations".to_owned(),
            _ => "collections containing durations".to_owned(),
        };
        return invalid(format!("Slice restrictions are not supported on {what}"));
    }
    let expr = prepare(value, Receiver { name, ty }, scope)?;
    comparison(operator, expr, || format!("{name} {} {}", operator.text(), term_text(value)))
}

fn entry_test(
    at: usize,
    key: &Term,
    operator: Operator,
    value: &Term,
    table: &Table,
    scope: &mut Scope<'_>,
) -> Result<Test> {
    let column = column_of(at, table)?;
    let name = &column.name;
    let (key_type, value_type) = match &column.kind {
        CqlType::Map { key, value, frozen: false } => (key, value),
        CqlType::Map { .. } => {
            return invalid(format!(
                "Map-entry equality predicates on frozen map column {name} are not supported"
            ));
        }
        CqlType::List { .. } => {
            return invalid(format!(
                "Indexes on list entries ({name}[index] = value) are not currently supported."
            ));
        }
        _ => return invalid(format!("Column {name} cannot be used as a map")),
    };
    if operator == Operator::NotEqual {
        let (key, value) = (term_text(key), term_text(value));
        return invalid(format!("Unsupported \"!=\" relation: {name}[{key}] != {value}"));
    }
    if operator != Operator::Equal {
        return invalid("Only EQ relations are supported on map entries");
    }
    let (key_name, value_name) = (format!("key({name})"), format!("value({name})"));
    let key = prepare(key, Receiver { name: &key_name, ty: key_type }, scope)?;
    let value = prepare(value, Receiver { name: &value_name, ty: value_type }, scope)?;
    Ok(Test::Entry(key, value))
}

/// Prepares the right side of `IN`.
pub(crate) fn in_list(
    values: &InValues,
    name: &str,
    ty: &CqlType,
    scope: &mut Scope<'_>,
) -> Result<InList> {
    match values {
        InValues::List(terms) => {
            let terms: Result<Vec<Expr>> =
                terms.iter().map(|term| prepare(term, Receiver { name, ty }, scope)).collect();
            terms.map(InList::Values)
        }
        InValues::Marker(marker) => {
            let shown = format!("in({name})");
            let list = CqlType::list(ty.freeze()).freeze();
            let to = Receiver { name: &shown, ty: &list };
            Ok(InList::Marker(prepare_marker(marker.index, to, scope)))
        }
    }
}

fn check_token(columns: &[Name], table: &Table) -> Result<()> {
    let key = table.partition_columns();
    for column in columns {
        if table.column(column.as_str()).is_none() {
            return Err(undefined_column(column.as_str(), table));
        }
    }
    if key.iter().any(|key| !columns.iter().any(|own| &*key.name == own.as_str())) {
        return invalid(
            "The token() function must be applied to all partition key components or none of them",
        );
    }
    let repeated = |at: usize, own: &Name| columns.iter().take(at).any(|other| other == own);
    if columns.iter().enumerate().any(|(at, own)| repeated(at, own)) {
        return invalid("The token() function contains duplicate partition key components");
    }
    if columns.len() != key.len() {
        return invalid("The token() function must contains only partition key components");
    }
    if columns.iter().zip(key).any(|(own, key)| own.as_str() != &*key.name) {
        let names: Vec<&str> = key.iter().map(|key| &*key.name).collect();
        return invalid(format!(
            "The token function arguments must be in the partition key order: {}",
            names.join(", ")
        ));
    }
    Ok(())
}

/// Returns the test of one column as one of a tuple of one.
fn tuple_test(test: &Test) -> Option<MultiTest> {
    let one = |expr: &Expr| TupleValue::Parts(vec![expr.clone()]);
    match test {
        Test::Equal(expr) => Some(MultiTest::Equal(one(expr))),
        Test::In(InList::Values(exprs)) => Some(MultiTest::In(exprs.iter().map(one).collect())),
        Test::Lower(expr, included) => Some(MultiTest::Lower(one(expr), *included)),
        Test::Upper(expr, included) => Some(MultiTest::Upper(one(expr), *included)),
        _ => None,
    }
}

impl Restrictions {
    fn add(&mut self, at: usize, test: Test, table: &Table, filtering: bool) -> Result<()> {
        let column = column_of(at, table)?;
        if column.role == ColumnKind::Clustering {
            let place = usize::try_from(column.id).unwrap_or(usize::MAX);
            if self.multi.iter().any(|own| (own.start..own.start + own.count).contains(&place))
                && let Some(test) = tuple_test(&test)
            {
                return self.add_multi(Multi { start: place, count: 1, test }, table, filtering);
            }
        }
        let name = &column.name;
        for other in self.of(at) {
            match (other, &test) {
                (Test::Equal(_), _) => {
                    return invalid(format!(
                        "{name} cannot be restricted by more than one relation if it includes an Equal"
                    ));
                }
                (Test::In(_), _) => {
                    return invalid(format!(
                        "{name} cannot be restricted by more than one relation if it includes a IN"
                    ));
                }
                (Test::Lower(..), Test::Lower(..)) => {
                    return invalid(format!(
                        "More than one restriction was found for the start bound on {name}"
                    ));
                }
                (Test::Upper(..), Test::Upper(..)) => {
                    return invalid(format!(
                        "More than one restriction was found for the end bound on {name}"
                    ));
                }
                (Test::Lower(..) | Test::Upper(..), test) if !test.is_slice() => {
                    return invalid(format!(
                        "Column \"{name}\" cannot be restricted by both an equality and an inequality relation"
                    ));
                }
                (a, b) if a.is_contains() && !b.is_contains() => {
                    return invalid(format!(
                        "Collection column {name} can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality"
                    ));
                }
                _ => {}
            }
        }
        if column.role == ColumnKind::Clustering {
            let place = usize::try_from(column.id).unwrap_or(usize::MAX);
            self.check_clustering(place, &test, table, filtering)?;
        }
        self.single.entry(at).or_default().push(test);
        Ok(())
    }

    /// Checks restrictions of clustering columns in key order: a slice ends what can be restricted
    /// behind it.
    fn check_clustering(
        &self,
        place: usize,
        test: &Test,
        table: &Table,
        filtering: bool,
    ) -> Result<()> {
        if filtering {
            return Ok(());
        }
        let columns = table.clustering_columns();
        let name = |place: usize| columns.get(place).map_or("", |own| &*own.name);
        // What an index answers needs no place in the key.
        let equal = matches!(test, Test::Equal(_));
        if table
            .indexes
            .iter()
            .any(|own| own.is_public && &*own.column == name(place) && (equal || own.is_sai()))
        {
            return Ok(());
        }
        let restricted = self.single.iter().filter_map(|(at, tests)| {
            let place = at.checked_sub(table.partition_count)?;
            (place < columns.len()).then(|| (place, tests.iter().any(Test::is_slice)))
        });
        let multi = self.multi.iter().map(|own| {
            (own.start, matches!(own.test, MultiTest::Lower(..) | MultiTest::Upper(..)))
        });
        let all: Vec<(usize, bool)> = restricted.chain(multi).collect();
        let Some((last, is_slice)) = all.iter().copied().max_by_key(|(place, _)| *place) else {
            return Ok(());
        };
        if is_slice && place > last {
            return invalid(format!(
                "Clustering column \"{}\" cannot be restricted (preceding column \"{}\" is restricted by a non-EQ relation)",
                name(place),
                name(last)
            ));
        }
        if place < last && test.is_slice() {
            let next = all.iter().map(|(own, _)| *own).filter(|own| *own > place).min();
            return invalid(format!(
                "PRIMARY KEY column \"{}\" cannot be restricted (preceding column \"{}\" is restricted by a non-EQ relation)",
                name(next.unwrap_or(last)),
                name(place)
            ));
        }
        Ok(())
    }

    fn add_multi(&mut self, multi: Multi, table: &Table, filtering: bool) -> Result<()> {
        let probe = match &multi.test {
            MultiTest::Lower(..) => Test::Lower(Expr::Constant(None), false),
            MultiTest::Upper(..) => Test::Upper(Expr::Constant(None), false),
            _ => Test::Equal(Expr::Constant(None)),
        };
        let known = self.clone();
        // What single columns are restricted by is tuples of one, where they meet.
        for place in multi.start..multi.start + multi.count {
            let at = table.partition_count + place;
            let tests = self.of(at).iter().map(tuple_test);
            let Some(tests) = tests.collect::<Option<Vec<_>>>() else { continue };
            self.single.remove(&at);
            self.multi.extend(tests.into_iter().map(|test| Multi { start: place, count: 1, test }));
        }
        let name =
            |place: usize| table.clustering_columns().get(place).map_or("", |own| &*own.name);
        for own in &self.multi {
            let overlaps =
                own.start < multi.start + multi.count && multi.start < own.start + own.count;
            if !overlaps {
                continue;
            }
            let common =
                multi.start.max(own.start)..(multi.start + multi.count).min(own.start + own.count);
            // Cassandra joins them so, in the order of a hash table.
            let shown = common.map(name).collect::<Vec<_>>().join(" ,");
            match (&own.test, &multi.test) {
                (
                    MultiTest::Lower(..) | MultiTest::Upper(..),
                    MultiTest::Lower(..) | MultiTest::Upper(..),
                ) if own.start != multi.start => {
                    return invalid(format!(
                        "Column \"{}\" cannot be restricted by two inequalities not starting with the same column",
                        name(own.start.max(multi.start))
                    ));
                }
                (MultiTest::Lower(..), MultiTest::Lower(..)) => {
                    return invalid(format!(
                        "More than one restriction was found for the start bound on {shown}"
                    ));
                }
                (MultiTest::Upper(..), MultiTest::Upper(..)) => {
                    return invalid(format!(
                        "More than one restriction was found for the end bound on {shown}"
                    ));
                }
                (MultiTest::Lower(..), MultiTest::Upper(..))
                | (MultiTest::Upper(..), MultiTest::Lower(..)) => {}
                (MultiTest::Lower(..) | MultiTest::Upper(..), _) => {
                    return invalid(format!(
                        "Column \"{shown}\" cannot be restricted by both an equality and an inequality relation"
                    ));
                }
                (MultiTest::Equal(_), _) => {
                    return invalid(format!(
                        "{shown} cannot be restricted by more than one relation if it includes an Equal"
                    ));
                }
                _ => {
                    return invalid(format!(
                        "{shown} cannot be restricted by more than one relation if it includes a IN"
                    ));
                }
            }
        }
        known.check_clustering(multi.start, &probe, table, filtering)?;
        self.multi.push(multi);
        Ok(())
    }

    fn add_token(&mut self, test: Test, columns: &[Name]) -> Result<()> {
        let shown = || columns.iter().map(Name::as_str).collect::<Vec<_>>().join(", ");
        for own in &self.token {
            match (own, &test) {
                (Test::Lower(..), Test::Lower(..)) => {
                    return invalid(format!(
                        "More than one restriction was found for the start bound on {}",
                        shown()
                    ));
                }
                (Test::Upper(..), Test::Upper(..)) => {
                    return invalid(format!(
                        "More than one restriction was found for the end bound on {}",
                        shown()
                    ));
                }
                (Test::Lower(..) | Test::Upper(..), Test::Equal(_)) => {
                    return invalid(format!(
                        "Columns \"{}\" cannot be restricted by both an equality and an inequality relation",
                        shown()
                    ));
                }
                (Test::Equal(_), _) => {
                    return invalid(format!(
                        "{} cannot be restricted by more than one relation if it includes an Equal",
                        shown()
                    ));
                }
                _ => {}
            }
        }
        self.token.push(test);
        Ok(())
    }

    /// Returns the tests of a column.
    pub(crate) fn of(&self, at: usize) -> &[Test] {
        self.single.get(&at).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns true if a clustering column is restricted by anything.
    pub(crate) fn restricts_clustering(&self, table: &Table) -> bool {
        let range = table.partition_count..table.partition_count + table.clustering_count;
        !self.multi.is_empty() || self.single.keys().any(|at| range.contains(at))
    }

    /// Returns the columns that are no key and are restricted, by name.
    pub(crate) fn other_columns<'t>(&self, table: &'t Table) -> Vec<&'t str> {
        let from = table.partition_count + table.clustering_count;
        self.single
            .keys()
            .filter(|at| **at >= from)
            .filter_map(|at| table.columns.get(*at).map(|own| &*own.name))
            .collect()
    }
}
