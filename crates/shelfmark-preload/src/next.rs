//! Finds the intercepted functions: the next ones of the same name, which are libc's.
//!
//! Invariant: nothing in this crate calls a function that it takes over by its plain name, so no
//! operation of ours is recorded or made to fail.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Looks a function up once.
pub(crate) struct Next {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Next {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(0) }
    }

    /// Returns the address of the function; ends the process if there is none.
    pub(crate) fn address(&self) -> usize {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        // SAFETY: the name ends with a zero byte and lives for ever.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
        if found == 0 {
            // SAFETY: always sound; it does not return.
            unsafe { libc::abort() }
        }
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// Returns the next function of a name, as a function pointer of the given type.
macro_rules! next {
    ($name:literal as $kind:ty) => {{
        static NEXT: $crate::next::Next = $crate::next::Next::new($name);
        // SAFETY: the address is that of the C function of this name, whose type this is.
        unsafe { std::mem::transmute::<usize, $kind>(NEXT.address()) }
    }};
}

pub(crate) use next;

/// Sets `errno` and returns the result of a failed call.
pub(crate) fn fail(errno: i32) -> i32 {
    // SAFETY: libc gives a valid place for this thread's number.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// Runs `body`, and restores `errno` after it.
pub(crate) fn keeping_errno<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: libc gives a valid place for this thread's number.
    let before = unsafe { *libc::__errno_location() };
    let result = body();
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = before };
    result
}
