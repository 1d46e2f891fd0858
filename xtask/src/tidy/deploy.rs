//! Parses the examples of configuration under `deploy`, and has the command know their flags.
//!
//! What it is not: a trial of them. No machine of tests has a cluster of Kubernetes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use yaml_rust2::{Yaml, YamlLoader};

use super::{has_extension, read};

/// The file that declares the flags of `serve`.
const ARGUMENTS: &str = "crates/shelfmark-cli/src/arguments/mod.rs";
/// The sections of a unit of systemd.
const SECTIONS: [&str; 3] = ["Unit", "Service", "Install"];

pub(super) fn check(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let flags = flags()?;
    let mut problems = Vec::new();
    for path in files.iter().filter(|path| path.starts_with("deploy")) {
        let text = read(path)?;
        let used = if has_extension(path, "yaml") {
            match YamlLoader::load_from_str(&text) {
                Ok(documents) => {
                    documents.iter().flat_map(|own| arguments(path, own, &mut problems)).collect()
                }
                Err(error) => {
                    problems.push(format!("{}: {error}", path.display()));
                    continue;
                }
            }
        } else if has_extension(path, "service") {
            unit(path, &text, &mut problems)
        } else {
            Vec::new()
        };
        for flag in used.iter().filter(|flag| !flags.contains(*flag)) {
            problems.push(format!("{}: `serve` has no flag --{flag}", path.display()));
        }
    }
    Ok(problems)
}

/// Returns the flags of `serve`, by the names of its fields.
fn flags() -> anyhow::Result<BTreeSet<String>> {
    let text = read(Path::new(ARGUMENTS))?;
    let serve = text.split_once("pub(crate) struct Serve {").context("struct Serve")?.1;
    let fields = serve.split_once("\n}").context("the end of struct Serve")?.0;
    let names = fields.lines().filter_map(|line| line.trim().strip_prefix("pub(crate) "));
    Ok(names.filter_map(|field| Some(field.split_once(':')?.0.replace('_', "-"))).collect())
}

fn flag_of(word: &str) -> Option<String> {
    let flag = word.strip_prefix("--")?;
    Some(flag.split('=').next().unwrap_or(flag).to_owned())
}

/// Returns the flags of the containers of a document, which has a kind and a name.
fn arguments(path: &Path, document: &Yaml, problems: &mut Vec<String>) -> Vec<String> {
    let is_named = document["metadata"]["name"].as_str().is_some();
    if document["apiVersion"].as_str().is_none() || document["kind"].as_str().is_none() || !is_named
    {
        problems.push(format!("{}: a document has no apiVersion, kind or name", path.display()));
    }
    let containers = document["spec"]["template"]["spec"]["containers"].as_vec();
    let words = containers.into_iter().flatten().filter_map(|own| own["args"].as_vec()).flatten();
    words.filter_map(|word| flag_of(word.as_str()?)).collect()
}

/// Returns the flags of a unit's command, whose lines are sections, comments and settings.
fn unit(path: &Path, text: &str, problems: &mut Vec<String>) -> Vec<String> {
    let mut flags = Vec::new();
    let mut section = None;
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = SECTIONS.contains(&name).then_some(name);
        }
        let is_heading = line.starts_with('[');
        let setting =
            line.split_once('=').filter(|(name, _)| name.chars().all(char::is_alphanumeric));
        if section.is_none() || !(is_heading || setting.is_some()) {
            problems.push(format!("{}:{}: no setting of a unit", path.display(), number + 1));
        }
        if let Some(("ExecStart", command)) = setting {
            flags.extend(command.split_whitespace().filter_map(flag_of));
        }
    }
    flags
}
