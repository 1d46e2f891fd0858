//! Builds the tests of a copy once, and runs them with one mutant switched on.
//!
//! Invariant: no run lasts longer than its limit, and none takes all memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::build::VARIABLE;
use crate::mutants::area::Area;

/// Limit of a run beyond several times what it takes without a mutant.
const LIMIT_LEAST: Duration = Duration::from_secs(10);
const LIMIT_TIMES: u32 = 5;

/// Memory of a run, in KiB: a loop that does not end may fill it.
const MEMORY_KIB_MAX: u64 = 8 * 1024 * 1024;

const PAUSE: Duration = Duration::from_millis(20);

/// One program of tests.
pub(super) struct Suite {
    program: PathBuf,
    folder: PathBuf,
    limit: Duration,
}

/// Builds the tests of an area: its crate's own first.
pub(super) fn build(tree: &Path, area: &Area) -> anyhow::Result<Vec<Suite>> {
    let mut suites = Vec::new();
    for package in [area.package].iter().chain(area.tested_by) {
        let output = Command::new("cargo")
            .args(["test", "--package", package, "--no-run", "--message-format", "json"])
            .current_dir(tree)
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start cargo")?;
        ensure!(output.status.success(), "the tests of {package} do not compile");
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let json: serde_json::Value = serde_json::from_str(line)?;
            let Some(program) = json.get("executable").and_then(serde_json::Value::as_str) else {
                continue;
            };
            let is_test = json.pointer("/profile/test") == Some(&serde_json::Value::Bool(true));
            if is_test {
                let folder = tree.join("crates").join(package);
                suites.push(Suite { program: program.into(), folder, limit: Duration::MAX });
            }
        }
    }
    for suite in &mut suites {
        let began = Instant::now();
        suite.passes(0)?;
        suite.limit = began.elapsed() * LIMIT_TIMES + LIMIT_LEAST;
    }
    Ok(suites)
}

/// Fails if any test fails without a mutant.
pub(super) fn check_baseline(suites: &[Suite]) -> anyhow::Result<()> {
    for suite in suites {
        ensure!(suite.passes(0)?, "{} fails without a mutant", suite.program.display());
    }
    Ok(())
}

/// Tells whether some test fails, or does not end, with this mutant.
pub(super) fn notice(suites: &[Suite], number: usize) -> anyhow::Result<bool> {
    for suite in suites {
        if !suite.passes(number)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Suite {
    fn passes(&self, number: usize) -> anyhow::Result<bool> {
        let limited = format!("ulimit -v {MEMORY_KIB_MAX}; exec \"$0\"");
        let mut child = Command::new("sh")
            .args(["-c", &limited])
            .arg(&self.program)
            .env(VARIABLE, number.to_string())
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .current_dir(&self.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start a test")?;
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status.success());
            }
            if began.elapsed() > self.limit {
                child.kill()?;
                child.wait()?;
                return Ok(false);
            }
            std::thread::sleep(PAUSE);
        }
    }
}
