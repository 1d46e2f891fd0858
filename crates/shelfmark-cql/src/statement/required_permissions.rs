//! The permissions that each kind of statement requires.
//!
//! What it is not: a judge of who has it; that is [`crate::auth::Authority`]. Statements about roles
//! and permissions say what they need where they run.
//!
//! Invariant: a statement about rows names every table that it reads or writes, views that follow a
//! write among them. What follows from the schema is found with the schema that the plan is made for.
//!
//! Source: Cassandra 5.0, `authorize` of its statements and `ClientState`, read 2026-11.

use std::sync::Arc;

use shelfmark_cql_syntax::ast::{
    CreateAggregate, CreateFunction, DropFunction, Dropped, FunctionName, Name, Permission,
    QualifiedName, Statement, Type,
};
use shelfmark_cql_types::{CqlType, resolve_type};

use super::Action;
use super::ddl::{is_replicated, is_system, not_modifiable};
use super::modify::Modify;
use crate::auth::{RequiredPermission, Resource};
use crate::schema::{Schema, Table, View};
use crate::user_function::{same, signature};

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

/// Returns the need of calling functions of users.
pub(super) fn of_calls(functions: &[(Arc<str>, String, Vec<CqlType>)]) -> Vec<RequiredPermission> {
    let need = |(keyspace, name, types): &(Arc<str>, String, Vec<CqlType>)| {
        RequiredPermission::on(Permission::Execute, function(keyspace, name, types))
    };
    functions.iter().map(need).collect()
}

fn function(keyspace: &str, name: &str, types: &[CqlType]) -> Resource {
    Resource::Function(keyspace.into(), signature(name, types).into())
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
        Statement::CreateFunction(own) => return scope.of_function(own),
        Statement::CreateAggregate(own) => return scope.of_aggregate(own),
        Statement::DropFunction(own) => return scope.of_drop(own, false),
        Statement::DropAggregate(own) => return scope.of_drop(own, true),
        Statement::CreateTrigger(_) => Some(RequiredPermission::Superuser(
            "Only superusers are allowed to perform CREATE TRIGGER queries",
        )),
        Statement::DropTrigger(_) => Some(RequiredPermission::Superuser(
            "Only superusers are allowed to perfrom DROP TRIGGER queries",
        )),
        _ => None,
    };
    found.into_iter().collect()
}

fn of_keyspace(permission: Permission, name: &Name) -> RequiredPermission {
    let resource = Resource::Keyspace(name.as_str().into());
    if permission == Permission::Alter && is_replicated(name.as_str()) {
        return RequiredPermission::on(permission, resource);
    }
    on(permission, name.as_str(), resource)
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

    /// Returns the keyspace of a function.
    fn of_name(self, name: &'s FunctionName) -> Option<&'s str> {
        name.keyspace.as_ref().map(Name::as_str).or(self.keyspace)
    }

    /// Returns types of arguments; `None` if one of them is not there.
    fn types<'t>(
        self,
        keyspace: &str,
        types: impl Iterator<Item = &'t Type>,
    ) -> Option<Vec<CqlType>> {
        types.map(|ty| resolve_type(ty, keyspace, self.schema).ok()).collect()
    }

    /// Returns the need of making something, or of replacing what is there.
    fn made(
        self,
        keyspace: &str,
        name: &FunctionName,
        types: Option<&[CqlType]>,
        replaces: bool,
    ) -> RequiredPermission {
        let name = name.name.as_str();
        let is_there = |types: &&[CqlType]| {
            self.schema.keyspace(keyspace).is_some_and(|own| {
                let mut aggregates = own.aggregates.iter();
                own.function(name, types).is_some()
                    || aggregates.any(|own| *own.name == *name && same(&own.arguments, types))
            })
        };
        match types.filter(|_| replaces).filter(is_there) {
            Some(types) => on(Permission::Alter, keyspace, function(keyspace, name, types)),
            None => on(Permission::Create, keyspace, Resource::AllFunctionsIn(keyspace.into())),
        }
    }

    fn of_function(self, own: &'s CreateFunction) -> Vec<RequiredPermission> {
        let Some(keyspace) = self.of_name(&own.name) else { return Vec::new() };
        let types = self.types(keyspace, own.arguments.iter().map(|own| &own.argument_type));
        vec![self.made(keyspace, &own.name, types.as_deref(), own.or_replace)]
    }

    fn of_aggregate(self, own: &'s CreateAggregate) -> Vec<RequiredPermission> {
        let Some(keyspace) = self.of_name(&own.name) else { return Vec::new() };
        let types = self.types(keyspace, own.arguments.iter());
        let mut needs = vec![self.made(keyspace, &own.name, types.as_deref(), own.or_replace)];
        let state = self.types(keyspace, std::iter::once(&own.state_type).chain(&own.arguments));
        let last = self.types(keyspace, std::iter::once(&own.state_type));
        let called = [(Some(&own.state_function), state), (own.final_function.as_ref(), last)];
        for (name, types) in called {
            if let (Some(name), Some(types)) = (name, types)
                && let Some(found) = self.schema.keyspace(keyspace)
                && let Some(found) = found.function(name.as_str(), &types)
            {
                let resource = function(keyspace, &found.name, &found.types());
                needs.push(RequiredPermission::on(Permission::Execute, resource));
            }
        }
        needs
    }

    /// Returns the need of dropping functions or aggregates.
    fn of_drop(self, own: &'s DropFunction, drops_aggregates: bool) -> Vec<RequiredPermission> {
        let keyspace_name = self.of_name(&own.name);
        let found = keyspace_name.and_then(|own| self.schema.keyspace(own));
        let (Some(keyspace), Some(found)) = (keyspace_name, found) else { return Vec::new() };
        let name = own.name.name.as_str();
        let given = own.arguments.as_ref().map(|all| self.types(keyspace, all.iter()));
        let functions = found.functions.iter().map(|own| (&own.name, own.types()));
        let aggregates = found.aggregates.iter().map(|own| (&own.name, own.arguments.clone()));
        let all: Vec<_> = if drops_aggregates { aggregates.collect() } else { functions.collect() };
        let is_meant = |types: &[CqlType]| match &given {
            None => true,
            Some(given) => given.as_ref().is_some_and(|given| same(given, types)),
        };
        all.iter()
            .filter(|(own, types)| ***own == *name && is_meant(types))
            .map(|(own, types)| on(Permission::Drop, keyspace, function(keyspace, own, types)))
            .collect()
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
