//! Statements about tables of another face: what their rows cannot have is refused with a reason, and
//! `ALTER TABLE` declares columns.
//!
//! What it is not: the rest of the language. Reads and writes of such tables are planned as those of
//! any table.
//!
//! Invariant: nothing of another face's table is changed by a statement but its rows and the columns
//! that CQL declares.

use std::sync::Arc;

use shelfmark_cql_protocol::{ChangeKind, ChangeTarget, CqlError, Result, SchemaChange, invalid};
use shelfmark_cql_syntax::ast::{
    AlterTable, AlterTableAction, ColumnDefinition, Name, QualifiedName, Statement,
};
use shelfmark_cql_types::term::Expr;
use shelfmark_cql_types::{CqlType, resolve_type};
use shelfmark_engine::{ErrorKind, Owner, TableEvent};
use shelfmark_model::TableName;

use super::Executor;
use super::modify::Modify;
use super::relation::{Restrictions, Test};
use crate::outcome::{Answered, Outcome};
use crate::schema::{ColumnKind, Schema, Table, declare, is_of_dynamodb, with_changed};

/// Refuses what a write of an item cannot say.
pub(super) fn check_modify(modify: &Modify) -> Result<()> {
    let table = &modify.table;
    if !table.is_shared() {
        return Ok(());
    }
    let name = table.full_name();
    if table.is_typed() {
        return invalid(read_alone(table));
    }
    if modify.timestamp.is_some() {
        return invalid(format!(
            "{name} is a table of DynamoDB: its items have no write times, and the later commit \
             counts; leave out USING TIMESTAMP"
        ));
    }
    if modify.ttl.is_some() {
        return invalid(format!(
            "{name} is a table of DynamoDB: its values have no TTL; leave out USING TTL, and set the \
             attribute that the table's time to live looks at"
        ));
    }
    Ok(())
}

/// Returns the refusal to write a typed table.
fn read_alone(table: &Table) -> String {
    format!(
        "{} is a typed table of a Rust program: it is read here, and written by the program",
        table.full_name()
    )
}

/// Refuses tokens of a table that does not lie in their order.
pub(super) fn check_tokens(table: &Table, own: &Restrictions) -> Result<()> {
    if own.token.is_empty() || !table.is_typed() {
        return Ok(());
    }
    invalid(format!(
        "{} is a typed table of a Rust program and lies in the order of its keys, so a range of tokens \
         is no part of it; restrict the columns of its key",
        table.full_name()
    ))
}

/// Restricts the one partition of an ordered table where a query does not name it.
pub(super) fn name_only_partition(table: &Table, own: &mut Restrictions) {
    let only = table.stored.as_ref().and_then(|stored| stored.only_partition());
    if let Some(only) = only.filter(|_| own.of(0).is_empty()) {
        own.single.insert(0, vec![Test::Equal(Expr::Constant(Some(only)))]);
    }
}

/// Refuses a batch's timestamp where its rows have none.
pub(super) fn check_batch(entries: &[&Modify], has_timestamp: bool) -> Result<()> {
    match entries.iter().find(|own| has_timestamp && own.table.is_shared()) {
        None => Ok(()),
        Some(own) => invalid(format!(
            "{} is a table of DynamoDB: its items have no write times; leave out the batch's USING \
             TIMESTAMP",
            own.table.full_name()
        )),
    }
}

/// Refuses `writetime` and `ttl` of values that have neither.
pub(super) fn check_metadata(table: &Table, function: &str) -> Result<()> {
    if !table.is_shared() {
        return Ok(());
    }
    let kind = if table.is_typed() { "typed table" } else { "table of DynamoDB" };
    invalid(format!(
        "{} is a {kind}: its values have no write time and no TTL, so {function} has nothing to say",
        table.full_name()
    ))
}

