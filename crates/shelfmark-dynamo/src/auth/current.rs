//! The credentials that hold now, which a running server may exchange.
//!
//! Invariant: what one request is checked against and what its key may do come from the same list: a
//! request takes the list once.

use std::sync::{Arc, PoisonError, RwLock};

use super::Credentials;

/// Credentials that can be exchanged while requests are checked.
#[derive(Debug)]
pub(crate) struct CurrentCredentials(RwLock<Arc<Credentials>>);

impl CurrentCredentials {
    pub(crate) fn new(credentials: Credentials) -> Self {
        Self(RwLock::new(Arc::new(credentials)))
    }

    /// Returns those that hold now.
    pub(crate) fn now(&self) -> Arc<Credentials> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, credentials: Credentials) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(credentials);
    }
}
