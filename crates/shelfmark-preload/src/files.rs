//! Intercepts calls on open files: reading, writing, changing the length, syncing, closing,
//! duplicating.
//!
//! Every function here has the name and the arguments of the C function that it takes over, and
//! keeps its contract; so callers promise what they promise to that function.

use std::ffi::c_void;

use libc::{c_char, c_int, iovec, off_t, size_t, ssize_t};

use crate::fault::{Op, Strike, failure, strike};
use crate::handles;
use crate::next::{fail, keeping_errno, next};
use crate::record::Record;
use crate::state::recorder;

const STDOUT: c_int = 1;

/// Returns the bytes of a caller's buffer.
///
/// # Safety
///
/// `buffer` is valid for `count` bytes, or `count` is 0.
unsafe fn bytes<'a>(buffer: *const c_void, count: usize) -> &'a [u8] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), count) }
}

/// Returns the file position after a write of a descriptor that follows its cursor.
fn cursor(fd: c_int) -> u64 {
    // SAFETY: always sound; a descriptor without a cursor answers an error.
    u64::try_from(keeping_errno(|| unsafe { libc::lseek64(fd, 0, libc::SEEK_CUR) })).unwrap_or(0)
}

/// Does a write of `count` bytes by `call`, and records the bytes that `at` returns.
fn write_with(
    fd: c_int,
    count: size_t,
    call: impl FnOnce(size_t) -> ssize_t,
    record: impl FnOnce(u32, usize) -> Record,
) -> ssize_t {
    let Some(handle) = handles::get(fd) else { return call(count) };
    let count = match strike(Op::Write, handles::is_chosen(fd)) {
        Some(Strike::Fail(errno)) => return fail(errno) as ssize_t,
        Some(Strike::Short) if count > 1 => count / 2,
        Some(Strike::Short) | None => count,
    };
    let recorder = recorder();
    let _order = recorder.order();
    let written = call(count);
    if let Ok(written) = usize::try_from(written)
        && written > 0
    {
        record(handle, written).append(recorder);
    }
    written
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, buffer: *const c_void, count: size_t) -> ssize_t {
    let next = next!(c"write" as unsafe extern "C" fn(c_int, *const c_void, size_t) -> ssize_t);
    if fd == STDOUT {
        let recorder = recorder();
        let _order = recorder.order();
        // SAFETY: the caller keeps the contract of `write`.
        let written = unsafe { next(fd, buffer, count) };
        if let Ok(written) = usize::try_from(written) {
            // SAFETY: so many bytes of the buffer were just read.
            Record::note(unsafe { bytes(buffer, written) }).append(recorder);
        }
        return written;
    }
    write_with(
        fd,
        count,
        // SAFETY: the caller keeps the contract of `write`, also for fewer bytes.
        |count| unsafe { next(fd, buffer, count) },
        |handle, written| {
            let offset = cursor(fd).saturating_sub(written as u64);
            // SAFETY: so many bytes of the buffer were just written.
            Record::write(handle, offset, unsafe { bytes(buffer, written) })
        },
    )
}

/// Intercepts a positioned write.
macro_rules! pwrite {
    ($name:ident, $symbol:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            fd: c_int,
            buffer: *const c_void,
            count: size_t,
            offset: off_t,
        ) -> ssize_t {
            type Next = unsafe extern "C" fn(c_int, *const c_void, size_t, off_t) -> ssize_t;
            let next = next!($symbol as Next);
            write_with(
                fd,
                count,
                // SAFETY: the caller keeps the contract, also for fewer bytes.
                |count| unsafe { next(fd, buffer, count, offset) },
                |handle, written| {
                    // SAFETY: so many bytes of the buffer were just written.
                    let bytes = unsafe { bytes(buffer, written) };
                    Record::write(handle, u64::try_from(offset).unwrap_or(0), bytes)
                },
            )
        }
    };
}

pwrite!(pwrite, c"pwrite");
pwrite!(pwrite64, c"pwrite64");

/// Gathers the first `written` bytes of the caller's buffers.
///
/// # Safety
///
/// `parts` is valid for `count` buffers, and they for what they say.
unsafe fn gather(parts: *const iovec, count: c_int, written: usize) -> Vec<u8> {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the caller's promise.
    let parts = unsafe { std::slice::from_raw_parts(parts, count) };
    let mut all = Vec::with_capacity(written);
    for part in parts {
        // SAFETY: the caller's promise.
        all.extend_from_slice(unsafe { bytes(part.iov_base, part.iov_len) });
    }
    all.truncate(written);
    all
}

#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    let next = next!(c"writev" as unsafe extern "C" fn(c_int, *const iovec, c_int) -> ssize_t);
    write_with(
        fd,
        1,
        // SAFETY: the caller keeps the contract of `writev`.
        |_| unsafe { next(fd, parts, count) },
        |handle, written| {
            let offset = cursor(fd).saturating_sub(written as u64);
            // SAFETY: the buffers were just read.
            Record::write(handle, offset, &unsafe { gather(parts, count, written) })
        },
    )
}

