//! Builds the tests of a copy once, and runs them with one mutant switched on.
//!
//! Every test is a process of its own, so that a mutant meets just the tests that run its function, the
//! quickest first, and the first that fails ends its trial. Which functions a test runs, it wrote down
//! when it ran without a mutant.
//!
//! Invariant: no run lasts longer than its limit, and none takes all memory.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::build::{REACHED_VARIABLE, VARIABLE};
use super::rewrite::Built;
use super::workers;
use crate::mutants::area::Area;

/// Limit of a test's processor time beyond several times what it takes without a mutant.
const LIMIT_LEAST: Duration = Duration::from_secs(10);
const LIMIT_TIMES: u32 = 5;

/// A test that waits for ever takes no processor time: it ends after so many times its limit, which a
/// test on a busy machine does not need.
const WAIT_TIMES: u32 = 10;

/// Memory of a test, in KiB: a loop that does not end may fill it.
const MEMORY_KIB_MAX: u64 = 8 * 1024 * 1024;

/// Tests that a copy may fail without a mutant: those that read the source, in which switches stand.
const LEFT_OUT_MAX: usize = 3;

const PAUSE: Duration = Duration::from_millis(5);

/// One test of one program.
pub(super) struct Test {
    program: PathBuf,
    folder: PathBuf,
    name: String,
    /// Seconds and functions of its run without a mutant.
    took: Duration,
    reached: BTreeSet<usize>,
}

/// Builds the tests of an area, and runs each without a mutant.
///
/// # Errors
///
/// More than [`LEFT_OUT_MAX`] tests fail although there is no mutant, or none runs any function that has
/// mutants.
pub(super) fn build(tree: &Path, area: &Area) -> anyhow::Result<Vec<Test>> {
    let mut tests = Vec::new();
    for package in [area.package].iter().chain(area.tested_by) {
        let folder = tree.join("crates").join(package);
        for program in programs(tree, package)? {
            tests.extend(tests_in(&program, &folder)?);
        }
    }
    let notes = tree.with_file_name("reached");
    let _ = std::fs::remove_dir_all(&notes);
    std::fs::create_dir_all(&notes)?;
    let measured = workers(&tests, |place, test| test.measured(&notes.join(place.to_string())))?;
    let left_out = measured.iter().filter(|test| test.is_none()).count();
    ensure!(left_out <= LEFT_OUT_MAX, "{left_out} tests fail without a mutant");
    let measured: Vec<Test> = measured.into_iter().flatten().collect();
    let runs_any = measured.iter().any(|test| !test.reached.is_empty());
    ensure!(runs_any, "no test runs any of the functions: is the copy what was built?");
    let mut tests = measured;
    tests.sort_by_key(|test| test.took);
    Ok(tests)
}

/// Builds the programs of tests of a package, and returns their paths.
fn programs(tree: &Path, package: &str) -> anyhow::Result<Vec<PathBuf>> {
    let output = Command::new("cargo")
        .args(["test", "--package", package, "--no-run", "--message-format", "json"])
        .current_dir(tree)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    ensure!(output.status.success(), "the tests of {package} do not compile");
    let mut programs = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let json: serde_json::Value = serde_json::from_str(line)?;
        let program = json.get("executable").and_then(serde_json::Value::as_str);
        let is_test = json.pointer("/profile/test") == Some(&serde_json::Value::Bool(true));
        programs.extend(program.filter(|_| is_test).map(PathBuf::from));
    }
    Ok(programs)
}

/// Returns the tests of a program, as it lists them.
fn tests_in(program: &Path, folder: &Path) -> anyhow::Result<Vec<Test>> {
    let output = Command::new(program)
        .args(["--list", "--format", "terse"])
        .current_dir(folder)
        .output()
        .with_context(|| program.display().to_string())?;
    ensure!(output.status.success(), "{} does not list its tests", program.display());
    let listed = String::from_utf8(output.stdout)?;
    let names = listed.lines().filter_map(|line| line.strip_suffix(": test"));
    let test = |name: &str| Test {
        program: program.to_path_buf(),
        folder: folder.to_path_buf(),
        name: name.to_owned(),
        took: Duration::ZERO,
        reached: BTreeSet::new(),
    };
    Ok(names.map(test).collect())
}

/// Tells whether some test fails, or does not end, with this mutant.
pub(super) fn notice(tests: &[Test], mutant: &Built<'_>) -> anyhow::Result<bool> {
    for test in tests.iter().filter(|test| test.reached.contains(&mutant.function)) {
        let limit = test.took * LIMIT_TIMES + LIMIT_LEAST;
        if !test.passes(VARIABLE, &mutant.number.to_string(), Some(limit))? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Test {
    /// Runs without a mutant, and keeps how long that takes and which functions run. Nothing if it fails.
    fn measured(&self, notes: &Path) -> anyhow::Result<Option<Self>> {
        let began = Instant::now();
        let passes = self.passes(REACHED_VARIABLE, &notes.display().to_string(), None)?;
        if !passes {
            println!("left out: {} fails without a mutant", self.name);
            return Ok(None);
        }
        let took = began.elapsed();
        let noted = std::fs::read_to_string(notes).unwrap_or_default();
        let reached = noted.lines().filter_map(|line| line.parse().ok()).collect();
        let (program, folder) = (self.program.clone(), self.folder.clone());
        Ok(Some(Self { program, folder, name: self.name.clone(), took, reached }))
    }

    fn passes(&self, variable: &str, value: &str, limit: Option<Duration>) -> anyhow::Result<bool> {
        let seconds = limit.map_or("unlimited".to_owned(), |limit| limit.as_secs().to_string());
        let limits = format!("ulimit -v {MEMORY_KIB_MAX}; ulimit -t {seconds}");
        let limited = format!("{limits}; exec \"$0\" --exact \"$1\"");
        let mut child = Command::new("sh")
            .args(["-c", &limited])
            .args([self.program.as_os_str(), self.name.as_ref()])
            .env(variable, value)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .current_dir(&self.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Processes that a test starts end with it.
            .process_group(0)
            .spawn()
            .context("cannot start a test")?;
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status.success());
            }
            if limit.is_some_and(|limit| began.elapsed() > limit * WAIT_TIMES) {
                let group = format!("-{}", child.id());
                Command::new("kill").args(["-KILL", "--", &group]).status()?;
                child.wait()?;
                return Ok(false);
            }
            std::thread::sleep(PAUSE);
        }
    }
}
