//! The fuzzer on the stable toolchain: builds the targets of `fuzz/` with LLVM's coverage
//! instrumentation and runs each for a while.
//!
//! What it is not: a place for tests. What a target finds becomes a file of its corpus, which the
//! crate's tests run without the fuzzer (see `fuzz/README.md`).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::run::{root, run_with, target_folder};

/// Coverage as libFuzzer reads it: a counter per edge, where each edge lies, and what is compared.
/// All of it is stable: `-Zsanitizer` and its runtime are not needed, because no crate has `unsafe`.
const RUSTFLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module \
     -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Longest input in bytes that the fuzzer makes. Seeds are far shorter.
const INPUT_BYTES_MAX: u32 = 8_192;

/// Memory above which an input is a find, in MiB.
const MEMORY_MIB_MAX: u32 = 2_048;

/// Time above which an input is a find, in seconds.
const INPUT_SECONDS_MAX: u32 = 10;

/// Largest part of a log that is printed after a find.
const LOG_LINES_SHOWN: usize = 60;

/// Time that a target runs unless told otherwise, in seconds.
const SECONDS_DEFAULT: u32 = 60;

/// Time that a target runs in the long mode, in seconds.
const SECONDS_LONG: u32 = 30;

/// The targets that read what people and their clients write, whose grammars are wide, and how long
/// each of them runs in the long mode, in seconds.
const WIDE: [&str; 6] =
    ["cassandra_cli", "cql_frames", "cql_text", "imports", "java_bodies", "models"];
const SECONDS_LONG_WIDE: u32 = 600;

/// Runs what the command line asks for: `[TARGET] [--seconds N]`.
pub(crate) fn run_with_options(options: &[&str]) -> anyhow::Result<()> {
    let number =
        |text: &str| text.parse().with_context(|| format!("{text} is no number of seconds"));
    match options {
        [] => run(None, SECONDS_DEFAULT),
        ["--seconds", seconds] => run(None, number(seconds)?),
        [target] => run(Some(target), SECONDS_DEFAULT),
        [target, "--seconds", seconds] => run(Some(target), number(seconds)?),
        _ => bail!("usage: cargo xtask fuzz [TARGET] [--seconds N]"),
    }
}

/// Runs one target, or all of them, each for `seconds`.
fn run(target: Option<&str>, seconds: u32) -> anyhow::Result<()> {
    let targets = targets()?;
    let chosen: Vec<String> =
        targets.iter().filter(|own| target.is_none_or(|name| *own == name)).cloned().collect();
    if chosen.is_empty() {
        bail!("there is no such target; there are: {}", targets.join(", "));
    }
    run_each(&chosen, |_| seconds)
}

/// Runs all targets as the long mode does.
pub(crate) fn run_long() -> anyhow::Result<()> {
    let targets = targets()?;
    if let Some(name) = WIDE.iter().find(|name| !targets.iter().any(|own| own == *name)) {
        bail!("there is no fuzz target {name}");
    }
    run_each(
        &targets,
        |target| {
            if WIDE.contains(&target) { SECONDS_LONG_WIDE } else { SECONDS_LONG }
        },
    )
}

fn run_each(targets: &[String], seconds: impl Fn(&str) -> u32) -> anyhow::Result<()> {
    let binaries = build(targets)?;
    let mut finds = Vec::new();
    for target in targets {
        if let Err(error) = fuzz(target, &binaries.join(target), seconds(target)) {
            println!("{error:#}");
            finds.push(target.as_str());
        }
    }
    if finds.is_empty() {
        Ok(())
    } else {
        bail!("the fuzzer found something in: {}", finds.join(", "))
    }
}

