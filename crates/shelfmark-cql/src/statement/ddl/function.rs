//! `CREATE` and `DROP` of functions and aggregates.
//!
//! What it is not: a compiler; bodies are `shelfmark-java-subset`'s.
//!
//! Invariant: a function that an aggregate calls is there as long as the aggregate, and no function is
//! made whose body cannot be run.
//!
//! Source: Cassandra 5.0, `CreateFunctionStatement`, `CreateAggregateStatement` and the `Drop`
//! statements beside them, read 2026-11.

use std::sync::Arc;

use shelfmark_cql_protocol::{
    ChangeKind, ChangeTarget, CqlError, ErrorCode, Result, SchemaChange, invalid,
};
use shelfmark_cql_syntax::ast::{
    CreateAggregate, CreateFunction, DropFunction, FunctionName, Name, Term, Type,
};
use shelfmark_cql_types::term::{BindMarkers, EvalContext, Receiver, Scope, prepare};
use shelfmark_cql_types::{CqlType, resolve_type};
use shelfmark_engine::Environment;

use super::{Change, is_system, keyspace::attach};
use crate::function_context::{DISABLED, EngineContext};
use crate::limits::{FUNCTION_BODIES_SIZE_BYTES_MAX, FUNCTION_OVERHEAD_BYTES};
use crate::schema::{Column, Keyspace, Schema};
use crate::user_function::{UserAggregate, UserFunction, same};

const OTHER_LANGUAGE: &str = "Currently only Java UDFs are available in Cassandra. For more information - CASSANDRA-18252 and CASSANDRA-17281";

const BOTH: &str = "Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives";

/// Returns the keyspace of a function, which is not the server's own.
fn keyspace_of<'a>(name: &'a FunctionName, keyspace: Option<&'a str>) -> Result<&'a str> {
    let keyspace = name.keyspace.as_ref().map(Name::as_str).or(keyspace).ok_or_else(|| {
        CqlError::invalid("No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")
    })?;
    if is_system(keyspace) {
        return invalid(format!("System keyspace '{keyspace}' is not user-modifiable"));
    }
    Ok(keyspace)
}

/// Returns the change of a keyspace, with what clients are told.
fn change(
    keyspace: &Keyspace,
    kind: ChangeKind,
    target: ChangeTarget,
    name: &str,
    types: &[CqlType],
) -> Change {
    let event = event(keyspace, kind, target, name, types);
    Change { changes: vec![attach(keyspace)], event, builds: Vec::new() }
}

/// Returns what clients are told of a function or aggregate.
pub(in crate::statement) fn event(
    keyspace: &Keyspace,
    kind: ChangeKind,
    target: ChangeTarget,
    name: &str,
    types: &[CqlType],
) -> SchemaChange {
    let mut event = super::schema_event(kind, target, &keyspace.name, name);
    let is_dropped = kind == ChangeKind::Dropped;
    event.arguments = types.iter().map(|ty| told(ty, is_dropped)).collect();
    event
}

/// Returns a type as clients are told it: user types with their keyspace.
fn told(ty: &CqlType, is_dropped: bool) -> String {
    let (text, is_frozen) = match ty {
        CqlType::User { definition, frozen } => {
            (format!("{}.{}", definition.keyspace, definition.name), *frozen)
        }
        CqlType::List { element, frozen } => (format!("list<{}>", told(element, true)), *frozen),
        CqlType::Set { element, frozen } => (format!("set<{}>", told(element, true)), *frozen),
        CqlType::Map { key, value, frozen } => {
            (format!("map<{}, {}>", told(key, true), told(value, true)), *frozen)
        }
        CqlType::Tuple(_) => (crate::user_function::shown(ty), is_dropped),
        other => (other.to_string(), false),
    };
    if is_frozen { format!("frozen<{text}>") } else { text }
}

/// Returns the types of arguments that clients were told, as permissions name them.
pub(super) fn listed_again(event: &SchemaChange) -> String {
    let keyspace = format!("{}.", event.keyspace);
    let plain = |own: &String| {
        let own = own.replace(&keyspace, "");
        let tuple = own.strip_prefix("frozen<tuple<").and_then(|own| own.strip_suffix(">>"));
        tuple.map_or_else(|| own.clone(), |own| format!("tuple<{own}>"))
    };
    event.arguments.iter().map(plain).collect::<Vec<_>>().join(", ")
}

