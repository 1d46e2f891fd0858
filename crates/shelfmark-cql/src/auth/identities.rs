//! Identities of certificates, each of which stands for a role: `ADD IDENTITY`, `DROP IDENTITY`.
//!
//! What it is not: a login; no connection is let in by its certificate. They are kept for whoever
//! prepares them here, and shown by `system_auth.identity_to_role`.
//!
//! Invariant: an identity stands for one role, and goes with it.
//!
//! Source: Cassandra 5.0, `AddIdentityStatement`, `DropIdentityStatement` and `CassandraRoleManager`,
//! read 2026-11.

use std::sync::Arc;

use shelfmark_cql_protocol::CqlError;
use shelfmark_cql_syntax::ast::{AddIdentity, DropIdentity, Permission};
use shelfmark_engine::{Get, Scan, Table, Write};
use shelfmark_model::{Item, Key, KeyColumn, KeyType, TableName, TableSchema, Value};

use super::authority::Authority;
use super::resource::Resource;
use super::roles::{NAMESPACE, Roles, failed, find_table, make_table};
use super::user::User;
use crate::limits::CREDENTIAL_SIZE_BYTES_MAX;

const TABLE: &str = "identity_to_role";

/// An identity and the role that it stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    pub(crate) identity: String,
    pub(crate) role: String,
}

fn of_item(item: &Item) -> Identity {
    let text = |name: &str| item.get(name).and_then(Value::as_text).unwrap_or_default().to_owned();
    Identity { identity: text("identity"), role: text("role") }
}

impl Roles {
    fn identity_table(&self) -> Result<Arc<Table>, CqlError> {
        let name = TableName::new(NAMESPACE, TABLE);
        let schema = TableSchema::new(name, KeyColumn::new("identity", KeyType::Text));
        make_table(&self.engine, TABLE, schema)
    }

    fn identity(&self, identity: &str) -> Result<Option<Identity>, CqlError> {
        let Some(table) = find_table(&self.engine, TABLE)? else { return Ok(None) };
        let got = self.engine.get(&table, &Get::new(Key::partition(identity)));
        Ok(got.map_err(|error| failed(&error))?.item.as_ref().map(of_item))
    }

    /// Returns every identity, sorted.
    pub(crate) fn identities(&self) -> Result<Vec<Identity>, CqlError> {
        let Some(table) = find_table(&self.engine, TABLE)? else { return Ok(Vec::new()) };
        let (mut found, mut scan) = (Vec::new(), Scan::default());
        loop {
            let page = self.engine.scan(&table, &scan).map_err(|error| failed(&error))?;
            found.extend(page.items.iter().map(of_item));
            match page.cursor {
                Some(cursor) => scan.start = Some(cursor),
                None => break,
            }
        }
        found.sort();
        Ok(found)
    }

    /// Returns the writes that take away what stands for a role.
    pub(super) fn without_identities(&self, role: &str) -> Result<Vec<Write>, CqlError> {
        let Some(table) = find_table(&self.engine, TABLE)? else { return Ok(Vec::new()) };
        let all = self.identities()?.into_iter().filter(|own| own.role == role);
        Ok(all.map(|own| Write::delete(&table, Key::partition(own.identity.as_str()))).collect())
    }
}

impl Authority {
    /// Runs `ADD IDENTITY`.
    pub(super) fn add_identity(
        &self,
        own: &AddIdentity,
        user: Option<&User>,
    ) -> Result<(), CqlError> {
        self.allow(user, Permission::Create, &Resource::AllRoles)?;
        let (identity, role) = (&*own.identity, &*own.role);
        let _one = self.hold();
        if self.roles.get(role)?.is_none() {
            return Err(CqlError::invalid(format!(
                "Can not add identity for non-existent role '{role}'"
            )));
        }
        if self.roles.identity(identity)?.is_some() {
            return match own.if_not_exists {
                true => Ok(()),
                false => Err(CqlError::invalid(format!("{identity} already exists"))),
            };
        }
        if identity.is_empty() || identity.len() > CREDENTIAL_SIZE_BYTES_MAX {
            return Err(CqlError::invalid(format!(
                "An identity has 1 to {CREDENTIAL_SIZE_BYTES_MAX} bytes"
            )));
        }
        let mut item = Item::new();
        item.set("identity", identity);
        item.set("role", role);
        self.write(vec![Write::put(&self.roles.identity_table()?, item)])
    }

    /// Runs `DROP IDENTITY`.
    pub(super) fn drop_identity(
        &self,
        own: &DropIdentity,
        user: Option<&User>,
    ) -> Result<(), CqlError> {
        self.allow(user, Permission::Drop, &Resource::AllRoles)?;
        let identity = &*own.identity;
        let _one = self.hold();
        if self.roles.identity(identity)?.is_none() {
            return match own.if_exists {
                true => Ok(()),
                false => Err(CqlError::invalid(format!("identity '{identity}' doesn't exist"))),
            };
        }
        let table = self.roles.identity_table()?;
        self.write(vec![Write::delete(&table, Key::partition(identity))])
    }
}
