//! Types of the text become types with meaning: user types are looked up, frozen ones freeze what
//! they hold, and what Cassandra forbids is refused.

use std::cell::Cell;
use std::sync::Arc;

use shelfmark_cql_protocol::{CqlError, invalid};
use shelfmark_cql_syntax::ast;

use crate::function::Resolved;
use crate::value::{
    CqlType, UserType, VECTOR_DIMENSION_MAX, check_limits, check_limits_within, native_by_name,
    parse_class_name,
};

/// Finds user types by name.
pub trait UserTypes {
    /// Returns the definition of the user type `name` of `keyspace`, if there is one.
    fn user_type(&self, keyspace: &str, name: &str) -> Option<&Arc<UserType>>;

    /// Returns the functions and aggregates of users of a name in a keyspace.
    fn user_functions(&self, _keyspace: &str, _name: &str) -> Vec<Resolved> {
        Vec::new()
    }
}

/// Returns true if a type of the text is the class of a reversed order, as that of a clustering column
/// can be.
pub fn is_reversed(ty: &ast::Type) -> bool {
    let ast::Type::Custom(class) = ty else { return false };
    parse_class_name(class).is_ok_and(|(_, is_reversed)| is_reversed)
}

/// Resolves a type of the text, in a keyspace.
///
/// # Errors
///
/// * `Invalid`: an unknown user type, a combination that is not allowed, or a type over the limits of
///   [`check_limits`].
pub fn resolve_type(
    ty: &ast::Type,
    keyspace: &str,
    schema: &dyn UserTypes,
) -> Result<CqlType, CqlError> {
    let level = Level { depth: 0, parts: &Cell::new(0) };
    let resolved = resolve_at(ty, keyspace, schema, level)?;
    check_limits(&resolved)?;
    Ok(resolved)
}

/// The position inside of a nested type that is being resolved.
#[derive(Clone, Copy)]
struct Level<'p> {
    /// The depth; `frozen` is no level.
    depth: usize,
    /// The number of types resolved so far. User types are shared where they are defined and copied
    /// where they are frozen, so they are counted before that.
    parts: &'p Cell<usize>,
}

impl Level<'_> {
    const fn below(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn check(self, ty: &CqlType) -> Result<(), CqlError> {
        let mut parts = self.parts.get();
        check_limits_within(ty, self.depth, &mut parts)?;
        self.parts.set(parts);
        Ok(())
    }
}

/// Refuses a live user type inside of a live collection, whether it is defined or not.
fn check_named(element: &ast::Type, shown: &str) -> Result<(), CqlError> {
    match element {
        ast::Type::User(_) => {
            invalid(format!("Non-frozen UDTs are not allowed inside collections: {shown}"))
        }
        _ => Ok(()),
    }
}

fn resolve_at(
    ty: &ast::Type,
    keyspace: &str,
    schema: &dyn UserTypes,
    level: Level<'_>,
) -> Result<CqlType, CqlError> {
    // What it stands for is counted below, or as this one.
    if !matches!(ty, ast::Type::User(_) | ast::Type::Frozen(_) | ast::Type::Custom(_)) {
        level.check(&CqlType::Blob)?;
    }
    let inner = |ty: &ast::Type| resolve_at(ty, keyspace, schema, level.below());
    match ty {
        ast::Type::Native(native) => {
            Ok(native_by_name(native.name()).map_or(CqlType::Blob, CqlType::Native))
        }
        ast::Type::List(element) => {
            check_named(element, &format!("list<{element}>"))?;
            let resolved = inner(element)?;
            check_element(&resolved, &format!("list<{resolved}>"))?;
            Ok(CqlType::list(resolved))
        }
        ast::Type::Set(element) => {
            check_named(element, &format!("set<{element}>"))?;
            let resolved = inner(element)?;
            let shown = format!("set<{resolved}>");
            check_element(&resolved, &shown)?;
            without_durations(CqlType::set(resolved))
        }
        ast::Type::Map(key, value) => {
            check_named(key, &format!("map<{key}, {value}>"))?;
            check_named(value, &format!("map<{key}, {value}>"))?;
            let (key, value) = (inner(key)?, inner(value)?);
            let shown = format!("map<{key}, {value}>");
            check_element(&key, &shown)?;
            check_element(&value, &shown)?;
            without_durations(CqlType::map(key, value))
        }
        ast::Type::Tuple(fields) => {
            let fields: Vec<CqlType> = fields
                .iter()
                .map(|field| inner(field).map(|ty| ty.freeze()))
                .collect::<Result<_, _>>()?;
            if fields.iter().any(CqlType::is_counter) {
                return invalid("Counters are not allowed inside tuples".to_owned());
            }
            Ok(CqlType::tuple(fields))
        }
        ast::Type::Vector { element, dimension } => vector(inner(element)?.freeze(), *dimension),
        ast::Type::User(name) => user(name, keyspace, schema, level),
        ast::Type::Frozen(inner) => frozen(inner, keyspace, schema, level),
        ast::Type::Custom(class) => {
            let (ty, _) = parse_class_name(class).map_err(|error| {
                CqlError::syntax(format!("Error setting type {class}: {}", error.0))
            })?;
            level.check(&ty)?;
            Ok(ty)
        }
    }
}