/// Resolves the type of an argument or of a value, which is never written as frozen.
fn live_type(ty: &Type, what: &str, keyspace: &str, schema: &Schema) -> Result<CqlType> {
    if matches!(ty, Type::Frozen(inner) if !matches!(**inner, Type::Tuple(_))) {
        return invalid(format!(
            "{what} '{ty}' cannot be frozen; remove frozen<> modifier from '{ty}'"
        ));
    }
    resolve_type(ty, keyspace, schema)
}

/// Refuses a state that is written as frozen, which it is never.
fn check_state_type(ty: &Type, keyspace: &str) -> Result<()> {
    let Type::Frozen(inner) = ty else { return Ok(()) };
    let shown = match &**inner {
        Type::Tuple(_) => return Ok(()),
        Type::User(name) => format!("frozen<{keyspace}.{}>", name.name.as_str()),
        _ => ty.to_string(),
    };
    invalid(format!(
        "State type '{shown}' cannot be frozen; remove frozen<> modifier from '{shown}'"
    ))
}

/// Makes a function.
pub(super) fn create(
    own: &CreateFunction,
    keyspace: Option<&str>,
    schema: &Schema,
    is_enabled: bool,
) -> Result<Option<Change>> {
    let keyspace_name = keyspace_of(&own.name, keyspace)?;
    if own.or_replace && own.if_not_exists {
        return invalid(BOTH);
    }
    if !is_enabled {
        return invalid(DISABLED);
    }
    let name = own.name.name.as_str();
    check_argument_names(own)?;
    let Some(found) = schema.keyspace(keyspace_name) else {
        return invalid(format!("Keyspace '{keyspace_name}' doesn't exist"));
    };
    let arguments = own.arguments.iter().map(|argument| {
        let ty = live_type(&argument.argument_type, "Argument", keyspace_name, schema)?;
        Ok((Arc::from(argument.name.as_str()), ty))
    });
    let arguments: Vec<(Arc<str>, CqlType)> = arguments.collect::<Result<_>>()?;
    let returns = live_type(&own.returns, "Return type", keyspace_name, schema)?;
    if own.language.as_str() != "java" {
        return invalid(OTHER_LANGUAGE);
    }
    let made = UserFunction::new(
        (keyspace_name, name),
        arguments,
        returns,
        own.called_on_null,
        "java",
        &own.body,
    );
    if let Some(error) = made.refusal() {
        return invalid(error.to_string());
    }
    let types = made.types();
    let is_there = |own: &&Arc<UserAggregate>| *own.name == *name && same(&own.arguments, &types);
    if found.aggregates.iter().any(|own| is_there(&own)) {
        return invalid(format!("Function '{name}' cannot replace an aggregate"));
    }
    let mut changed = Keyspace::clone(found);
    let mut kind = ChangeKind::Created;
    if let Some(old) = found.function(name, &types) {
        if own.if_not_exists {
            return Ok(None);
        }
        if !own.or_replace {
            return invalid(format!("Function '{name}' already exists"));
        }
        check_replaced(old, &made)?;
        changed.functions.retain(|own| !Arc::ptr_eq(own, old));
        kind = ChangeKind::Updated;
    }
    changed.functions.push(Arc::new(made));
    let size = |own: &Arc<UserFunction>| own.body.len() + FUNCTION_OVERHEAD_BYTES;
    if changed.functions.iter().map(size).sum::<usize>() > FUNCTION_BODIES_SIZE_BYTES_MAX {
        return invalid(format!(
            "The bodies of the functions of keyspace '{keyspace_name}' would have more than {FUNCTION_BODIES_SIZE_BYTES_MAX} bytes; make this one in another keyspace"
        ));
    }
    changed.functions.sort_by_key(|own| own.signature());
    Ok(Some(change(&changed, kind, ChangeTarget::Function, name, &types)))
}

fn check_argument_names(own: &CreateFunction) -> Result<()> {
    let names: Vec<&str> = own.arguments.iter().map(|own| own.name.as_str()).collect();
    let is_double = |at: usize| names.iter().skip(at + 1).any(|other| names.get(at) == Some(other));
    if (0..names.len()).any(is_double) {
        return invalid(format!(
            "Duplicate argument names for given function {} with argument names [{}]",
            own.name.name.as_str(),
            names.join(", ")
        ));
    }
    Ok(())
}

