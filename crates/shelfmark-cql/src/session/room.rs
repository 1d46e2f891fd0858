//! Room for large requests: what all connections together may hold of requests that are on their
//! way.
//!
//! Invariant: room is given back when its request is whole, and when its connection ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::{LARGE_REQUEST_SIZE_BYTES, LARGE_REQUESTS_BYTES_MAX};

/// What is taken of the room.
#[derive(Debug, Default)]
pub(super) struct Room {
    taken: AtomicUsize,
}

/// What one connection has taken.
#[derive(Debug)]
pub(super) struct Share {
    room: Arc<Room>,
    bytes: usize,
}

impl Share {
    pub(super) fn new(room: &Arc<Room>) -> Self {
        Self { room: Arc::clone(room), bytes: 0 }
    }

    /// Takes room for a request of `bytes`, unless it is small; `false` if there is none.
    pub(super) fn cover(&mut self, bytes: usize) -> bool {
        if bytes < LARGE_REQUEST_SIZE_BYTES || bytes <= self.bytes {
            return true;
        }
        let more = bytes - self.bytes;
        let fits = |taken: usize| {
            taken.checked_add(more).filter(|taken| *taken <= LARGE_REQUESTS_BYTES_MAX)
        };
        let taken = self.room.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        if taken.is_ok() {
            self.bytes = bytes;
        }
        taken.is_ok()
    }

    /// Gives everything back.
    pub(super) fn release(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes > 0 {
            self.room.taken.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_shared_and_comes_back() {
        let room = Arc::new(Room::default());
        let mut large = Share::new(&room);
        assert!(large.cover(LARGE_REQUESTS_BYTES_MAX));
        let mut other = Share::new(&room);
        assert!(other.cover(LARGE_REQUEST_SIZE_BYTES - 1));
        assert!(!other.cover(LARGE_REQUEST_SIZE_BYTES));
        drop(large);
        assert!(other.cover(LARGE_REQUEST_SIZE_BYTES));
        other.release();
        assert_eq!(room.taken.load(Ordering::Relaxed), 0);
    }
}
