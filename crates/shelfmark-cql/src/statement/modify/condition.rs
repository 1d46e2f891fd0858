//! `IF`: conditions prepared, and tested on a row and the statics of its partition.

use std::borrow::Cow;

use bytes::Bytes;
use shelfmark_cql_protocol::{BoundValue, Result, invalid};
use shelfmark_cql_syntax::ast::{
    ConditionPath, ConditionTest, Conditions as Written, Operator, Term,
};
use shelfmark_cql_types::term::{EvalContext, Expr, Receiver, Scope, prepare};
use shelfmark_cql_types::{CqlType, compare, elements, entries, fields};
use shelfmark_engine::LiveRow;

use crate::schema::{Column, ColumnKind, Table};
use crate::statement::keys::bound_elements;
use crate::statement::relation::{InList, in_list, undefined_column};
use crate::statement::row::column_value;

/// The conditions of a lightweight transaction.
#[derive(Debug, Clone)]
pub(crate) enum Conditions {
    None,
    NotExists,
    Exists,
    All(Vec<Condition>),
}

/// A condition.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    /// The column's place in the table.
    pub(crate) at: usize,
    is_static: bool,
    path: Path,
    test: Test,
}

#[derive(Debug, Clone)]
enum Path {
    Whole,
    Element(Expr),
    Field(usize),
}

#[derive(Debug, Clone)]
enum Test {
    Compare(Operator, Expr),
    In(InList),
}

