//! Wraps every file system call that this project makes itself.
//!
//! What it is not: an abstraction over file systems. Faults are injected under the process (see
//! `docs/testing.md`), not here.
//!
//! Invariant: a function that creates, replaces or removes a name syncs the folder that holds it
//! before it returns, but for the one that says it does not.

#![expect(clippy::disallowed_methods, reason = "the one place that calls std::fs")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Syncs a folder, so that the names in it survive a power cut.
///
/// # Errors
///
/// * The operating system's error; nothing is known about the names then.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Creates `folder` (and what is missing above it), for its owner alone, and syncs what holds it.
///
/// # Errors
///
/// * The operating system's error.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = parent_of(folder) {
        create_folder(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    match parent_of(folder) {
        Some(parent) => sync_folder(parent),
        None => sync_folder(Path::new(".")),
    }
}

fn parent_of(path: &Path) -> Option<&Path> {
    path.parent().filter(|parent| !parent.as_os_str().is_empty())
}

/// Creates a file that must not exist yet, for its owner alone, for writing and reading. The caller syncs the folder
/// once the file's first bytes are synced.
///
/// # Errors
///
/// * The operating system's error, `AlreadyExists` among them.
pub fn create_new(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().read(true).write(true).create_new(true)).open(path)
}

/// Creates a file in `folder` that has no name: it is gone once it is closed, and after a crash.
///
/// # Errors
///
/// * The operating system's error.
pub fn create_unnamed(folder: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        if let Ok(file) = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR) {
            return Ok(file.into());
        }
    }
    // Where that does not exist, the name is taken away as soon as there is one.
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = folder.join(format!("unnamed-{}-{number}", std::process::id()));
    let file = create_new(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

/// Opens a file for reading and writing in place.
///
/// # Errors
///
/// * The operating system's error.
pub fn open_rw(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Opens a file for reading and writing, creating it if it is absent (for lock files).
///
/// # Errors
///
/// * The operating system's error.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path)
}

/// Restricts a file that is created to its owner.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Returns true if every user of the machine can read the file or list the folder; `false` where
/// the system has no such permissions.
///
/// # Errors
///
/// * The operating system's error.
pub fn is_open_to_all(path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        let rights = fs::metadata(path)?;
        let needed = if rights.is_dir() { 0o001 } else { 0o004 };
        Ok(std::os::unix::fs::PermissionsExt::mode(&rights.permissions()) & needed != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(false)
    }
}

/// Opens a file for reading.
///
/// # Errors
///
/// * The operating system's error.
pub fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Reads a whole file.
///
/// # Errors
///
/// * The operating system's error.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// Replaces the content of `path` by `bytes`, readable for its owner alone: after a power cut the
/// file is the old one or the new one.
///
/// # Errors
///
/// * The operating system's error; the old file is still there, or the new one.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, bytes, private(&mut OpenOptions::new()))
}

/// Works as [`replace`], but creates the file with this process's usual permissions, for other
/// users to read.
///
/// # Errors
///
/// * As [`replace`].
pub fn replace_shared(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, bytes, &mut OpenOptions::new())
}

fn replace_with(path: &Path, bytes: &[u8], options: &mut OpenOptions) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let temporary = path.with_file_name(name);
    let written =
        options.write(true).create(true).truncate(true).open(&temporary).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, path)
        });
    // On a disk that is full, the half of it would keep the disk full.
    written.inspect_err(|_| drop(fs::remove_file(&temporary)))?;
    sync_folder(parent_of(path).unwrap_or(Path::new(".")))
}

/// Writes a file without syncing it: after a power cut it may be torn, empty or missing. For what can
/// be found out again.
///
/// # Errors
///
/// * The operating system's error.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    private(options.write(true).create(true).truncate(true)).open(path)?.write_all(bytes)
}

/// Removes a file; succeeds if it is absent already.
///
/// # Errors
///
/// * The operating system's error.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(()) => {}
    }
    sync_folder(parent_of(path).unwrap_or(Path::new(".")))
}

/// Removes a folder and everything in it; succeeds if it is absent already.
///
/// # Errors
///
/// * The operating system's error.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(()) => {}
    }
    sync_folder(parent_of(folder).unwrap_or(Path::new(".")))
}

/// Lists the paths in a folder, sorted by name.
///
/// # Errors
///
/// * The operating system's error.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Writes all of `bytes` at `offset`, without moving any cursor.
///
/// # Errors
///
/// * The operating system's error; any part of the bytes may have been written.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
    }
    #[cfg(not(unix))]
    {
        use std::io::{Seek as _, SeekFrom};
        let mut file = file;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }
}

/// Reads up to `buffer.len()` bytes at `offset`; fewer only at the end of the file. Moves no cursor
/// on Unix.
///
/// # Errors
///
/// * The operating system's error.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let at = offset.saturating_add(u64::try_from(filled).unwrap_or(u64::MAX));
        match read_once_at(file, rest, at) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn read_once_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::read_at(file, buffer, offset)
    }
    #[cfg(not(unix))]
    {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let mut file = file;
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }
}

/// Cuts a file to `length` bytes and syncs it.
///
/// # Errors
///
/// * The operating system's error; the file may be cut or not.
pub fn truncate(path: &Path, length: u64) -> io::Result<()> {
    let file = open_rw(path)?;
    file.set_len(length)?;
    file.sync_all()
}

/// Moves a file or folder to a new name and syncs both folders that name it.
///
/// # Errors
///
/// * The operating system's error; one of the two names is there.
pub fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder(parent_of(to).unwrap_or(Path::new(".")))?;
    sync_folder(parent_of(from).unwrap_or(Path::new(".")))
}

/// Returns how many bytes an ordinary user may still write to the file system that holds `path`,
/// or `None` where the system does not tell.
///
/// # Errors
///
/// * The operating system's error.
pub fn free_bytes(path: &Path) -> io::Result<Option<u64>> {
    #[cfg(unix)]
    {
        let status = rustix::fs::statvfs(path)?;
        Ok(Some(status.f_bavail.saturating_mul(status.f_frsize)))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(None)
    }
}