/// Refuses to replace a function by one that others could not go on calling.
fn check_replaced(old: &UserFunction, new: &UserFunction) -> Result<()> {
    let name = &new.name;
    if old.called_on_null != new.called_on_null {
        // The original names what the new one has.
        let how = if new.called_on_null { "CALLED" } else { "RETURNS NULL" };
        return invalid(format!("Function '{name}' must have {how} ON NULL INPUT directive"));
    }
    if old.returns.freeze() != new.returns.freeze()
        && !new.returns.is_value_compatible_with(&old.returns)
    {
        return invalid(format!(
            "Cannot replace function '{name}', the new return type {} is not compatible with the return type {} of existing function",
            new.returns, old.returns
        ));
    }
    Ok(())
}

/// Makes an aggregate.
pub(super) fn create_aggregate(
    own: &CreateAggregate,
    keyspace: Option<&str>,
    schema: &Schema,
    environment: &Environment,
    is_enabled: bool,
) -> Result<Option<Change>> {
    let keyspace_name = keyspace_of(&own.name, keyspace)?;
    let Some(found) = schema.keyspace(keyspace_name) else {
        let text = format!("Keyspace {keyspace_name} doesn't exist");
        return Err(CqlError::new(ErrorCode::Configuration, text));
    };
    let resolve = |ty: &Type| resolve_type(ty, keyspace_name, schema);
    let arguments: Vec<CqlType> = own.arguments.iter().map(resolve).collect::<Result<_>>()?;
    let state_type = resolve(&own.state_type)?;
    if own.or_replace && own.if_not_exists {
        return invalid(BOTH);
    }
    if !is_enabled {
        return invalid(DISABLED);
    }
    let name = own.name.name.as_str();
    let state_types: Vec<CqlType> =
        std::iter::once(&state_type).chain(&arguments).cloned().collect();
    let state = found_function(found, own.state_function.as_str(), &state_types)?;
    let last = own.final_function.as_ref();
    let last = last.map(|last| final_function(found, last.as_str(), &state_type)).transpose()?;
    check_state_type(&own.state_type, keyspace_name)?;
    if !same(std::slice::from_ref(&state.returns), std::slice::from_ref(&state_type)) {
        return invalid(format!(
            "State function '{}' return type must be the same as the first argument type - check STYPE, argument and return types",
            state.name
        ));
    }
    let initial = match &own.initial {
        Some(term) => initial_state(term, &state_type, keyspace_name, schema, environment)?,
        None => None,
    };
    if initial.is_none() && !state.called_on_null {
        return invalid(format!(
            "Cannot create aggregate '{name}' without INITCOND because state function {}.{} does not accept 'null' arguments",
            state.keyspace, state.name
        ));
    }
    if let Some(old) = found.function(name, &arguments) {
        return invalid(format!("Aggregate '{}' cannot replace a function", old.name));
    }
    let made = UserAggregate {
        keyspace: keyspace_name.into(),
        name: name.into(),
        state_function: Arc::clone(&state.name),
        final_function: last.map(|own| Arc::clone(&own.name)),
        returns: last.map_or(&state_type, |own| &own.returns).clone(),
        arguments,
        state_type,
        initial,
    };
    replace_aggregate(own, found, made)
}

/// Adds an aggregate to its keyspace, in place of the one that it replaces.
fn replace_aggregate(
    own: &CreateAggregate,
    found: &Keyspace,
    made: UserAggregate,
) -> Result<Option<Change>> {
    let name = Arc::clone(&made.name);
    let mut changed = Keyspace::clone(found);
    let mut kind = ChangeKind::Created;
    let is_it =
        |other: &&Arc<UserAggregate>| other.name == name && same(&other.arguments, &made.arguments);
    if let Some(old) = found.aggregates.iter().find(is_it) {
        if own.if_not_exists {
            return Ok(None);
        }
        if !own.or_replace {
            return invalid(format!("Aggregate '{name}' already exists"));
        }
        if !same(std::slice::from_ref(&old.returns), std::slice::from_ref(&made.returns)) {
            return invalid(format!(
                "Cannot replace aggregate '{name}', the new return type {} isn't compatible with the return type {} of existing function",
                made.returns, old.returns
            ));
        }
        changed.aggregates.retain(|own| !Arc::ptr_eq(own, old));
        kind = ChangeKind::Updated;
    }
    let types = made.arguments.clone();
    changed.aggregates.push(Arc::new(made));
    changed.aggregates.sort_by_key(|own| own.signature());
    Ok(Some(change(&changed, kind, ChangeTarget::Aggregate, &name, &types)))
}