/// Refuses to empty a table of another face.
pub(super) fn check_truncate(table: &Table) -> Result<()> {
    if !table.is_shared() {
        return Ok(());
    }
    if table.is_typed() {
        return invalid(read_alone(table));
    }
    invalid(format!(
        "{} is a table of DynamoDB, which alone empties it: delete its items, or the table there",
        table.full_name()
    ))
}

/// Names the face whose tables a keyspace has.
fn owner_of(keyspace: &str) -> &'static str {
    match keyspace {
        name if is_of_dynamodb(name) => "DynamoDB",
        _ => "typed tables",
    }
}

impl Executor {
    /// Changes what CQL declares of a table of another face; `None` for statements about others.
    pub(super) fn change_shared(
        &self,
        statement: &Statement,
        keyspace: Option<&str>,
        schema: &Schema,
    ) -> Result<Option<Answered>> {
        let Some(name) = concerned(statement, keyspace, schema) else { return Ok(None) };
        // Without a granted table the keyspace is a name that is taken, and nothing else.
        let is_there = schema.shared_keyspace(&name.namespace).is_some();
        if !is_there && !matches!(statement, Statement::CreateKeyspace(_)) {
            return Ok(None);
        }
        let Statement::AlterTable(own) = statement else {
            return Err(refusal(statement, &name.namespace));
        };
        let Some(table) = schema.table(&name.namespace, &name.name) else {
            if own.if_exists {
                return Ok(Some(Outcome::Void.into()));
            }
            return invalid(format!("Table '{name}' doesn't exist"));
        };
        let columns = declared_by(own, table, schema)?;
        if columns.added.is_empty() && columns.dropped.is_empty() {
            return Ok(Some(Outcome::Void.into()));
        }
        declare(&self.engine, table, |declared| {
            declared.extend(columns.added);
            columns.dropped.iter().try_for_each(|name| match declared.remove(name) {
                Some(_) => Ok(()),
                None => invalid(format!(
                    "Cannot drop column {name}: the type of the table's values declares it"
                )),
            })
        })?;
        self.change_known(|known| with_changed(&self.engine, known, &name))?;
        Ok(Some(Outcome::SchemaChange(event(ChangeKind::Updated, &name)).into()))
    }

    /// Has `watcher` told of tables of another face that appear, change and go away.
    pub(crate) fn watch_shared(
        &self,
        watcher: impl Fn(&TableName, TableEvent) -> bool + Send + Sync + 'static,
    ) {
        let watcher = Arc::new(watcher);
        for owner in [Owner::DynamoDb, Owner::Typed] {
            let watcher = Arc::clone(&watcher);
            self.engine.watch_tables(owner, move |name, event| watcher(name, event));
        }
    }

    /// Takes permissions away on a table that is gone: another one may get its name. One that is only
    /// granted no more keeps them. Also done before a table is made, for what a crash left over.
    pub(crate) fn forget_if_gone(&self, name: &TableName) {
        let found = self.engine.table(name);
        let is_gone = found.is_err_and(|error| error.kind() == ErrorKind::NotFound);
        if is_gone {
            // Where this fails the permission stays until a table of its name is made.
            drop(self.forget_permissions(&event(ChangeKind::Dropped, name)));
        }
    }

