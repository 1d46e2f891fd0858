//! Prepared terms evaluated: for one execution, and in a selection for one row.

use bytes::{BufMut, Bytes, BytesMut};
use shelfmark_cql_protocol::{BoundValue, CqlError, Result};

use super::expression::{Expr, MetadataKind, MetadataPath, UnsetField};
use crate::function::FunctionContext;
use crate::value::{
    CqlType, canonical, compare, elements, entries, fields, plain_decimal, put_cell,
    put_collection, put_tuple, unsigned_vint, validate,
};

/// A row as a selection sees it.
pub trait RowView {
    /// Returns the value of a column read, by its place among them.
    fn value(&self, at: usize) -> Option<Bytes>;
    /// Appends the value of a column to a row of an answer.
    fn put(&self, at: usize, out: &mut BytesMut) {
        put_cell(self.value(at).as_deref(), out);
    }
    /// Returns timestamps or times to live of a column, serialised.
    fn metadata(&self, kind: MetadataKind, column: usize, path: &ResolvedPath) -> Option<Bytes>;
    /// Returns the value of an aggregate.
    fn aggregate(&self, at: usize) -> Option<Bytes>;
}

/// A [`MetadataPath`] with its terms evaluated.
#[derive(Debug, Clone)]
pub enum ResolvedPath {
    /// All of its cells.
    Whole,
    /// The cell of one element.
    Element(Bytes),
    /// The cells between two bounds.
    Slice(Option<Bytes>, Option<Bytes>),
    /// The cell of one field.
    Field(usize),
}

/// Holds the values that a term is evaluated with.
#[derive(Clone, Copy)]
pub struct EvalContext<'e> {
    /// Time and randomness; `None` where nothing is called.
    pub context: Option<&'e dyn FunctionContext>,
    /// The bound values.
    pub values: &'e [BoundValue],
    /// The row of a selection.
    pub row: Option<&'e dyn RowView>,
}

