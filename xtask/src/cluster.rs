//! Runs the suites that need a cluster on the test bed under `test-bed/tikv`.
//!
//! What it is not: for machines without Go, which the bed is built with: there it says so and does
//! nothing.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::clients::{command, virtual_environment};
use crate::run::run_with;

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
    // One processor is the cluster's.
    let some = ["--include-ignored", "--test-threads", "4"];
    let of = |package: &'static str| ["test", "-p", package, "--test", "it", "--"];
    // Faults meet whoever calls next, so their cases run alone.
    let but_faults = [&some[..], &["--skip", "faults::"]].concat();
    run_with("cargo", &[&of("shelfmark-tikv")[..], &but_faults].concat(), &cluster)?;
    if faults.is_some() {
        let alone = ["--include-ignored", "--test-threads", "1", "faults::"];
        run_with("cargo", &[&of("shelfmark-tikv")[..], &alone].concat(), &cluster)?;
    }
    run_with("cargo", &[&of("shelfmark-engine")[..], &some[..]].concat(), &cluster)?;
    run_with("cargo", &["build", "--package", "shelfmark-cli"], &[])?;
    let python = virtual_environment("clients-python", "clients/python/requirements.txt")?;
    let command = command();
    let tests = ["-m", "unittest", "discover", "-v", "-s", "clients/python/cluster"];
    cluster.push(("SHELFMARK", command.to_str().context("the command's path is no text")?));
    run_with(&python.to_string_lossy(), &tests, &cluster)
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
