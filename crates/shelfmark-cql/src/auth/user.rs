//! The role that a connection has logged in as.

use std::sync::Arc;

/// The role that a client has logged in as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The role's name.
    pub name: Arc<str>,
    /// The name of the role that the server was started with. It is always a superuser, and nobody
    /// else is without saying so in its row: a role that was dropped may still be connected.
    pub start_role: Arc<str>,
}

impl User {
    pub(crate) fn is_start_role(&self) -> bool {
        self.name == self.start_role
    }
}
