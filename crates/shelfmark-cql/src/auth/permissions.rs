//! `GRANT`, `REVOKE` and `LIST` of permissions: looked at, and refused as by a server whose
//! authorizer lets everybody do everything.
//!
//! What it is not: an authorizer. Nothing is kept that would look like protection and be none.
//!
//! Source: Cassandra 5.0, `PermissionsManagementStatement`, `ListPermissionsStatement` and
//! `AllowAllAuthorizer`, read 2026-11.

use shelfmark_cql_syntax::ast::{Name, Resource, Statement};
use shelfmark_engine::Engine;

use super::User;
use super::roles::Roles;
use crate::error::CqlError;
use crate::schema::Schema;

/// Says why a statement about permissions is refused.
pub(crate) fn refuse(
    engine: &Engine,
    statement: &Statement,
    user: Option<&User>,
    keyspace: Option<&str>,
    schema: &Schema,
) -> CqlError {
    let roles = Roles::new(engine.clone());
    let is_there = |name: &str| -> Result<bool, CqlError> {
        Ok(user.is_some_and(|user| *user.start_role == *name) || roles.get(name)?.is_some())
    };
    let looked = match statement {
        Statement::GrantPermissions(own) | Statement::RevokePermissions(own) => {
            let role = own.role.as_str();
            is_there(role).and_then(|found| {
                if !found {
                    return Err(CqlError::invalid(format!("Role {role} doesn't exist")));
                }
                let missing = missing(&own.resource, keyspace, schema, &is_there)?;
                missing.map_or(Ok(()), |shown| {
                    Err(CqlError::invalid(format!("Resource {shown} doesn't exist")))
                })
            })
        }
        Statement::ListPermissions(own) => {
            let missing = own
                .resource
                .as_ref()
                .map_or(Ok(None), |resource| missing(resource, keyspace, schema, &is_there));
            missing.and_then(|missing| match (missing, &own.role) {
                (Some(shown), _) => Err(CqlError::invalid(format!("{shown} doesn't exist"))),
                (None, Some(role)) if !is_there(role.as_str())? => {
                    Err(CqlError::invalid(format!("<role {}> doesn't exist", role.as_str())))
                }
                _ => Ok(()),
            })
        }
        _ => Ok(()),
    };
    looked.err().unwrap_or_else(|| {
        let what = statement.kind().text();
        CqlError::invalid(format!("{what} operation is not supported by AllowAllAuthorizer"))
    })
}

/// A resource that is not there, as it is shown.
fn missing(
    resource: &Resource,
    keyspace: Option<&str>,
    schema: &Schema,
    is_there: &dyn Fn(&str) -> Result<bool, CqlError>,
) -> Result<Option<String>, CqlError> {
    let known = |name: &Name| schema.keyspace(name.as_str()).is_some();
    Ok(match resource {
        Resource::Keyspace(name) if !known(name) => Some(format!("<keyspace {}>", name.as_str())),
        Resource::AllTables(name) if !known(name) => {
            Some(format!("<all tables in {}>", name.as_str()))
        }
        Resource::AllFunctionsIn(name) if !known(name) => {
            Some(format!("<all functions in {}>", name.as_str()))
        }
        Resource::Table(name) => {
            let keyspace = name.keyspace.as_ref().map(Name::as_str).or(keyspace).ok_or_else(|| {
                CqlError::invalid("No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")
            })?;
            let table = name.name.as_str();
            let found = schema.table(keyspace, table).is_some();
            (!found).then(|| format!("<table {keyspace}.{table}>"))
        }
        Resource::Role(name) if !is_there(name.as_str())? => {
            Some(format!("<role {}>", name.as_str()))
        }
        Resource::Function { name, .. }
            if name.keyspace.as_ref().map(Name::as_str) == Some("system") =>
        {
            return Err(CqlError::invalid(
                "Altering permissions on builtin functions is not supported",
            ));
        }
        _ => None,
    })
}
