//! The statements that make, change and drop roles.
//!
//! What it is not: where roles are kept (`roles`), and roles that are given to roles (`members`).
//!
//! Invariant: what a role has, and what others have on it, goes in the commit that drops it, and is
//! not there for another role of its name. The role of the start stays what the start says.
//!
//! Source: Cassandra 5.0, `CreateRoleStatement`, `AlterRoleStatement` and `DropRoleStatement`, read
//! 2026-11.

use shelfmark_cql_protocol::CqlError;
use shelfmark_cql_syntax::ast::{
    AccessTo, AlterRole, CreateRole, DropRole, Permission, RoleOption, RoleSyntax, Statement,
};
use shelfmark_engine::Write;

use super::authority::Authority;
use super::resource::Resource;
use super::roles::{Role, unauthorized};
use super::user::User;
use crate::limits::CREDENTIAL_SIZE_BYTES_MAX;
use crate::outcome::{Answered, Outcome};

/// Runs a statement about roles. `user` is who asks, `None` when nobody has to log in.
///
/// # Errors
///
/// * `Unauthorized`: the user has no permission for it.
/// * `Invalid`: the role is there already, or is not there; or the statement is about something else.
pub(crate) fn run(
    authority: &Authority,
    statement: &Statement,
    user: Option<&User>,
) -> Result<Answered, CqlError> {
    check_named(statement)?;
    let done = match statement {
        Statement::ListRoles(own) => return authority.list_roles(own, user),
        Statement::ListUsers => return authority.list_users(user),
        Statement::GrantRole(own) => authority.grant_role(own, user),
        Statement::RevokeRole(own) => authority.revoke_role(own, user),
        Statement::CreateRole(create) => authority.create_role(create, user),
        Statement::AlterRole(alter) => authority.alter_role(alter, user),
        Statement::DropRole(drop) => authority.drop_role(drop, user),
        Statement::AddIdentity(add) => authority.add_identity(add, user),
        Statement::DropIdentity(drop) => authority.drop_identity(drop, user),
        other => {
            let name = other.kind().text();
            Err(CqlError::invalid(format!("{name} is not supported by this server")))
        }
    };
    done.map(|()| Outcome::Void.into())
}

/// Refuses statements about a role without a name, which no row can have.
fn check_named(statement: &Statement) -> Result<(), CqlError> {
    let names = match statement {
        Statement::ListRoles(own) => [own.role.as_ref(), None],
        Statement::GrantRole(own) | Statement::RevokeRole(own) => {
            [Some(&own.role), Some(&own.grantee)]
        }
        Statement::AlterRole(own) => [Some(&own.name), None],
        Statement::DropRole(own) => [Some(&own.name), None],
        _ => [None, None],
    };
    match names.into_iter().flatten().any(|name| name.as_str().is_empty()) {
        true => Err(CqlError::invalid("Key may not be empty")),
        false => Ok(()),
    }
}

impl Authority {
    /// Refuses a change of roles to whoever has not this permission.
    pub(super) fn allow(
        &self,
        user: Option<&User>,
        permission: Permission,
        resource: &Resource,
    ) -> Result<(), CqlError> {
        if self.may(user, permission, resource)? {
            return Ok(());
        }
        Err(unauthorized(format!(
            "User {} does not have sufficient privileges to perform the requested operation",
            user.map(|user| &*user.name).unwrap_or_default()
        )))
    }

    fn create_role(&self, create: &CreateRole, user: Option<&User>) -> Result<(), CqlError> {
        self.allow(user, Permission::Create, &Resource::AllRoles)?;
        let wants_superuser = create.options.contains(&RoleOption::Superuser(true));
        if wants_superuser && !self.is_superuser(user)? {
            return Err(unauthorized(
                "Only superusers can create a role with superuser status".to_owned(),
            ));
        }
        let name = checked_name(create.name.as_str())?;
        let mut role = Role {
            name: name.to_owned(),
            hash: None,
            can_login: create.syntax == RoleSyntax::User,
            is_superuser: false,
            member_of: Vec::new(),
        };
        let _one = self.hold();
        if self.roles.get(name)?.is_some() {
            return match create.if_not_exists {
                true => Ok(()),
                false => Err(CqlError::invalid(format!("{name} already exists"))),
            };
        }
        self.roles.apply(&create.options, &mut role)?;
        // What is left of an earlier role of this name is not this one's.
        let mut writes = self.forgotten(name)?;
        writes.push(self.roles.put(&role)?);
        if let Some(user) = user.filter(|_| self.checks()) {
            let own = Resource::Role(name.into());
            writes.push(self.grants.set(&user.name, &own, own.applicable())?);
        }
        self.write(writes)
    }

    /// Returns the writes that take permissions of a role, permissions on it, and the role itself
    /// away from whoever has them.
    fn forgotten(&self, name: &str) -> Result<Vec<Write>, CqlError> {
        let own = Resource::Role(name.into()).name();
        let mut writes =
            self.grants.without(|granted| granted.role == name || granted.resource == own)?;
        writes.extend(self.roles.without_identities(name)?);
        for mut role in self.roles.rows()? {
            if role.name != name && role.member_of.iter().any(|own| own == name) {
                role.member_of.retain(|own| own != name);
                writes.push(self.roles.put(&role)?);
            }
        }
        Ok(writes)
    }