impl Expr {
    /// Returns true if all of it is known.
    pub(super) fn is_constant_deep(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Elements { items, .. } => items.iter().all(Self::is_constant_deep),
            Self::Entries { items, .. } => {
                items.iter().all(|(key, value)| key.is_constant_deep() && value.is_constant_deep())
            }
            Self::Fields { items, .. } => items.iter().flatten().all(Self::is_constant_deep),
            _ => false,
        }
    }

    /// Evaluates the term; `Unset` only where the whole term is a marker.
    ///
    /// # Errors
    ///
    /// * `Invalid`: a bound value does not fit its type, or a function refuses its arguments.
    pub fn eval(&self, env: EvalContext<'_>) -> Result<BoundValue> {
        match self {
            Self::Constant(Some(value)) => Ok(BoundValue::Bytes(value.clone())),
            Self::Constant(None) => Ok(BoundValue::Null),
            Self::Marker { index, ty } => {
                let value = env.values.get(*index).cloned().unwrap_or(BoundValue::Unset);
                let BoundValue::Bytes(bytes) = &value else { return Ok(value) };
                validate(ty, bytes)?;
                check_count(ty, bytes)?;
                Ok(BoundValue::Bytes(canonical(ty, bytes)))
            }
            _ => Ok(self.compound(env)?.map_or(BoundValue::Null, BoundValue::Bytes)),
        }
    }

    /// Returns the value of a marker as it came, for whoever checks it part by part.
    pub fn bound(&self, env: EvalContext<'_>) -> BoundValue {
        match self {
            Self::Marker { index, .. } => {
                env.values.get(*index).cloned().unwrap_or(BoundValue::Unset)
            }
            _ => BoundValue::Unset,
        }
    }

    /// Evaluates the term where unset is refused; `what` completes the message.
    ///
    /// # Errors
    ///
    /// * Those of [`Expr::eval`], and `Invalid` for an unset value.
    pub fn value(&self, env: EvalContext<'_>, what: &str) -> Result<Option<Bytes>> {
        match self.eval(env)? {
            BoundValue::Bytes(bytes) => Ok(Some(bytes)),
            BoundValue::Null => Ok(None),
            BoundValue::Unset => Err(CqlError::invalid(format!("Invalid unset value{what}"))),
        }
    }

    fn inner(&self, env: EvalContext<'_>) -> Result<Option<Bytes>> {
        self.value(env, " in a term")
    }

    fn compound(&self, env: EvalContext<'_>) -> Result<Option<Bytes>> {
        match self {
            Self::Constant(value) => Ok(value.clone()),
            Self::Marker { .. } => self.inner(env),
            Self::Column(at) => Ok(env.row.and_then(|row| row.value(*at))),
            Self::Aggregate(at) => Ok(env.row.and_then(|row| row.aggregate(*at))),
            Self::Metadata { kind, column, path } => {
                let path = resolve_path(path, env)?;
                Ok(env.row.and_then(|row| row.metadata(*kind, *column, &path)))
            }
            Self::Elements { items, ty } => eval_elements(items, ty, env).map(Some),
            Self::Entries { items, ty } => eval_entries(items, ty, env).map(Some),
            Self::Fields { items, unset } => eval_fields(items, unset, env).map(Some),
            Self::Call { function, arguments } => {
                let parts: Vec<Option<Bytes>> = arguments
                    .iter()
                    .map(|argument| argument_of(&function.name, argument, env))
                    .collect::<Result<_>>()?;
                if &*function.keyspace == "system" {
                    account(env, parts.iter().flatten().map(Bytes::len).sum())?;
                }
                let parts: Vec<Option<&[u8]>> = parts.iter().map(Option::as_deref).collect();
                let context = env.context.ok_or_else(|| {
                    CqlError::new(
                        shelfmark_cql_protocol::ErrorCode::Server,
                        "a function is called in a constant",
                    )
                })?;
                Ok(function.call(context, &parts)?.map(Bytes::from))
            }
            Self::Token(parts) => {
                let parts: Option<Vec<Bytes>> = parts
                    .iter()
                    .map(|part| argument_of("token", part, env))
                    .collect::<Result<_>>()?;
                Ok(parts.map(|parts| Bytes::copy_from_slice(&token_of(&parts).to_be_bytes())))
            }
            Self::Plain(of) => Ok(of.inner(env)?.map(|value| plain_decimal(&value))),
            Self::Element { of, ty, key, shown } => {
                let of_value = of.inner(env)?;
                let what = match key.eval(env)? {
                    BoundValue::Bytes(key) => {
                        return Ok(of_value.and_then(|value| element(ty, &value, &key)));
                    }
                    BoundValue::Unset => "unset",
                    BoundValue::Null => "null",
                };
                Err(CqlError::invalid(format!(
                    "Invalid {what} value for element selection on {shown}"
                )))
            }
            Self::Slice { of, ty, from, to } => {
                let Some(value) = of.inner(env)? else { return Ok(None) };
                let (from, to) =
                    (open_bound(from.as_deref(), env)?, open_bound(to.as_deref(), env)?);
                let part = slice(ty, &value, from.as_deref(), to.as_deref());
                // A live collection without elements is null.
                Ok(part.filter(|part| !ty.is_multi_cell() || part.iter().any(|byte| *byte != 0)))
            }
            Self::Field { of, at } => {
                let Some(value) = of.inner(env)? else { return Ok(None) };
                let field = fields(&value).nth(*at).and_then(std::result::Result::ok).flatten();
                Ok(field.map(|field| value.slice_ref(field)))
            }
        }
    }
}

/// Bytes of a value from which on what it is put together from is accounted for.
const LONG_BYTES: usize = 16 * 1024;

/// Accounts for a value that is put together from so many bytes, before it is made: a short statement
/// can make a very long one.
fn account(env: EvalContext<'_>, bytes: usize) -> Result<()> {
    match env.context.filter(|_| bytes > LONG_BYTES) {
        Some(context) => context.took(0, bytes),
        None => Ok(()),
    }
}

/// Refuses a collection of zero bytes: it has no count.
fn check_count(ty: &CqlType, bytes: &[u8]) -> Result<()> {
    let what = match ty {
        CqlType::List { .. } => "list",
        CqlType::Set { .. } => "set",
        CqlType::Map { .. } => "map",
        _ => return Ok(()),
    };
    if bytes.is_empty() {
        return Err(CqlError::invalid(format!("Not enough bytes to read a {what}")));
    }
    Ok(())
}

