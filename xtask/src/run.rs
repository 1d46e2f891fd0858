//! Starting programs, with what is run shown.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Returns the folder of what is built and downloaded, for every workspace of this repository.
pub(crate) fn target_folder() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR");
    named.map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// Returns the path of a program, or a folder of them, that an ordinary build made.
pub(crate) fn built(name: &str) -> PathBuf {
    target_folder().join("debug").join(name)
}

/// Runs a program in the root and fails if it does.
pub(crate) fn run(program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    run_with(program, arguments, &[])
}

/// Works as [`run`], with variables of the environment set.
pub(crate) fn run_with(
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> anyhow::Result<()> {
    run_in(&root(), program, arguments, variables)
}

/// Works as [`run_with`], in another folder than the root.
pub(crate) fn run_in(
    folder: &Path,
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> anyhow::Result<()> {
    println!("> {program} {}", arguments.join(" "));
    let status = Command::new(program)
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .status()
        .with_context(|| format!("cannot start {program}; is it installed?"))?;
    if !status.success() {
        bail!("{program} {} failed", arguments.join(" "));
    }
    Ok(())
}
