//! Statements that change the schema.
//!
//! They are looked at when they run, one after the other, so each sees what the one before did.
//!
//! Invariant: what is in the engine's catalogue and what this face attached to it change in one
//! commit.

mod absent;
mod alter;
mod compression;
mod function;
mod index;
mod keyspace;
mod mask;
mod options;
mod sizes;
mod table;
mod unified;
mod user_type;
mod verify;
mod view;
mod view_filter;

pub(super) use function::event as function_event;
pub(super) use keyspace::is_replicated;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use shelfmark_cql_protocol::{
    ChangeKind, ChangeTarget, Consistency, CqlError, ErrorCode, Result, SchemaChange, invalid,
};
use shelfmark_cql_syntax::ast::{AlterTableAction, Dropped, Permission, QualifiedName, Statement};
use shelfmark_engine::CatalogueChange;
use shelfmark_model::TableName;

use super::Executor;
use super::elsewhere::changed_beside;
use crate::auth::{RequiredPermission, Resource, User};
use crate::engine_error::from_engine;
use crate::outcome::{Answered, Outcome, RequestOptions};
pub(super) use crate::schema::is_system;
use crate::schema::{Schema, Table, stored_name};
use shelfmark_engine::locks::lock;

fn configuration<T>(message: impl Into<String>) -> Result<T> {
    Err(CqlError::new(ErrorCode::Configuration, message))
}

/// Refuses statements that are known and not done, by name.
pub(super) fn check_known(statement: &Statement) -> Result<()> {
    match statement {
        Statement::CreateKeyspace(_)
        | Statement::AlterKeyspace(_)
        | Statement::DropKeyspace(_)
        | Statement::CreateTable(_)
        | Statement::AlterTable(_)
        | Statement::DropTable(_)
        | Statement::CreateIndex(_)
        | Statement::DropIndex(_)
        | Statement::CreateType(_)
        | Statement::AlterType(_)
        | Statement::DropType(_)
        | Statement::CreateView(_)
        | Statement::AlterView(_)
        | Statement::DropView(_)
        | Statement::DropFunction(_)
        | Statement::DropAggregate(_)
        | Statement::CreateFunction(_)
        | Statement::CreateAggregate(_)
        | Statement::CreateTrigger(_)
        | Statement::DropTrigger(_) => Ok(()),
        other => invalid(format!("{} is not supported by this server", other.kind().text())),
    }
}

/// A change of the schema, ready to be committed.
struct Change {
    changes: Vec<CatalogueChange<'static>>,
    event: SchemaChange,
    /// Tables whose indexes or views are to be built.
    builds: Vec<shelfmark_model::TableName>,
}

