//! First lines of documentation: sentences that are understood without the code beside them.
//!
//! What it is not: a judge of prose. It refuses first lines that begin as clauses without a subject
//! do ("What …", "Whether …"), in the crates that were gone through.
//!
//! Invariant: a crate that is in [`CLEAN`] stays clean; the list only grows.

use std::path::{Path, PathBuf};

use super::{has_extension, read};

/// The beginnings of crates' names that were gone through.
const CLEAN: [&str; 5] = [
    "shelfmark-cassandra-cli",
    "shelfmark-cql-protocol",
    "shelfmark-cql-syntax",
    "shelfmark-cql-types",
    "shelfmark-cql/",
];

/// Words with which a clause begins that is no sentence.
const CLAUSES: [&str; 7] = ["What", "Whether", "How", "Who", "Which", "Where", "Why"];

pub(super) fn check(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in files.iter().filter(|path| has_extension(path, "rs") && is_clean(path)) {
        for (number, line) in clauses(&read(path)?) {
            problems.push(format!(
                "{}:{number}: a first line is a sentence (`Returns true if …`, `Holds …`): {line}",
                path.display()
            ));
        }
    }
    Ok(problems)
}

fn is_clean(path: &Path) -> bool {
    let Some(path) = path.to_str() else { return false };
    let name = path.strip_prefix("crates/").unwrap_or(path);
    name.contains("/src/") && CLEAN.iter().any(|own| name.starts_with(own))
}

/// Returns the first lines that are clauses, with their numbers.
fn clauses(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut before = "";
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark));
        if let Some(mark) = mark
            && !before.starts_with(mark)
            && let Some(first) = line.get(3..).and_then(|rest| rest.split_whitespace().next())
            && CLAUSES.contains(&first)
        {
            found.push((number, line));
        }
        before = line;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_told_from_sentences() {
        let text = "//! Rules.\n//!\n//! What it is not: law.\n\n    /// Whether it is.\n    a: bool,\n/// Returns what is.\n/// How much.\n";
        let found: Vec<usize> = clauses(text).iter().map(|(number, _)| *number).collect();
        assert_eq!(found, [5]);
        assert!(is_clean(Path::new("crates/shelfmark-cql/src/lib.rs")));
        assert!(!is_clean(Path::new("crates/shelfmark-engine/src/lib.rs")));
    }
}