    /// Reads the schema anew after another face changed a table; returns what clients are told.
    pub(crate) fn shared_changed(&self, name: &TableName) -> Vec<SchemaChange> {
        self.forget_if_gone(name);
        let mut before = Schema::default();
        let changed = self.change_known(|known| {
            before = known.clone();
            match known.knows_shared() {
                true => with_changed(&self.engine, known, name),
                // Nobody has asked for such tables yet.
                false => Ok(known.clone()),
            }
        });
        // What cannot be read now is read after the next change.
        let Ok(after) = changed else { return Vec::new() };
        if !after.knows_shared() {
            return Vec::new();
        }
        let table = |schema: &Schema| schema.table(&name.namespace, &name.name).cloned();
        let kind = match (table(&before), table(&after)) {
            (None, None) => return Vec::new(),
            (Some(old), Some(new)) if Arc::ptr_eq(&old, &new) => return Vec::new(),
            (None, Some(_)) => ChangeKind::Created,
            (Some(_), Some(_)) => ChangeKind::Updated,
            (Some(_), None) => ChangeKind::Dropped,
        };
        let mut events = vec![event(kind, name)];
        let has_keyspace = |schema: &Schema| schema.shared_keyspace(&name.namespace).is_some();
        let whole = |kind| SchemaChange {
            target: ChangeTarget::Keyspace,
            name: String::new(),
            ..event(kind, name)
        };
        match (has_keyspace(&before), has_keyspace(&after)) {
            (false, true) => events.insert(0, whole(ChangeKind::Created)),
            (true, false) => events.push(whole(ChangeKind::Dropped)),
            _ => {}
        }
        events
    }
}

fn event(kind: ChangeKind, table: &TableName) -> SchemaChange {
    SchemaChange {
        kind,
        target: ChangeTarget::Table,
        keyspace: table.namespace.clone(),
        name: table.name.clone(),
        arguments: Vec::new(),
    }
}

/// Returns the name of what a statement changes in a keyspace of another face's tables; empty for the
/// keyspace itself.
fn concerned(statement: &Statement, keyspace: Option<&str>, schema: &Schema) -> Option<TableName> {
    let is_shared = |name: &str| is_of_dynamodb(name) || schema.shared_keyspace(name).is_some();
    let inside = |name: &QualifiedName| {
        let own = name.keyspace.as_ref().map(Name::as_str).or(keyspace)?;
        is_shared(own).then(|| TableName::new(own, name.name.as_str()))
    };
    let whole = |name: &Name| is_shared(name.as_str()).then(|| TableName::new(name.as_str(), ""));
    match statement {
        Statement::CreateKeyspace(own) => whole(&own.name),
        Statement::AlterKeyspace(own) => whole(&own.name),
        Statement::DropKeyspace(own) => whole(&own.name.name),
        Statement::CreateTable(own) => inside(&own.name),
        Statement::AlterTable(own) => inside(&own.name),
        Statement::DropTable(own) | Statement::DropIndex(own) | Statement::DropView(own) => {
            inside(&own.name)
        }
        Statement::CreateIndex(own) => inside(&own.table),
        Statement::CreateType(own) => inside(&own.name),
        Statement::AlterType(own) => inside(&own.name),
        Statement::DropType(own) => inside(&own.name),
        Statement::CreateView(own) => inside(&own.name).or(inside(&own.base)),
        Statement::AlterView(own) => inside(&own.name),
        _ => None,
    }
}

fn refusal(statement: &Statement, keyspace: &str) -> CqlError {
    let owner = owner_of(keyspace);
    let what = match statement {
        Statement::CreateKeyspace(_) => "the name is taken; choose another name".to_owned(),
        Statement::AlterKeyspace(_) | Statement::DropKeyspace(_) => {
            "the keyspace is there as long as any of its tables is granted to CQL".to_owned()
        }
        Statement::CreateTable(_) | Statement::DropTable(_) => {
            "its tables are created and deleted there".to_owned()
        }
        Statement::CreateIndex(_) | Statement::DropIndex(_) if is_of_dynamodb(keyspace) => {
            "its indexes are created and deleted there, by UpdateTable".to_owned()
        }
        Statement::CreateView(_) | Statement::AlterView(_) | Statement::DropView(_)
            if is_of_dynamodb(keyspace) =>
        {
            "its items have no views; create a global index there".to_owned()
        }
        Statement::CreateIndex(_)
        | Statement::DropIndex(_)
        | Statement::CreateView(_)
        | Statement::AlterView(_)
        | Statement::DropView(_) => "its tables have no indexes and views of CQL".to_owned(),
        _ => "its columns have no user types".to_owned(),
    };
    CqlError::invalid(format!(
        "the name {keyspace} belongs to {owner}: {what} (ALTER TABLE … ADD declares a column \
         over an attribute)"
    ))
}

