//! Computes the absolute paths that calls name.

use std::ffi::{CStr, c_char};

use crate::next::{keeping_errno, next};

/// Returns the absolute path that `path`, seen from the folder `at`, names.
///
/// `.` and doubled slashes are taken out; symbolic links and `..` are left as they are, so the root
/// must be given without them.
///
/// # Safety
///
/// `path` ends with a zero byte.
pub(crate) unsafe fn absolute(at: i32, path: *const c_char) -> Vec<u8> {
    if path.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    let path = unsafe { CStr::from_ptr(path.cast()) }.to_bytes();
    let mut out = if path.starts_with(b"/") { Vec::new() } else { folder(at) };
    for part in path.split(|byte| *byte == b'/') {
        if !part.is_empty() && part != b"." {
            out.push(b'/');
            out.extend_from_slice(part);
        }
    }
    out
}

/// Returns the path of an open folder, or of the current one.
fn folder(at: i32) -> Vec<u8> {
    let link = if at == libc::AT_FDCWD {
        "/proc/self/cwd\0".to_owned()
    } else {
        format!("/proc/self/fd/{at}\0")
    };
    let readlink = next!(c"readlink" as unsafe extern "C" fn(*const u8, *mut u8, usize) -> isize);
    let mut target = vec![0_u8; 4096];
    // SAFETY: the link ends with a zero byte, and the buffer is as long as is said.
    let length =
        keeping_errno(|| unsafe { readlink(link.as_ptr(), target.as_mut_ptr(), target.len()) });
    target.truncate(usize::try_from(length).unwrap_or(0));
    target
}