/// Returns the value of an argument of a function.
fn argument_of(function: &str, argument: &Expr, env: EvalContext<'_>) -> Result<Option<Bytes>> {
    match argument.eval(env)? {
        BoundValue::Bytes(bytes) => Ok(Some(bytes)),
        BoundValue::Null => Ok(None),
        BoundValue::Unset => Err(CqlError::invalid(format!(
            "Invalid unset value for argument in call to function {function}"
        ))),
    }
}

/// Evaluates a bound of a slice; one that is null or not set is open.
fn open_bound(bound: Option<&Expr>, env: EvalContext<'_>) -> Result<Option<Bytes>> {
    match bound.map(|own| own.eval(env)).transpose()? {
        Some(BoundValue::Bytes(bytes)) => Ok(Some(bytes)),
        _ => Ok(None),
    }
}

fn resolve_path(path: &MetadataPath, env: EvalContext<'_>) -> Result<ResolvedPath> {
    let bound = |bound: &Option<Box<Expr>>| match bound {
        Some(bound) => bound.inner(env),
        None => Ok(None),
    };
    Ok(match path {
        MetadataPath::Whole => ResolvedPath::Whole,
        MetadataPath::Field(at) => ResolvedPath::Field(*at),
        MetadataPath::Element(key) => ResolvedPath::Element(key.inner(env)?.unwrap_or_default()),
        MetadataPath::Slice(from, to) => ResolvedPath::Slice(bound(from)?, bound(to)?),
    })
}

/// Evaluates a term without markers, functions and columns.
pub(super) fn evaluate_constant(expr: &Expr) -> Result<Option<Bytes>> {
    expr.compound(EvalContext { context: None, values: &[], row: None })
}

fn not_null(value: Option<Bytes>, what: &str) -> Result<Bytes> {
    value.ok_or_else(|| CqlError::invalid(format!("null is not supported inside {what}")))
}

fn eval_elements(items: &[Expr], ty: &CqlType, env: EvalContext<'_>) -> Result<Bytes> {
    if matches!(ty, CqlType::List { .. }) && env.row.is_some() {
        return eval_selected_list(items, env);
    }
    let what = if matches!(ty, CqlType::Vector { .. }) { "vectors" } else { "collections" };
    let mut parts: Vec<Bytes> =
        items.iter().map(|item| not_null(item.inner(env)?, what)).collect::<Result<_>>()?;
    account(env, parts.iter().map(Bytes::len).sum())?;
    match ty {
        CqlType::Set { element, .. } => {
            parts.sort_by(|a, b| compare(element, a, b));
            parts.dedup_by(|a, b| compare(element, a, b).is_eq());
        }
        CqlType::Vector { element, .. } => {
            let mut out = Vec::new();
            for part in &parts {
                if element.fixed_size().is_none() {
                    unsigned_vint(part.len() as u64, &mut out);
                }
                out.extend_from_slice(part);
            }
            return Ok(out.into());
        }
        _ => {}
    }
    Ok(put_collection(parts.len(), parts.iter().map(AsRef::as_ref)).into())
}

/// Evaluates a list that is made of the values of a row: those that are null stay so.
fn eval_selected_list(items: &[Expr], env: EvalContext<'_>) -> Result<Bytes> {
    let parts: Vec<Option<Bytes>> =
        items.iter().map(|item| item.inner(env)).collect::<Result<_>>()?;
    account(env, parts.iter().flatten().map(Bytes::len).sum())?;
    let mut out = BytesMut::new();
    out.put_i32(i32::try_from(parts.len()).unwrap_or(i32::MAX));
    parts.iter().for_each(|part| put_cell(part.as_deref(), &mut out));
    Ok(out.freeze())
}