    fn alter_role(&self, alter: &AlterRole, user: Option<&User>) -> Result<(), CqlError> {
        self.may_alter(alter, user)?;
        let name = alter.name.as_str();
        if alter.options.is_empty() {
            return Err(CqlError::invalid("ALTER [ROLE|USER] can't be empty"));
        }
        let _one = self.hold();
        if self.roles.is_start_role(name) {
            return alter_start_role(name, &alter.options);
        }
        let Some(mut role) = self.roles.get(name)? else {
            return match alter.if_exists {
                true => Ok(()),
                false => Err(CqlError::invalid(format!("Role {name} doesn't exist"))),
            };
        };
        self.roles.apply(&alter.options, &mut role)?;
        self.write(vec![self.roles.put(&role)?])
    }

    fn may_alter(&self, alter: &AlterRole, user: Option<&User>) -> Result<(), CqlError> {
        let name = alter.name.as_str();
        let any = |wanted: fn(&RoleOption) -> bool| alter.options.iter().any(wanted);
        let by_status = any(|option| matches!(option, RoleOption::Superuser(_)));
        if by_status && self.is_given(user, name)? {
            return Err(unauthorized(
                "You aren't allowed to alter your own superuser status or that of a role granted \
                 to you"
                    .to_owned(),
            ));
        }
        if self.is_superuser(user)? {
            return Ok(());
        }
        let refused = |text: &str| Err(unauthorized(text.to_owned()));
        if by_status {
            return refused("Only superusers are allowed to alter superuser status");
        }
        if any(|option| matches!(option, RoleOption::Datacenters(_))) {
            return refused("Only superusers are allowed to alter access to datacenters.");
        }
        if any(|option| matches!(option, RoleOption::Cidrs(_))) {
            return refused("Only superusers are allowed to alter access from CIDR groups.");
        }
        if user.is_none_or(|user| *user.name != *name) {
            return self.allow(user, Permission::Alter, &Resource::Role(name.into()));
        }
        let kept = alter.options.iter().find_map(|option| match option {
            RoleOption::Login(_) => Some("LOGIN"),
            RoleOption::Options(_) => Some("OPTIONS"),
            _ => None,
        });
        kept.map_or(Ok(()), |kept| refused(&format!("You aren't allowed to alter {kept}")))
    }

    fn drop_role(&self, drop: &DropRole, user: Option<&User>) -> Result<(), CqlError> {
        let name = drop.name.as_str();
        self.allow(user, Permission::Drop, &Resource::Role(name.into()))?;
        let _one = self.hold();
        let found = self.roles.with_inherited(name)?;
        if found.iter().any(|role| role.is_superuser) && !self.is_superuser(user)? {
            return Err(unauthorized(
                "Only superusers can drop a role with superuser status".to_owned(),
            ));
        }
        if user.is_some_and(|user| *user.name == *name) {
            return Err(CqlError::invalid("Cannot DROP primary role for current login"));
        }
        if self.roles.is_start_role(name) {
            return Err(CqlError::invalid(format!(
                "Role {name} is the one that this server is started with, it cannot be dropped; start \
                 the server with another one first"
            )));
        }
        if found.is_empty() {
            return match drop.if_exists {
                true => Ok(()),
                false => Err(CqlError::invalid(format!("{name} doesn't exist"))),
            };
        }
        let mut writes = self.forgotten(name)?;
        writes.push(self.roles.delete(name)?);
        self.write(writes)
    }
}

/// Answers an `ALTER` of the role that the server is started with: what it is, is said at the start.
/// A change of a role by a write of the table that shows them.
pub(crate) struct RoleChange {
    pub(crate) name: String,
    pub(crate) options: Vec<RoleOption>,
}

impl Authority {
    /// Makes changes that superusers write into the table of roles; a role that is not there is made.
    ///
    /// # Errors
    ///
    /// * `Unauthorized`: nobody logs in here, or `user` is no superuser.
    /// * `Invalid`: a name or a hash is not taken, or the role of the start would become another.
    pub(crate) fn write_roles(
        &self,
        user: Option<&User>,
        changes: &[RoleChange],
    ) -> Result<(), CqlError> {
        if !self.has_logins() || !self.is_superuser(user)? {
            return Err(unauthorized("system_auth keyspace is not user-modifiable.".to_owned()));
        }
        let _one = self.hold();
        let mut writes = Vec::with_capacity(changes.len());
        for RoleChange { name, options } in changes {
            if self.roles.is_start_role(name) {
                alter_start_role(name, options)?;
                continue;
            }
            checked_name(name)?;
            let found = self.roles.get(name)?;
            if found.is_none() {
                writes.extend(self.forgotten(name)?);
            }
            let mut role = found.unwrap_or_else(|| Role {
                name: name.clone(),
                hash: None,
                can_login: false,
                is_superuser: false,
                member_of: Vec::new(),
            });
            self.roles.apply(options, &mut role)?;
            writes.push(self.roles.put(&role)?);
        }
        self.write(writes)
    }
}