/// Finds the function that an aggregate calls at its end.
fn final_function<'k>(
    keyspace: &'k Keyspace,
    name: &str,
    state_type: &CqlType,
) -> Result<&'k Arc<UserFunction>> {
    let types = std::slice::from_ref(state_type);
    let is_it = |own: &Arc<UserAggregate>| *own.name == *name && same(&own.arguments, types);
    if keyspace.aggregates.iter().any(is_it) {
        return invalid(format!(
            "Final function {}.{name}({state_type}) isn't a scalar function",
            keyspace.name
        ));
    }
    found_function(keyspace, name, types)
}

/// Finds a function that an aggregate is made of.
fn found_function<'k>(
    keyspace: &'k Keyspace,
    name: &str,
    types: &[CqlType],
) -> Result<&'k Arc<UserFunction>> {
    keyspace.function(name, types).ok_or_else(|| {
        let shown: Vec<String> = types.iter().map(ToString::to_string).collect();
        CqlError::invalid(format!(
            "Unable to find function object for resource <function {}.{name}({})>",
            keyspace.name,
            shown.join(", ")
        ))
    })
}

/// Computes the state before the first row.
fn initial_state(
    term: &Term,
    ty: &CqlType,
    keyspace: &str,
    schema: &Schema,
    environment: &Environment,
) -> Result<Option<Vec<u8>>> {
    let mut markers = BindMarkers::default();
    let mut scope = Scope { schema, keyspace, table: None, markers: &mut markers };
    let expr = prepare(term, Receiver { name: "(dummy)", ty }, &mut scope)?;
    if expr.has_marker() {
        return invalid("Bind variables are not supported in INITCOND");
    }
    let context = EngineContext::new(environment);
    let env = EvalContext { context: Some(&context), values: &[], row: None };
    Ok(expr.value(env, " in INITCOND")?.map(|own| own.to_vec()))
}

/// Returns the types that a `DROP` gives, if it gives any.
fn given(own: &DropFunction, keyspace: &str, schema: &Schema) -> Result<Option<Vec<CqlType>>> {
    let Some(arguments) = &own.arguments else { return Ok(None) };
    // Of a keyspace that is not there no type is looked at.
    if schema.keyspace(keyspace).is_none() {
        return Ok(Some(Vec::new()));
    }
    let live = |ty| live_type(ty, "Argument", keyspace, schema);
    arguments.iter().map(live).collect::<Result<_>>().map(Some)
}

/// Returns the text of an argument's type; tuples are frozen without saying so.
fn written(ty: &Type) -> String {
    match ty {
        Type::Frozen(inner) if matches!(**inner, Type::Tuple(_)) => inner.to_string(),
        other => other.to_string(),
    }
}

fn named(own: &DropFunction) -> String {
    own.arguments.as_ref().map_or_else(String::new, |all| {
        let all: Vec<String> = all.iter().map(written).collect();
        format!("({})", all.join(", "))
    })
}

/// Finds what a `DROP` means among the functions or aggregates of its name.
fn dropped<'k, T>(
    own: &DropFunction,
    (what, keyspace): (&str, &str),
    types: Option<&[CqlType]>,
    all: &'k [Arc<T>],
    others: usize,
    parts: impl Fn(&T) -> (Arc<str>, Vec<CqlType>),
) -> Result<Option<&'k Arc<T>>> {
    let name = own.name.name.as_str();
    let is_it = |found: &&Arc<T>| {
        let (own_name, own_types) = parts(found);
        *own_name == *name && types.is_none_or(|types| same(types, &own_types))
    };
    let found: Vec<&Arc<T>> = all.iter().filter(is_it).collect();
    match found.as_slice() {
        // Of a name alone those of the other kind count, too.
        [only] if types.is_some() || others == 0 => Ok(Some(*only)),
        [] if types.is_none() && others > 1 => several(what, name),
        [] if own.if_exists => Ok(None),
        [] => invalid(format!("{what} '{keyspace}.{name}{}' doesn't exist", named(own))),
        _ => several(what, name),
    }
}

/// Refuses a name of several functions.
fn several<T>(what: &str, name: &str) -> Result<T> {
    let word = what.to_uppercase();
    invalid(format!(
        "'DROP {word} {name}' matches multiple function definitions; specify the argument types by issuing a statement like 'DROP {word} {name} (type, type, ...)'. You can use cqlsh 'DESCRIBE {word} {name}' command to find all overloads"
    ))
}

