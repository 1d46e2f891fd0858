//! Claims on transfers: each is worked on by one thread at a time.
//!
//! What it is not: durable, or known to other servers. Two that do the same write the same.
//!
//! Invariant: a claim is given back when it is dropped, also by a panic.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The ids of the transfers that somebody works on.
#[derive(Default)]
pub(super) struct Claims(Mutex<BTreeSet<String>>);

/// A claim on one transfer.
pub(super) struct Claim<'a> {
    claims: &'a Claims,
    id: String,
}

impl Claims {
    /// Claims a transfer; `None` if somebody has it.
    pub(super) fn claim(&self, id: &str) -> Option<Claim<'_>> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.insert(id.to_owned()).then(|| Claim { claims: self, id: id.to_owned() })
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut held = self.claims.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_claimed_once_until_it_is_given_back() {
        let claims = Claims::default();
        let first = claims.claim("a").unwrap();
        assert!(claims.claim("a").is_none());
        assert!(claims.claim("b").is_some());
        drop(first);
        assert!(claims.claim("a").is_some());
    }
}