fn alter_start_role(name: &str, options: &[RoleOption]) -> Result<(), CqlError> {
    for option in options {
        let kept = match option {
            RoleOption::Password(_) | RoleOption::HashedPassword(_) => {
                "its password is the one that it is started with: change it there and start the \
                 server again"
            }
            RoleOption::Superuser(false) => "it is always a superuser",
            RoleOption::Login(false) => "it may always log in",
            RoleOption::Datacenters(AccessTo::These(_)) | RoleOption::Cidrs(AccessTo::These(_)) => {
                "its access is not restricted"
            }
            RoleOption::Options(_) => "it has no options",
            RoleOption::Datacenters(AccessTo::All)
            | RoleOption::Cidrs(AccessTo::All)
            | RoleOption::Superuser(true)
            | RoleOption::Login(true) => continue,
        };
        return Err(CqlError::invalid(format!(
            "Role {name} is the one that this server is started with; {kept}"
        )));
    }
    Ok(())
}

fn checked_name(name: &str) -> Result<&str, CqlError> {
    if name.is_empty() {
        return Err(CqlError::invalid("Role name can't be an empty string"));
    }
    if name.len() > CREDENTIAL_SIZE_BYTES_MAX || name.contains('\0') {
        return Err(CqlError::invalid("The name of a role is too long or holds a NUL"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use shelfmark_engine::{Engine, Environment, SeededRandom};
    use shelfmark_store::clock::{Clock, ManualClock};
    use shelfmark_store::memory::MemoryStore;

    use super::*;
    use crate::auth::plain::LoginAttempt;
    use crate::auth::roles::Roles;
    use crate::auth::{Authorizer, Login, OneRole};
    use shelfmark_cql_protocol::ErrorCode;

    fn engine() -> Engine {
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at_micros(1));
        let environment =
            Environment { clock: Arc::clone(&clock), random: Arc::new(SeededRandom::new(1)) };
        Engine::open(Arc::new(MemoryStore::new(clock)), environment).unwrap()
    }

    fn said(engine: &Engine, user: Option<&str>, text: &str) -> Result<(), CqlError> {
        let parsed = shelfmark_cql_syntax::parse(text).unwrap();
        let user = user.map(|name| User { name: name.into(), start_role: "root".into() });
        let authority = Authority::new(engine, Authorizer::AllowAll, Some("root"));
        run(&authority, &parsed.statement, user.as_ref()).map(|_| ())
    }

    #[test]
    fn roles_are_made_changed_and_dropped() {
        let engine = engine();
        let first = OneRole::new("root", "r", [3; 16]);
        let login = Login::new(first, [4; 16]).and(Roles::new(engine.clone(), Some("root")));
        let may = |name: &str, password: &str| {
            login.check(&LoginAttempt { name: name.to_owned(), password: password.to_owned() })
        };
        let make = "CREATE ROLE ann WITH PASSWORD = 'a' AND LOGIN = true";
        said(&engine, Some("root"), make).unwrap();
        assert_eq!(&*may("ann", "a").unwrap().name, "ann");
        assert_eq!(said(&engine, None, make).unwrap_err().message, "ann already exists");
        said(&engine, None, "CREATE ROLE IF NOT EXISTS ann").unwrap();
        // Who is no superuser may change the own password and nothing else.
        said(&engine, Some("ann"), "ALTER ROLE ann WITH PASSWORD = 'b'").unwrap();
        assert!(may("ann", "a").is_err() && may("ann", "b").is_ok());
        for refused in ["DROP ROLE ann", "CREATE ROLE bob", "ALTER ROLE ann WITH SUPERUSER = true"]
        {
            let error = said(&engine, Some("ann"), refused).unwrap_err();
            assert_eq!(error.code, ErrorCode::Unauthorized, "{refused}");
        }
        said(&engine, None, "ALTER ROLE ann WITH LOGIN = false").unwrap();
        assert!(may("ann", "b").unwrap_err().message.contains("not permitted to log in"));
        said(&engine, None, "DROP ROLE ann").unwrap();
        assert!(may("ann", "b").is_err() && may("root", "r").is_ok());
        // Whoever is still connected as a role that is gone is nobody.
        let error =
            said(&engine, Some("ann"), "CREATE ROLE ann WITH SUPERUSER = true").unwrap_err();
        assert_eq!(error.code, ErrorCode::Unauthorized);
        let error = said(&engine, Some("root"), "CREATE ROLE root").unwrap_err();
        assert_eq!(error.message, "root already exists");
        assert!(said(&engine, None, "DROP ROLE ann").is_err());
        said(&engine, None, "DROP ROLE IF EXISTS ann").unwrap();
        assert_eq!(Roles::new(engine, None).all().unwrap(), []);
    }
}