/// Resolves a vector of elements of a resolved type.
fn vector(element: CqlType, dimension: i32) -> Result<CqlType, CqlError> {
    match u32::try_from(dimension) {
        Ok(dimension) if (1..=VECTOR_DIMENSION_MAX).contains(&dimension) => {
            Ok(CqlType::vector(element, dimension))
        }
        Ok(0) | Err(_) => {
            invalid(format!("vectors may only have positive dimensions; given {dimension}"))
        }
        Ok(_) => invalid(format!(
            "vectors may have at most {VECTOR_DIMENSION_MAX} dimensions here; given {dimension}"
        )),
    }
}

/// Looks up a user type by its name.
fn user(
    name: &ast::QualifiedName,
    keyspace: &str,
    schema: &dyn UserTypes,
    level: Level<'_>,
) -> Result<CqlType, CqlError> {
    let own = name.name.as_str();
    if let Some(other) =
        name.keyspace.as_ref().map(ast::Name::as_str).filter(|other| *other != keyspace)
    {
        return invalid(format!(
            "Statement on keyspace {keyspace} cannot refer to a user type in keyspace {other}; user types can only be used in the keyspace they are defined in"
        ));
    }
    let Some(definition) = schema.user_type(keyspace, own) else {
        return invalid(format!("Unknown type {keyspace}.{own}"));
    };
    let ty = CqlType::User { definition: Arc::clone(definition), frozen: false };
    level.check(&ty)?;
    Ok(ty)
}

/// Resolves the type inside of `frozen<>`, and freezes it.
fn frozen(
    inner: &ast::Type,
    keyspace: &str,
    schema: &dyn UserTypes,
    level: Level<'_>,
) -> Result<CqlType, CqlError> {
    if matches!(inner, ast::Type::List(_) | ast::Type::Set(_) | ast::Type::Map(..)) {
        level.check(&CqlType::Blob)?;
    }
    let resolved = match inner {
        // Inside a frozen type all is frozen, so nothing that is live is in the way.
        ast::Type::List(element) => CqlType::list(thaw(element, keyspace, schema, level)?),
        ast::Type::Set(element) => CqlType::set(thaw(element, keyspace, schema, level)?),
        ast::Type::Map(key, value) => {
            CqlType::map(thaw(key, keyspace, schema, level)?, thaw(value, keyspace, schema, level)?)
        }
        other => resolve_at(other, keyspace, schema, level)?,
    };
    if matches!(resolved, CqlType::Native(_) | CqlType::Custom(_)) {
        return invalid(format!(
            "frozen<> is only allowed on collections, tuples, and user-defined types (got {resolved})"
        ));
    }
    without_durations(resolved.freeze())
}

/// Returns a type unless it is a set of durations or has them as keys: they have no order.
fn without_durations(ty: CqlType) -> Result<CqlType, CqlError> {
    match &ty {
        CqlType::Set { element, .. } if **element == CqlType::Duration => {
            invalid(format!("Durations are not allowed inside sets: {ty}"))
        }
        CqlType::Map { key, .. } if **key == CqlType::Duration => {
            invalid(format!("Durations are not allowed as map keys: {ty}"))
        }
        _ => Ok(ty),
    }
}

/// Returns an element of a frozen collection, frozen itself.
fn thaw(
    ty: &ast::Type,
    keyspace: &str,
    schema: &dyn UserTypes,
    level: Level<'_>,
) -> Result<CqlType, CqlError> {
    let frozen;
    let ty = match ty {
        ast::Type::List(_) | ast::Type::Set(_) | ast::Type::Map(..) | ast::Type::User(_) => {
            frozen = ast::Type::Frozen(Box::new(ty.clone()));
            &frozen
        }
        other => other,
    };
    let resolved = resolve_at(ty, keyspace, schema, level.below())?;
    if resolved.is_counter() {
        return invalid(format!("Counters are not allowed inside collections: {resolved}"));
    }
    Ok(resolved)
}

fn check_element(element: &CqlType, shown: &str) -> Result<(), CqlError> {
    if element.is_counter() {
        return invalid(format!("Counters are not allowed inside collections: {shown}"));
    }
    if element.is_multi_cell() {
        let what = if element.is_udt() { "UDTs" } else { "collections" };
        return invalid(format!("Non-frozen {what} are not allowed inside collections: {shown}"));
    }
    Ok(())
}

/// Exchanges the user types in a type for their present definitions.
pub fn refresh(ty: &CqlType, types: &std::collections::BTreeMap<String, Arc<UserType>>) -> CqlType {
    let inner = |ty: &Arc<CqlType>| Arc::new(refresh(ty, types));
    match ty {
        CqlType::Native(_) | CqlType::Custom(_) => ty.clone(),
        CqlType::List { element, frozen } => {
            CqlType::List { element: inner(element), frozen: *frozen }
        }
        CqlType::Set { element, frozen } => {
            CqlType::Set { element: inner(element), frozen: *frozen }
        }
        CqlType::Map { key, value, frozen } => {
            CqlType::Map { key: inner(key), value: inner(value), frozen: *frozen }
        }
        CqlType::Tuple(fields) => {
            CqlType::Tuple(fields.iter().map(|field| refresh(field, types)).collect())
        }
        CqlType::Vector { element, dimension } => {
            CqlType::Vector { element: inner(element), dimension: *dimension }
        }
        CqlType::User { definition, frozen } => {
            let known = types.get(&*definition.name).unwrap_or(definition);
            let live = CqlType::User { definition: Arc::clone(known), frozen: false };
            if *frozen { live.freeze() } else { live }
        }
    }
}
