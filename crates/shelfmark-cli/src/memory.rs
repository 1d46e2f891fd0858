//! Determines how much memory the server may use: from the flag, and from the limits of the
//! machine, its control group and the process.
//!
//! What it is not: a limit that the system enforces. What is shared out is counted by
//! [`shelfmark_engine::budget`].

use std::path::Path;

use shelfmark_store::vfs;

/// The memory that is assumed where nothing says how much there is.
const UNKNOWN_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// The least limit that a server is started with.
pub(crate) const LIMIT_BYTES_MIN: u64 = 64 * 1024 * 1024;

/// Memory of the limit per thread for long work; there are from [`THREADS_MIN`] to [`THREADS_MAX`]
/// of them.
const THREAD_BYTES: u64 = 32 * 1024 * 1024;
/// Fewest threads for long work.
const THREADS_MIN: usize = 4;
/// Most threads for long work.
pub(crate) const THREADS_MAX: usize = 16;

/// The division of a server's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    /// For requests, results and unread answers: half.
    pub(crate) clients_bytes: usize,
    /// For cached blocks of tables: a quarter, and no more than the store takes by default.
    pub(crate) cache_bytes: u64,
    /// For each memory table, of which there are up to five.
    pub(crate) memory_table_bytes: u64,
    /// For what was overwritten while a reader holds a moment: an eighth, and at least 16 MiB.
    pub(crate) snapshot_bytes_max: u64,
    /// For imports that look back in packed objects: an eighth.
    pub(crate) import_window_bytes: usize,
    /// Threads for long work: each has a stack, and keeps pages of the allocator.
    pub(crate) threads: usize,
}

impl Parts {
    /// Divides a limit; the other arguments are the store's defaults.
    pub(crate) fn of(limit_bytes: u64, cache_bytes: u64, memory_table_bytes: u64) -> Self {
        Self {
            clients_bytes: usize::try_from(limit_bytes / 2).unwrap_or(usize::MAX),
            cache_bytes: cache_bytes.min(limit_bytes / 4),
            memory_table_bytes: memory_table_bytes.min(limit_bytes / 32).max(1024 * 1024),
            snapshot_bytes_max: (limit_bytes / 8).max(16 * 1024 * 1024),
            import_window_bytes: usize::try_from(limit_bytes / 8).unwrap_or(usize::MAX),
            threads: usize::try_from(limit_bytes / THREAD_BYTES)
                .unwrap_or(usize::MAX)
                .clamp(THREADS_MIN, THREADS_MAX),
        }
    }
}

/// Parses a limit, which must be enough to serve anybody.
pub(crate) fn limit(text: &str) -> Result<u64, String> {
    crate::size::size(text).and_then(enough)
}

/// Refuses a limit that is too small to serve anybody.
pub(crate) fn enough(bytes: u64) -> Result<u64, String> {
    if bytes < LIMIT_BYTES_MIN { Err("the least is 64MiB".to_owned()) } else { Ok(bytes) }
}

/// A hard limit: beyond it the process would be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hard {
    bytes: u64,
    /// Its keeper, in words.
    keeper: &'static str,
    /// The part of it that may be shared out, in percent.
    percent: u64,
}

impl Hard {
    /// Returns the limit of the process itself. It counts addresses, not use: all of a thread's stack,
    /// and what the allocator took from the system in steps of 64 MiB and will not give back, however
    /// little of it is used.
    const fn of_process(bytes: u64) -> Self {
        Self { bytes, keeper: "the process's own limits", percent: 25 }
    }

    /// Returns the limit of a control group. It counts use: beside what is shared out the program itself,
    /// stacks, and what the allocator has not given back yet.
    const fn of_group(bytes: u64) -> Self {
        Self { bytes, keeper: "the control group", percent: 60 }
    }

    fn shared_out(self) -> u64 {
        (self.bytes / 100).saturating_mul(self.percent).max(LIMIT_BYTES_MIN)
    }
}

/// The memory that is shared out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) bytes: u64,
    /// Words for who asked for more.
    pub(crate) cut: Option<String>,
}

/// Returns what was asked for, as far as hard limits leave it; by default half of what the machine or
/// its control group has, or a quarter of what the process's own limits leave, whichever is less.
pub(crate) fn granted(asked: Option<u64>) -> Granted {
    let (process, group) = (of_process(), of_group(Path::new("/")));
    let hard = [process.map(Hard::of_process), group.map(Hard::of_group)];
    let usual = || {
        let halves = [of_machine(), group].map(|own| own.map(|bytes| bytes / 2));
        let least = halves.into_iter().flatten().min();
        least.unwrap_or(UNKNOWN_BYTES / 2).max(LIMIT_BYTES_MIN)
    };
    match asked {
        Some(bytes) => within(bytes, &hard),
        None => Granted { cut: None, ..within(usual(), &hard) },
    }
}

/// Cuts a limit to what hard limits leave.
fn within(asked: u64, hard: &[Option<Hard>]) -> Granted {
    let least = hard.iter().flatten().min_by_key(|own| own.shared_out());
    match least {
        Some(own) if own.shared_out() < asked => {
            let (bytes, percent) = (own.shared_out(), own.percent);
            let cut = format!(
                "of the memory limit of {asked} bytes only {bytes} are shared out: {} end at {} bytes, \
                 of which {percent} % is what requests, results and tables may take; raise them to have \
                 more",
                own.keeper, own.bytes
            );
            Granted { bytes, cut: Some(cut) }
        }
        _ => Granted { bytes: asked, cut: None },
    }
}

