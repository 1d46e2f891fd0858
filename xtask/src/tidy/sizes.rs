//! Crates that were split because they had become too large to read, and the size that each keeps.
//!
//! Lines of the product count: neither empty, nor comments, nor tests. What it is not: a measure of
//! how good a crate is. One that reaches its size is split by subject, as `docs/adr` tells of these.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{has_extension, read};

/// The crates by their folders, and the most lines of the product.
const LINES_MAX: [(&str, usize); 3] = [
    ("crates/shelfmark-records", 15_000),
    ("crates/shelfmark-tables", 15_000),
    ("crates/shelfmark-engine", 15_000),
];

pub(super) fn check(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for path in files {
        let found = LINES_MAX.iter().find(|(folder, _)| path.starts_with(format!("{folder}/src")));
        if let Some((folder, _)) = found.filter(|_| is_product(path)) {
            *lines.entry(folder).or_default() += product_lines(&read(path)?);
        }
    }
    Ok(problems(&lines))
}

fn problems(lines: &BTreeMap<&str, usize>) -> Vec<String> {
    let of = |(folder, most): &(&str, usize)| {
        let found = lines.get(folder).copied().unwrap_or_default();
        (found == 0 || found > *most)
            .then(|| format!("{folder}: {found} lines of the product, of {most} at most"))
    };
    LINES_MAX.iter().filter_map(of).collect()
}

fn is_product(path: &Path) -> bool {
    let is_test = path.file_stem().is_some_and(|name| name.to_string_lossy().contains("test"));
    has_extension(path, "rs") && !is_test
}

/// Counts lines that are neither empty nor comments, up to the tests at the end of a file.
fn product_lines(text: &str) -> usize {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let is_product = |line: &&str| !line.is_empty() && !line.starts_with("//");
    code.lines().map(str::trim).filter(is_product).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_product_are_counted() {
        let text = "//! Header.\n\nuse a::b;\n/// Doc.\nfn f() {\n    // Why.\n    b();\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    fn g() {}\n}\n";
        assert_eq!(product_lines(text), 4);
    }

    #[test]
    fn a_crate_that_is_too_large_or_gone_is_told() {
        let all: BTreeMap<&str, usize> = LINES_MAX.into_iter().collect();
        assert!(problems(&all).is_empty());
        let mut larger = all.clone();
        larger.insert("crates/shelfmark-engine", 15_001);
        assert_eq!(problems(&larger).len(), 1);
        larger.remove("crates/shelfmark-tables");
        assert_eq!(problems(&larger).len(), 2);
    }
}