/// Returns the names of the targets: the files in `fuzz/targets`.
fn targets() -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root().join("fuzz/targets"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the target folder of the fuzzer: apart from other builds, whose flags are others.
fn folder() -> PathBuf {
    target_folder().join("fuzz")
}

/// Builds targets and returns the folder of the binaries.
fn build(targets: &[String]) -> anyhow::Result<PathBuf> {
    check_compiler()?;
    let host = host()?;
    let folder = folder().join("build");
    let shown = folder.to_string_lossy();
    let mut arguments = vec!["build", "--profile", "fuzz", "--package", "shelfmark-fuzz"];
    // A named triple keeps the flags away from build scripts and macros.
    arguments.extend(["--features", "fuzzer", "--target", &host]);
    for target in targets {
        arguments.extend(["--bin", target]);
    }
    run_with("cargo", &arguments, &[("RUSTFLAGS", RUSTFLAGS), ("CARGO_TARGET_DIR", &shown)])?;
    Ok(folder.join(&host).join("fuzz"))
}

/// Fails if there is no C++ compiler to build the fuzzer with.
fn check_compiler() -> anyhow::Result<()> {
    let named = std::env::var("CXX").ok();
    let candidates = named.as_deref().map_or(vec!["c++", "g++", "clang++"], |name| vec![name]);
    let works = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    if candidates.iter().any(works) {
        return Ok(());
    }
    bail!(
        "the fuzzer needs a C++ compiler (Debian: apt-get install g++; macOS: xcode-select --install)"
    )
}

/// Returns the triple that this machine builds for.
fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.context("rustc names no host")?.to_owned())
}

/// Runs one target with its committed corpus as a start; what it learns goes to the target folder.
fn fuzz(target: &str, binary: &Path, seconds: u32) -> anyhow::Result<()> {
    let learnt = folder().join("corpus").join(target);
    let finds = folder().join("finds").join(target);
    for folder in [&learnt, &finds] {
        std::fs::create_dir_all(folder)?;
    }
    let mut arguments = vec![
        format!("-max_total_time={seconds}"),
        format!("-max_len={INPUT_BYTES_MAX}"),
        format!("-rss_limit_mb={MEMORY_MIB_MAX}"),
        format!("-timeout={INPUT_SECONDS_MAX}"),
        format!("-artifact_prefix={}/", finds.display()),
        "-print_funcs=0".to_owned(),
        learnt.to_string_lossy().into_owned(),
    ];
    let dictionary = root().join("fuzz/dictionaries").join(format!("{target}.dict"));
    if dictionary.is_file() {
        arguments.push(format!("-dict={}", dictionary.display()));
    }
    let seeds = root().join("fuzz/corpus").join(target);
    if seeds.is_dir() {
        arguments.push(seeds.to_string_lossy().into_owned());
    }
    println!("> {} {}", binary.display(), arguments.join(" "));
    let log = folder().join(format!("{target}.log"));
    let mut command = Command::new(binary);
    command.args(&arguments).stderr(std::fs::File::create(&log)?);
    // Targets that write files do so in memory where they can: the disk's syncs are not tested here.
    if std::env::var_os("TMPDIR").is_none() && Path::new("/dev/shm").is_dir() {
        command.env("TMPDIR", "/dev/shm");
    }
    let status = command.status().with_context(|| format!("cannot start {target}"))?;
    let text = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
    if !status.success() {
        for line in last_lines(&text) {
            println!("{line}");
        }
        bail!("{target} found something; the input is in {}", finds.display());
    }
    report(target, &text)
}

/// Says what a run came to, and fails if nothing was measured.
fn report(target: &str, log: &str) -> anyhow::Result<()> {
    let runs = log.lines().rev().find(|line| line.starts_with("Done ")).unwrap_or("Done");
    let first = log.lines().find_map(coverage);
    let last = log.lines().rev().find_map(coverage);
    let (Some(first), Some(last)) = (first, last) else {
        bail!("{target} reports no coverage: the instrumentation is missing");
    };
    println!("{target}: {}, edges covered {first} -> {last}", runs.trim_start_matches("Done "));
    Ok(())
}

/// Returns the edges covered so far, if a line of libFuzzer's says so.
fn coverage(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once(" cov: ")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Returns the end of a log: the panic, where it came from, and the input.
fn last_lines(log: &str) -> impl Iterator<Item = &str> {
    let count = log.lines().count();
    log.lines().skip(count.saturating_sub(LOG_LINES_SHOWN))
}
