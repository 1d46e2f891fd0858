//! The places for connections over all ports: as many as there may be open files for.
//!
//! What it is not: a limit of one port or one client. Whoever finds no place waits in the system's
//! queue.

use std::sync::Arc;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::limits::CONNECTIONS_MAX;

/// Open files that are allowed where the system does not say.
const FILES_MAX_USUAL: u64 = 1024;

/// Open files that go with [`CONNECTIONS_MAX`].
const FILES_WANTED: u64 = 16 * 1024;

/// Places that are taken by connections and given back at their end.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    all: usize,
}

impl Places {
    /// Creates as many places as the process may have, after asking the system for all it gives.
    pub(crate) fn of_process() -> Self {
        Self::new(affordable(raised_files_max().unwrap_or(FILES_MAX_USUAL)))
    }

    fn new(all: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(all)), all }
    }

    /// Waits for a place; it is given back when it is dropped.
    pub(crate) async fn take(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.free).acquire_owned().await
    }

    /// Whether two thirds of the places are taken.
    pub(crate) fn is_crowded(&self) -> bool {
        self.free.available_permits() <= self.all / 3
    }
}

/// How many connections go with so many open files: an eighth is left to the store.
fn affordable(files_max: u64) -> usize {
    usize::try_from(files_max - files_max / 8).unwrap_or(usize::MAX).clamp(1, CONNECTIONS_MAX)
}

/// Raises the limit of open files as far as it is of use and allowed without more rights, and
/// returns it. Shells start programs with 1,024, which is a limit of `select`, not of the system.
#[cfg(unix)]
fn raised_files_max() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(FILES_WANTED, |most| most.min(FILES_WANTED));
    if limit.current.is_none_or(|current| current >= wanted) {
        return limit.current.or(Some(FILES_WANTED));
    }
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).map_or(limit.current, |()| Some(wanted))
}

#[cfg(not(unix))]
fn raised_files_max() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_the_store() {
        assert_eq!(affordable(1024), 896);
        assert_eq!(affordable(1 << 20), CONNECTIONS_MAX);
        assert_eq!(affordable(0), 1);
    }

    #[tokio::test]
    async fn two_of_three_places_are_a_crowd() {
        let places = Places::new(6);
        let mut taken = Vec::new();
        for number in 1..=6 {
            taken.push(places.take().await.unwrap());
            assert_eq!(places.is_crowded(), number >= 4, "{number}");
        }
        taken.truncate(3);
        assert!(!places.is_crowded());
    }
}
