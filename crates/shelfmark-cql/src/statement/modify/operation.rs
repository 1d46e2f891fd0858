//! Operations on one column, from `SET c = …` to the engine's operations on cells.

use std::borrow::Cow;

use bytes::Bytes;
use shelfmark_cql_protocol::{BoundValue, CqlError, Result};
use shelfmark_cql_syntax::ast::{Deletion, Name, Operation as Written, Term};
use shelfmark_cql_types::function::operate;
use shelfmark_cql_types::term::{EvalContext, Expr, Receiver, Scope, prepare, term_text};
use shelfmark_cql_types::{CqlType, compare, elements, entries, fields};
use shelfmark_engine::{CellOperation, ClusteringValue, LiveRow};

use super::elements::{Element, Place, pass, set_element, stored};
use crate::schema::Column;

/// An operation on one column.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    column: u32,
    ty: CqlType,
    action: Action,
}

#[derive(Debug, Clone)]
enum Action {
    /// The column gets the value, or becomes null.
    Assignability(Expr),
    /// `+`: elements are added.
    Add(Expr),
    /// `-`: elements are removed.
    Remove(Expr),
    /// A list gets elements in front.
    Prepend(Expr),
    /// A counter.
    Count(Expr, bool),
    /// A number or text that a condition lets be read first: what is added to it.
    Compute(Expr),
    SetElement(Expr, Expr),
    DeleteElement(Expr),
    SetField(usize, Expr),
    DeleteField(usize),
    Delete,
}

impl Action {
    fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (one, other) = match self {
            Self::Assignability(own)
            | Self::Add(own)
            | Self::Remove(own)
            | Self::Prepend(own)
            | Self::Count(own, _)
            | Self::Compute(own)
            | Self::DeleteElement(own)
            | Self::SetField(_, own) => (Some(own), None),
            Self::SetElement(key, value) => (Some(key), Some(value)),
            Self::DeleteField(_) | Self::Delete => (None, None),
        };
        one.into_iter().chain(other)
    }

    fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let (one, other) = match self {
            Self::Assignability(own)
            | Self::Add(own)
            | Self::Remove(own)
            | Self::Prepend(own)
            | Self::Count(own, _)
            | Self::Compute(own)
            | Self::DeleteElement(own)
            | Self::SetField(_, own) => (Some(own), None),
            Self::SetElement(key, value) => (Some(key), Some(value)),
            Self::DeleteField(_) | Self::Delete => (None, None),
        };
        one.into_iter().chain(other)
    }
}

/// Returns the row (or, without clustering key, the statics) as it is.
pub(crate) type ReadRow<'r> =
    &'r mut dyn FnMut(Option<&[ClusteringValue]>) -> Result<Option<LiveRow>>;

/// Reads the lists that operations by position need.
pub(crate) struct Lists<'r> {
    pub(crate) read: ReadRow<'r>,
}

impl Operation {
    /// Checks that the column gets a value.
    pub(crate) fn assign(column: &Column, value: Expr) -> Self {
        Self::new(column, Action::Assignability(value))
    }

    fn new(column: &Column, action: Action) -> Self {
        Self { column: column.id, ty: column.kind.clone(), action }
    }