/// Intercepts a positioned write of several buffers.
macro_rules! pwritev {
    ($name:ident, $symbol:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            fd: c_int,
            parts: *const iovec,
            count: c_int,
            offset: off_t,
        ) -> ssize_t {
            type Next = unsafe extern "C" fn(c_int, *const iovec, c_int, off_t) -> ssize_t;
            let next = next!($symbol as Next);
            write_with(
                fd,
                1,
                // SAFETY: the caller keeps the contract.
                |_| unsafe { next(fd, parts, count, offset) },
                |handle, written| {
                    // SAFETY: the buffers were just read.
                    let all = unsafe { gather(parts, count, written) };
                    Record::write(handle, u64::try_from(offset).unwrap_or(0), &all)
                },
            )
        }
    };
}

pwritev!(pwritev, c"pwritev");
pwritev!(pwritev64, c"pwritev64");

/// Does a read of `count` bytes by `call`, which a fault may hit; reads are not recorded.
fn read_with(fd: c_int, count: size_t, call: impl FnOnce(size_t) -> ssize_t) -> ssize_t {
    if handles::get(fd).is_none() {
        return call(count);
    }
    match strike(Op::Read, handles::is_chosen(fd)) {
        Some(Strike::Fail(errno)) => fail(errno) as ssize_t,
        Some(Strike::Short) if count > 1 => call(count / 2),
        Some(Strike::Short) | None => call(count),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, count: size_t) -> ssize_t {
    let next = next!(c"read" as unsafe extern "C" fn(c_int, *mut c_void, size_t) -> ssize_t);
    // SAFETY: the caller keeps the contract of `read`, also for fewer bytes.
    read_with(fd, count, |count| unsafe { next(fd, buffer, count) })
}

/// Intercepts a positioned read.
macro_rules! pread {
    ($name:ident, $symbol:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            fd: c_int,
            buffer: *mut c_void,
            count: size_t,
            offset: off_t,
        ) -> ssize_t {
            type Next = unsafe extern "C" fn(c_int, *mut c_void, size_t, off_t) -> ssize_t;
            let next = next!($symbol as Next);
            // SAFETY: the caller keeps the contract, also for fewer bytes.
            read_with(fd, count, |count| unsafe { next(fd, buffer, count, offset) })
        }
    };
}

pread!(pread, c"pread");
pread!(pread64, c"pread64");

/// Intercepts a change of length.
macro_rules! ftruncate {
    ($name:ident, $symbol:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(fd: c_int, length: off_t) -> c_int {
            let next = next!($symbol as unsafe extern "C" fn(c_int, off_t) -> c_int);
            let Some(handle) = handles::get(fd) else {
                // SAFETY: the caller keeps the contract.
                return unsafe { next(fd, length) };
            };
            if let Some(errno) = failure(Op::Length, handles::is_chosen(fd)) {
                return fail(errno);
            }
            let recorder = recorder();
            let _order = recorder.order();
            // SAFETY: as above.
            let result = unsafe { next(fd, length) };
            if result == 0 {
                Record::length(handle, u64::try_from(length).unwrap_or(0)).append(recorder);
            }
            result
        }
    };
}

ftruncate!(ftruncate, c"ftruncate");
ftruncate!(ftruncate64, c"ftruncate64");

/// Intercepts a sync. Nothing is held meanwhile: other threads go on, as they do without us.
macro_rules! sync {
    ($name:ident, $symbol:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(fd: c_int) -> c_int {
            let next = next!($symbol as unsafe extern "C" fn(c_int) -> c_int);
            let Some(handle) = handles::get(fd) else {
                // SAFETY: the caller keeps the contract.
                return unsafe { next(fd) };
            };
            if let Some(errno) = failure(Op::Sync, handles::is_chosen(fd)) {
                return fail(errno);
            }
            let recorder = recorder();
            let site = keeping_errno(|| recorder.site());
            let order = recorder.order();
            let (number, record) = Record::sync_begin(handle, &site);
            record.append(recorder);
            drop(order);
            // SAFETY: as above.
            let result = unsafe { next(fd) };
            if result == 0 {
                let _order = recorder.order();
                Record::sync_end(number).append(recorder);
            }
            result
        }
    };
}

sync!(fsync, c"fsync");
sync!(fdatasync, c"fdatasync");

