//! Mutants: the product with one expression changed, which the tests of its own crate must notice.
//!
//! What it is not: a place for tests, or for what a mutant needs to be noticed. `cargo mutants` makes
//! and runs the mutants; which of them, and what their number must be, stands here. What is the same
//! as the original in all that it does stands in `equivalent.txt`, with the reason.

mod area;
mod equivalent;
mod judge;
mod sample;
mod together;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail, ensure};

use crate::mutants::area::{AREAS, Area};
use crate::mutants::equivalent::Equivalents;
use crate::mutants::sample::{Sample, Shard};
use crate::run::{root, target_folder};

/// Mutants of each area in the long mode: a sample of a few hours on two cores.
const COUNT_LONG: usize = 12;

/// Mutants of each area unless told otherwise.
const COUNT_DEFAULT: usize = 30;

const USAGE: &str =
    "usage: cargo xtask mutants [AREA] [--seed N] [--count N] [--shard K/N] [--together]";

/// Runs what the command line asks for: `[AREA] [--seed N] [--count N] [--shard K/N]`.
pub(crate) fn run_with_options(options: &[&str]) -> anyhow::Result<()> {
    if !is_installed() {
        bail!("cargo-mutants is needed: cargo install --locked cargo-mutants");
    }
    let mut areas: Vec<&Area> = AREAS.iter().collect();
    let mut sample = Sample { seed: seed_of_now(), count: COUNT_DEFAULT, shard: Shard::WHOLE };
    let mut rest = options;
    if let [name, behind @ ..] = options
        && !name.starts_with("--")
    {
        areas.retain(|area| area.name == *name);
        rest = behind;
    }
    if areas.is_empty() {
        let names: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
        bail!("there is no such area; there are: {}", names.join(", "));
    }
    let mut together = false;
    if let [before @ .., "--together"] = rest {
        (together, rest) = (true, before);
    }
    while let [option, value, behind @ ..] = rest {
        match *option {
            "--seed" => sample.seed = value.parse().context("--seed takes a number")?,
            "--count" => sample.count = value.parse().context("--count takes a number")?,
            "--shard" => sample.shard = value.parse()?,
            _ => bail!(USAGE),
        }
        rest = behind;
    }
    if !rest.is_empty() {
        bail!(USAGE);
    }
    run(&areas, sample, together)
}

/// Runs a sample of every area, another one each time, where the tool is installed.
pub(crate) fn run_if_there() -> anyhow::Result<()> {
    if !is_installed() {
        println!("not run: mutants; `cargo install --locked cargo-mutants`");
        return Ok(());
    }
    let areas: Vec<&Area> = AREAS.iter().collect();
    run(&areas, Sample { seed: seed_of_now(), count: COUNT_LONG, shard: Shard::WHOLE }, true)
}

fn run(areas: &[&Area], sample: Sample, together: bool) -> anyhow::Result<()> {
    let equivalents = Equivalents::read()?;
    println!("mutants: seed {}", sample.seed);
    let mut below = Vec::new();
    for area in areas {
        let described = list(area)?;
        let listed = names(area, &described)?;
        for stale in equivalents.stale(area, &listed) {
            println!("equivalent.txt: no mutant is called {stale}");
        }
        let chosen = sample.of(listed.into_iter().filter(|name| !equivalents.holds(name)));
        println!("{}: {} mutants", area.name, chosen.len());
        if chosen.is_empty() {
            continue;
        }
        let verdict = match together {
            true => together::run(area, &chosen, &described)?,
            false => judge::read(&test(area, &chosen)?, &chosen)?,
        };
        ensure!(verdict.tried() == chosen.len(), "{}: not all were tried", area.name);
        println!("{}: {verdict}", area.name);
        for missed in verdict.missed.iter().filter(|_| !together) {
            println!("  not noticed: {missed}");
        }
        if !verdict.reaches(area.percent_min) {
            below.push(area.name);
        }
    }
    if below.is_empty() {
        Ok(())
    } else {
        bail!("too many mutants go unnoticed in: {}", below.join(", "))
    }
}

/// Returns the names of all mutants of an area.
fn names(area: &Area, described: &[serde_json::Value]) -> anyhow::Result<Vec<String>> {
    let name = |mutant: &serde_json::Value| Some(mutant.get("name")?.as_str()?.to_owned());
    let names: Vec<String> = described.iter().filter_map(name).collect();
    if names.is_empty() {
        bail!("{}: there are no mutants; have its files moved?", area.name);
    }
    Ok(names)
}

/// Returns all mutants of an area, as the tool describes them.
fn list(area: &Area) -> anyhow::Result<Vec<serde_json::Value>> {
    let output = Command::new("cargo")
        .args(area.arguments())
        .args(["--list", "--json"])
        .current_dir(root())
        .output()
        .context("cannot start cargo mutants")?;
    if !output.status.success() {
        bail!("cargo mutants --list failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Tests mutants and returns the file that says what became of them. That some go unnoticed is no
/// failure here; that the tests fail without any mutant is one.
fn test(area: &Area, names: &[String]) -> anyhow::Result<PathBuf> {
    let folder = target_folder().join("mutants").join(area.name);
    std::fs::create_dir_all(&folder)?;
    let mut command = Command::new("cargo");
    command.args(["mutants", "--package", area.package, "--no-shuffle", "--colors", "never"]);
    for package in [area.package].iter().chain(area.tested_by) {
        command.args(["--test-package", package]);
    }
    command.arg("--output").arg(&folder);
    // Patterns do not keep fields from being deleted: of the files that are named, all are tried.
    let files: BTreeSet<&str> = names.iter().filter_map(|name| name.split(':').next()).collect();
    for file in files {
        command.args(["--file", file]);
    }
    for name in names {
        command.args(["--re", &format!("^{}$", escaped(name))]);
    }
    // A copy of the tree has a target folder of its own.
    command.env_remove("CARGO_TARGET_DIR").current_dir(root());
    let status = command.status().context("cannot start cargo mutants")?;
    // 2: some were missed, 3: some ran out of time.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("cargo mutants failed; its logs are in {}", folder.display());
    }
    Ok(folder.join("mutants.out/outcomes.json"))
}

/// Returns a regular expression that matches just this text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        // Not `<` and `>`: escaped, they are the ends of a word.
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

fn is_installed() -> bool {
    Command::new("cargo")
        .args(["mutants", "--version"])
        .output()
        .is_ok_and(|out| out.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mutants_are_no_patterns() {
        assert_eq!(escaped("a.rs:1: replace + with *"), r"a\.rs:1: replace \+ with \*");
        assert_eq!(escaped("f -> Option<()>"), r"f \-> Option<\(\)>");
    }
}