    /// Returns operations with the values of users' functions in the places of their calls: each is
    /// called once, and none while a partition is locked.
    ///
    /// # Errors
    ///
    /// * Those of the functions.
    pub(super) fn without_calls<'o>(
        all: &'o [Self],
        env: EvalContext<'_>,
    ) -> Result<Cow<'o, [Self]>> {
        if !all.iter().any(|own| own.action.exprs().any(Expr::calls_user_function)) {
            return Ok(Cow::Borrowed(all));
        }
        let mut all = all.to_vec();
        for own in &mut all {
            own.action.exprs_mut().try_for_each(|own| own.fold_calls(env))?;
        }
        Ok(Cow::Owned(all))
    }

    /// Returns true if the present list must be read first.
    pub(crate) fn needs_read(&self) -> bool {
        matches!(self.ty, CqlType::List { .. })
            && matches!(
                self.action,
                Action::SetElement(..) | Action::DeleteElement(_) | Action::Remove(_)
            )
    }

    /// Prepares `SET column …`; `reads` says that the row is read before, as for conditions.
    pub(crate) fn of_update(
        column: &Column,
        written: &Written,
        reads: bool,
        scope: &mut Scope<'_>,
    ) -> Result<Self> {
        let to = Receiver { name: &column.name, ty: &column.kind };
        let action = match written {
            Written::Set(term) => assigned(term, to, scope)?,
            Written::Add(term) => added(true, term, reads, to, scope)?,
            Written::Subtract(term) => added(false, term, reads, to, scope)?,
            Written::Prepend(term) => prepended(term, to, scope)?,
            Written::SetElement { key, value } => element_set(key, value, to, scope)?,
            Written::SetField { field, value } => field_set(field, value, to, scope)?,
        };
        Ok(Self::new(column, action))
    }

    /// Prepares `DELETE column …`.
    pub(crate) fn of_delete(
        column: &Column,
        deletion: &Deletion,
        scope: &mut Scope<'_>,
    ) -> Result<Self> {
        let (name, ty) = (&column.name, &column.kind);
        let invalid = |text: String| Err(CqlError::invalid(text));
        let action = match deletion {
            Deletion::Column(_) => Action::Delete,
            Deletion::Element { key, .. } => match ty {
                CqlType::List { frozen: false, .. } => {
                    Action::DeleteElement(prepare_index(key, name, scope)?)
                }
                CqlType::Set { element: key_type, frozen: false }
                | CqlType::Map { key: key_type, frozen: false, .. } => {
                    let shown = match ty {
                        CqlType::Set { .. } => format!("value({name})"),
                        _ => format!("key({name})"),
                    };
                    Action::DeleteElement(prepare(
                        key,
                        Receiver { name: &shown, ty: key_type },
                        scope,
                    )?)
                }
                ty if ty.is_collection() => {
                    return invalid(format!(
                        "Invalid deletion operation for frozen collection column {name}"
                    ));
                }
                _ => {
                    return invalid(format!(
                        "Invalid deletion operation for non collection column {name}"
                    ));
                }
            },
            Deletion::Field { field, .. } => match ty {
                CqlType::User { definition, frozen: false } => {
                    match definition.field(field.as_str()) {
                        Some((at, _)) => Action::DeleteField(at),
                        None => {
                            return invalid(format!(
                                "UDT column {name} does not have a field named {}",
                                field.as_str()
                            ));
                        }
                    }
                }
                CqlType::User { .. } => {
                    return invalid(format!(
                        "Frozen UDT column {name} does not support field deletions"
                    ));
                }
                _ => {
                    return invalid(format!(
                        "Invalid field deletion operation for non-UDT column {name}"
                    ));
                }
            },
        };
        Ok(Self::new(column, action))
    }
}

fn null_counter() -> CqlError {
    CqlError::invalid("Invalid null value for counter increment/decrement")
}

/// Checks that a map is added to a map, and a set of keys taken from it.
fn check_map_operand(adds: bool, term: &Term) -> Result<()> {
    let wrong = match term {
        Term::List(_) | Term::Literal(_) => true,
        Term::Set(items) if adds => !items.is_empty(),
        Term::Set(items) => items.iter().any(|item| matches!(item, Term::Marker(_))),
        Term::Map(_) => !adds,
        _ => false,
    };
    if wrong {
        let (what, kind) = if adds { ("addition", "map") } else { ("substraction", "set") };
        return Err(CqlError::invalid(format!(
            "Value for a map {what} has to be a {kind}, but was: '{}'",
            term_text(term)
        )));
    }
    Ok(())
}

fn prepare_index(key: &Term, name: &str, scope: &mut Scope<'_>) -> Result<Expr> {
    let shown = format!("idx({name})");
    prepare(key, Receiver { name: &shown, ty: &CqlType::Int }, scope)
}

