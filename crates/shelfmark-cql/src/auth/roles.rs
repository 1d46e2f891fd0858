//! Roles: who there is, kept in a table of the engine's of their own.
//!
//! What it is not: roles that are given to roles (`members`), and permissions (`grants`).
//!
//! Invariant: the role that the server is started with is always there, a superuser that may log in,
//! whatever its row says. It has a row only if roles were given to it, or if it was made while the
//! server was started with another one.

use std::sync::Arc;

use shelfmark_cql_syntax::ast::{
    AccessTo, AlterRole, CreateRole, DropRole, Permission, RoleOption, RoleSyntax, Statement,
};
use shelfmark_engine::{Engine, ErrorKind, Get, Scan, Table, Write};
use shelfmark_model::{Item, Key, KeyColumn, KeyType, TableName, TableSchema, Value};

use super::resource::Resource;
use super::{Authority, Credentials, PasswordHash, User};
use crate::error::{CqlError, ErrorCode, WriteKind};
use crate::limits::CREDENTIAL_SIZE_BYTES_MAX;
use crate::outcome::{Answered, Consistency, Outcome};

/// The one data centre.
const DATACENTER: &str = "datacenter1";

/// The namespace of the tables of roles and permissions.
pub(super) const NAMESPACE: &str = "system_auth";
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
    /// The role that the server is started with.
    start_role: Option<Arc<str>>,
}

pub(super) fn failed(error: &shelfmark_engine::Error) -> CqlError {
    CqlError::from_engine(error, Consistency::One, Some(WriteKind::Simple))
}

pub(super) fn unauthorized(message: String) -> CqlError {
    CqlError::new(ErrorCode::Unauthorized, message)
}

/// Returns a table of roles or permissions, if anything was ever kept in it.
pub(super) fn find_table(engine: &Engine, name: &str) -> Result<Option<Arc<Table>>, CqlError> {
    match engine.table(&TableName::new(NAMESPACE, name)) {
        Ok(table) => Ok(Some(table)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(&error)),
    }
}

/// Returns a table of roles or permissions, made if it is not there yet.
pub(super) fn make_table(
    engine: &Engine,
    name: &str,
    schema: TableSchema,
) -> Result<Arc<Table>, CqlError> {
    if let Some(table) = find_table(engine, name)? {
        return Ok(table);
    }
    match engine.create_table(schema) {
        Ok(table) => Ok(table),
        // Somebody else made it meanwhile.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            find_table(engine, name)?.ok_or_else(|| failed(&error))
        }
        Err(error) => Err(failed(&error)),
    }
}

impl Roles {
    pub(crate) fn new(engine: Engine, start_role: Option<&str>) -> Self {
        Self { engine, start_role: start_role.map(Arc::from) }
    }

    fn table(&self) -> Result<Option<Arc<Table>>, CqlError> {
        find_table(&self.engine, TABLE)
    }

    fn made_table(&self) -> Result<Arc<Table>, CqlError> {
        let name = TableName::new(NAMESPACE, TABLE);
        let schema = TableSchema::new(name, KeyColumn::new("role", KeyType::Text));
        make_table(&self.engine, TABLE, schema)
    }

    pub(super) fn has_start_role(&self) -> bool {
        self.start_role.is_some()
    }

    pub(super) fn is_start_role(&self, name: &str) -> bool {
        self.start_role.as_deref() == Some(name)
    }

    /// Returns the role that the server is started with, `row` being its row.
    fn started(name: &str, row: Option<&Role>) -> Role {
        Role {
            name: name.to_owned(),
            hash: None,
            can_login: true,
            is_superuser: true,
            member_of: row.map(|own| own.member_of.clone()).unwrap_or_default(),
        }
    }

    /// Returns a role; `None` if there is none of this name.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Role>, CqlError> {
        let row = self.row(name)?;
        if self.is_start_role(name) {
            return Ok(Some(Self::started(name, row.as_ref())));
        }
        Ok(row)
    }

    /// Returns a role as it is stored.
    pub(super) fn row(&self, name: &str) -> Result<Option<Role>, CqlError> {
        let Some(table) = self.table()? else { return Ok(None) };
        let got = self.engine.get(&table, &Get::new(Key::partition(name)));
        Ok(got.map_err(|error| failed(&error))?.item.as_ref().map(role))
    }

    /// Returns what is known of a role when it logs in; `None` if there is none of this name.
    pub(super) fn credentials(&self, name: &str) -> Result<Option<Credentials>, CqlError> {
        let found = self.row(name)?;
        Ok(found.map(|role| Credentials { hash: role.hash, can_login: role.can_login }))
    }

    /// Returns every role, sorted by name.
    pub(crate) fn all(&self) -> Result<Vec<Role>, CqlError> {
        let mut roles = self.rows()?;
        if let Some(name) = self.start_role.as_deref() {
            let row = roles.iter().find(|role| role.name == name);
            let started = Self::started(name, row);
            roles.retain(|role| role.name != name);
            roles.push(started);
        }
        roles.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(roles)
    }

    /// Returns every role that is stored, in no order that means anything.
    pub(crate) fn rows(&self) -> Result<Vec<Role>, CqlError> {
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

    /// Returns the write that stores a role.
    pub(super) fn put(&self, role: &Role) -> Result<Write, CqlError> {
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
        Ok(Write::put(&self.made_table()?, item))
    }

    fn delete(&self, name: &str) -> Result<Write, CqlError> {
        Ok(Write::delete(&self.made_table()?, Key::partition(name)))
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
    let done = match statement {
        Statement::ListRoles(own) => return authority.list_roles(own, user),
        Statement::ListUsers => return authority.list_users(user),
        Statement::GrantRole(own) => authority.grant_role(own, user),
        Statement::RevokeRole(own) => authority.revoke_role(own, user),
        Statement::CreateRole(create) => authority.create_role(create, user),
        Statement::AlterRole(alter) => authority.alter_role(alter, user),
        Statement::DropRole(drop) => authority.drop_role(drop, user),
        other => {
            let name = other.kind().text();
            Err(CqlError::invalid(format!("{name} is not supported by this server")))
        }
    };
    done.map(|()| Outcome::Void.into())
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

    /// The writes that take permissions of a role, permissions on it, and the role itself away from
    /// whoever has them.
    fn forgotten(&self, name: &str) -> Result<Vec<Write>, CqlError> {
        let own = Resource::Role(name.into()).name();
        let mut writes =
            self.grants.without(|granted| granted.role == name || granted.resource == own)?;
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
    use crate::auth::{Authorizer, Claim, Login, OneRole};

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
        assert_eq!(Roles::new(engine, None).all().unwrap(), []);
    }
}
