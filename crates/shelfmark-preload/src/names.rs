//! Intercepts calls on names: opening, renaming, linking, removing, creating folders.
//!
//! As in [`crate::files`], each function keeps the contract of the C function whose name it has.

use libc::{AT_FDCWD, c_char, c_int, c_uint, mode_t, off_t};

use crate::fault::{Op, failure, is_meant};
use crate::handles;
use crate::next::{fail, next};
use crate::paths::absolute;
use crate::record::Record;
use crate::state::recorder;

/// Opens `path` by `call`, and tracks the descriptor if the path is below the root.
///
/// # Safety
///
/// `path` ends with a zero byte.
unsafe fn open_with(
    at: c_int,
    path: *const c_char,
    flags: c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let recorder = recorder();
    // SAFETY: the caller's promise.
    let path = unsafe { absolute(at, path) };
    if !recorder.counts(&path) {
        let fd = call();
        // Its number may have been one of ours that was closed out of sight.
        handles::forget(fd);
        return fd;
    }
    let creates = flags & libc::O_CREAT != 0;
    if let Some(errno) = failure(if creates { Op::Create } else { Op::Open }, is_meant(&path)) {
        return fail(errno);
    }
    if flags & libc::O_TMPFILE == libc::O_TMPFILE {
        // A file without a name would need a link by descriptor later.
        return fail(libc::EOPNOTSUPP);
    }
    let _order = recorder.order();
    let fd = call();
    if fd >= 0 {
        let handle = handles::follow(fd, is_meant(&path));
        let empties = flags & libc::O_TRUNC != 0;
        Record::open(handle, creates, empties, &path).append(recorder);
    }
    fd
}

/// Intercepts an open; the mode may be absent: it is in a register then, and ignored.
macro_rules! open {
    ($name:ident, $symbol:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
            type Next = unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int;
            let next = next!($symbol as Next);
            // SAFETY: the caller keeps the contract; the mode is passed on as it came.
            unsafe { open_with(AT_FDCWD, path, flags, || next(path, flags, mode)) }
        }
    };
}

open!(open, c"open");
open!(open64, c"open64");

/// Intercepts an open below an open folder.
macro_rules! openat {
    ($name:ident, $symbol:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            at: c_int,
            path: *const c_char,
            flags: c_int,
            mode: c_uint,
        ) -> c_int {
            type Next = unsafe extern "C" fn(c_int, *const c_char, c_int, ...) -> c_int;
            let next = next!($symbol as Next);
            // SAFETY: the caller keeps the contract; the mode is passed on as it came.
            unsafe { open_with(at, path, flags, || next(at, path, flags, mode)) }
        }
    };
}

openat!(openat, c"openat");
openat!(openat64, c"openat64");

/// Intercepts `creat`.
macro_rules! creat {
    ($name:ident, $symbol:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, mode: mode_t) -> c_int {
            let next = next!($symbol as unsafe extern "C" fn(*const c_char, mode_t) -> c_int);
            let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
            // SAFETY: the caller keeps the contract.
            unsafe { open_with(AT_FDCWD, path, flags, || next(path, mode)) }
        }
    };
}

creat!(creat, c"creat");
creat!(creat64, c"creat64");

/// Does an operation on a path by `call`, and records it if the path is below the root.
///
/// # Safety
///
/// `path` ends with a zero byte.
unsafe fn name_with(
    op: Op,
    at: c_int,
    path: *const c_char,
    call: impl FnOnce() -> c_int,
    record: impl FnOnce(&[u8]) -> Record,
) -> c_int {
    let recorder = recorder();
    // SAFETY: the caller's promise.
    let path = unsafe { absolute(at, path) };
    if !recorder.counts(&path) {
        return call();
    }
    if let Some(errno) = failure(op, is_meant(&path)) {
        return fail(errno);
    }
    let _order = recorder.order();
    let result = call();
    if result == 0 {
        record(&path).append(recorder);
    }
    result
}

