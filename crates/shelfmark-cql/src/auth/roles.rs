//! Roles: who there is, kept in a table of the engine's of their own.
//!
//! What it is not: the statements that change them (`role_statements`), roles that are given to roles
//! (`members`), and permissions (`grants`).
//!
//! Invariant: the role that the server is started with is always there, a superuser that may log in,
//! whatever its row says. It has a row only if roles were given to it, or if it was made while the
//! server was started with another one.

use std::sync::Arc;

use shelfmark_cql_protocol::{Consistency, CqlError, ErrorCode, WriteKind};
use shelfmark_cql_syntax::ast::{AccessTo, RoleOption};
use shelfmark_engine::{Engine, ErrorKind, Get, Scan, Table, Write};
use shelfmark_model::{Item, Key, KeyColumn, KeyType, TableName, TableSchema, Value};

use super::password::{BadHash, PasswordHash};
use crate::engine_error::from_engine;
use crate::limits::{CREDENTIAL_SIZE_BYTES_MAX, HASH_COST_MAX};

/// The one data centre.
const DATACENTER: &str = "datacenter1";

/// The namespace of the tables of roles and permissions.
pub(super) const NAMESPACE: &str = "system_auth";
const TABLE: &str = "roles";

/// The stored credentials of a role.
#[derive(Debug, Clone)]
pub(crate) struct Credentials {
    /// The hash of its password; without one it cannot log in.
    pub(crate) hash: Option<PasswordHash>,
    /// True if it may log in at all.
    pub(crate) can_login: bool,
}

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
    from_engine(error, Consistency::One, Some(WriteKind::Simple))
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

    pub(super) fn delete(&self, name: &str) -> Result<Write, CqlError> {
        Ok(Write::delete(&self.made_table()?, Key::partition(name)))
    }

    /// Changes a role as its options say.
    pub(super) fn apply(&self, options: &[RoleOption], role: &mut Role) -> Result<(), CqlError> {
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
                    role.hash = Some(PasswordHash::from_text(hash).map_err(refused)?);
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

/// Says why a hash is not taken.
fn refused(bad: BadHash) -> CqlError {
    CqlError::invalid(match bad {
        BadHash::None => "Invalid hashed password value. Please use jBcrypt.".to_owned(),
        BadHash::Costly(cost) => format!(
            "Invalid hashed password value: its cost is {cost}, at most {HASH_COST_MAX} is taken, for \
             every login computes it"
        ),
    })
}
