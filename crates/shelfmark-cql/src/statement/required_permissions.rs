//! The permissions that each kind of statement requires.
//!
//! What it is not: a judge of who has it; that is [`crate::auth::Authority`]. Statements about roles
//! and permissions say what they need where they run.
//!
//! Invariant: a statement about rows names every table that it reads or writes, views that follow a
//! write among them. What follows from the schema is found with the schema that the plan is made for.
//!
//! Source: Cassandra 5.0, `authorize` of its statements and `ClientState`, read 2026-11.

use shelfmark_cql_syntax::ast::{Dropped, Name, Permission, QualifiedName, Statement};

use super::Action;
use super::ddl::{is_system, not_modifiable};
use super::modify::Modify;
use crate::auth::{RequiredPermission, Resource};
use crate::schema::{Schema, Table, View};

/// Returns what a plan about rows needs; nothing of other plans.
pub(super) fn of_rows(action: &Action, schema: &Schema) -> Vec<RequiredPermission> {
    match action {
        Action::Select(select) => of_read(&select.table).into_iter().collect(),
        Action::Modify(modify) => of_write(modify, schema),
        Action::Batch { entries, .. } => {
            entries.iter().flat_map(|modify| of_write(modify, schema)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the need of reading a table; of a view that of its base.
fn of_read(table: &Table) -> Option<RequiredPermission> {
    let name = table.view.as_ref().map_or(&table.name, |view| &view.base);
    let is_open = is_open(&table.keyspace, name);
    (!is_open)
        .then(|| RequiredPermission::on(Permission::Select, Resource::table(&table.keyspace, name)))
}

/// Returns true for the tables that drivers and their tools read: every role may.
fn is_open(keyspace: &str, table: &str) -> bool {
    match keyspace {
        "system" => {
            matches!(table, "local" | "peers" | "peers_v2" | "size_estimates" | "table_estimates")
        }
        "system_schema" | "system_virtual_schema" | "system_traces" => true,
        _ => false,
    }
}

/// Returns the need of reading what is there: a condition tells it, and a view is found by it.
fn of_write(modify: &Modify, schema: &Schema) -> Vec<RequiredPermission> {
    let table = &modify.table;
    let own = Resource::table(&table.keyspace, &table.name);
    let mut needs = vec![RequiredPermission::on(Permission::Modify, own.clone())];
    let is_base = |view: &View| *view.base == *table.name;
    let keyspace = schema.keyspace(&table.keyspace);
    let views: Vec<&str> = keyspace
        .into_iter()
        .flat_map(|own| own.tables.values())
        .filter(|own| own.view.as_ref().is_some_and(is_base))
        .map(|own| &*own.name)
        .collect();
    if modify.is_conditional() || !views.is_empty() {
        needs.push(RequiredPermission::on(Permission::Select, own));
    }
    let write = |view: &&str| {
        RequiredPermission::on(Permission::Modify, Resource::table(&table.keyspace, view))
    };
    needs.extend(views.iter().map(write));
    needs
}

/// Returns what a change of the schema needs. `keyspace` is that of names that have none; a name
/// without any is refused where the statement runs.
pub(super) fn of_schema(
    statement: &Statement,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Vec<RequiredPermission> {
    use Permission::{Alter, Create, Drop};
    let scope = Scope { keyspace, schema };
    let found = match statement {
        Statement::CreateKeyspace(_) => {
            Some(RequiredPermission::on(Create, Resource::AllKeyspaces))
        }
        Statement::AlterKeyspace(own) => Some(of_keyspace(Alter, &own.name)),
        Statement::DropKeyspace(own) => Some(of_keyspace(Drop, &own.name.name)),
        Statement::CreateTable(own) => scope.tables(Create, &own.name),
        Statement::AlterTable(own) => scope.table(Alter, &own.name),
        Statement::DropTable(own) => scope.table(Drop, &own.name),
        Statement::CreateIndex(own) => scope.table(Alter, &own.table),
        Statement::DropIndex(own) => scope.indexed(own),
        Statement::CreateType(own) => scope.tables(Create, &own.name),
        Statement::AlterType(own) => scope.tables(Alter, &own.name),
        Statement::DropType(own) => scope.tables(Drop, &own.name),
        Statement::CreateView(own) => scope.table(Alter, &own.base),
        Statement::AlterView(own) => scope.base(&own.name),
        Statement::DropView(own) => scope.base(&own.name),
        Statement::CreateFunction(own) => scope.functions(own.name.keyspace.as_ref()),
        Statement::CreateAggregate(own) => scope.functions(own.name.keyspace.as_ref()),
        Statement::CreateTrigger(_) => Some(RequiredPermission::Superuser(
            "Only superusers are allowed to perform CREATE TRIGGER queries",
        )),
        Statement::DropTrigger(_) => Some(RequiredPermission::Superuser(
            "Only superusers are allowed to perfrom DROP TRIGGER queries",
        )),
        // There is no function of a user's that could be dropped.
        _ => None,
    };
    found.into_iter().collect()
}

fn of_keyspace(permission: Permission, name: &Name) -> RequiredPermission {
    on(permission, name.as_str(), Resource::Keyspace(name.as_str().into()))
}

/// Returns the need of a change of something in a keyspace; the server's own are nobody's to
/// change.
fn on(permission: Permission, keyspace: &str, resource: Resource) -> RequiredPermission {
    if is_system(keyspace) {
        let what = format!("{} {resource}", permission.name());
        return RequiredPermission::Nobody(not_modifiable(keyspace, &what).message);
    }
    RequiredPermission::on(permission, resource)
}

/// The schema and keyspace that names are looked up in.
#[derive(Clone, Copy)]
struct Scope<'s> {
    keyspace: Option<&'s str>,
    schema: &'s Schema,
}

impl<'s> Scope<'s> {
    fn keyspace(self, name: &'s QualifiedName) -> Option<&'s str> {
        super::keyspace_of(name, self.keyspace).ok()
    }

    fn table(self, permission: Permission, name: &QualifiedName) -> Option<RequiredPermission> {
        let keyspace = super::keyspace_of(name, self.keyspace).ok()?;
        Some(on(permission, keyspace, Resource::table(keyspace, name.name.as_str())))
    }

    /// Returns what is made in a keyspace, and types, which are no tables.
    fn tables(self, permission: Permission, name: &QualifiedName) -> Option<RequiredPermission> {
        let keyspace = super::keyspace_of(name, self.keyspace).ok()?;
        Some(on(permission, keyspace, Resource::AllTables(keyspace.into())))
    }

    fn functions(self, keyspace: Option<&Name>) -> Option<RequiredPermission> {
        let keyspace = keyspace.map(Name::as_str).or(self.keyspace)?;
        Some(on(Permission::Create, keyspace, Resource::AllFunctionsIn(keyspace.into())))
    }

    /// Returns the table that an index is on, if there is one.
    fn indexed(self, own: &'s Dropped) -> Option<RequiredPermission> {
        let keyspace = self.keyspace(&own.name)?;
        let mut tables = self.schema.keyspace(keyspace)?.tables.values();
        let index = own.name.name.as_str();
        let table = tables.find(|table| table.indexes.iter().any(|own| *own.name == *index))?;
        Some(on(Permission::Alter, keyspace, Resource::table(keyspace, &table.name)))
    }

    /// Returns the table that a view is of, if there is one.
    fn base(self, name: &'s QualifiedName) -> Option<RequiredPermission> {
        let keyspace = self.keyspace(name)?;
        let found = self.schema.table(keyspace, name.name.as_str())?;
        let base = &found.view.as_ref()?.base;
        Some(on(Permission::Alter, keyspace, Resource::table(keyspace, base)))
    }
}