/// Returns the path of a user type's field: its place in two bytes.
pub(crate) fn field_path(at: usize) -> Bytes {
    Bytes::copy_from_slice(&u16::try_from(at).unwrap_or(u16::MAX).to_be_bytes())
}

/// Evaluates operations on one row; unset values leave their columns alone.
pub(super) fn evaluate(
    operations: &[Operation],
    env: EvalContext<'_>,
    lists: &mut Lists<'_>,
    clustering: Option<&[ClusteringValue]>,
) -> Result<Vec<CellOperation>> {
    let mut out = Vec::with_capacity(operations.len());
    for operation in operations {
        if let Action::Compute(value) = &operation.action {
            let row = (lists.read)(clustering)?;
            out.extend(operation.compute(value, row.as_ref(), env)?);
            continue;
        }
        let list = if operation.needs_read() {
            let mut list = stored((lists.read)(clustering)?.as_ref(), operation.column);
            // Each setting sees what the ones before it did.
            for (at, before) in out.iter().enumerate() {
                pass((at, before), operation.column, &mut list);
            }
            list
        } else {
            Vec::new()
        };
        operation.evaluate(env, &list, &mut out)?;
    }
    Ok(out)
}

/// Refuses an operation that a column's type does not have.
fn refuse<T>(name: &str, what: &str, shown: String) -> Result<T> {
    Err(CqlError::invalid(format!("Invalid operation ({shown}) for {what} column {name}")))
}

/// Prepares `SET column = term`.
fn assigned(term: &Term, to: Receiver<'_>, scope: &mut Scope<'_>) -> Result<Action> {
    let Receiver { name, ty } = to;
    if ty.is_counter() {
        if matches!(term, Term::Null) {
            return Err(null_counter());
        }
        return Err(CqlError::invalid(format!(
            "Cannot set the value of counter column {name} (counters can only be incremented/decremented, not set)"
        )));
    }
    Ok(Action::Assignability(prepare(term, to, scope)?))
}

/// Prepares `SET column = column + term`, or `-` where `adds` is false.
fn added(
    adds: bool,
    term: &Term,
    reads: bool,
    to: Receiver<'_>,
    scope: &mut Scope<'_>,
) -> Result<Action> {
    let Receiver { name, ty } = to;
    let sign = if adds { '+' } else { '-' };
    let shown = || format!("{name} = {name} {sign} {}", term_text(term));
    if ty.is_counter() {
        if matches!(term, Term::Null) {
            return Err(null_counter());
        }
        return Ok(Action::Count(prepare(term, to, scope)?, !adds));
    }
    // Nothing is subtracted so: the original adds alone.
    if reads && adds && !ty.is_collection() {
        if operate(sign, ty, ty).is_none_or(|own| own.returns != *ty) {
            return Err(CqlError::invalid(format!(
                "Invalid operation ({}) for non-numeric and non-text type {name}",
                shown()
            )));
        }
        return Ok(Action::Compute(prepare(term, to, scope)?));
    }
    if !ty.is_collection() {
        let what = match ty {
            CqlType::Tuple(_) | CqlType::User { .. } if adds => "tuple",
            _ => "non counter",
        };
        return refuse(name, what, shown());
    }
    if !ty.is_multi_cell() {
        return refuse(name, "frozen collection", shown());
    }
    if matches!(ty, CqlType::Map { .. }) {
        check_map_operand(adds, term)?;
    }
    if adds {
        Ok(Action::Add(prepare(term, to, scope)?))
    } else {
        // Of a map its keys are removed.
        let keys = match ty {
            CqlType::Map { key, .. } => CqlType::set(key.freeze()).freeze(),
            ty => ty.clone(),
        };
        Ok(Action::Remove(prepare(term, Receiver { name, ty: &keys }, scope)?))
    }
}