/// Drops a function.
pub(super) fn drop(
    own: &DropFunction,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Option<Change>> {
    let keyspace_name = keyspace_of(&own.name, keyspace)?;
    let types = given(own, keyspace_name, schema)?;
    let keyspace = schema.keyspace(keyspace_name);
    let all = keyspace.map(|own| own.functions.as_slice()).unwrap_or_default();
    let parts = |own: &UserFunction| (Arc::clone(&own.name), own.types());
    let name = own.name.name.as_str();
    let others = keyspace.map(|own| own.aggregates.iter().filter(|own| *own.name == *name).count());
    let others = others.unwrap_or(0);
    let found = dropped(own, ("Function", keyspace_name), types.as_deref(), all, others, parts)?;
    let (Some(found), Some(keyspace)) = (found, keyspace) else { return Ok(None) };
    let users: Vec<String> = keyspace
        .aggregates
        .iter()
        .filter(|own| own.uses(found))
        .map(|own| format!("{keyspace_name}.{}", own.name))
        .collect();
    if !users.is_empty() {
        return invalid(format!(
            "Function '{keyspace_name}.{}{}' is still referenced by aggregates {}",
            found.name,
            named(own),
            users.join(", ")
        ));
    }
    let masked = masked_tables(keyspace, found);
    if !masked.is_empty() {
        return invalid(format!(
            "Function '{keyspace_name}.{}{}' is still referenced by column masks in tables {}",
            found.name,
            named(own),
            masked.join(", ")
        ));
    }
    let mut changed = Keyspace::clone(keyspace);
    changed.functions.retain(|own| !Arc::ptr_eq(own, found));
    let kind = ChangeKind::Dropped;
    Ok(Some(change(&changed, kind, ChangeTarget::Function, &found.name, &found.types())))
}

/// Drops an aggregate.
pub(super) fn drop_aggregate(
    own: &DropFunction,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Option<Change>> {
    let keyspace_name = keyspace_of(&own.name, keyspace)?;
    let types = given(own, keyspace_name, schema)?;
    let keyspace = schema.keyspace(keyspace_name);
    let all = keyspace.map(|own| own.aggregates.as_slice()).unwrap_or_default();
    let parts = |own: &UserAggregate| (Arc::clone(&own.name), own.arguments.clone());
    let name = own.name.name.as_str();
    let others = keyspace.map(|own| own.functions.iter().filter(|own| *own.name == *name).count());
    let others = others.unwrap_or(0);
    let found = dropped(own, ("Aggregate", keyspace_name), types.as_deref(), all, others, parts)?;
    let (Some(found), Some(keyspace)) = (found, keyspace) else { return Ok(None) };
    let mut changed = Keyspace::clone(keyspace);
    changed.aggregates.retain(|own| !Arc::ptr_eq(own, found));
    let kind = ChangeKind::Dropped;
    Ok(Some(change(&changed, kind, ChangeTarget::Aggregate, &found.name, &found.arguments)))
}

/// Returns the tables of a keyspace with columns that are shown through a function.
fn masked_tables<'k>(keyspace: &'k Keyspace, function: &UserFunction) -> Vec<&'k str> {
    let is_shown = |own: &Column| {
        own.mask.as_ref().is_some_and(|mask| mask.calls(&keyspace.name, &function.name))
    };
    let tables = keyspace.tables.values().filter(|own| !own.is_view());
    tables.filter(|own| own.columns.iter().any(is_shown)).map(|own| &*own.name).collect()
}

/// Returns the functions and aggregates that use a type, as messages name them.
pub(super) fn users_of_type(keyspace: &Keyspace, name: &str) -> Vec<String> {
    let uses = |ty: &CqlType| ty.references(&keyspace.name, name);
    let functions = keyspace
        .functions
        .iter()
        .filter(|own| uses(&own.returns) || own.arguments.iter().any(|(_, ty)| uses(ty)));
    let aggregates = keyspace.aggregates.iter().filter(|own| {
        uses(&own.returns) || uses(&own.state_type) || own.arguments.iter().any(uses)
    });
    let names = functions.map(|own| &own.name).chain(aggregates.map(|own| &own.name));
    names.map(|own| format!("{}.{own}", keyspace.name)).collect()
}