/// The columns that a statement declares, and those whose declaration it takes away.
struct Declared {
    added: Vec<(String, CqlType)>,
    dropped: Vec<String>,
}

fn declared_by(own: &AlterTable, table: &Table, schema: &Schema) -> Result<Declared> {
    let mut declared = Declared { added: Vec::new(), dropped: Vec::new() };
    match &own.action {
        AlterTableAction::Add { if_not_exists, columns } => {
            for column in columns {
                let name = column.name.as_str();
                if table.column(name).is_some() || declared.added.iter().any(|own| own.0 == name) {
                    if *if_not_exists {
                        continue;
                    }
                    return invalid(format!("Column with name '{name}' already exists"));
                }
                declared.added.push((name.to_owned(), kind_of(column, table, schema)?));
            }
        }
        AlterTableAction::Drop { if_exists, columns, timestamp } => {
            if timestamp.is_some() {
                return invalid(
                    "the declaration of a column of DynamoDB's has no time; leave out USING TIMESTAMP",
                );
            }
            for name in columns.iter().map(Name::as_str) {
                if table.column(name).is_none() && *if_exists {
                    continue;
                }
                check_droppable(table, name)?;
                declared.dropped.push(name.to_owned());
            }
        }
        AlterTableAction::Rename { .. } => {
            return invalid(
                "a column of a table of DynamoDB stands for the attribute of its name, so it has no \
                 other; declare a column of the other name, and drop this one",
            );
        }
        AlterTableAction::With(_) => {
            return invalid(
                "a table of DynamoDB has no options of CQL; its settings are changed there, by \
                 UpdateTable and TagResource",
            );
        }
        AlterTableAction::AlterType { .. } => {
            return invalid("Altering column types is no longer supported");
        }
        AlterTableAction::Mask { .. } | AlterTableAction::DropCompactStorage => {
            return invalid("a table of DynamoDB has no masks and no COMPACT STORAGE");
        }
    }
    Ok(declared)
}

fn kind_of(own: &ColumnDefinition, table: &Table, schema: &Schema) -> Result<CqlType> {
    let name = own.name.as_str();
    if own.mask.is_some() {
        return invalid("MASKED WITH is not supported by this server: dynamic data masking is off");
    }
    if own.is_static {
        return invalid(format!(
            "column {name} cannot be static: an item's attributes are its own; leave out STATIC"
        ));
    }
    let kind = resolve_type(&own.column_type, &table.keyspace, schema)?;
    if kind.is_counter() {
        return invalid(format!(
            "column {name} cannot be a counter: declare it as bigint, and add to it with a condition, \
             or with DynamoDB's UpdateItem"
        ));
    }
    Ok(kind)
}

/// Refuses to take away columns that nobody declared.
fn check_droppable(table: &Table, name: &str) -> Result<()> {
    let Some(column) = table.column(name) else {
        return invalid(format!("Column {name} was not found in table '{}'", table.full_name()));
    };
    let is_of_index = table.indexes.iter().any(|index| {
        let order = index.shared.iter().flat_map(|own| &own.order);
        *index.column == *name || order.into_iter().any(|own| **own == *name)
    });
    let columns = table.stored.iter().flat_map(|own| &own.schema.columns);
    if column.role == ColumnKind::Regular && !columns.into_iter().any(|own| own.name == name) {
        return invalid(format!(
            "Cannot drop column {name}: it shows the attributes that have no column of their own"
        ));
    }
    if column.role != ColumnKind::Regular || is_of_index {
        return invalid(format!(
            "Cannot drop column {name}: it is an attribute of a key of the table or of an index"
        ));
    }
    Ok(())
}