/// Prepares `SET column = term + column`.
fn prepended(term: &Term, to: Receiver<'_>, scope: &mut Scope<'_>) -> Result<Action> {
    let Receiver { name, ty } = to;
    // Cassandra prints the sign so.
    let shown = || format!("{name} = {} - {name}", term_text(term));
    match ty {
        CqlType::List { frozen: false, .. } => Ok(Action::Prepend(prepare(term, to, scope)?)),
        CqlType::List { .. } => refuse(name, "frozen list", shown()),
        _ => refuse(name, "non list", shown()),
    }
}

/// Prepares `SET column[key] = value`.
fn element_set(
    key: &Term,
    value: &Term,
    to: Receiver<'_>,
    scope: &mut Scope<'_>,
) -> Result<Action> {
    let Receiver { name, ty } = to;
    let shown = format!("{name}[{}] = {}", term_text(key), term_text(value));
    match ty {
        CqlType::List { element, frozen: false } => {
            let key = prepare_index(key, name, scope)?;
            let value_name = format!("value({name})");
            let value = prepare(value, Receiver { name: &value_name, ty: element }, scope)?;
            Ok(Action::SetElement(key, value))
        }
        CqlType::Map { key: key_type, value: value_type, frozen: false } => {
            let (key_name, value_name) = (format!("key({name})"), format!("value({name})"));
            let key = prepare(key, Receiver { name: &key_name, ty: key_type }, scope)?;
            let value = prepare(value, Receiver { name: &value_name, ty: value_type }, scope)?;
            Ok(Action::SetElement(key, value))
        }
        CqlType::Set { frozen: false, .. } => refuse(name, "set", shown),
        ty if ty.is_collection() => refuse(name, "frozen collection", shown),
        _ => refuse(name, "non collection", shown),
    }
}

/// Prepares `SET column.field = value`.
fn field_set(
    field: &Name,
    value: &Term,
    to: Receiver<'_>,
    scope: &mut Scope<'_>,
) -> Result<Action> {
    let Receiver { name, ty } = to;
    let shown = format!("{name}.{} = {}", field.as_str(), term_text(value));
    let CqlType::User { definition, frozen } = ty else {
        return refuse(name, "non-UDT", shown);
    };
    if *frozen {
        return refuse(name, "frozen UDT", shown);
    }
    let (at, field_type) = definition.field(field.as_str()).ok_or_else(|| {
        CqlError::invalid(format!(
            "UDT column {name} does not have a field named {}",
            field.as_str()
        ))
    })?;
    let shown = format!("{name}.{}", field.as_str());
    let to = Receiver { name: &shown, ty: field_type };
    Ok(Action::SetField(at, prepare(value, to, scope)?))
}

/// Returns how much a counter grows; `None` if the value is not set.
fn counter_delta(expr: &Expr, minus: bool, env: EvalContext<'_>) -> Result<Option<i64>> {
    let delta = match expr.eval(env)? {
        BoundValue::Unset => return Ok(None),
        BoundValue::Null => {
            return Err(CqlError::invalid("Invalid null value for counter increment"));
        }
        BoundValue::Bytes(bytes) => i64::from_be_bytes(
            bytes
                .as_ref()
                .try_into()
                .map_err(|_| CqlError::invalid("Invalid empty value for counter increment"))?,
        ),
    };
    if minus && delta == i64::MIN {
        return Err(CqlError::invalid(format!(
            "The negation of {delta} overflows supported counter precision (signed 8 bytes integer)"
        )));
    }
    Ok(Some(if minus { -delta } else { delta }))
}

