//! Roles: who there is, kept in a table of the engine's of their own.
//!
//! What it is not: the role that the server is started with, which is no row here; roles that are
//! given to roles (`members`); and permissions: a role that may log in may read and write everything,
//! only roles are changed by superusers.

use std::sync::Arc;

use shelfmark_cql_syntax::ast::{
    AccessTo, AlterRole, CreateRole, DropRole, RoleOption, RoleSyntax, Statement,
};
use shelfmark_engine::{Engine, ErrorKind, Get, Scan, Table, Write};
use shelfmark_model::{Item, Key, KeyColumn, KeyType, TableName, TableSchema, Value};

use super::{Credentials, PasswordHash, User};
use crate::error::{CqlError, ErrorCode, WriteKind};
use crate::limits::CREDENTIAL_SIZE_BYTES_MAX;
use crate::outcome::{Answered, Consistency, Outcome};

/// The one data centre.
const DATACENTER: &str = "datacenter1";

const NAMESPACE: &str = "system_auth";
const TABLE: &str = "roles";

/// A role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) name: String,
    pub(crate) hash: Option<PasswordHash>,
    pub(crate) can_login: bool,
    pub(crate) is_superuser: bool,
    /// The roles that it was given, sorted.
    pub(crate) member_of: Vec<String>,
}

/// The roles of an engine.
#[derive(Clone)]
pub(crate) struct Roles {
    pub(super) engine: Engine,
}

fn failed(error: &shelfmark_engine::Error) -> CqlError {
    CqlError::from_engine(error, Consistency::One, Some(WriteKind::Simple))
}

pub(super) fn unauthorized(message: String) -> CqlError {
    CqlError::new(ErrorCode::Unauthorized, message)
}

/// Runs a statement about roles. `user` is who asks, `None` when nobody has to log in.
///
/// # Errors
///
/// * `Unauthorized`: the user is no superuser.
/// * `Invalid`: the role is there already, or is not there; or the statement is about something else.
pub(crate) fn run(
    engine: &Engine,
    statement: &Statement,
    user: Option<&User>,
) -> Result<Answered, CqlError> {
    let roles = Roles::new(engine.clone());
    let done = match statement {
        Statement::ListRoles(own) => return roles.list(own, user),
        Statement::ListUsers => return roles.list_users(user),
        Statement::GrantRole(own) => roles.grant(own, user),
        Statement::RevokeRole(own) => roles.revoke(own, user),
        Statement::CreateRole(create) => roles.create(create, user),
        Statement::AlterRole(alter) => roles.alter(alter, user),
        Statement::DropRole(drop) => roles.drop(drop, user),
        other => {
            let name = other.kind().text();
            Err(CqlError::invalid(format!("{name} is not supported by this server")))
        }
    };
    done.map(|()| Outcome::Void.into())
}

