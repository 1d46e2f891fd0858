//! Runs the suites that need a cluster on the test bed under `test-bed/tikv`.
//!
//! What it is not: for machines without Go, which the bed is built with: there it says so and does
//! nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::clients::{command, virtual_environment};
use crate::run::{root, run_in, run_with};

/// The script that starts and stops the bed.
const BED: &str = "test-bed/tikv/bed";

/// Runs the suites on a fresh bed, or on the cluster that `SHELFMARK_TIKV` names.
pub(crate) fn run() -> anyhow::Result<()> {
    if let Ok(placement) = std::env::var("SHELFMARK_TIKV") {
        // A cluster of one's own has no switch for faults.
        return suites(&placement, std::env::var("SHELFMARK_TIKV_FAULTS").ok().as_deref());
    }
    for (tool, asked) in [("go", "version"), ("curl", "--version")] {
        if Command::new(tool).arg(asked).output().is_err() {
            println!("tikv: skipped, because {tool} is not installed and the test bed needs it");
            return Ok(());
        }
    }
    let folder = std::env::temp_dir().join(format!("shelfmark-bed-{}", std::process::id()));
    let outcome =
        started(&folder).and_then(|placement| suites(&placement, Some(&fault_switch(&folder)?)));
    let stopped = bed(&["stop", &folder.to_string_lossy()]).map(drop);
    if outcome.is_ok() {
        std::fs::remove_dir_all(&folder).context("the bed's folder stays")?;
    }
    outcome.and(stopped)
}

fn started(folder: &Path) -> anyhow::Result<String> {
    let told = bed(&["start", &folder.to_string_lossy()])?;
    let last = told.lines().last().unwrap_or_default();
    let placement = last.strip_prefix("{\"pd\": \"").and_then(|rest| rest.strip_suffix("\"}"));
    placement.map(str::to_owned).with_context(|| format!("the bed did not start: {told}"))
}

/// Returns the address of the bed's fault switch.
fn fault_switch(folder: &Path) -> anyhow::Result<String> {
    let ports = std::fs::read_to_string(folder.join("bed.env")).context("the bed's ports")?;
    let port = ports.split_whitespace().find_map(|word| word.strip_prefix("ctl="));
    Ok(format!("127.0.0.1:{}", port.context("the bed names no fault switch")?))
}

fn suites(placement: &str, faults: Option<&str>) -> anyhow::Result<()> {
    let mut cluster = vec![("SHELFMARK_TIKV", placement)];
    cluster.extend(faults.map(|address| ("SHELFMARK_TIKV_FAULTS", address)));
    let tests = test_programs()?;
    let run = |package: &str, arguments: &[&str]| {
        let program = tests.get(package).with_context(|| format!("{package} has no tests"))?;
        // Where cargo runs them.
        let folder = root().join("crates").join(package);
        run_in(&folder, &program.to_string_lossy(), arguments, &cluster)
    };
    // One processor is the cluster's.
    let some = ["--include-ignored", "--test-threads", "4"];
    // Faults meet whoever calls next, and requests are counted, so these cases run alone.
    let alone = ["faults::", "round_trips::", "outages::"];
    let but_alone: Vec<&str> =
        some.into_iter().chain(alone.iter().flat_map(|case| ["--skip", case])).collect();
    run("shelfmark-tikv", &but_alone)?;
    if faults.is_some() {
        run(
            "shelfmark-tikv",
            &[&["--include-ignored", "--test-threads", "1"], &alone[..]].concat(),
        )?;
    }
    run("shelfmark-engine", &[&some[..], &["--skip", "round_trips::"]].concat())?;
    if faults.is_some() {
        run("shelfmark-engine", &["--ignored", "--test-threads", "1", "round_trips::"])?;
    }
    for package in ["shelfmark-server", "shelfmark-cli"] {
        run(package, &["--ignored", "on_a_cluster"])?;
    }
    if faults.is_some() {
        run("shelfmark-cli", &["--ignored", "on_a_bed"])?;
    }
    let python = virtual_environment("clients-python", "clients/python/requirements.txt")?;
    let command = command();
    let tests = ["-m", "unittest", "discover", "-v", "-s", "clients/python/cluster"];
    cluster.push(("SHELFMARK", command.to_str().context("the command's path is no text")?));
    run_with(&python.to_string_lossy(), &tests, &cluster)
}

/// Builds what `cargo test` of the workspace builds, and returns the integration tests by package.
///
/// One package alone would have other features of half its dependencies, and build them again.
fn test_programs() -> anyhow::Result<BTreeMap<String, PathBuf>> {
    let arguments =
        ["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"];
    let output = Command::new("cargo")
        .args(arguments)
        .current_dir(root())
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cargo does not run")?;
    if !output.status.success() {
        bail!("cargo {} failed", arguments.join(" "));
    }
    let mut found = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Value = serde_json::from_str(line).context("cargo's messages")?;
        let is_tests = message.pointer("/target/name").is_some_and(|name| name == "it")
            && message.pointer("/profile/test").is_some_and(|is_test| is_test == true);
        if let (true, Some(manifest), Some(program)) =
            (is_tests, text_of(&message, "/manifest_path"), text_of(&message, "/executable"))
        {
            let package = Path::new(manifest).parent().and_then(Path::file_name);
            let package = package.unwrap_or_default().to_string_lossy().into_owned();
            found.insert(package, PathBuf::from(program));
        }
    }
    Ok(found)
}

fn text_of<'a>(message: &'a Value, pointer: &str) -> Option<&'a str> {
    message.pointer(pointer)?.as_str()
}

fn bed(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(BED)
        .args(arguments)
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("{BED} does not run"))?;
    if !output.status.success() {
        bail!("{BED} {} failed", arguments.join(" "));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
