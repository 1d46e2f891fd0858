//! Events: the connections that are told about changes of the schema, and of servers that come and go.
//!
//! Servers change where several share a store; elsewhere whoever registers for them hears nothing.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Weak};

use bytes::BytesMut;
use shelfmark_cql_protocol::frame::Version;
use shelfmark_cql_protocol::{ChangeTarget, SchemaChange, ServerChange, message};

use super::send_queue::SendQueue;
use crate::outcome::Outcome;
use shelfmark_engine::locks::lock;

/// A kind of events that connections register for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    Schema,
    Topology,
    Status,
}

impl EventKind {
    /// Reads a kind as a client names it.
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_uppercase().as_str() {
            "SCHEMA_CHANGE" => Some(Self::Schema),
            "TOPOLOGY_CHANGE" => Some(Self::Topology),
            "STATUS_CHANGE" => Some(Self::Status),
            _ => None,
        }
    }
}

/// The connections that registered, and for what.
#[derive(Default)]
pub(super) struct Events {
    listeners: Mutex<Vec<(EventKind, Weak<SendQueue>)>>,
}

impl Events {
    /// Adds a connection; it is forgotten when it is gone.
    pub(super) fn add(&self, kind: EventKind, listener: &Arc<SendQueue>) {
        let mut listeners = lock(&self.listeners);
        listeners.retain(|(_, listener)| listener.strong_count() > 0);
        let known = listeners.iter().any(|(own, known)| {
            *own == kind && std::ptr::eq(known.as_ptr(), Arc::as_ptr(listener))
        });
        if !known {
            listeners.push((kind, Arc::downgrade(listener)));
        }
    }

    /// Tells everybody of each change of the schema that a request made, if it made one. What goes with a
    /// keyspace is told before it, for drivers know nothing of the parts of one that is gone.
    pub(super) fn publish_all(&self, outcome: &Outcome, beside: &[SchemaChange]) {
        let Outcome::SchemaChange(change) = outcome else { return };
        let is_last = change.target == ChangeTarget::Keyspace;
        let (before, behind) = if is_last { (beside, &[][..]) } else { (&[][..], beside) };
        for change in before.iter().chain([change]).chain(behind) {
            self.publish(change);
        }
    }

    /// Tells everybody of a change of the schema.
    pub(super) fn publish(&self, change: &SchemaChange) {
        self.tell(EventKind::Schema, |version, out| message::event(change, version, out));
    }

    /// Tells everybody of a server that came or went.
    pub(super) fn server(&self, change: ServerChange, address: SocketAddr) {
        let kind = match change {
            ServerChange::Added | ServerChange::Removed => EventKind::Topology,
            ServerChange::Up | ServerChange::Down => EventKind::Status,
        };
        self.tell(kind, |_, out| message::server_event(change, address, out));
    }

    fn tell(&self, kind: EventKind, write: impl Fn(Version, &mut BytesMut)) {
        let listeners: Vec<Arc<SendQueue>> = {
            let listeners = lock(&self.listeners);
            let own = listeners.iter().filter(|(own, _)| *own == kind);
            own.filter_map(|(_, listener)| listener.upgrade()).collect()
        };
        for listener in listeners {
            listener.event(&write);
        }
    }
}