impl Roles {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// Returns the table, if any role was ever made.
    fn table(&self) -> Result<Option<Arc<Table>>, CqlError> {
        match self.engine.table(&TableName::new(NAMESPACE, TABLE)) {
            Ok(table) => Ok(Some(table)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    fn made_table(&self) -> Result<Arc<Table>, CqlError> {
        if let Some(table) = self.table()? {
            return Ok(table);
        }
        let name = TableName::new(NAMESPACE, TABLE);
        let schema = TableSchema::new(name, KeyColumn::new("role", KeyType::Text));
        match self.engine.create_table(schema) {
            Ok(table) => Ok(table),
            // Somebody else made it meanwhile.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.table()?.ok_or_else(|| failed(&error))
            }
            Err(error) => Err(failed(&error)),
        }
    }

    /// Returns a role; `None` if there is none of this name.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Role>, CqlError> {
        let Some(table) = self.table()? else { return Ok(None) };
        let got = self.engine.get(&table, &Get::new(Key::partition(name)));
        Ok(got.map_err(|error| failed(&error))?.item.as_ref().map(role))
    }

    /// Returns what is known of a role when it logs in; `None` if there is none of this name.
    pub(super) fn credentials(&self, name: &str) -> Result<Option<Credentials>, CqlError> {
        let found = self.get(name)?;
        Ok(found.map(|role| Credentials { hash: role.hash, can_login: role.can_login }))
    }

    /// Returns every role, in no order that means anything.
    pub(crate) fn all(&self) -> Result<Vec<Role>, CqlError> {
        let Some(table) = self.table()? else { return Ok(Vec::new()) };
        let (mut roles, mut scan) = (Vec::new(), Scan::default());
        loop {
            let page = self.engine.scan(&table, &scan).map_err(|error| failed(&error))?;
            roles.extend(page.items.iter().map(role));
            match page.cursor {
                Some(cursor) => scan.start = Some(cursor),
                None => return Ok(roles),
            }
        }
    }

    pub(super) fn put(&self, role: &Role) -> Result<(), CqlError> {
        let mut item = Item::new();
        item.set("role", role.name.as_str());
        item.set("can_login", Value::Bool(role.can_login));
        item.set("is_superuser", Value::Bool(role.is_superuser));
        if let Some(hash) = &role.hash {
            item.set("salted_hash", hash.text());
        }
        if !role.member_of.is_empty() {
            let names = role.member_of.iter().map(|name| Value::from(name.as_str()));
            item.set("member_of", Value::List(names.collect()));
        }
        let table = self.made_table()?;
        self.engine.write(Write::put(&table, item)).map_err(|error| failed(&error))?;
        Ok(())
    }

    /// Tells whether `user` may change roles, by itself or by a role that it was given.
    pub(super) fn is_superuser(&self, user: Option<&User>) -> Result<bool, CqlError> {
        let Some(user) = user.filter(|user| !user.is_start_role()) else { return Ok(true) };
        Ok(self.with_inherited(&user.name)?.iter().any(|role| role.is_superuser))
    }

    pub(super) fn allow(&self, user: Option<&User>) -> Result<(), CqlError> {
        if self.is_superuser(user)? {
            return Ok(());
        }
        Err(unauthorized(format!(
            "User {} does not have sufficient privileges to perform the requested operation",
            user.map(|user| &*user.name).unwrap_or_default()
        )))
    }

    fn create(&self, create: &CreateRole, user: Option<&User>) -> Result<(), CqlError> {
        self.allow(user)?;
        let name = checked_name(create.name.as_str())?;
        // The role of the start has no row, and is there all the same.
        let is_start_role = user.is_some_and(|user| *user.start_role == *name);
        if is_start_role || self.get(name)?.is_some() {
            return if create.if_not_exists {
                Ok(())
            } else {
                Err(CqlError::invalid(format!("{name} already exists")))
            };
        }
        let mut role = Role {
            name: name.to_owned(),
            hash: None,
            can_login: create.syntax == RoleSyntax::User,
            is_superuser: false,
            member_of: Vec::new(),
        };
        self.apply(&create.options, &mut role)?;
        self.put(&role)
    }

    fn alter(&self, alter: &AlterRole, user: Option<&User>) -> Result<(), CqlError> {
        let name = alter.name.as_str();
        let is_own = user.is_some_and(|user| *user.name == *name);
        let is_password = |option: &RoleOption| {
            matches!(option, RoleOption::Password(_) | RoleOption::HashedPassword(_))
        };
        let own_password = is_own && alter.options.iter().all(is_password);
        let by_status =
            alter.options.iter().any(|option| matches!(option, RoleOption::Superuser(_)));
        if by_status && self.is_given(user, name)? {
            return Err(unauthorized(
                "You aren't allowed to alter your own superuser status or that of a role granted \
                 to you"
                    .to_owned(),
            ));
        }
        let allowed = self.allow(user);
        if allowed.is_err() && by_status {
            return Err(unauthorized(
                "Only superusers are allowed to alter superuser status".to_owned(),
            ));
        }
        if allowed.is_err() && is_own {
            let kept = alter.options.iter().find_map(|option| match option {
                RoleOption::Login(_) => Some("LOGIN"),
                RoleOption::Options(_) => Some("OPTIONS"),
                _ => None,
            });
            if let Some(kept) = kept {
                return Err(unauthorized(format!("You aren't allowed to alter {kept}")));
            }
        }
        if !own_password {
            allowed?;
        }
        if alter.options.is_empty() {
            return Err(CqlError::invalid("ALTER [ROLE|USER] can't be empty"));
        }
        let Some(mut role) = self.get(name)? else {
            return if alter.if_exists {
                Ok(())
            } else {
                Err(CqlError::invalid(format!("Role {name} doesn't exist")))
            };
        };
        self.apply(&alter.options, &mut role)?;
        self.put(&role)
    }

    fn drop(&self, drop: &DropRole, user: Option<&User>) -> Result<(), CqlError> {
        self.allow(user)?;
        let name = drop.name.as_str();
        if user.is_some_and(|user| *user.name == *name) {
            return Err(CqlError::invalid("Cannot DROP primary role for current login"));
        }
        match (self.get(name)?, self.table()?) {
            (Some(_), Some(table)) => {
                let delete = Write::delete(&table, Key::partition(name));
                self.engine.write(delete).map_err(|error| failed(&error))?;
                self.forget(name)
            }
            _ if drop.if_exists => Ok(()),
            _ => Err(CqlError::invalid(format!("{name} doesn't exist"))),
        }
    }

    fn apply(&self, options: &[RoleOption], role: &mut Role) -> Result<(), CqlError> {
        for option in options {
            match option {
                RoleOption::Password(password) => {
                    let mut salt = [0; 16];
                    self.engine.environment().random.fill(&mut salt);
                    if password.len() > CREDENTIAL_SIZE_BYTES_MAX {
                        return Err(CqlError::invalid("The password is too long"));
                    }
                    role.hash = Some(PasswordHash::new(password, salt));
                }
                RoleOption::HashedPassword(hash) => {
                    let hash = PasswordHash::from_text(hash).ok_or_else(|| {
                        CqlError::invalid("Invalid hashed password value. Please use jBcrypt.")
                    })?;
                    role.hash = Some(hash);
                }
                RoleOption::Superuser(is_superuser) => role.is_superuser = *is_superuser,
                RoleOption::Login(can_login) => role.can_login = *can_login,
                RoleOption::Options(_) => {
                    return Err(CqlError::invalid(
                        "org.apache.cassandra.auth.CassandraRoleManager doesn't support OPTIONS",
                    ));
                }
                // There is one data centre, and every address may reach it.
                RoleOption::Datacenters(AccessTo::These(names))
                    if names.iter().any(|name| **name != *DATACENTER) =>
                {
                    return Err(CqlError::invalid(format!(
                        "Invalid value(s) for DATACENTERS '[{}]',All values must be valid datacenters",
                        names.join(", ")
                    )));
                }
                RoleOption::Cidrs(AccessTo::These(names)) => {
                    return Err(CqlError::invalid(format!(
                        "Invalid CIDR group(s): [{}]. Available CIDR Groups are: []",
                        names.join(", ")
                    )));
                }
                RoleOption::Datacenters(_) | RoleOption::Cidrs(AccessTo::All) => {}
            }
        }
        Ok(())
    }
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

fn role(item: &Item) -> Role {
    let text = |name: &str| item.get(name).and_then(Value::as_text);
    let flag = |name: &str| matches!(item.get(name), Some(Value::Bool(true)));
    Role {
        name: text("role").unwrap_or_default().to_owned(),
        hash: text("salted_hash").map(PasswordHash::stored),
        can_login: flag("can_login"),
        is_superuser: flag("is_superuser"),
        member_of: match item.get("member_of") {
            Some(Value::List(names)) => {
                names.iter().filter_map(|name| name.as_text().map(str::to_owned)).collect()
            }
            _ => Vec::new(),
        },
    }
}

#[cfg(test)]
mod tests {
    use shelfmark_engine::{Environment, SeededRandom};
    use shelfmark_store::clock::{Clock, ManualClock};
    use shelfmark_store::memory::MemoryStore;

    use super::*;
    use crate::auth::{Claim, Login, OneRole};

    fn engine() -> Engine {
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at_micros(1));
        let environment =
            Environment { clock: Arc::clone(&clock), random: Arc::new(SeededRandom::new(1)) };
        Engine::open(Arc::new(MemoryStore::new(clock)), environment).unwrap()
    }

    fn said(engine: &Engine, user: Option<&str>, text: &str) -> Result<(), CqlError> {
        let parsed = shelfmark_cql_syntax::parse(text).unwrap();
        let user = user.map(|name| User { name: name.into(), start_role: "root".into() });
        run(engine, &parsed.statement, user.as_ref()).map(|_| ())
    }

    #[test]
    fn roles_are_made_changed_and_dropped() {
        let engine = engine();
        let first = OneRole::new("root", "r", [3; 16]);
        let login = Login::new(first, [4; 16]).and(Roles::new(engine.clone()));
        let may = |name: &str, password: &str| {
            login.check(&Claim { name: name.to_owned(), password: password.to_owned() })
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
        assert_eq!(Roles::new(engine).all().unwrap(), []);
    }
}
