//! Answers statements about what there is none of here: users' functions and aggregates, triggers.
//!
//! What it is not: a stub. These answer as a server does where users' functions are off, which is the
//! default, and where no class of a trigger can be loaded.
//!
//! Invariant: nothing here changes the schema.

use shelfmark_cql_protocol::{CqlError, ErrorCode, Result, invalid};
use shelfmark_cql_syntax::ast::{
    CreateAggregate, CreateFunction, CreateTrigger, DropFunction, DropTrigger, FunctionName, Name,
    Statement, Type,
};
use shelfmark_cql_types::resolve_type;

use super::{check_known, is_system};
use crate::outcome::{Answered, Outcome};
use crate::schema::Schema;

/// The refusal of a server where users' functions are off.
const DISABLED: &str = "User-defined functions are disabled in cassandra.yaml - set user_defined_functions_enabled=true to enable";

/// Answers a statement about what there is none of.
pub(super) fn answer(
    statement: &Statement,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Answered> {
    match statement {
        Statement::CreateTrigger(own) => create_trigger(own, keyspace, schema),
        Statement::DropTrigger(own) => drop_trigger(own, keyspace),
        Statement::DropFunction(own) => drop_function("Function", own, keyspace, schema),
        Statement::DropAggregate(own) => drop_function("Aggregate", own, keyspace, schema),
        Statement::CreateFunction(own) => create_function(own, keyspace),
        Statement::CreateAggregate(own) => create_aggregate(own, keyspace, schema),
        other => check_known(other).map(|()| Outcome::Void.into()),
    }
}

/// Returns the keyspace of a function, which is not the server's own.
fn keyspace_of<'a>(name: &'a FunctionName, keyspace: Option<&'a str>) -> Result<&'a str> {
    let keyspace = name.keyspace.as_ref().map(Name::as_str).or(keyspace).unwrap_or_default();
    if is_system(keyspace) {
        return invalid(format!("System keyspace '{keyspace}' is not user-modifiable"));
    }
    Ok(keyspace)
}

/// Refuses a `CREATE FUNCTION`.
fn create_function(own: &CreateFunction, keyspace: Option<&str>) -> Result<Answered> {
    keyspace_of(&own.name, keyspace)?;
    if own.or_replace && own.if_not_exists {
        return invalid("Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives");
    }
    invalid(DISABLED)
}

/// Refuses a `CREATE AGGREGATE`: there is no function that it could be made of.
fn create_aggregate(
    own: &CreateAggregate,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Answered> {
    let keyspace = keyspace_of(&own.name, keyspace)?;
    if schema.keyspace(keyspace).is_none() {
        return Err(CqlError::new(
            ErrorCode::Configuration,
            format!("Keyspace {keyspace} doesn't exist"),
        ));
    }
    for ty in own.arguments.iter().chain([&own.state_type]) {
        resolve_type(ty, keyspace, schema)?;
    }
    invalid(DISABLED)
}

/// Answers a `DROP` of a function of the user's: there is none.
fn drop_function(
    what: &str,
    own: &DropFunction,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Answered> {
    let keyspace = keyspace_of(&own.name, keyspace)?;
    let arguments = own.arguments.as_deref().unwrap_or_default();
    // Of a keyspace that is not there no type is looked at.
    if schema.keyspace(keyspace).is_some() {
        arguments.iter().try_for_each(|ty| check_argument(ty, keyspace, schema))?;
    }
    if own.if_exists {
        return Ok(Outcome::Void.into());
    }
    let shown = own.arguments.as_ref().map_or_else(String::new, |all| {
        let all: Vec<String> = all.iter().map(shown).collect();
        format!("({})", all.join(", "))
    });
    invalid(format!("{what} '{keyspace}.{}{shown}' doesn't exist", own.name.name.as_str()))
}

/// Refuses a type that no argument of a function has.
fn check_argument(ty: &Type, keyspace: &str, schema: &Schema) -> Result<()> {
    if matches!(ty, Type::Frozen(inner) if !matches!(**inner, Type::Tuple(_))) {
        return invalid(format!(
            "Argument '{ty}' cannot be frozen; remove frozen<> modifier from '{ty}'"
        ));
    }
    resolve_type(ty, keyspace, schema).map(drop)
}

/// Returns the text of an argument's type; tuples are frozen without saying so.
fn shown(ty: &Type) -> String {
    match ty {
        Type::Frozen(inner) if matches!(**inner, Type::Tuple(_)) => inner.to_string(),
        other => other.to_string(),
    }
}

/// Answers a `CREATE TRIGGER`: triggers are classes of Java.
fn create_trigger(
    own: &CreateTrigger,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Answered> {
    let keyspace = crate::statement::keyspace_of(&own.table, keyspace)?;
    if is_system(keyspace) {
        return invalid(format!("System keyspace '{keyspace}' is not user-modifiable"));
    }
    let table = own.table.name.as_str();
    match schema.keyspace(keyspace) {
        None => invalid(format!("Keyspace '{keyspace}' doesn't exist")),
        Some(found) if !found.tables.contains_key(table) => {
            invalid(format!("Table '{table}' doesn't exist"))
        }
        Some(_) => invalid(format!("Trigger class '{}' couldn't be loaded", own.class)),
    }
}

/// Answers a `DROP TRIGGER`.
fn drop_trigger(own: &DropTrigger, keyspace: Option<&str>) -> Result<Answered> {
    let keyspace = crate::statement::keyspace_of(&own.table, keyspace)?;
    if own.if_exists {
        return Ok(Outcome::Void.into());
    }
    invalid(format!(
        "Trigger '{}' on '{keyspace}.{}' doesn't exist",
        own.name.as_str(),
        own.table.name.as_str()
    ))
}
