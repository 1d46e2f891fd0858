//! Rules about documents: what they name is there, and they state no counts that go stale.

use std::path::{Path, PathBuf};

use super::{has_extension, read};
use crate::run::root;

/// Folders whose files a document may name in backticks.
const FOLDERS: [&str; 9] =
    ["crates/", "docs/", "examples/", "xtask/", "clients/", "fuzz/", "load/", "models/", ".ci/"];

/// Endings of files that a document may name without their folder.
const ENDINGS: [&str; 3] = [".rs", ".md", ".py"];

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
            for named in
                file_names(line).filter(|named| !files.iter().any(|own| own.ends_with(named)))
            {
                problems.push(format!("{}:{number}: no file is called {named}", path.display()));
            }
            if line.contains(" lines of code") {
                problems.push(format!("{}:{number}: a line count goes stale", path.display()));
            }
        }
    }
    Ok(problems)
}

/// Returns the paths in backticks.
fn spans(line: &str) -> Vec<String> {
    quoted(line)
        .filter(|span| FOLDERS.iter().any(|folder| span.starts_with(folder)))
        .map(str::to_owned)
        .collect()
}

/// Returns the names of files in backticks, with or without some of their folders.
fn file_names(line: &str) -> impl Iterator<Item = &str> {
    quoted(line).filter(|span| ENDINGS.iter().any(|ending| span.ends_with(ending)))
}

/// Returns what stands in backticks and may be the name of a file.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    let spans = line.split('`').skip(1).step_by(2);
    spans.filter(|span| !span.contains(['*', '<', ' ', '{', '…', 'N']))
}

/// Returns the targets of links within the repository.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_found_in_backticks() {
        let line =
            "See `crates/a/src/lib.rs`, `told.rs` and `*.rs`; `a b.rs` is none, nor is told.rs.";
        assert_eq!(file_names(line).collect::<Vec<_>>(), ["crates/a/src/lib.rs", "told.rs"]);
        assert_eq!(spans(line), ["crates/a/src/lib.rs"]);
        let path = Path::new("crates/a/src/told.rs");
        assert!(path.ends_with("src/told.rs") && !path.ends_with("old.rs"));
    }
}
