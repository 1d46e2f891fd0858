//! The rules that no compiler checks: layers, import circles, headers, sizes, words, paths.
//!
//! Each rule is a function from the repository to the problems it finds; `cargo test` runs them
//! all.

mod circles;
mod deploy;
mod first_lines;
mod layers;
mod markdown;
mod numbers;
mod sizes;
mod sources;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::run::root;

/// Runs every rule and fails if one is broken.
pub(crate) fn run() -> anyhow::Result<()> {
    let problems = problems()?;
    for problem in &problems {
        println!("tidy: {problem}");
    }
    if !problems.is_empty() {
        bail!("{} rules are broken", problems.len());
    }
    println!("tidy: nothing to say");
    Ok(())
}

fn problems() -> anyhow::Result<Vec<String>> {
    let files = tracked_files()?;
    let mut problems = layers::check()?;
    problems.extend(circles::check(&files)?);
    problems.extend(first_lines::check(&files)?);
    problems.extend(sizes::check(&files)?);
    problems.extend(sources::check(&files)?);
    problems.extend(markdown::check(&files)?);
    problems.extend(numbers::check(&files)?);
    problems.extend(deploy::check(&files)?);
    Ok(problems)
}

/// Returns the files that git tracks, or would, relative to the root.
fn tracked_files() -> anyhow::Result<Vec<PathBuf>> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .context("cannot start git")?;
    let text = String::from_utf8(listed.stdout)?;
    Ok(text.lines().map(PathBuf::from).filter(|path| root().join(path).is_file()).collect())
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(root().join(path))
        .with_context(|| format!("reading {}", path.display()))
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own == extension)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_repository_is_tidy() {
        assert_eq!(super::problems().unwrap(), Vec::<String>::new());
    }
}