/// Works as [`name_with`], for two paths.
///
/// # Safety
///
/// Both paths end with a zero byte.
unsafe fn names_with(
    (from_at, from): (c_int, *const c_char),
    (to_at, to): (c_int, *const c_char),
    call: impl FnOnce() -> c_int,
    record: fn(&[u8], &[u8]) -> Record,
) -> c_int {
    let recorder = recorder();
    // SAFETY: the caller's promise.
    let (from, to) = unsafe { (absolute(from_at, from), absolute(to_at, to)) };
    if !recorder.counts(&from) && !recorder.counts(&to) {
        return call();
    }
    if let Some(errno) = failure(Op::Rename, is_meant(&to)) {
        return fail(errno);
    }
    let _order = recorder.order();
    let result = call();
    if result == 0 {
        record(&from, &to).append(recorder);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    let next = next!(c"unlink" as unsafe extern "C" fn(*const c_char) -> c_int);
    // SAFETY: the caller keeps the contract of `unlink`.
    unsafe { name_with(Op::Unlink, AT_FDCWD, path, || next(path), Record::unlink) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(at: c_int, path: *const c_char, flags: c_int) -> c_int {
    let next = next!(c"unlinkat" as unsafe extern "C" fn(c_int, *const c_char, c_int) -> c_int);
    let is_folder = flags & libc::AT_REMOVEDIR != 0;
    let record = if is_folder { Record::remove_folder } else { Record::unlink };
    // SAFETY: the caller keeps the contract of `unlinkat`.
    unsafe { name_with(Op::Unlink, at, path, || next(at, path, flags), record) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    let next = next!(c"rmdir" as unsafe extern "C" fn(*const c_char) -> c_int);
    // SAFETY: the caller keeps the contract of `rmdir`.
    unsafe { name_with(Op::Unlink, AT_FDCWD, path, || next(path), Record::remove_folder) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    let next = next!(c"mkdir" as unsafe extern "C" fn(*const c_char, mode_t) -> c_int);
    // SAFETY: the caller keeps the contract of `mkdir`.
    unsafe { name_with(Op::Folder, AT_FDCWD, path, || next(path, mode), Record::create_folder) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdirat(at: c_int, path: *const c_char, mode: mode_t) -> c_int {
    let next = next!(c"mkdirat" as unsafe extern "C" fn(c_int, *const c_char, mode_t) -> c_int);
    // SAFETY: the caller keeps the contract of `mkdirat`.
    unsafe { name_with(Op::Folder, at, path, || next(at, path, mode), Record::create_folder) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    let next = next!(c"rename" as unsafe extern "C" fn(*const c_char, *const c_char) -> c_int);
    // SAFETY: the caller keeps the contract of `rename`.
    unsafe { names_with((AT_FDCWD, from), (AT_FDCWD, to), || next(from, to), Record::rename) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat(
    from_at: c_int,
    from: *const c_char,
    to_at: c_int,
    to: *const c_char,
) -> c_int {
    type Next = unsafe extern "C" fn(c_int, *const c_char, c_int, *const c_char) -> c_int;
    let next = next!(c"renameat" as Next);
    let call = || {
        // SAFETY: the caller keeps the contract of `renameat`.
        unsafe { next(from_at, from, to_at, to) }
    };
    // SAFETY: as above.
    unsafe { names_with((from_at, from), (to_at, to), call, Record::rename) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat2(
    from_at: c_int,
    from: *const c_char,
    to_at: c_int,
    to: *const c_char,
    flags: c_uint,
) -> c_int {
    type Next = unsafe extern "C" fn(c_int, *const c_char, c_int, *const c_char, c_uint) -> c_int;
    let next = next!(c"renameat2" as Next);
    if flags & libc::RENAME_EXCHANGE != 0 {
        // Not recordable as a rename.
        return fail(libc::EINVAL);
    }
    let call = || {
        // SAFETY: the caller keeps the contract of `renameat2`.
        unsafe { next(from_at, from, to_at, to, flags) }
    };
    // SAFETY: as above.
    unsafe { names_with((from_at, from), (to_at, to), call, Record::rename) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn link(from: *const c_char, to: *const c_char) -> c_int {
    let next = next!(c"link" as unsafe extern "C" fn(*const c_char, *const c_char) -> c_int);
    // SAFETY: the caller keeps the contract of `link`.
    unsafe { names_with((AT_FDCWD, from), (AT_FDCWD, to), || next(from, to), Record::link) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn linkat(
    from_at: c_int,
    from: *const c_char,
    to_at: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    type Next = unsafe extern "C" fn(c_int, *const c_char, c_int, *const c_char, c_int) -> c_int;
    let next = next!(c"linkat" as Next);
    let call = || {
        // SAFETY: the caller keeps the contract of `linkat`.
        unsafe { next(from_at, from, to_at, to, flags) }
    };
    // SAFETY: as above.
    unsafe { names_with((from_at, from), (to_at, to), call, Record::link) }
}

/// Intercepts a change of length by path.
macro_rules! truncate {
    ($name:ident, $symbol:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, length: off_t) -> c_int {
            let next = next!($symbol as unsafe extern "C" fn(*const c_char, off_t) -> c_int);
            let bytes = u64::try_from(length).unwrap_or(0);
            let record = |path: &[u8]| Record::length_by_path(path, bytes);
            // SAFETY: the caller keeps the contract.
            unsafe { name_with(Op::Length, AT_FDCWD, path, || next(path, length), record) }
        }
    };
}

truncate!(truncate, c"truncate");
truncate!(truncate64, c"truncate64");
