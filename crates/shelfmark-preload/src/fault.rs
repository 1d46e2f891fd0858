//! Makes operations fail because a test asked for it.
//!
//! A plan is `ops:n:what`. `ops` is one or more of `open create read write length sync rename
//! unlink folder any`, joined by `|`; `create` is an open that may create, and not an `open`. `n`
//! counts such operations on files below the root from 1; with `+` behind it, all from the n-th on
//! fail. `what` is the name of an error (`EIO ENOSPC EROFS EACCES`), `short` (reads and writes
//! take half of the bytes; other operations are done as usual), or `kill` (the process ends there,
//! as by `kill -9`). Faults may be meant for paths with a certain end only, or, if that end is a `/`,
//! for what is in such folders.

use std::ffi::{CString, c_char};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::next::{keeping_errno, next};
use crate::state;

/// A kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Open,
    Create,
    Read,
    Write,
    Length,
    Sync,
    Rename,
    Unlink,
    Folder,
}

impl Op {
    fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Create => "create",
            Self::Read => "read",
            Self::Write => "write",
            Self::Length => "length",
            Self::Sync => "sync",
            Self::Rename => "rename",
            Self::Unlink => "unlink",
            Self::Folder => "folder",
        }
    }
}

/// The outcome of an operation that a fault hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strike {
    /// It fails with this error number.
    Fail(i32),
    /// It does half of its work.
    Short,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Strike(Strike),
    Kill,
}

/// The plan of faults.
pub(crate) struct Plan {
    ops: Vec<String>,
    from: u64,
    stays: bool,
    what: What,
    only_while: Option<CString>,
    path_end: Vec<u8>,
    told: Option<CString>,
    seen: AtomicU64,
}

impl Plan {
    /// Parses a plan; ends the process if it is invalid.
    pub(crate) fn parse(
        plan: &[u8],
        path_end: Vec<u8>,
        only_while: Option<CString>,
        told: Option<CString>,
    ) -> Self {
        let text = String::from_utf8_lossy(plan);
        let mut parts = text.split(':');
        let (Some(ops), Some(count), Some(what), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            state::give_up("SHELFMARK_FAULT is not ops:n:what")
        };
        let what = match what {
            "EIO" => What::Strike(Strike::Fail(libc::EIO)),
            "ENOSPC" => What::Strike(Strike::Fail(libc::ENOSPC)),
            "EROFS" => What::Strike(Strike::Fail(libc::EROFS)),
            "EACCES" => What::Strike(Strike::Fail(libc::EACCES)),
            "short" => What::Strike(Strike::Short),
            "kill" => What::Kill,
            _ => state::give_up("SHELFMARK_FAULT names no known fault"),
        };
        let Ok(from) = count.trim_end_matches('+').parse() else {
            state::give_up("SHELFMARK_FAULT has no count");
        };
        Self {
            ops: ops.split('|').map(str::to_owned).collect(),
            from,
            stays: count.ends_with('+'),
            what,
            only_while,
            path_end,
            told,
            seen: AtomicU64::new(0),
        }
    }

    fn is_on(&self) -> bool {
        let Some(path) = &self.only_while else { return true };
        let access = next!(c"access" as unsafe extern "C" fn(*const c_char, i32) -> i32);
        // SAFETY: the path ends with a zero byte.
        keeping_errno(|| unsafe { access(path.as_ptr().cast(), libc::F_OK) }) == 0
    }
}

/// Returns true if faults apply to a path.
pub(crate) fn is_meant(path: &[u8]) -> bool {
    let Some(plan) = &state::recorder().faults else { return false };
    let end = plan.path_end.as_slice();
    if end.ends_with(b"/") {
        return path.windows(end.len()).any(|part| part == end);
    }
    path.ends_with(end)
}

/// Counts an operation on a file below the root, if faults apply to it, and returns the fault that
/// hits it. The caller must not hold the
/// order.
pub(crate) fn strike(op: Op, is_meant: bool) -> Option<Strike> {
    let plan = state::recorder().faults.as_ref()?;
    let is_named = plan.ops.iter().any(|name| name == op.name() || name == "any");
    if !is_meant || !is_named || !plan.is_on() {
        return None;
    }
    let number = plan.seen.fetch_add(1, Ordering::SeqCst) + 1;
    if number != plan.from && !(plan.stays && number > plan.from) {
        return None;
    }
    if let Some(path) = &plan.told {
        state::create(path);
    }
    match plan.what {
        What::Strike(strike) => Some(strike),
        What::Kill => {
            // Nobody is between an operation and its record when the process ends.
            let _order = state::recorder().order();
            // SAFETY: always sound; the signal cannot be caught, so nothing after it runs.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
            None
        }
    }
}

/// Works as [`strike`], for an operation that cannot do half of its work.
pub(crate) fn failure(op: Op, is_meant: bool) -> Option<i32> {
    match strike(op, is_meant) {
        Some(Strike::Fail(errno)) => Some(errno),
        Some(Strike::Short) | None => None,
    }
}
