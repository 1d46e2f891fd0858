//! Tracks which file descriptors belong to files below the root, and their handles in the
//! recording.
//!
//! Invariant: a descriptor that was closed has no handle, so that its next owner, a socket
//! perhaps, is left alone.

use std::sync::atomic::{AtomicU32, Ordering};

/// Descriptors from this number on are not tracked. A process of our tests has a few dozen.
const DESCRIPTORS: usize = 4096;

/// The bit of a slot whose file faults apply to.
const CHOSEN: u32 = 1 << 31;

static HANDLES: [AtomicU32; DESCRIPTORS] = [const { AtomicU32::new(0) }; DESCRIPTORS];
static NEXT: AtomicU32 = AtomicU32::new(1);

fn slot(fd: i32) -> Option<&'static AtomicU32> {
    HANDLES.get(usize::try_from(fd).ok()?)
}

fn content(fd: i32) -> u32 {
    slot(fd).map_or(0, |slot| slot.load(Ordering::Acquire))
}

/// Returns the handle of a tracked descriptor.
pub(crate) fn get(fd: i32) -> Option<u32> {
    Some(content(fd) & !CHOSEN).filter(|handle| *handle != 0)
}

/// Returns true if faults apply to the file of a descriptor.
pub(crate) fn is_chosen(fd: i32) -> bool {
    content(fd) & CHOSEN != 0
}

/// Tracks a descriptor under a new handle. Faults are meant for it if it is `chosen`.
pub(crate) fn follow(fd: i32, chosen: bool) -> u32 {
    let handle = NEXT.fetch_add(1, Ordering::Relaxed);
    if let Some(slot) = slot(fd) {
        slot.store(handle | if chosen { CHOSEN } else { 0 }, Ordering::Release);
    }
    handle
}

/// Tracks `copy` under the handle of `fd`, or stops tracking it if `fd` has none.
pub(crate) fn copy(fd: i32, copy: i32) {
    if let Some(slot) = slot(copy) {
        slot.store(content(fd), Ordering::Release);
    }
}

/// Stops tracking a descriptor.
pub(crate) fn forget(fd: i32) {
    if let Some(slot) = slot(fd) {
        slot.store(0, Ordering::Release);
    }
}
