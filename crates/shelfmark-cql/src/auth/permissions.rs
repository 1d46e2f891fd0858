//! `GRANT`, `REVOKE` and `LIST` of permissions.
//!
//! What it is not: a promise. Where every role may do everything nothing is given or taken, and the
//! statements are refused as by Cassandra's `AllowAllAuthorizer`.
//!
//! Source: Cassandra 5.0, `PermissionsManagementStatement`, `ListPermissionsStatement`,
//! `CassandraAuthorizer` and `AllowAllAuthorizer`, read 2026-11.

use shelfmark_cql_protocol::{CqlError, ErrorCode};
use shelfmark_cql_syntax::ast::{
    self, FunctionName, Grant, ListPermissions, Name, Permission, Permissions, Statement,
};
use shelfmark_cql_types::{CqlType, resolve_type};

use super::authority::{Authority, RequiredPermission};
use super::members::{answer, column};
use super::resource::{PERMISSIONS, PermissionSet, Resource};
use super::roles::unauthorized;
use super::user::User;
use crate::outcome::{Answered, Outcome};
use crate::schema::Schema;
use crate::user_function::signature;

/// The context of a statement about permissions: who runs it, the current keyspace and the schema.
#[derive(Clone, Copy)]
pub(crate) struct Context<'s> {
    pub(crate) user: Option<&'s User>,
    pub(crate) keyspace: Option<&'s str>,
    pub(crate) schema: &'s Schema,
}

/// Runs a statement about permissions.
///
/// # Errors
///
/// * `Unauthorized`: the user may not give, take or see this.
/// * `Invalid`: the role or the resource is not there, or there are no permissions.
pub(crate) fn run(
    authority: &Authority,
    statement: &Statement,
    context: Context<'_>,
) -> Result<Answered, CqlError> {
    let looked = match statement {
        Statement::GrantPermissions(own) => authority.change(own, true, context),
        Statement::RevokePermissions(own) => authority.change(own, false, context),
        Statement::ListPermissions(own) => authority.list(own, context),
        _ => Ok(None),
    };
    looked?.ok_or_else(|| {
        let what = statement.kind().text();
        CqlError::invalid(format!("{what} operation is not supported by AllowAllAuthorizer"))
    })
}

impl Authority {
    /// Tells whether permissions are kept: not where everybody may do everything, or nobody logs in.
    fn keeps(&self, user: Option<&User>) -> bool {
        self.checks() && user.is_some()
    }

    /// Runs `GRANT` if `gives`, else `REVOKE`; `None` where no permissions are kept.
    fn change(
        &self,
        own: &Grant,
        gives: bool,
        context: Context<'_>,
    ) -> Result<Option<Answered>, CqlError> {
        let resource = resolve(&own.resource, context)?;
        let wanted = wanted(&own.permissions).and(resource.applicable());
        let needs: Vec<RequiredPermission> = std::iter::once(Permission::Authorize)
            .chain(wanted.iter())
            .map(|permission| RequiredPermission::on(permission, resource.clone()))
            .collect();
        self.check(context.user, &needs)?;
        let role = own.role.as_str();
        if self.roles.get(role)?.is_none() {
            return Err(CqlError::invalid(format!("Role {role} doesn't exist")));
        }
        if is_built_in(&resource) {
            return Err(CqlError::invalid(
                "Altering permissions on builtin functions is not supported",
            ));
        }
        let _one = self.hold();
        if !self.is_there(&resource, context.schema)? {
            return Err(CqlError::invalid(format!("Resource {resource} doesn't exist")));
        }
        if !self.keeps(context.user) {
            return Ok(None);
        }
        if gives && !wanted.and(resource.never_given()).is_empty() {
            let text = "Granting permissions on system keyspaces is strictly limited, this operation is not permitted";
            return Err(unauthorized(text.to_owned()));
        }
        let before = self.grants.on(role, &resource)?;
        let (after, unchanged) = match gives {
            true => (before.with(wanted), wanted.and(before)),
            false => (before.without(wanted), wanted.without(before)),
        };
        if after != before {
            self.write(vec![self.grants.set(role, &resource, after)?])?;
        }
        let mut answered = Answered::from(Outcome::Void);
        if !unchanged.is_empty() {
            let how = if gives { "was already granted" } else { "was not granted" };
            let names = unchanged.text();
            answered.warnings.push(format!("Role '{role}' {how} {names} on {resource}"));
        }
        Ok(Some(answered))
    }

    /// Answers `LIST PERMISSIONS`; `None` where no permissions are kept.
    fn list(
        &self,
        own: &ListPermissions,
        context: Context<'_>,
    ) -> Result<Option<Answered>, CqlError> {
        let resource = own.resource.as_ref().map(|own| resolve(own, context)).transpose()?;
        if let Some(resource) = &resource
            && !self.is_there(resource, context.schema)?
        {
            return Err(CqlError::invalid(format!("{resource} doesn't exist")));
        }
        let role = own.role.as_ref().map(Name::as_str);
        if let Some(role) = role
            && self.roles.get(role)?.is_none()
        {
            return Err(CqlError::invalid(format!("<role {role}> doesn't exist")));
        }
        if !self.keeps(context.user) {
            return Ok(None);
        }
        let whose = role.map_or(Resource::AllRoles, |role| Resource::Role(role.into()));
        let own_role = role.map_or(Ok(false), |role| self.is_given(context.user, role))?;
        if !own_role && !self.may(context.user, Permission::Describe, &whose)? {
            let whose = role.unwrap_or("everyone");
            let text = format!("You are not authorized to view {whose}'s permissions");
            return Err(unauthorized(text));
        }
        let found = match &resource {
            Some(resource) if own.recursive => {
                let mut found = Vec::new();
                for part in resource.chain() {
                    found.extend(self.given(role, Some(&part))?);
                }
                found
            }
            resource => self.given(role, resource.as_ref())?,
        };
        Ok(Some(listed(found, wanted(&own.permissions))))
    }

