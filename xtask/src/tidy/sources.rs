//! Rules about source files.

use std::path::{Path, PathBuf};

use super::{has_extension, read};

/// Longest file without its tests. Longer ones are split by idea.
const LINES_MAX: usize = 800;

/// The only places that may name the bought tree.
const TREE_MODULE: &str = "crates/shelfmark-store/src/embedded/tree";

/// The one exception to `unsafe`: the library that is loaded under the process in power-cut tests.
const UNSAFE_CRATE: &str = "crates/shelfmark-preload/";

pub(super) fn check(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in files {
        if has_extension(path, "rs") {
            problems.extend(check_source(path)?);
        }
        if path.ends_with("Cargo.toml") && path != Path::new("Cargo.toml") {
            let manifest = read(path)?;
            if !manifest.contains("[lints]\nworkspace = true") && !manifest.contains("[workspace]")
            {
                problems.push(format!("{}: `[lints] workspace = true` is missing", path.display()));
            }
        }
        if is_text(path) {
            problems.extend(check_words(path)?);
        }
    }
    Ok(problems)
}

fn check_source(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = read(path)?;
    let shown = path.display();
    let mut problems = Vec::new();
    // Included snippets are no modules.
    let is_module = path.components().any(|part| part.as_os_str() == "src");
    let is_test = path.components().any(|part| part.as_os_str() == "tests")
        || path.file_name().is_some_and(|name| name == "tests.rs");
    if is_module && !is_test && !starts_with_header(&text) {
        problems.push(format!("{shown}: the module header (`//!`) is missing"));
    }
    let lines = text.lines().take_while(|line| line.trim() != "mod tests {").count();
    if !is_test && lines > LINES_MAX {
        problems.push(format!("{shown}: {lines} lines; split it by idea"));
    }
    let in_tree = path.starts_with(TREE_MODULE) || path.starts_with(format!("{TREE_MODULE}.rs"));
    let named = ["lsm", "_tree::"].concat();
    let uses_tree = |line: &str| line.contains(&named) && !line.trim_start().starts_with("//");
    // The recorder tells by the symbols' names who called.
    let in_tree = in_tree || path.starts_with(UNSAFE_CRATE);
    if !in_tree && !is_test && text.lines().any(uses_tree) {
        problems.push(format!("{shown}: the bought tree is used outside {TREE_MODULE}"));
    }
    let unsafe_word = ["unsafe", " {"].concat();
    if text.contains(&unsafe_word) && !path.starts_with(UNSAFE_CRATE) {
        problems.push(format!("{shown}: unsafe code outside {UNSAFE_CRATE}"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        let todo = ["TO", "DO"].concat();
        if let Some(rest) = line.split_once(&todo).map(|(_, rest)| rest)
            && line.trim_start().starts_with("//")
            && !(rest.starts_with('(') && rest.contains('#'))
        {
            problems.push(format!("{shown}:{number}: a doubt needs `{todo}(kind, #issue)`"));
        }
    }
    Ok(problems)
}

fn starts_with_header(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//!"))
}

fn is_text(path: &Path) -> bool {
    ["rs", "md", "toml", "py", "sh", "json", "yml"].iter().any(|own| has_extension(path, own))
}

/// Refuses machine paths and hosts of registries.
fn check_words(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = read(path)?;
    let banned =
        [["/ro", "ot/"], ["/wo", "rk/"], ["/ho", "me/"], ["crates", ".io"], ["pypi", ".org"]];
    let banned = banned.map(|parts| parts.concat());
    let mut problems = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(word) = banned.iter().find(|word| line.contains(word.as_str())) {
            problems.push(format!("{}:{number}: `{word}` does not belong here", path.display()));
        }
    }
    Ok(problems)
}
