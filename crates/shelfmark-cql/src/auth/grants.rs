//! The permissions that roles were given, kept in a table of the engine's of their own.
//!
//! What it is not: a judge. What follows from them, and from the roles that a role was given, is
//! decided by [`super::Authority`].
//!
//! Invariant: one item for a role and a resource, with at least one permission; whoever makes a
//! resource or a role takes what is left of an earlier one of its name away first.

use std::sync::Arc;

use shelfmark_cql_protocol::CqlError;
use shelfmark_cql_syntax::ast::Permission;
use shelfmark_engine::{Engine, Get, Query, Scan, Table, Write};
use shelfmark_model::{Item, Key, KeyColumn, KeyType, TableName, TableSchema, Value};

use super::resource::{PERMISSIONS, PermissionSet, Resource};
use super::roles::{NAMESPACE, failed, find_table, make_table};

const TABLE: &str = "role_permissions";

/// The permissions granted to a role on one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) role: String,
    /// The resource by its stored name.
    pub(crate) resource: String,
    pub(crate) permissions: PermissionSet,
}

/// The permissions of an engine.
#[derive(Clone)]
pub(crate) struct Grants {
    engine: Engine,
}

impl Grants {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// Returns the table, if any permission was ever given.
    fn table(&self) -> Result<Option<Arc<Table>>, CqlError> {
        find_table(&self.engine, TABLE)
    }

    fn made_table(&self) -> Result<Arc<Table>, CqlError> {
        let name = TableName::new(NAMESPACE, TABLE);
        let schema = TableSchema::new(name, KeyColumn::new("role", KeyType::Text))
            .with_sort("resource", KeyType::Text);
        make_table(&self.engine, TABLE, schema)
    }

    /// Returns what a role was given by itself, sorted by the resources' names.
    pub(crate) fn of_role(&self, role: &str) -> Result<Vec<Granted>, CqlError> {
        let Some(table) = self.table()? else { return Ok(Vec::new()) };
        let mut query = Query::partition(vec![Value::from(role)]);
        let mut found = Vec::new();
        loop {
            let page = self.engine.query(&table, &query).map_err(|error| failed(&error))?;
            found.extend(page.items.iter().map(granted));
            match page.cursor {
                Some(cursor) => query.start = Some(cursor),
                None => return Ok(found),
            }
        }
    }

    /// Returns what all roles were given, in no order that means anything.
    pub(crate) fn all(&self) -> Result<Vec<Granted>, CqlError> {
        let Some(table) = self.table()? else { return Ok(Vec::new()) };
        let (mut found, mut scan) = (Vec::new(), Scan::default());
        loop {
            let page = self.engine.scan(&table, &scan).map_err(|error| failed(&error))?;
            found.extend(page.items.iter().map(granted));
            match page.cursor {
                Some(cursor) => scan.start = Some(cursor),
                None => return Ok(found),
            }
        }
    }

    /// Returns what a role was given on this very resource.
    pub(super) fn on(&self, role: &str, resource: &Resource) -> Result<PermissionSet, CqlError> {
        let Some(table) = self.table()? else { return Ok(PermissionSet::default()) };
        let key = Key::pair(role, resource.name().as_str());
        let got = self.engine.get(&table, &Get::new(key)).map_err(|error| failed(&error))?;
        Ok(got.item.as_ref().map(|item| granted(item).permissions).unwrap_or_default())
    }

    /// Returns the write after which a role has these permissions on a resource and no others.
    pub(super) fn set(
        &self,
        role: &str,
        resource: &Resource,
        permissions: PermissionSet,
    ) -> Result<Write, CqlError> {
        let (table, name) = (self.made_table()?, resource.name());
        if permissions.is_empty() {
            return Ok(Write::delete(&table, Key::pair(role, name.as_str())));
        }
        let mut item = Item::new();
        item.set("role", role);
        item.set("resource", name.as_str());
        let names = permissions.iter().map(|own| Value::from(own.name()));
        item.set("permissions", Value::List(names.collect()));
        Ok(Write::put(&table, item))
    }

    /// Returns the writes that take away what `is_gone` says of.
    pub(super) fn without(
        &self,
        is_gone: impl Fn(&Granted) -> bool,
    ) -> Result<Vec<Write>, CqlError> {
        let Some(table) = self.table()? else { return Ok(Vec::new()) };
        let gone = self.all()?.into_iter().filter(is_gone);
        let key = |own: Granted| Key::pair(own.role.as_str(), own.resource.as_str());
        Ok(gone.map(|own| Write::delete(&table, key(own))).collect())
    }
}

fn granted(item: &Item) -> Granted {
    let text = |name: &str| item.get(name).and_then(Value::as_text).unwrap_or_default().to_owned();
    let names: Vec<&str> = match item.get("permissions") {
        Some(Value::List(names)) => names.iter().filter_map(Value::as_text).collect(),
        _ => Vec::new(),
    };
    let known: Vec<Permission> =
        PERMISSIONS.into_iter().filter(|own| names.contains(&own.name())).collect();
    Granted {
        role: text("role"),
        resource: text("resource"),
        permissions: PermissionSet::of(&known),
    }
}
