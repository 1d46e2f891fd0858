//! The settings from the environment, read once, and the lock that orders operations.

use std::backtrace::Backtrace;
use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStringExt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::fault::Plan;
use crate::next::{keeping_errno, next};
use crate::record::Record;

/// The settings of this process.
pub(crate) struct Recorder {
    /// The root: paths at or below it are recorded; empty if none are.
    root: Vec<u8>,
    /// The descriptor of the recording.
    pub(crate) log: Option<i32>,
    /// The plan of faults.
    pub(crate) faults: Option<Plan>,
    /// The file that names the free space.
    pub(crate) free: Option<CString>,
    with_sites: bool,
    order: Mutex<()>,
}

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// Returns the settings.
pub(crate) fn recorder() -> &'static Recorder {
    RECORDER.get_or_init(|| {
        let root = variable("SHELFMARK_RECORD_ROOT").unwrap_or_default();
        let path = |name| variable(name).and_then(|path| CString::new(path).ok());
        let log = path("SHELFMARK_RECORD").map(|path| open_log(&path));
        let recorder = Recorder {
            root,
            log,
            faults: variable("SHELFMARK_FAULT").map(|plan| {
                let path_end = variable("SHELFMARK_FAULT_PATH").unwrap_or_default();
                let only_while = path("SHELFMARK_FAULT_WHILE");
                Plan::parse(&plan, path_end, only_while, path("SHELFMARK_FAULT_TOLD"))
            }),
            free: path("SHELFMARK_FREE"),
            with_sites: variable("SHELFMARK_RECORD_SITES").is_some(),
            order: Mutex::new(()),
        };
        Record::begin().append(&recorder);
        // SAFETY: always sound; the function stays as long as the process does.
        if unsafe { libc::atexit(stop) } != 0 {
            give_up("cannot be told of the end");
        }
        recorder
    })
}

/// Holds the lock while the process exits beside other threads: each has recorded what it did, and
/// does no more.
extern "C" fn stop() {
    std::mem::forget(recorder().order());
}

fn variable(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(OsStringExt::into_vec)
}

/// Creates an empty file, for a test that waits for it.
pub(crate) fn create(path: &CString) {
    let close = next!(c"close" as unsafe extern "C" fn(i32) -> i32);
    // SAFETY: always sound; the descriptor was opened here.
    keeping_errno(|| unsafe { close(open_log(path)) });
}

fn open_log(path: &CString) -> i32 {
    let open = next!(c"open" as unsafe extern "C" fn(*const c_char, i32, ...) -> i32);
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero byte; the mode is passed as the call demands.
    let fd = unsafe { open(path.as_ptr().cast(), flags, 0o600_u32) };
    if fd < 0 {
        give_up("cannot open the recording");
    }
    fd
}

/// Ends the process with a message: a test must never go on with half a recording or without its
/// faults.
pub(crate) fn give_up(why: &str) -> ! {
    let write = next!(c"write" as unsafe extern "C" fn(i32, *const u8, usize) -> isize);
    let text = format!("shelfmark-preload: {why}\n");
    // SAFETY: the pointer and the length are those of one live string; `abort` does not return.
    unsafe {
        write(2, text.as_ptr(), text.len());
        libc::abort()
    }
}

impl Recorder {
    /// Returns true if a path is below the root.
    pub(crate) fn counts(&self, path: &[u8]) -> bool {
        !self.root.is_empty()
            && path
                .strip_prefix(self.root.as_slice())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    /// Locks the order of operations: what is done under it is recorded where it happened.
    pub(crate) fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the functions of ours and of the tree's library on the call stack, the innermost
    /// first.
    pub(crate) fn site(&self) -> String {
        if !self.with_sites {
            return String::new();
        }
        let trace = Backtrace::force_capture().to_string();
        let names = trace.lines().filter_map(|line| line.trim_start().split_once(": "));
        let mut chain: Vec<String> = names.filter_map(|(_, name)| short(name)).collect();
        chain.dedup();
        chain.join(" < ")
    }
}

/// Shortens the name of a function of the store to `type::function` or `module::function`, and that
/// of one of the tree's library to the library's name; `None` for others.
fn short(name: &str) -> Option<String> {
    const STORE: &str = "shelfmark_store::";
    const TREE: &str = "lsm_tree::";
    let plain = name.trim_start_matches('<');
    let runs_it = name.contains("catch_unwind<") || name.starts_with("do_call<");
    if !plain.starts_with(STORE) {
        // Generic functions are named without their module, but with their types.
        let is_tree = name.contains(TREE) && !plain.starts_with("core::") && !runs_it;
        return is_tree.then(|| "lsm_tree".to_owned());
    }
    // Closures count as what they stand in, `<impl X>` and `<X as Y>` as X.
    let name = name.replace("::{{closure}}", "").replace("<impl ", "<");
    let parts: Vec<&str> = name.split("::").collect();
    let last = parts.last()?;
    let before = parts.iter().rev().nth(1)?;
    let before = before.split([' ', '>']).next()?;
    let owner = if last.contains('>') { "" } else { before };
    Some(format!("{}::{}", owner.trim_start_matches('<'), last.trim_end_matches('>')))
}