impl Executor {
    /// Changes the schema.
    pub(super) fn change_schema(
        &self,
        statement: &Statement,
        keyspace: Option<&str>,
        options: &RequestOptions,
    ) -> Result<Answered> {
        let _one = lock(&self.changes);
        let schema = self.schema();
        let environment = self.engine.environment();
        let user = options.user.as_ref();
        if self.authority.checks() {
            self.authority.check(
                user,
                &super::required_permissions::of_schema(statement, keyspace, &schema),
            )?;
        }
        check_names(statement, keyspace, &schema)?;
        check_column_names(statement)?;
        if let Some(answered) = self.change_shared(statement, keyspace, &schema)? {
            return Ok(answered);
        }
        let change = match statement {
            Statement::CreateKeyspace(own) => keyspace::create(own, &schema)?,
            Statement::AlterKeyspace(own) => keyspace::alter(own, &schema)?,
            Statement::DropKeyspace(own) => keyspace::drop(own, &schema)?,
            Statement::CreateTable(own) => table::create(own, keyspace, &schema, environment)?,
            Statement::AlterTable(own) => {
                alter::alter(own, keyspace, &schema, self.engine.cell_timestamp())?
            }
            Statement::DropTable(own) => table::drop(own, keyspace, &schema)?,
            Statement::CreateIndex(own) => index::create(own, keyspace, &schema)?,
            Statement::DropIndex(own) => index::drop(own, keyspace, &schema)?,
            Statement::CreateType(own) => user_type::create(own, keyspace, &schema)?,
            Statement::AlterType(own) => user_type::alter(own, keyspace, &schema)?,
            Statement::DropType(own) => user_type::drop(own, keyspace, &schema)?,
            Statement::CreateView(own) => view::create(own, keyspace, &schema, environment)?,
            Statement::AlterView(own) => view::alter(own, keyspace, &schema)?,
            Statement::DropView(own) => view::drop(own, keyspace, &schema)?,
            Statement::CreateFunction(own) => {
                function::create(own, keyspace, &schema, self.user_functions)?
            }
            Statement::CreateAggregate(own) => {
                let makes = self.user_functions;
                function::create_aggregate(own, keyspace, &schema, environment, makes)?
            }
            Statement::DropFunction(own) => function::drop(own, keyspace, &schema)?,
            Statement::DropAggregate(own) => function::drop_aggregate(own, keyspace, &schema)?,
            other => return absent::answer(other, keyspace, &schema),
        };
        let warning = matches!(statement, Statement::CreateView(_)).then(|| {
            "Materialized views are experimental and are not recommended for production use."
                .to_owned()
        });
        let other_shape = match statement {
            Statement::CreateTable(own) if change.is_none() => {
                table::other_shape(own, keyspace, &schema)
            }
            _ => None,
        };
        let mut answered = match change {
            Some(change) => self.commit_schema(statement, change, &schema, options)?,
            None => {
                let warnings = match statement {
                    // Said again, though nothing changes.
                    Statement::AlterKeyspace(own) => {
                        keyspace::warnings(own.name.as_str(), &schema, &schema)
                    }
                    _ => Vec::new(),
                };
                Answered { warnings, ..Outcome::Void.into() }
            }
        };
        answered.warnings.splice(0..0, warning.into_iter().chain(other_shape));
        Ok(answered)
    }

    /// Commits a change of the schema and what follows from it: builds, permissions.
    fn commit_schema(
        &self,
        statement: &Statement,
        mut change: Change,
        before: &Schema,
        options: &RequestOptions,
    ) -> Result<Answered> {
        verify::verify(&mut change.changes, before)?;
        let failed =
            |error: shelfmark_engine::Error| from_engine(&error, options.consistency, None);
        let made = made(&change.event);
        if change.event.kind == ChangeKind::Created {
            self.forget_permissions(&change.event)?;
        }
        self.engine.change_catalogue(change.changes).map_err(failed)?;
        let built = change.builds.iter().try_for_each(|name| self.engine.resume_indexes(name));
        if built.is_err() {
            self.has_unbuilt.store(true, Ordering::Release);
        }
        // It is there whether it is built or not.
        let schema = self.reload()?;
        built.map_err(failed)?;
        let of_replicas = match statement {
            Statement::CreateKeyspace(_) | Statement::AlterKeyspace(_) => {
                keyspace::warnings(&change.event.keyspace, before, &schema)
            }
            _ => Vec::new(),
        };
        match change.event.kind {
            // Of a view only its base's permissions count.
            ChangeKind::Created if !matches!(statement, Statement::CreateView(_)) => {
                self.authority.created(options.user.as_ref(), &made)?;
            }
            ChangeKind::Dropped => self.forget_permissions(&change.event)?,
            _ => {}
        }
        let changed =
            schema.table(&change.event.keyspace, &change.event.name).filter(|_| match statement {
                Statement::CreateIndex(_) => true,
                Statement::AlterTable(own) => matches!(own.action, AlterTableAction::Add { .. }),
                _ => false,
            });
        let beside = match statement {
            // An index is the table's, and no view has it.
            Statement::CreateIndex(_) | Statement::DropIndex(_) => Vec::new(),
            _ => changed_beside(&change.event, before, &schema),
        };
        let mut answered = Answered { beside, ..Outcome::SchemaChange(change.event).into() };
        answered.warnings.extend(of_replicas);
        answered.warnings.extend(changed.into_iter().flat_map(|own| index::vector_warnings(own)));
        Ok(answered)
    }