impl Operation {
    fn evaluate(
        &self,
        env: EvalContext<'_>,
        list: &[Element],
        out: &mut Vec<CellOperation>,
    ) -> Result<()> {
        let column = self.column;
        match &self.action {
            Action::Delete => out.push(self.clear()),
            Action::Assignability(expr) => match expr.eval(env)? {
                BoundValue::Unset => {}
                BoundValue::Null if self.ty.is_multi_cell() => {
                    // Nothing replaces its elements, as an empty collection does: those that are
                    // written at the same timestamp stay.
                    out.push(self.replace(Bytes::new())?);
                }
                BoundValue::Null => out.push(self.clear()),
                BoundValue::Bytes(value) => out.push(self.replace(value)?),
            },
            Action::Count(expr, minus) => {
                let delta = counter_delta(expr, *minus, env)?;
                out.extend(delta.map(|delta| CellOperation::Add { column, delta }));
            }
            // What is there is read first: see `evaluate`.
            Action::Compute(_) => {}
            Action::Add(expr) => {
                let BoundValue::Bytes(value) = expr.eval(env)? else { return Ok(()) };
                self.add(&value, out)?;
            }
            Action::Prepend(expr) => {
                let BoundValue::Bytes(value) = expr.eval(env)? else { return Ok(()) };
                out.push(CellOperation::Prepend { column, values: list_values(&value)? });
            }
            Action::Remove(expr) => {
                let BoundValue::Bytes(value) = expr.eval(env)? else { return Ok(()) };
                self.remove(list_values(&value)?, list, out);
            }
            Action::SetElement(key, value) => {
                let place = self.element_place(key, env, list)?;
                match value.eval(env)? {
                    BoundValue::Unset => {}
                    BoundValue::Null => set_element(column, &place, None, out),
                    BoundValue::Bytes(value) => set_element(column, &place, Some(value), out),
                }
            }
            // Where no index is given nothing is deleted, as in the original.
            Action::DeleteElement(key)
                if matches!(self.ty, CqlType::List { .. })
                    && matches!(key.eval(env)?, BoundValue::Unset) => {}
            Action::DeleteElement(key) => {
                let place = self.element_place(key, env, list)?;
                set_element(column, &place, None, out);
            }
            Action::SetField(at, value) => match value.eval(env)? {
                BoundValue::Unset => {}
                BoundValue::Null => {
                    out.push(CellOperation::DeleteElement { column, path: field_path(*at) });
                }
                BoundValue::Bytes(value) => {
                    out.push(CellOperation::SetElement { column, path: field_path(*at), value });
                }
            },
            Action::DeleteField(at) => {
                out.push(CellOperation::DeleteElement { column, path: field_path(*at) });
            }
        }
        Ok(())
    }

    /// Removes elements of a list by their values, of a set or map by their keys.
    fn remove(&self, mut gone: Vec<Bytes>, list: &[Element], out: &mut Vec<CellOperation>) {
        let column = self.column;
        if let CqlType::List { element, .. } = &self.ty {
            gone.sort_by(|a, b| compare(element, a, b));
            let hit =
                |own: &Bytes| gone.binary_search_by(|value| compare(element, value, own)).is_ok();
            // From the end, so that places among what is added stay what they are.
            for own in list.iter().rev().filter(|own| hit(&own.value)) {
                set_element(column, &own.place, None, out);
            }
        } else {
            out.extend(gone.into_iter().map(|path| CellOperation::DeleteElement { column, path }));
        }
    }

    /// Computes what is there plus a value; nothing where there is nothing.
    fn compute(
        &self,
        value: &Expr,
        row: Option<&LiveRow>,
        env: EvalContext<'_>,
    ) -> Result<Option<CellOperation>> {
        let present = row.and_then(|row| row.cell(self.column)).map(|cell| cell.value.clone());
        let function = operate('+', &self.ty, &self.ty);
        let (Some(present), Some(function), Some(context)) = (present, function, env.context)
        else {
            return Ok(None);
        };
        let BoundValue::Bytes(other) = value.eval(env)? else { return Ok(None) };
        let computed = function.call(context, &[Some(&present), Some(&other)])?;
        Ok(computed.map(|value| CellOperation::Set { column: self.column, value: value.into() }))
    }

    fn clear(&self) -> CellOperation {
        if self.ty.is_multi_cell() {
            CellOperation::Clear { column: self.column }
        } else {
            CellOperation::Delete { column: self.column }
        }
    }

