//! Events: the connections that are told about changes of the schema.
//!
//! Status and topology never change on a single store: who registers for them hears nothing.

use std::sync::{Arc, Mutex, Weak};

use shelfmark_cql_protocol::{SchemaChange, message};

use super::send_queue::SendQueue;
use shelfmark_engine::locks::lock;

/// The connections that registered.
#[derive(Default)]
pub(super) struct Events {
    listeners: Mutex<Vec<Weak<SendQueue>>>,
}

impl Events {
    /// Adds a connection; it is forgotten when it is gone.
    pub(super) fn add(&self, listener: &Arc<SendQueue>) {
        let mut listeners = lock(&self.listeners);
        listeners.retain(|listener| listener.strong_count() > 0);
        let known =
            listeners.iter().any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(listener)));
        if !known {
            listeners.push(Arc::downgrade(listener));
        }
    }

    /// Tells everybody.
    pub(super) fn publish(&self, change: &SchemaChange) {
        let listeners: Vec<Arc<SendQueue>> = {
            let listeners = lock(&self.listeners);
            listeners.iter().filter_map(Weak::upgrade).collect()
        };
        for listener in listeners {
            listener.event(|version, out| message::event(change, version, out));
        }
    }
}