impl Conditions {
    /// Returns true if there is any.
    pub(crate) const fn is_some(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// Returns whether there are conditions on columns of the row, and on statics.
    pub(super) fn places(&self) -> (bool, bool) {
        match self {
            Self::All(all) => {
                (all.iter().any(|own| !own.is_static), all.iter().any(|own| own.is_static))
            }
            _ => (false, false),
        }
    }

    /// Returns true if a condition is on a row: that it is there or not, or one of its columns.
    pub(crate) fn are_of_row(&self) -> bool {
        match self {
            Self::None => false,
            Self::NotExists | Self::Exists => true,
            Self::All(all) => all.iter().any(|own| !own.is_static),
        }
    }

    /// Returns the columns that conditions name; `None` for those on existence.
    pub(crate) fn columns(&self) -> Option<Vec<usize>> {
        let Self::All(all) = self else { return None };
        let mut places = Vec::new();
        // Those of the row come before those of the partition.
        for of_statics in [false, true] {
            for own in all.iter().filter(|own| own.is_static == of_statics) {
                if !places.contains(&own.at) {
                    places.push(own.at);
                }
            }
        }
        Some(places)
    }

    /// Returns true if a condition is on a column of the row.
    pub(crate) fn has_regular(&self, table: &Table) -> bool {
        !self.regular_names(table).is_empty()
    }

    /// Returns the names of such columns.
    pub(crate) fn regular_names<'t>(&self, table: &'t Table) -> Vec<&'t str> {
        let places = self.columns().unwrap_or_default();
        places
            .into_iter()
            .filter_map(|at| table.columns.get(at))
            .filter(|column| column.role == ColumnKind::Regular)
            .map(|column| &*column.name)
            .collect()
    }

    /// Prepares an `IF`.
    pub(crate) fn prepare(written: &Written, table: &Table, scope: &mut Scope<'_>) -> Result<Self> {
        let all = match written {
            Written::None => return Ok(Self::None),
            Written::Exists => return Ok(Self::Exists),
            Written::All(all) => all,
        };
        let mut out = Vec::with_capacity(all.len());
        for own in all {
            let name = own.column.as_str();
            let (at, column) = table.find(name).ok_or_else(|| undefined_column(name, table))?;
            if column.kind.is_counter() {
                return invalid("Conditions on counters are not supported");
            }
            let (path, ty, shown) = path_of(&own.path, column, scope)?;
            let test = match &own.test {
                ConditionTest::In(values) => {
                    Test::In(in_list(values, &shown, &received(&own.path, column, &ty), scope)?)
                }
                ConditionTest::Compare { operator, value } => {
                    let ty = match (operator, &ty) {
                        (
                            Operator::Contains,
                            CqlType::List { element, .. } | CqlType::Set { element, .. },
                        ) => (**element).clone(),
                        (Operator::Contains, CqlType::Map { value, .. }) => (**value).clone(),
                        (Operator::ContainsKey, CqlType::Map { key, .. }) => (**key).clone(),
                        (Operator::Contains, _) => {
                            return invalid(format!(
                                "Cannot use CONTAINS on non-collection column {name}"
                            ));
                        }
                        (Operator::ContainsKey, _) => {
                            return invalid(format!(
                                "Cannot use CONTAINS KEY on non-map column {name}"
                            ));
                        }
                        (operator, ty) => {
                            let slices = !matches!(operator, Operator::Equal | Operator::NotEqual);
                            if slices && ty.references_duration() {
                                return invalid(format!(
                                    "Slice conditions ( {} ) are not supported on durations",
                                    operator.text()
                                ));
                            }
                            if is_written(value) {
                                received(&own.path, column, ty)
                            } else {
                                ty.clone()
                            }
                        }
                    };
                    let named = match operator {
                        Operator::Contains => format!("value({name})"),
                        Operator::ContainsKey => format!("key({name})"),
                        _ => shown,
                    };
                    Test::Compare(
                        *operator,
                        prepare(value, Receiver { name: &named, ty: &ty }, scope)?,
                    )
                }
            };
            if column.role.is_key() {
                return invalid(format!("PRIMARY KEY column '{name}' cannot have IF conditions"));
            }
            let is_static = column.role == ColumnKind::Static;
            out.push(Condition { at, is_static, path, test });
        }
        Ok(Self::All(out))
    }

    /// Returns the conditions with the values of users' functions in the places of their calls, so that
    /// none is called while a partition is locked.
    ///
    /// # Errors
    ///
    /// * Those of the functions.
    pub(super) fn without_calls(&self, env: EvalContext<'_>) -> Result<Cow<'_, Self>> {
        let Self::All(all) = self else { return Ok(Cow::Borrowed(self)) };
        if !all.iter().any(Condition::calls) {
            return Ok(Cow::Borrowed(self));
        }
        let mut all = all.clone();
        all.iter_mut().flat_map(Condition::exprs_mut).try_for_each(|own| own.fold_calls(env))?;
        Ok(Cow::Owned(Self::All(all)))
    }

    /// Returns true if the conditions hold of a row and statics; neither need exist.
    pub(crate) fn hold(
        &self,
        table: &Table,
        row: Option<&LiveRow>,
        statics: &LiveRow,
        env: EvalContext<'_>,
    ) -> Result<bool> {
        match self {
            Self::None => Ok(true),
            Self::NotExists => Ok(row.is_none()),
            Self::Exists => Ok(row.is_some()),
            Self::All(all) => {
                for own in all {
                    let Some(column) = table.columns.get(own.at) else { continue };
                    let source =
                        if column.role == ColumnKind::Static { Some(statics) } else { row };
                    let value = source.and_then(|row| column_value(column, row));
                    if !own.holds(column, value.as_ref(), env)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

/// Returns true if a term is written down, so that what is said of it shows the column's own type.
const fn is_written(term: &Term) -> bool {
    matches!(
        term,
        Term::Literal(_)
            | Term::List(_)
            | Term::Set(_)
            | Term::Map(_)
            | Term::Tuple(_)
            | Term::UserType(_)
    )
}

/// Returns the type that messages about a constant show, where a part of a column is compared with it.
/// Of a whole collection it is the column's own; `ty` is what is compared.
fn received(path: &ConditionPath, column: &Column, ty: &CqlType) -> CqlType {
    let is_whole = matches!(path, ConditionPath::Whole) && column.kind.is_multi_cell();
    if is_whole { column.kind.clone() } else { ty.clone() }
}

fn path_of(
    path: &ConditionPath,
    column: &Column,
    scope: &mut Scope<'_>,
) -> Result<(Path, CqlType, String)> {
    let (name, ty) = (&column.name, &column.kind);
    match path {
        ConditionPath::Whole => Ok((Path::Whole, ty.freeze(), name.to_string())),
        ConditionPath::Field(field) => {
            let CqlType::User { definition, .. } = ty else {
                return invalid(format!("Invalid field access syntax for non-UDT column {name}"));
            };
            match definition.field(field.as_str()) {
                Some((at, ty)) => {
                    Ok((Path::Field(at), ty.clone(), format!("{name}.{}", field.as_str())))
                }
                None => invalid(format!("Unknown field {} for column {name}", field.as_str())),
            }
        }
        ConditionPath::Element(key) => {
            let (key_type, value_type, key_name) = match ty {
                CqlType::List { element, .. } => {
                    (CqlType::Int, (**element).clone(), format!("idx({name})"))
                }
                CqlType::Map { key, value, .. } => {
                    ((**key).clone(), (**value).clone(), format!("key({name})"))
                }
                CqlType::Set { .. } => {
                    return invalid(format!("Invalid element access syntax for set column {name}"));
                }
                _ => {
                    return invalid(format!(
                        "Invalid element access syntax for non-collection column {name}"
                    ));
                }
            };
            let key = prepare(key, Receiver { name: &key_name, ty: &key_type }, scope)?;
            Ok((Path::Element(key), value_type, format!("value({name})")))
        }
    }
}

impl Condition {
    fn calls(&self) -> bool {
        let in_path = matches!(&self.path, Path::Element(key) if key.calls_user_function());
        in_path
            || match &self.test {
                Test::Compare(_, own) | Test::In(InList::Marker(own)) => own.calls_user_function(),
                Test::In(InList::Values(all)) => all.iter().any(Expr::calls_user_function),
            }
    }

    fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let key = match &mut self.path {
            Path::Element(key) => Some(key),
            Path::Whole | Path::Field(_) => None,
        };
        let (one, all) = match &mut self.test {
            Test::Compare(_, own) | Test::In(InList::Marker(own)) => (Some(own), None),
            Test::In(InList::Values(all)) => (None, Some(all)),
        };
        key.into_iter().chain(one).chain(all.into_iter().flatten())
    }

    fn holds(&self, column: &Column, value: Option<&Bytes>, env: EvalContext<'_>) -> Result<bool> {
        let (own, ty) = self.part(column, value, env)?;
        // A live collection without elements is nothing; a frozen one is a value.
        let live = matches!(self.path, Path::Whole) && column.is_multi_cell();
        match &self.test {
            Test::In(list) => {
                let all: Vec<Option<Bytes>> = match list {
                    // Values that are not set are left out.
                    InList::Values(exprs) => exprs
                        .iter()
                        .filter_map(|expr| match expr.eval(env) {
                            Ok(BoundValue::Unset) => None,
                            Ok(BoundValue::Null) => Some(Ok(None)),
                            Ok(BoundValue::Bytes(bytes)) => Some(Ok(Some(bytes))),
                            Err(error) => Some(Err(error)),
                        })
                        .collect::<Result<_>>()?,
                    // Among the values of a list, null is one.
                    InList::Marker(expr) => match expr.bound(env) {
                        BoundValue::Bytes(bytes) => bound_elements(&bytes, &ty)?,
                        BoundValue::Null => return invalid("Invalid null list in IN condition"),
                        BoundValue::Unset => return invalid("Invalid 'unset' value in condition"),
                    },
                };
                Ok(all.iter().any(|other| is_equal(&ty, live, own.as_ref(), other.as_ref())))
            }
            Test::Compare(operator, expr) => {
                let other = match expr.eval(env)? {
                    BoundValue::Bytes(bytes) => Some(bytes),
                    BoundValue::Null => None,
                    // No element is what is not set.
                    BoundValue::Unset
                        if matches!(operator, Operator::Contains | Operator::ContainsKey) =>
                    {
                        return Ok(false);
                    }
                    BoundValue::Unset => return invalid("Invalid 'unset' value in condition"),
                };
                compare_values(*operator, &ty, live, own.as_ref(), other.as_ref())
            }
        }
    }

    /// Returns the part of the column that is compared, and its type.
    fn part(
        &self,
        column: &Column,
        value: Option<&Bytes>,
        env: EvalContext<'_>,
    ) -> Result<(Option<Bytes>, CqlType)> {
        match (&self.path, &column.kind) {
            (Path::Field(at), CqlType::User { definition, .. }) => {
                let ty = definition.fields.get(*at).map_or(CqlType::Blob, |(_, ty)| ty.clone());
                let part = value.and_then(|value| {
                    let part = fields(value).nth(*at)?.ok().flatten()?;
                    Some(value.slice_ref(part))
                });
                Ok((part, ty))
            }
            (Path::Element(key), CqlType::Map { key: key_type, value: inner, .. }) => {
                let Some(key) = key.value(env, " for map key")? else {
                    return invalid("Invalid null value for map element access");
                };
                let part = value.and_then(|value| {
                    let found = entries(value).ok()?.flatten().find(|(own, _)| {
                        own.is_some_and(|own| compare(key_type, own, &key).is_eq())
                    });
                    Some(value.slice_ref(found?.1?))
                });
                Ok((part, (**inner).clone()))
            }
            (Path::Element(key), CqlType::List { element, .. }) => {
                let Some(key) = key.value(env, " for list index")? else {
                    return invalid("Invalid null value for list element access");
                };
                let at = key.as_ref().try_into().map(i32::from_be_bytes).unwrap_or(-1);
                let Ok(at) = usize::try_from(at) else {
                    return invalid(format!("Invalid negative list index {at}"));
                };
                let part = value.and_then(|value| {
                    let found = elements(value).ok()?.flatten().nth(at)?;
                    Some(value.slice_ref(found?))
                });
                Ok((part, (**element).clone()))
            }
            (_, ty) => Ok((value.cloned(), ty.freeze())),
        }
    }
}

/// Returns true if nothing is there; a live collection without elements is nothing.
fn is_nothing(ty: &CqlType, live: bool, value: Option<&Bytes>) -> bool {
    value.is_none_or(|value| {
        live && ty.is_collection() && value.iter().all(|byte| *byte == 0) && value.len() <= 4
    })
}

fn is_equal(ty: &CqlType, live: bool, own: Option<&Bytes>, other: Option<&Bytes>) -> bool {
    match (is_nothing(ty, live, own), is_nothing(ty, live, other)) {
        (true, true) => true,
        (false, false) => match (own, other) {
            (Some(own), Some(other)) => compare(ty, own, other).is_eq(),
            _ => false,
        },
        _ => false,
    }
}

fn compare_values(
    operator: Operator,
    ty: &CqlType,
    live: bool,
    own: Option<&Bytes>,
    other: Option<&Bytes>,
) -> Result<bool> {
    match operator {
        Operator::Equal => return Ok(is_equal(ty, live, own, other)),
        Operator::NotEqual => return Ok(!is_equal(ty, live, own, other)),
        _ => {}
    }
    let Some(other) = other else {
        return invalid(format!(
            "Invalid comparison with null for operator \"{}\"",
            operator.text()
        ));
    };
    let is_order = !matches!(operator, Operator::Contains | Operator::ContainsKey);
    if is_order && is_nothing(ty, live, Some(other)) {
        let kind = match ty {
            CqlType::List { .. } => "list",
            CqlType::Set { .. } => "set",
            _ => "map",
        };
        let text = operator.text();
        return invalid(format!("Invalid comparison with an empty {kind} for operator \"{text}\""));
    }
    let Some(own) = own else { return Ok(false) };
    Ok(match (operator, ty) {
        (Operator::Less, _) => compare(ty, own, other).is_lt(),
        (Operator::LessOrEqual, _) => compare(ty, own, other).is_le(),
        (Operator::Greater, _) => compare(ty, own, other).is_gt(),
        (Operator::GreaterOrEqual, _) => compare(ty, own, other).is_ge(),
        (Operator::Contains, CqlType::List { element, .. } | CqlType::Set { element, .. }) => {
            elements(own)?.flatten().flatten().any(|value| compare(element, value, other).is_eq())
        }
        (Operator::Contains, CqlType::Map { value: inner, .. }) => entries(own)?
            .flatten()
            .any(|(_, v)| v.is_some_and(|v| compare(inner, v, other).is_eq())),
        (Operator::ContainsKey, CqlType::Map { key, .. }) => {
            entries(own)?.flatten().any(|(k, _)| k.is_some_and(|k| compare(key, k, other).is_eq()))
        }
        _ => false,
    })
}