    fn is_there(&self, resource: &Resource, schema: &Schema) -> Result<bool, CqlError> {
        Ok(match resource {
            Resource::AllKeyspaces
            | Resource::AllRoles
            | Resource::AllFunctions
            | Resource::AllMbeans
            // There are none here; Cassandra's scripts name them all the same.
            | Resource::Mbean(_) => true,
            Resource::Keyspace(name)
            | Resource::AllTables(name)
            | Resource::AllFunctionsIn(name) => schema.keyspace(name).is_some(),
            Resource::Table(keyspace, name) => schema.table(keyspace, name).is_some(),
            Resource::Role(name) => self.roles.get(name)?.is_some(),
            Resource::Function(keyspace, own) => {
                &**keyspace == BUILT_IN || has_function(schema, keyspace, own)
            }
        })
    }
}

/// Tells whether a keyspace has a function or aggregate of a name and types of arguments.
fn has_function(schema: &Schema, keyspace: &str, signature: &str) -> bool {
    let Some(keyspace) = schema.keyspace(keyspace) else { return false };
    keyspace.functions.iter().any(|own| own.signature() == signature)
        || keyspace.aggregates.iter().any(|own| own.signature() == signature)
}

/// The keyspace of the functions that are always there.
const BUILT_IN: &str = "system";

fn is_built_in(resource: &Resource) -> bool {
    match resource {
        Resource::AllFunctionsIn(keyspace) | Resource::Function(keyspace, _) => {
            &**keyspace == BUILT_IN
        }
        _ => false,
    }
}

fn wanted(permissions: &Permissions) -> PermissionSet {
    match permissions {
        Permissions::All => PermissionSet::of(&PERMISSIONS),
        Permissions::These(these) => PermissionSet::of(these),
    }
}

/// Returns what a statement names, with the keyspace that it leaves out.
fn resolve(written: &ast::Resource, context: Context<'_>) -> Result<Resource, CqlError> {
    let boxed = |name: &Name| Box::from(name.as_str());
    Ok(match written {
        ast::Resource::AllKeyspaces => Resource::AllKeyspaces,
        ast::Resource::Keyspace(name) => Resource::Keyspace(boxed(name)),
        ast::Resource::AllTables(name) => Resource::AllTables(boxed(name)),
        ast::Resource::Table(name) => {
            let keyspace = name.keyspace.as_ref().map(Name::as_str).or(context.keyspace);
            let keyspace = keyspace.ok_or_else(|| {
                CqlError::invalid("No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")
            })?;
            Resource::table(keyspace, name.name.as_str())
        }
        ast::Resource::AllRoles => Resource::AllRoles,
        ast::Resource::Role(name) => Resource::Role(boxed(name)),
        ast::Resource::AllFunctions => Resource::AllFunctions,
        ast::Resource::AllFunctionsIn(name) => Resource::AllFunctionsIn(boxed(name)),
        ast::Resource::Function { name, arguments } => function(name, arguments, context.schema)?,
        ast::Resource::AllMbeans => Resource::AllMbeans,
        ast::Resource::Mbean(name) | ast::Resource::Mbeans(name) => Resource::Mbean(name.clone()),
    })
}

fn function(
    name: &FunctionName,
    arguments: &[ast::Type],
    schema: &Schema,
) -> Result<Resource, CqlError> {
    let Some(keyspace) = name.keyspace.as_ref().map(Name::as_str) else {
        return Err(CqlError::invalid(
            "In this context function name must be explictly qualified by a keyspace",
        ));
    };
    if schema.keyspace(keyspace).is_none() {
        let text = format!("Keyspace {keyspace} doesn't exist");
        return Err(CqlError::new(ErrorCode::Configuration, text));
    }
    let types = arguments.iter().map(|ty| resolve_type(ty, keyspace, schema));
    let types = types.collect::<Result<Vec<_>, CqlError>>()?;
    let shown = signature(name.name.as_str(), &types);
    Ok(Resource::Function(keyspace.into(), shown.into()))
}

/// Returns the rows of `LIST PERMISSIONS`: by role, by the resource's stored name, by permission.
fn listed(mut found: Vec<super::grants::Granted>, wanted: PermissionSet) -> Answered {
    // Types of arguments stand in brackets in Cassandra's names, behind digits.
    let place = |own: &super::grants::Granted| (own.role.clone(), own.resource.replace('(', "["));
    found.sort_by_cached_key(place);
    let rows: Vec<(&str, String, Permission)> = found
        .iter()
        .flat_map(|own| {
            let shown = Resource::from_name(&own.resource)
                .map_or_else(|| own.resource.clone(), |resource| resource.to_string());
            let permissions = own.permissions.and(wanted).iter();
            permissions.map(move |permission| (own.role.as_str(), shown.clone(), permission))
        })
        .collect();
    let columns = ["role", "username", "resource", "permission"]
        .map(|name| column("permissions", name, CqlType::Text));
    answer(&columns, &rows, |(role, resource, permission), out| {
        let cells = [*role, *role, resource.as_str(), permission.name()];
        out.row(cells.map(|text| Some(text.as_bytes())));
    })
}
