//! Rules about documents: what they name is there, and they state no counts that go stale.

use std::path::{Path, PathBuf};

use super::{has_extension, read};
use crate::run::root;

/// Folders whose files a document may name in backticks.
const FOLDERS: [&str; 6] = ["crates/", "docs/", "examples/", "xtask/", "clients/", ".ci/"];

pub(super) fn check(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in files.iter().filter(|path| has_extension(path, "md")) {
        let text = read(path)?;
        for (number, line) in (1..).zip(text.lines()) {
            for named in spans(line).into_iter().chain(links(line)) {
                if !is_there(path, &named) {
                    problems.push(format!("{}:{number}: {named} is not there", path.display()));
                }
            }
            if line.contains(" lines of code") {
                problems.push(format!("{}:{number}: a line count goes stale", path.display()));
            }
        }
    }
    Ok(problems)
}

/// Paths in backticks.
fn spans(line: &str) -> Vec<String> {
    line.split('`')
        .skip(1)
        .step_by(2)
        .filter(|span| FOLDERS.iter().any(|folder| span.starts_with(folder)))
        .filter(|span| !span.contains(['*', '<', ' ', '{', '…', 'N']))
        .map(str::to_owned)
        .collect()
}

/// Targets of links within the repository.
fn links(line: &str) -> Vec<String> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .filter_map(|target| target.split('#').next())
        .map(str::to_owned)
        .collect()
}

fn is_there(document: &Path, named: &str) -> bool {
    let beside = document.parent().map(|folder| root().join(folder).join(named));
    root().join(named).exists() || beside.is_some_and(|path| path.exists())
}
