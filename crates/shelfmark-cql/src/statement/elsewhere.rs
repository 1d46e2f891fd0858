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
            (Some(_), None) => told.push(whole(ChangeKind::Dropped)),
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

/// Returns what `told` changed beside the table that it names, as Cassandra tells of it: its views.
pub(super) fn changed_beside(
    told: &SchemaChange,
    before: &Schema,
    after: &Schema,
) -> Vec<SchemaChange> {
    let of = |schema: &Schema| schema.keyspaces.get(&told.keyspace).cloned();
    let mut changed = tables(of(before).as_deref(), of(after).as_deref());
    changed.retain(|own| told.target != ChangeTarget::Table || own.name != told.name);
    changed
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