    fn replace(&self, value: Bytes) -> Result<CellOperation> {
        let column = self.column;
        Ok(match &self.ty {
            CqlType::List { frozen: false, .. } => {
                CellOperation::OverwriteList { column, values: list_values(&value)? }
            }
            CqlType::Set { frozen: false, .. } => {
                let members = list_values(&value)?.into_iter().map(|path| (path, Bytes::new()));
                CellOperation::Overwrite { column, elements: members.collect() }
            }
            CqlType::Map { frozen: false, .. } => {
                CellOperation::Overwrite { column, elements: map_values(&value)? }
            }
            CqlType::User { definition, frozen: false } => {
                let mut parts = fields(&value);
                let mut kept = Vec::new();
                for at in 0..definition.fields.len() {
                    if let Some(part) = parts.next().transpose()?.flatten() {
                        kept.push((field_path(at), value.slice_ref(part)));
                    }
                }
                CellOperation::Overwrite { column, elements: kept }
            }
            _ => CellOperation::Set { column, value },
        })
    }

    fn add(&self, value: &Bytes, out: &mut Vec<CellOperation>) -> Result<()> {
        let column = self.column;
        match &self.ty {
            CqlType::List { .. } => {
                out.push(CellOperation::Append { column, values: list_values(value)? });
            }
            CqlType::Map { .. } => out.extend(
                map_values(value)?.into_iter().map(|(path, value)| CellOperation::SetElement {
                    column,
                    path,
                    value,
                }),
            ),
            _ => {
                out.extend(list_values(value)?.into_iter().map(|path| CellOperation::SetElement {
                    column,
                    path,
                    value: Bytes::new(),
                }))
            }
        }
        Ok(())
    }

    fn element_place(&self, key: &Expr, env: EvalContext<'_>, list: &[Element]) -> Result<Place> {
        let is_list = matches!(self.ty, CqlType::List { .. });
        let key = match key.eval(env)? {
            BoundValue::Bytes(key) => key,
            BoundValue::Null if is_list => {
                return Err(CqlError::invalid("Invalid null value for list index"));
            }
            BoundValue::Null if matches!(self.ty, CqlType::Set { .. }) => {
                return Err(CqlError::invalid("Invalid null set element"));
            }
            BoundValue::Null => return Err(CqlError::invalid("Invalid null map key")),
            BoundValue::Unset if is_list => {
                return Err(CqlError::invalid("Invalid unset value for list index"));
            }
            BoundValue::Unset => return Err(CqlError::invalid("Invalid unset map key")),
        };
        if !is_list {
            return Ok(Place::Stored(key));
        }
        let at = key.as_ref().try_into().map(i32::from_be_bytes).unwrap_or(-1);
        if list.is_empty() {
            return Err(CqlError::invalid(match self.action {
                Action::DeleteElement(_) => {
                    "Attempted to delete an element from a list which is null"
                }
                _ => "Attempted to set an element on a list which is null",
            }));
        }
        usize::try_from(at)
            .ok()
            .and_then(|at| list.get(at))
            .map(|own| own.place.clone())
            .ok_or_else(|| {
                CqlError::invalid(format!(
                    "List index {at} out of bound, list has size {}",
                    list.len()
                ))
            })
    }
}

/// Returns the elements of a serialised list or set.
fn list_values(value: &Bytes) -> Result<Vec<Bytes>> {
    if value.is_empty() {
        return Ok(Vec::new());
    }
    elements(value)?
        .map(|own| match own? {
            Some(own) => Ok(value.slice_ref(own)),
            None => Err(CqlError::invalid("null is not supported inside collections")),
        })
        .collect()
}

/// Returns the entries of a serialised map.
fn map_values(value: &Bytes) -> Result<Vec<(Bytes, Bytes)>> {
    if value.is_empty() {
        return Ok(Vec::new());
    }
    entries(value)?
        .map(|own| match own? {
            (Some(k), Some(v)) => Ok((value.slice_ref(k), value.slice_ref(v))),
            _ => Err(CqlError::invalid("null is not supported inside collections")),
        })
        .collect()
}
