//! Building the writing program with its recorder, and running it.
//!
//! The recorder sees calls of libc only, so everything is built with `--cfg rustix_use_libc` into a
//! folder of its own below the target folder, once per test binary.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use shelfmark_store::{threads, vfs};

use super::promise::Promise;
use super::run::Arguments;

/// A program that says nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The writing program and the library that is loaded under it.
#[derive(Debug, Clone)]
pub struct Binaries {
    workload: PathBuf,
    preload: PathBuf,
}

impl Binaries {
    /// Builds both below the folder `target`.
    ///
    /// # Errors
    ///
    /// * A text: what cargo said.
    pub fn build(target: &Path) -> Result<Self, String> {
        let target = target.join("recorded");
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--package", "shelfmark-preload", "--package", "shelfmark-testkit"])
            .args(["--lib", "--bin", "powercut-workload"])
            // Unoptimised, so that every function stands in the sites of its syncs.
            .args(["--config", "profile.dev.package.shelfmark-store.opt-level=0"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("CARGO_TARGET_DIR", &target)
            .env("RUSTFLAGS", format!("{flags} --cfg rustix_use_libc"))
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .map_err(|error| format!("cannot start cargo: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let built = target.join("debug");
        Ok(Self {
            workload: built.join("powercut-workload"),
            preload: built.join("libshelfmark_preload.so"),
        })
    }

    /// Returns the command that runs the program with the library under it. Only what happens below
    /// `root` counts.
    #[must_use]
    pub fn watched(&self, arguments: &Arguments, root: &Path) -> Command {
        let mut command = plain(&self.workload, arguments);
        command.env("LD_PRELOAD", &self.preload).env("SHELFMARK_RECORD_ROOT", root);
        command
    }
}

/// Returns the command that runs a writing program as it is.
#[must_use]
pub fn plain(program: &Path, arguments: &Arguments) -> Command {
    let mut command = Command::new(program);
    command.args(arguments.words());
    command
}

/// A folder of a test: the root that is recorded, and the recording beside it.
#[derive(Debug)]
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// Creates the folder, in memory where the system has a place for that: many thousands of
    /// syncs mean nothing there, and none of these tests relies on what they do.
    ///
    /// # Errors
    ///
    /// * The operating system's error.
    pub fn new() -> std::io::Result<Self> {
        let memory = Path::new("/dev/shm");
        let folder = match tempfile::tempdir_in(memory) {
            Ok(folder) => folder,
            Err(_) => tempfile::tempdir()?,
        };
        vfs::create_folder(&folder.path().join("root"))?;
        Ok(Self { folder })
    }

    /// Returns the folder that is recorded.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.beside("root")
    }

    /// Returns the store's folder in it. It is not created.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.root().join("store")
    }

    /// Returns the path of the recording.
    #[must_use]
    pub fn recording(&self) -> PathBuf {
        self.beside("recording")
    }

    /// Returns a path beside the root.
    #[must_use]
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Leaves the folder where it is, to be looked at. Returns its path.
    #[must_use]
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

/// A running program, and what it has said.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    reader: Option<JoinHandle<()>>,
    /// The acknowledgements so far.
    pub promise: Promise,
}

/// The result of a program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// It ended by itself and well.
    pub is_well: bool,
    /// The acknowledgements until its end.
    pub promise: Promise,
    /// The lines of its output that were not taken before.
    pub lines: Vec<String>,
    /// Its standard error.
    pub errors: String,
}

impl Running {
    /// Starts a command.
    ///
    /// # Errors
    ///
    /// * The operating system's error.
    pub fn start(mut command: Command) -> std::io::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| std::io::Error::other("no output"))?;
        let (sender, lines) = mpsc::channel();
        let reader = threads::spawn("reader", move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Nobody listens any more when the test has failed.
                let _ = sender.send(line);
            }
        })?;
        Ok(Self { child, lines, reader: Some(reader), promise: Promise::default() })
    }

    /// Returns the next line that the program says; nothing once it has ended.
    ///
    /// # Errors
    ///
    /// * `TimedOut`: it has said nothing for a minute, and was killed.
    pub fn line(&mut self) -> std::io::Result<Option<String>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.promise.hear(&line);
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                self.child.kill()?;
                Err(std::io::ErrorKind::TimedOut.into())
            }
        }
    }

    /// Ends the program as `kill -9` does.
    ///
    /// # Errors
    ///
    /// * The operating system's error.
    pub fn kill(&mut self) -> std::io::Result<()> {
        self.child.kill()
    }

    /// Hears the program out.
    ///
    /// # Errors
    ///
    /// * As [`Running::line`].
    pub fn end(mut self) -> std::io::Result<Ended> {
        let mut lines = Vec::new();
        while let Some(line) = self.line()? {
            lines.push(line);
        }
        if let Some(reader) = self.reader.take() {
            // It only passes lines on; a panic of it has shown as the end of them.
            let _ = reader.join();
        }
        let output = self.child.wait_with_output()?;
        Ok(Ended {
            is_well: output.status.success(),
            promise: self.promise,
            lines,
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}
