//! The progress of a connection through its handshake.

use std::sync::{Arc, Mutex};

use crate::auth::User;
use shelfmark_engine::locks::lock;

/// The phase of a connection's handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phase {
    /// The client has said nothing yet.
    New,
    /// The client was asked to log in.
    Asked,
    /// The login is being checked: one check at a time costs a client no more than it costs us.
    Checking,
    /// The client may send statements, as this role if logins are required.
    Ready(Option<User>),
}

/// The phase, shared with the thread that checks a password.
#[derive(Debug, Clone)]
pub(super) struct SharedPhase(Arc<Mutex<Phase>>);

impl SharedPhase {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Phase::New)))
    }

    pub(super) fn get(&self) -> Phase {
        lock(&self.0).clone()
    }

    pub(super) fn set(&self, phase: Phase) {
        *lock(&self.0) = phase;
    }
}
