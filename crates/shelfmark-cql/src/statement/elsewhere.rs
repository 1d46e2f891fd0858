//! Takes over what other servers on the same store change in the schema, and tells clients of it.
//!
//! What it is not: the taking over of tables, which is the engine's; this is the face's own picture of
//! keyspaces, types and tables.
//!
//! Invariant: a client is told of each keyspace and table that differs, once for each look.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Mutex;

use shelfmark_cql_protocol::{ChangeKind, ChangeTarget, SchemaChange, ServerChange};
use shelfmark_engine::locks::lock;

use super::Executor;
use super::ddl::{function_event, schema_event};
use crate::schema::{Keyspace, Schema};

impl Executor {
    /// Has `watcher` called each time another server changed the catalogue.
    pub(crate) fn watch_other_servers(&self, watcher: impl Fn() + Send + Sync + 'static) {
        self.engine.on_changes_of_others(watcher);
    }

    /// Has `watcher` told of other servers on the same store that clients may use from now on, or may
    /// not any more.
    pub(crate) fn watch_servers(
        &self,
        watcher: impl Fn(ServerChange, SocketAddr) + Send + 'static,
    ) -> shelfmark_engine::Result<()> {
        let known = Mutex::new(BTreeSet::new());
        self.engine.on_servers(move |servers| {
            let mut known = lock(&known);
            let now = crate::system::addresses(servers);
            for gone in known.difference(&now) {
                watcher(ServerChange::Down, *gone);
                watcher(ServerChange::Removed, *gone);
            }
            for new in now.difference(&known) {
                watcher(ServerChange::Added, *new);
                watcher(ServerChange::Up, *new);
            }
            *known = now;
        })
    }

    /// Tells other servers on the same store where clients reach this one.
    pub(crate) fn publish_address(&self, address: SocketAddr) -> shelfmark_engine::Result<()> {
        crate::system::publish(&self.engine, address)
    }

    /// Reads the schema anew after another server changed it; returns what clients are told.
    pub(crate) fn changed_elsewhere(&self) -> Vec<SchemaChange> {
        let before = self.known_schema();
        match self.reload() {
            Ok(after) => differences(&before, &after),
            // What cannot be read now is read after the next change.
            Err(_) => Vec::new(),
        }
    }
}

fn differences(before: &Schema, after: &Schema) -> Vec<SchemaChange> {
    let names: BTreeSet<&String> = before.keyspaces.keys().chain(after.keyspaces.keys()).collect();
    let mut told = Vec::new();
    for name in names {
        let whole = |kind| SchemaChange {
            kind,
            target: ChangeTarget::Keyspace,
            keyspace: name.clone(),
            name: String::new(),
            arguments: Vec::new(),
        };
        match (before.keyspaces.get(name), after.keyspaces.get(name)) {
            (None, Some(own)) => {
                told.push(whole(ChangeKind::Created));
                told.extend(tables(None, Some(own)));
            }
            (Some(own), None) => {
                told.extend(dropped_with(own));
                told.push(whole(ChangeKind::Dropped));
            }
            (Some(old), Some(new)) => {
                if old.replication != new.replication
                    || old.types != new.types
                    || old.functions != new.functions
                    || old.aggregates != new.aggregates
                {
                    told.push(whole(ChangeKind::Updated));
                }
                told.extend(tables(Some(old), Some(new)));
            }
            (None, None) => {}
        }
    }
    told
}

/// Returns what `told` changed beside what it names, as Cassandra tells of it: the views of an altered
/// table, what is made of an altered type, all that goes with a keyspace.
pub(super) fn changed_beside(
    told: &SchemaChange,
    before: &Schema,
    after: &Schema,
) -> Vec<SchemaChange> {
    let before = before.keyspaces.get(&told.keyspace);
    let after = after.keyspaces.get(&told.keyspace);
    match (told.kind, told.target, before, after) {
        (ChangeKind::Dropped, ChangeTarget::Keyspace, Some(before), _) => dropped_with(before),
        (ChangeKind::Updated, ChangeTarget::Type, Some(before), Some(after)) => {
            let mut changed = made_anew(before, after);
            changed.retain(|own| own.target != told.target || own.name != told.name);
            changed
        }
        (ChangeKind::Updated, ChangeTarget::Table, ..) => {
            let mut changed = tables(before.map(AsRef::as_ref), after.map(AsRef::as_ref));
            changed.retain(|own| own.name != told.name);
            changed
        }
        _ => Vec::new(),
    }
}

/// Returns what goes with a keyspace, in Cassandra's order.
fn dropped_with(keyspace: &Keyspace) -> Vec<SchemaChange> {
    let told = |target, name: &str| schema_event(ChangeKind::Dropped, target, &keyspace.name, name);
    let tables = |is_view| {
        let own = keyspace.tables.values().filter(move |own| own.view.is_some() == is_view);
        own.map(|own| told(ChangeTarget::Table, &own.name))
    };
    let types = keyspace.types.keys().map(|name| told(ChangeTarget::Type, name));
    let functions = keyspace.functions.iter().map(|own| {
        let types: Vec<_> = own.arguments.iter().map(|(_, kind)| kind.clone()).collect();
        function_event(keyspace, ChangeKind::Dropped, ChangeTarget::Function, &own.name, &types)
    });
    let aggregates = keyspace.aggregates.iter().map(|own| {
        let target = ChangeTarget::Aggregate;
        function_event(keyspace, ChangeKind::Dropped, target, &own.name, &own.arguments)
    });
    tables(true).chain(tables(false)).chain(types).chain(functions).chain(aggregates).collect()
}

/// Returns the types and tables that are made of other types than they were.
fn made_anew(before: &Keyspace, after: &Keyspace) -> Vec<SchemaChange> {
    let told = |target, name| schema_event(ChangeKind::Updated, target, &after.name, name);
    let types = after
        .types
        .iter()
        .filter(|(name, own)| before.types.get(*name).is_some_and(|old| old != *own));
    let tables = after.tables.iter().filter(|(name, own)| {
        before.tables.get(*name).is_some_and(|old| old.columns != own.columns)
    });
    types
        .map(|(name, _)| told(ChangeTarget::Type, name))
        .chain(tables.map(|(name, _)| told(ChangeTarget::Table, name)))
        .collect()
}

fn tables(before: Option<&Keyspace>, after: Option<&Keyspace>) -> Vec<SchemaChange> {
    let names: BTreeSet<&String> =
        [before, after].into_iter().flatten().flat_map(|own| own.tables.keys()).collect();
    let keyspace = before.or(after).map(|own| own.name.to_string()).unwrap_or_default();
    let told = |kind, name: &String| SchemaChange {
        kind,
        target: ChangeTarget::Table,
        keyspace: keyspace.clone(),
        name: name.clone(),
        arguments: Vec::new(),
    };
    let mut changes = Vec::new();
    for name in names {
        let of = |own: Option<&Keyspace>| own.and_then(|own| own.tables.get(name)).cloned();
        match (of(before), of(after)) {
            (None, Some(_)) => changes.push(told(ChangeKind::Created, name)),
            (Some(_), None) => changes.push(told(ChangeKind::Dropped, name)),
            (Some(old), Some(new)) if !std::sync::Arc::ptr_eq(&old, &new) => {
                changes.push(told(ChangeKind::Updated, name));
            }
            _ => {}
        }
    }
    changes
}
