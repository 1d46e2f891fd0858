//! Answers statements about what there is none of here: triggers.
//!
//! What it is not: a stub. These answer as a server does where no class of a trigger can be loaded.
//!
//! Invariant: nothing here changes the schema.

use shelfmark_cql_protocol::{Result, invalid};
use shelfmark_cql_syntax::ast::{CreateTrigger, DropTrigger, Statement};

use super::{check_known, is_system};
use crate::outcome::{Answered, Outcome};
use crate::schema::Schema;

/// Answers a statement about what there is none of.
pub(super) fn answer(
    statement: &Statement,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Answered> {
    match statement {
        Statement::CreateTrigger(own) => create_trigger(own, keyspace, schema),
        Statement::DropTrigger(own) => drop_trigger(own, keyspace),
        other => check_known(other).map(|()| Outcome::Void.into()),
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