fn text_of(path: &Path) -> Option<String> {
    String::from_utf8(vfs::read(path).ok()?).ok()
}

fn of_machine() -> Option<u64> {
    total_of(&text_of(Path::new("/proc/meminfo"))?)
}

/// Parses the total in the text of `/proc/meminfo`.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the least limit of the control groups that this process is in, of version 2 or 1. `root`
/// is where the file system begins.
fn of_group(root: &Path) -> Option<u64> {
    let groups = text_of(&root.join("proc/self/cgroup"))?;
    let mounted = root.join("sys/fs/cgroup");
    let mut limits: Vec<u64> = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (_, Some(kinds), Some(group)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (folder, name) = if kinds.is_empty() {
            (mounted.clone(), "memory.max")
        } else if kinds.split(',').any(|kind| kind == "memory") {
            (mounted.join("memory"), "memory.limit_in_bytes")
        } else {
            continue;
        };
        // A group has no more than those that it lies in; in a container only the last is seen.
        let group = folder.join(group.trim_start_matches('/'));
        let places = group.ancestors().take_while(|place| place.starts_with(&folder));
        let said = |place: &Path| text_of(&place.join(name))?.trim().parse::<u64>().ok();
        limits.extend(places.filter_map(said));
    }
    limits.into_iter().min()
}

#[cfg(unix)]
fn of_process() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    let limits = [Resource::As, Resource::Data].map(|resource| getrlimit(resource).current);
    limits.into_iter().flatten().min()
}

#[cfg(not(unix))]
fn of_process() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_a_least_size() {
        assert_eq!(limit("512MB"), Ok(512_000_000));
        assert!(limit("512M").unwrap_err().contains("a number of bytes"));
        assert_eq!(limit("63MiB"), Err("the least is 64MiB".to_owned()));
    }

    #[test]
    fn the_machine_says_what_it_has() {
        assert_eq!(total_of("MemFree: 1 kB\nMemTotal:       24576000 kB\n"), Some(25_165_824_000));
        assert_eq!(total_of("MemFree: 1 kB\n"), None);
        assert!(granted(None).bytes >= LIMIT_BYTES_MIN);
        assert_eq!(granted(None).cut, None);
    }

    #[test]
    fn hard_limits_cut_what_was_asked_for() {
        let hard = [Some(Hard::of_process(512 << 20)), Some(Hard::of_group(600 << 20))];
        let cut = within(512_000_000, &hard);
        assert_eq!(cut.bytes, 134_217_725);
        assert!(cut.cut.unwrap().contains("the process's own limits end at 536870912 bytes"));
        let cut = within(512_000_000, &[None, Some(Hard::of_group(512 << 20))]);
        assert_eq!(cut.bytes, 322_122_540);
        let fits = Granted { bytes: 100 << 20, cut: None };
        assert_eq!(within(100 << 20, &hard), fits);
        assert_eq!(within(100 << 20, &[None, None]), fits);
        // What is too little for anybody is not made less.
        assert_eq!(within(512 << 20, &[Some(Hard::of_process(1 << 20))]).bytes, LIMIT_BYTES_MIN);
    }

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            vfs::create_folder(path.parent().unwrap()).unwrap();
            vfs::replace(&path, text.as_bytes()).unwrap();
        }
        root
    }

    #[test]
    fn control_groups_of_both_versions() {
        let two = root(&[
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/memory.max", "536870912\n"),
            ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
        ]);
        assert_eq!(of_group(two.path()), Some(512 << 20));
        // In a container the group's own folder is the root.
        let inside =
            root(&[("proc/self/cgroup", "0::/\n"), ("sys/fs/cgroup/memory.max", "268435456\n")]);
        assert_eq!(of_group(inside.path()), Some(256 << 20));
        let one = root(&[
            ("proc/self/cgroup", "5:cpu:/\n4:memory,hugetlb:/box\n"),
            ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "134217728\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!(of_group(one.path()), Some(128 << 20));
        let none = root(&[("proc/self/cgroup", "0::/\n"), ("sys/fs/cgroup/memory.max", "max\n")]);
        assert_eq!(of_group(none.path()), None);
    }

    #[test]
    fn half_is_for_clients() {
        const MIB: u64 = 1 << 20;
        let small = Parts::of(256 * MIB, 128 * MIB, 64 * MIB);
        assert_eq!(
            small,
            Parts {
                clients_bytes: 128 << 20,
                cache_bytes: 64 * MIB,
                memory_table_bytes: 8 * MIB,
                snapshot_bytes_max: 32 * MIB,
                import_window_bytes: 32 << 20,
                threads: 8
            }
        );
        let large = Parts::of(16_384 * MIB, 128 * MIB, 64 * MIB);
        assert_eq!((large.cache_bytes, large.memory_table_bytes), (128 * MIB, 64 * MIB));
        assert_eq!(large.threads, THREADS_MAX);
        assert_eq!(Parts::of(LIMIT_BYTES_MIN, MIB, MIB).threads, THREADS_MIN);
    }
}
