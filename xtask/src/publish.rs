//! The crates as a registry would take them, and what the command is made of.
//!
//! What it is not: it publishes nothing.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use serde_json::Value;

use crate::run::{root, run as start, target_folder};

/// Packs every crate as for a registry; `builds` also compiles each from its package alone, which
/// finds files that are used and not packed.
pub(crate) fn check(builds: bool) -> anyhow::Result<()> {
    let words = ["publish", "--workspace", "--dry-run", "--quiet", "--allow-dirty"];
    let no_build: &[&str] = if builds { &[] } else { &["--no-verify"] };
    start("cargo", &[&words[..], no_build].concat())
}

/// Prints the size of the release build, if there is one, and the licences of what it is made of.
pub(crate) fn report() -> anyhow::Result<()> {
    let command = target_folder().join("release/shelfmark");
    match std::fs::metadata(&command) {
        Ok(found) => println!("size: {:.2} MB", megabytes(found.len())),
        Err(_) => println!("size: not built; `cargo build --release --package shelfmark-cli`"),
    }
    let licences = licences()?;
    println!("\n| licence | crates |\n| --- | --- |");
    for (licence, crates) in &licences {
        let names: Vec<&str> = crates.iter().map(String::as_str).collect();
        println!("| {licence} | {} |", names.join(", "));
    }
    let crates: usize = licences.values().map(BTreeSet::len).sum();
    println!("\n{crates} crates, {} licences", licences.len());
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "two digits of it are shown")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Returns the crates that the command is linked of, with versions, by licence.
fn licences() -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let words = ["tree", "--package", "shelfmark-cli", "--edges", "normal", "--prefix", "none"];
    let output = std::process::Command::new("cargo")
        .args(words)
        .args(["--format", "{\"name\":\"{p}\",\"licence\":\"{l}\"}"])
        .current_dir(root())
        .output()
        .context("cannot start cargo")?;
    anyhow::ensure!(output.status.success(), "cargo tree failed");
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let line = line.trim_end_matches(" (*)");
        let entry: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
        let part = |name| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        // Crates of the workspace are shown with their folder.
        let name = part("name").split(" (").next().unwrap_or_default().to_owned();
        let licence = part("licence").replace('/', " OR ");
        found.entry(licence).or_default().insert(name);
    }
    Ok(found)
}