#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    let next = next!(c"close" as unsafe extern "C" fn(c_int) -> c_int);
    handles::forget(fd);
    // SAFETY: the caller keeps the contract of `close`.
    unsafe { next(fd) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn closedir(folder: *mut libc::DIR) -> c_int {
    let next = next!(c"closedir" as unsafe extern "C" fn(*mut libc::DIR) -> c_int);
    // SAFETY: the caller hands in an open stream.
    handles::forget(unsafe { libc::dirfd(folder) });
    // SAFETY: the caller keeps the contract of `closedir`.
    unsafe { next(folder) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup(fd: c_int) -> c_int {
    let next = next!(c"dup" as unsafe extern "C" fn(c_int) -> c_int);
    // SAFETY: the caller keeps the contract of `dup`.
    let copy = unsafe { next(fd) };
    handles::copy(fd, copy);
    copy
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup2(fd: c_int, to: c_int) -> c_int {
    let next = next!(c"dup2" as unsafe extern "C" fn(c_int, c_int) -> c_int);
    // SAFETY: the caller keeps the contract of `dup2`.
    let copy = unsafe { next(fd, to) };
    handles::copy(fd, copy);
    copy
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int {
    let next = next!(c"dup3" as unsafe extern "C" fn(c_int, c_int, c_int) -> c_int);
    // SAFETY: the caller keeps the contract of `dup3`.
    let copy = unsafe { next(fd, to, flags) };
    handles::copy(fd, copy);
    copy
}

/// Intercepts `fcntl`, whose third argument may be absent; it is in a register then, and ignored.
macro_rules! fcntl {
    ($name:ident, $symbol:literal) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(fd: c_int, command: c_int, argument: *mut c_void) -> c_int {
            type Next = unsafe extern "C" fn(c_int, c_int, ...) -> c_int;
            let next = next!($symbol as Next);
            // SAFETY: the caller keeps the contract; the argument is passed on as it came.
            let result = unsafe { next(fd, command, argument) };
            if command == libc::F_DUPFD || command == libc::F_DUPFD_CLOEXEC {
                handles::copy(fd, result);
            }
            result
        }
    };
}

fcntl!(fcntl, c"fcntl");
fcntl!(fcntl64, c"fcntl64");

/// Refuses a call that moves data inside the kernel, where it cannot be recorded.
macro_rules! refuse {
    ($name:ident, $symbol:literal, $target:ident, $errno:expr,
     ($($argument:ident: $kind:ty),*) -> $result:ty) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
            let next = next!($symbol as unsafe extern "C" fn($($kind),*) -> $result);
            if handles::get($target).is_some() {
                return fail($errno) as $result;
            }
            // SAFETY: the caller keeps the contract.
            unsafe { next($($argument),*) }
        }
    };
}

refuse!(copy_file_range, c"copy_file_range", to, libc::ENOSYS,
    (from: c_int, from_at: *mut off_t, to: c_int, to_at: *mut off_t, count: size_t, flags: u32)
    -> ssize_t);
refuse!(sendfile, c"sendfile", to, libc::ENOSYS,
    (to: c_int, from: c_int, from_at: *mut off_t, count: size_t) -> ssize_t);
refuse!(sendfile64, c"sendfile64", to, libc::ENOSYS,
    (to: c_int, from: c_int, from_at: *mut off_t, count: size_t) -> ssize_t);
refuse!(splice, c"splice", to, libc::EINVAL,
    (from: c_int, from_at: *mut off_t, to: c_int, to_at: *mut off_t, count: size_t, flags: u32)
    -> ssize_t);
refuse!(fallocate, c"fallocate", fd, libc::EOPNOTSUPP,
    (fd: c_int, mode: c_int, offset: off_t, length: off_t) -> c_int);
refuse!(fallocate64, c"fallocate64", fd, libc::EOPNOTSUPP,
    (fd: c_int, mode: c_int, offset: off_t, length: off_t) -> c_int);

/// Reports the free space that a file names, if one was given.
macro_rules! statvfs {
    ($name:ident, $symbol:literal, $first:ident: $kind:ty) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($first: $kind, status: *mut libc::statvfs) -> c_int {
            type Next = unsafe extern "C" fn($kind, *mut libc::statvfs) -> c_int;
            let next = next!($symbol as Next);
            // SAFETY: the caller keeps the contract.
            let result = unsafe { next($first, status) };
            if result == 0
                && let Some(free) = recorder().free.as_ref().and_then(|path| number_in(path))
            {
                // SAFETY: the call went well, so the caller's structure is filled.
                let status = unsafe { &mut *status };
                status.f_bavail = free / status.f_frsize.max(1);
            }
            result
        }
    };
}

statvfs!(statvfs, c"statvfs", path: *const c_char);
statvfs!(statvfs64, c"statvfs64", path: *const c_char);
statvfs!(fstatvfs, c"fstatvfs", fd: c_int);
statvfs!(fstatvfs64, c"fstatvfs64", fd: c_int);

/// Parses the decimal number that a file holds.
fn number_in(path: &std::ffi::CStr) -> Option<u64> {
    let open = next!(c"open" as unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int);
    let read = next!(c"read" as unsafe extern "C" fn(c_int, *mut c_void, size_t) -> ssize_t);
    let close = next!(c"close" as unsafe extern "C" fn(c_int) -> c_int);
    let mut text = [0_u8; 32];
    // SAFETY: the path ends with a zero byte; the buffer is as long as is said.
    let length = unsafe {
        let fd = open(path.as_ptr(), libc::O_RDONLY);
        let length = read(fd, text.as_mut_ptr().cast(), text.len());
        close(fd);
        length
    };
    let text = text.get(..usize::try_from(length).ok()?)?;
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}
