//! First lines of documentation: sentences that are understood without the code beside them.
//!
//! What it is not: a judge of prose. It refuses first lines that begin as clauses without a subject
//! do ("What …", "Whether …"), and first lines of functions that do not begin with a verb in the
//! third person ("Returns …"), in every crate that is not in [`OPEN`]. Tests may say it otherwise.
//!
//! Invariant: the list of [`OPEN`] crates only shrinks.

use std::path::{Path, PathBuf};

use super::{has_extension, read};

/// Crates and folders that were not gone through yet.
const OPEN: [&str; 2] = ["fuzz/", "load/"];

/// The files whose comments are the help of the command, which speaks otherwise.
const HELP: &str = "shelfmark-cli/src/arguments/";

/// Words with which a clause begins that is no sentence.
const CLAUSES: [&str; 12] = [
    "What",
    "Whether",
    "How",
    "Who",
    "Which",
    "Where",
    "Why",
    "When",
    "Whatever",
    "Whoever",
    "Whichever",
    "Wherever",
];

/// Words that end like a verb in the third person and are none.
const NO_VERBS: [&str; 10] =
    ["As", "Bytes", "Columns", "Files", "Its", "Keys", "Rows", "Tables", "This", "Values"];

pub(super) fn check(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in files.iter().filter(|path| has_extension(path, "rs") && is_clean(path)) {
        for (number, line) in refused(&read(path)?, is_test(path)) {
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
    !name.contains(HELP) && name.contains("/src/") && !OPEN.iter().any(|own| name.starts_with(own))
}

/// Returns true if the file holds tests only, as its name says.
fn is_test(path: &Path) -> bool {
    let in_tests = path.components().any(|part| part.as_os_str() == "tests");
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    in_tests || stem == "tests" || stem.ends_with("_tests")
}

/// Returns the first lines that are no sentences, with their numbers.
fn refused(text: &str, is_test: bool) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    let mut before = "";
    for (at, line) in lines.iter().enumerate() {
        let sign = ["///", "//!"].into_iter().find(|sign| line.starts_with(sign));
        if let Some(sign) = sign
            && !before.starts_with(sign)
            && let Some(first) = line.get(3..).and_then(|rest| rest.split_whitespace().next())
        {
            let documents_function = sign == "///" && !is_test && is_function(&lines, at);
            if CLAUSES.contains(&first) || documents_function && !is_verb(first) {
                found.push((at + 1, *line));
            }
        }
        before = line;
    }
    found
}

/// Returns true if the comment that begins at line `at` documents a function that is no test.
fn is_function(lines: &[&str], at: usize) -> bool {
    let rest = lines.iter().skip(at).skip_while(|line| line.starts_with("//"));
    let mut rest = rest.skip_while(|line| line.starts_with("#[") && !line.contains("test"));
    rest.next().is_some_and(|line| {
        let signature = line.split('(').next().unwrap_or_default();
        let words = line.split_whitespace();
        let mut words = words.skip_while(|word| {
            word.starts_with("pub")
                || ["in", "const", "async", "unsafe"].contains(word)
                || word.ends_with(')') && !signature.contains("fn")
        });
        words.next() == Some("fn")
    })
}

/// Returns true if `word` can be a verb in the third person: `Returns`, `Has`, `Does,`.
fn is_verb(word: &str) -> bool {
    let word = word.trim_end_matches([',', ':']);
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.ends_with('s')
        && word.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
        && !NO_VERBS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_told_from_sentences() {
        let text = "//! Rules.\n//!\n//! What it is not: law.\n\n    /// Whether it is.\n    a: bool,\n/// Returns what is.\n/// How much.\n";
        let found: Vec<usize> = refused(text, false).iter().map(|(number, _)| *number).collect();
        assert_eq!(found, [5]);
        assert!(is_clean(Path::new("crates/shelfmark-cql/src/lib.rs")));
        assert!(!is_clean(Path::new("fuzz/src/lib.rs")));
    }

    #[test]
    fn functions_begin_with_a_verb() {
        let text = "/// The end.\n#[must_use]\npub(in super::super) const fn end() {}\n\n/// The end.\nstruct End;\n\n/// Reads, and waits.\nasync fn read() {}\n\n/// One after the other.\n#[test]\nfn in_order() {}\n";
        let found: Vec<usize> = refused(text, false).iter().map(|(number, _)| *number).collect();
        assert_eq!(found, [1]);
        assert!(refused(text, true).is_empty());
        assert!(is_test(Path::new("a/src/b/tests.rs")) && !is_test(Path::new("a/src/contest.rs")));
        assert!(is_verb("Writes,") && !is_verb("Bytes") && !is_verb("The"));
    }
}