fn eval_entries(items: &[(Expr, Expr)], ty: &CqlType, env: EvalContext<'_>) -> Result<Bytes> {
    let CqlType::Map { key, .. } = ty else { return Ok(Bytes::new()) };
    let mut parts: Vec<(Bytes, Bytes)> = Vec::with_capacity(items.len());
    for (k, v) in items {
        let what = "collections";
        parts.push((not_null(k.inner(env)?, what)?, not_null(v.inner(env)?, what)?));
    }
    account(env, parts.iter().map(|(k, v)| k.len() + v.len()).sum())?;
    // Of equal keys the last one counts: the sort is stable.
    parts.reverse();
    parts.sort_by(|(a, _), (b, _)| compare(key, a, b));
    parts.dedup_by(|(a, _), (b, _)| compare(key, a, b).is_eq());
    let flat = parts.iter().flat_map(|(k, v)| [k.as_ref(), v.as_ref()]);
    Ok(put_collection(parts.len(), flat).into())
}

/// Evaluates a tuple or a value of a user type.
fn eval_fields(items: &[Option<Expr>], unset: &UnsetField, env: EvalContext<'_>) -> Result<Bytes> {
    let mut parts = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let value = item.as_ref().map_or(Ok(BoundValue::Null), |item| item.eval(env))?;
        parts.push(match value {
            BoundValue::Bytes(bytes) => Some(bytes),
            BoundValue::Null => None,
            BoundValue::Unset => match unset {
                UnsetField::Null => None,
                UnsetField::OfTuple => {
                    return Err(CqlError::invalid(format!(
                        "Invalid unset value for tuple field number {at}"
                    )));
                }
                UnsetField::OfUserType(definition) => {
                    let field = definition.fields.get(at).map_or("", |(name, _)| &**name);
                    return Err(CqlError::invalid(format!(
                        "Invalid unset value for field '{field}' of user defined type {}",
                        definition.name
                    )));
                }
            },
        });
    }
    account(env, parts.iter().flatten().map(Bytes::len).sum())?;
    Ok(put_tuple(parts.iter().map(Option::as_deref)).into())
}

/// Returns the token of a partition key's columns.
pub(super) fn token_of(parts: &[Bytes]) -> i64 {
    let key = crate::value::partition_bytes(parts);
    // No row has the empty key; it stands for the least token, which is none.
    if key.is_empty() { i64::MIN } else { shelfmark_keycode::token(&key) }
}

/// Returns an element of a serialised collection.
fn element(ty: &CqlType, value: &Bytes, wanted: &[u8]) -> Option<Bytes> {
    let found = match ty {
        CqlType::Map { key, .. } => entries(value)
            .ok()?
            .flatten()
            .find(|(own, _)| own.is_some_and(|own| compare(key, own, wanted).is_eq()))
            .and_then(|(_, found)| found),
        CqlType::Set { element, .. } => elements(value)
            .ok()?
            .flatten()
            .flatten()
            .find(|own| compare(element, own, wanted).is_eq()),
        CqlType::List { .. } => {
            let at = i32::from_be_bytes(wanted.try_into().ok()?);
            elements(value).ok()?.flatten().nth(usize::try_from(at).ok()?).flatten()
        }
        _ => None,
    };
    found.map(|found| value.slice_ref(found))
}

/// Returns the part of a serialised set or map between two keys, both included.
fn slice(ty: &CqlType, value: &Bytes, from: Option<&[u8]>, to: Option<&[u8]>) -> Option<Bytes> {
    let inside = |ty: &CqlType, own: &[u8]| {
        from.is_none_or(|from| compare(ty, own, from).is_ge())
            && to.is_none_or(|to| compare(ty, own, to).is_le())
    };
    match ty {
        CqlType::Map { key, .. } => {
            let kept: Vec<&[u8]> = entries(value)
                .ok()?
                .flatten()
                .filter_map(|(k, v)| Some((k?, v?)))
                .filter(|(k, _)| inside(key, k))
                .flat_map(|(k, v)| [k, v])
                .collect();
            Some(put_collection(kept.len() / 2, kept.iter().copied()).into())
        }
        CqlType::Set { element, .. } => {
            let kept: Vec<&[u8]> = elements(value)
                .ok()?
                .flatten()
                .flatten()
                .filter(|own| inside(element, own))
                .collect();
            Some(put_collection(kept.len(), kept.iter().copied()).into())
        }
        _ => None,
    }
}
