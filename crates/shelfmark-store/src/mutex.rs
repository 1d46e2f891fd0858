//! Locks mutexes whose guarded value is valid after every single step.
//!
//! What it is not: [`crate::latch`], which excludes writers of keys from each other.
//!
//! Invariant: a panic of another thread does not close such a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, poisoned or not.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