    /// Takes permissions away that are on what was dropped, or on what is about to be made: left
    /// over from an earlier one of its name.
    pub(super) fn forget_permissions(&self, told: &SchemaChange) -> Result<()> {
        let (keyspace, table) = (told.keyspace.as_str(), told.name.as_str());
        match told.target {
            ChangeTarget::Keyspace => {
                let roots = ["data", "functions"].map(|own| format!("{own}/{keyspace}"));
                self.authority.forget_resources(|name| {
                    let rest = roots.iter().find_map(|root| name.strip_prefix(root.as_str()));
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
            }
            ChangeTarget::Table => {
                let gone = Resource::table(keyspace, table).name();
                self.authority.forget_resources(|name| *name == *gone)
            }
            ChangeTarget::Function | ChangeTarget::Aggregate => {
                let gone: Vec<String> = made(told).iter().map(Resource::name).collect();
                self.authority.forget_resources(|name| gone.iter().any(|own| *own == *name))
            }
            ChangeTarget::Type => Ok(()),
        }
    }

    /// Goes on with builds that a stop cut off or that failed, such as on a full disk; for the background.
    /// Returns how much was done.
    ///
    /// # Errors
    ///
    /// * Those of the engine; they are tried again when this is called again.
    pub fn go_on_building(&self) -> shelfmark_engine::Result<u64> {
        if !self.has_unbuilt.load(Ordering::Acquire) {
            return Ok(0);
        }
        let _one = lock(&self.changes);
        self.has_unbuilt.store(false, Ordering::Release);
        self.resume_builds().map(|()| 1)
    }

    /// Goes on with indexes and views that are not built. What cannot go on now goes on in the background:
    /// everything else is served meanwhile.
    ///
    /// # Errors
    ///
    /// * Those of the engine, of the last build that failed.
    pub(super) fn resume_builds(&self) -> shelfmark_engine::Result<()> {
        let (mut built, mut outcome) = (false, Ok(()));
        for table in self.known_schema().keyspaces.values().flat_map(|own| own.tables.values()) {
            let waits = table.indexes.iter().any(|index| !index.is_public) || table.is_view();
            if table.stored.is_some() && waits {
                match self.engine.resume_indexes(&stored_name(table)) {
                    Ok(()) => built = true,
                    Err(error) => outcome = Err(error),
                }
            }
        }
        if outcome.is_err() {
            self.has_unbuilt.store(true, Ordering::Release);
        }
        if built {
            self.reload().map_err(|error| {
                let kind = shelfmark_engine::ErrorKind::Internal;
                shelfmark_engine::Error::new(kind, error.to_string())
            })?;
        }
        outcome
    }

    /// Empties a table.
    pub(super) fn truncate(
        &self,
        name: &QualifiedName,
        keyspace: Option<&str>,
        user: Option<&User>,
    ) -> Result<Answered> {
        let own = Resource::table(super::keyspace_of(name, keyspace)?, name.name.as_str());
        self.authority.check(user, &[RequiredPermission::on(Permission::Modify, own)])?;
        let table = truncated(name, keyspace, &self.schema())?;
        if table.stored.is_none() {
            if crate::schema::is_virtual(&table.keyspace) {
                return invalid(format!(
                    "Truncation is not supported by table {}",
                    table.full_name()
                ));
            }
            let what = format!("MODIFY <table {}.{}>", table.keyspace, table.name);
            return Err(not_modifiable(&table.keyspace, &what));
        }
        super::shared::check_truncate(&table)?;
        let _one = lock(&self.changes);
        self.engine
            .change_catalogue(vec![CatalogueChange::TruncateTable(stored_name(&table))])
            .map_err(|error| from_engine(&error, Consistency::One, None))?;
        self.reload()?;
        Ok(Outcome::Void.into())
    }
}

/// Finds the table that a `TRUNCATE` names.
pub(super) fn truncated(
    name: &QualifiedName,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Arc<Table>> {
    let table = super::find_table(name, keyspace, schema)?;
    if table.is_view() {
        return invalid(
            "Cannot TRUNCATE materialized view directly; must truncate base table instead",
        );
    }
    Ok(table)
}

/// Returns the resources that are made with what a change of the schema makes.
fn made(told: &SchemaChange) -> Vec<Resource> {
    let keyspace = || Box::from(told.keyspace.as_str());
    match told.target {
        ChangeTarget::Keyspace => {
            vec![Resource::Keyspace(keyspace()), Resource::AllFunctionsIn(keyspace())]
        }
        ChangeTarget::Table => vec![Resource::table(&told.keyspace, &told.name)],
        ChangeTarget::Function | ChangeTarget::Aggregate => {
            let name = format!("{}({})", told.name, function::listed_again(told));
            vec![Resource::Function(keyspace(), name.into())]
        }
        ChangeTarget::Type => Vec::new(),
    }
}

/// Refuses what is about a table, type or keyspace that is there and cannot be read.
fn check_names(statement: &Statement, keyspace: Option<&str>, schema: &Schema) -> Result<()> {
    let (name, is_table) = match statement {
        Statement::AlterKeyspace(own) => {
            return verify::check_readable(own.name.as_str(), None, schema);
        }
        Statement::CreateTable(own) => (&own.name, true),
        Statement::AlterTable(own) => (&own.name, true),
        Statement::CreateIndex(own) => (&own.table, true),
        Statement::AlterView(own) => (&own.name, true),
        Statement::CreateView(own) => {
            if let Ok(keyspace) = super::keyspace_of(&own.base, keyspace) {
                verify::check_readable(keyspace, Some(own.base.name.as_str()), schema)?;
            }
            (&own.name, true)
        }
        Statement::CreateType(own) => (&own.name, false),
        Statement::AlterType(own) => (&own.name, false),
        _ => return Ok(()),
    };
    let Ok(keyspace) = super::keyspace_of(name, keyspace) else { return Ok(()) };
    let own = name.name.as_str();
    verify::check_readable(keyspace, is_table.then_some(own), schema)?;
    let types = schema.keyspace(keyspace).map(|own| &own.damage.types);
    if !is_table && types.is_some_and(|types| types.contains_key(own)) {
        return Err(crate::schema::damaged(&format!("type {keyspace}.{own}")));
    }
    Ok(())
}

/// Refuses names of columns and fields that the protocol cannot carry.
fn check_column_names(statement: &Statement) -> Result<()> {
    let check = |name: &str| {
        if name.len() <= COLUMN_NAME_SIZE_BYTES_MAX {
            return Ok(());
        }
        invalid(format!(
            "A column name must not be more than {COLUMN_NAME_SIZE_BYTES_MAX} bytes long (got {} bytes)",
            name.len()
        ))
    };
    match statement {
        Statement::CreateTable(own) => {
            own.columns.iter().try_for_each(|column| check(column.name.as_str()))
        }
        Statement::AlterTable(own) => match &own.action {
            AlterTableAction::Add { columns, .. } => {
                columns.iter().try_for_each(|column| check(column.name.as_str()))
            }
            AlterTableAction::Rename { renames, .. } => {
                renames.iter().try_for_each(|rename| check(rename.to.as_str()))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Returns the change that drops a table or view which cannot be read, if there is one of this name.
fn drop_unreadable(
    keyspace: &str,
    name: &str,
    found: Option<&Arc<crate::schema::Keyspace>>,
) -> Option<Change> {
    found.filter(|own| own.damage.tables.contains(name))?;
    Some(Change {
        changes: vec![CatalogueChange::DropTable(TableName::new(keyspace, name))],
        event: schema_event(ChangeKind::Dropped, ChangeTarget::Table, keyspace, name),
        builds: Vec::new(),
    })
}

pub(super) fn schema_event(
    kind: ChangeKind,
    target: ChangeTarget,
    keyspace: &str,
    name: &str,
) -> SchemaChange {
    SchemaChange {
        kind,
        target,
        keyspace: keyspace.to_owned(),
        name: name.to_owned(),
        arguments: Vec::new(),
    }
}

/// Returns the refusal of a change of the server's own keyspaces. `what` would have been done, as
/// Cassandra says it: `ALTER <table k.t>`.
pub(super) fn not_modifiable(keyspace: &str, what: &str) -> CqlError {
    // Those that are copied between nodes have other words.
    let message = match keyspace {
        "system_auth" | "system_traces" | "system_distributed" => format!("Cannot {what}"),
        _ => format!("{keyspace} keyspace is not user-modifiable."),
    };
    CqlError::new(ErrorCode::Unauthorized, message)
}

/// Finds a keyspace that may be changed; `what` as [`not_modifiable`] has it.
fn writable<'s>(
    name: &str,
    schema: &'s Schema,
    what: &str,
) -> Result<&'s Arc<crate::schema::Keyspace>> {
    match schema.keyspace(name) {
        None => invalid(format!("Keyspace '{name}' doesn't exist")),
        Some(_) if is_system(name) => Err(not_modifiable(name, what)),
        Some(found) => Ok(found),
    }
}

/// Finds what a `DROP` names; `None` if it is not there and need not be.
fn dropped<'s>(
    own: &'s Dropped,
    keyspace: Option<&'s str>,
    schema: &'s Schema,
) -> Result<(&'s str, &'s str, Option<&'s Arc<crate::schema::Keyspace>>)> {
    let keyspace = super::keyspace_of(&own.name, keyspace)?;
    let name = own.name.name.as_str();
    if is_system(keyspace) {
        return Err(not_modifiable(keyspace, &format!("DROP <table {keyspace}.{name}>")));
    }
    Ok((keyspace, name, schema.keyspace(keyspace)))
}

/// Longest name of a keyspace. Source: Cassandra 5.0, `SchemaConstants.NAME_LENGTH`.
const NAME_SIZE_CHARS_MAX: usize = 48;

/// Longest name of a column. Source: the native protocol's `string`, whose length is two bytes.
const COLUMN_NAME_SIZE_BYTES_MAX: usize = 65_535;

/// Longest name of a table. Source: Cassandra 5.0, `SchemaConstants.TABLE_NAME_LENGTH`.
const TABLE_NAME_SIZE_CHARS_MAX: usize = 222;

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Checks a keyspace's name.
fn check_keyspace_name(name: &str) -> Result<()> {
    if !is_plain(name) {
        return invalid(format!(
            "Keyspace name must not be empty and must contain alphanumeric or underscore characters only (got \"{name}\")"
        ));
    }
    if name.len() > NAME_SIZE_CHARS_MAX {
        return invalid(format!(
            "Keyspace name must not be more than {NAME_SIZE_CHARS_MAX} characters long (got {} characters for \"{name}\")",
            name.len()
        ));
    }
    Ok(())
}

/// Checks a table's or view's name.
fn check_name(keyspace: &str, name: &str) -> Result<()> {
    if !is_plain(name) {
        return configuration(format!(
            "{keyspace}.{name}: Table name must not be empty or not contain non-alphanumeric-underscore characters (got \"{name}\")"
        ));
    }
    if name.len() > TABLE_NAME_SIZE_CHARS_MAX {
        return configuration(format!(
            "{keyspace}.{name}: Table name must not be more than {TABLE_NAME_SIZE_CHARS_MAX} characters long (got {} characters for \"{name}\")",
            name.len()
        ));
    }
    Ok(())
}

/// Returns the change that brings a table's stored schema up to date.
fn altered(table: Table) -> CatalogueChange<'static> {
    let name = stored_name(&table);
    CatalogueChange::AlterTable(
        name,
        Box::new(move |schema| {
            crate::schema::update_stored(&table, schema);
            Ok(())
        }),
    )
}
