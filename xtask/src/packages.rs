//! The packages that start a server for other people's test suites, with the clients that they serve.
//!
//! They are tried as their users run them: by pytest and by Vitest, against the command as it was built.

use std::path::Path;

use crate::clients::{is_there, virtual_environment};
use crate::run::{built, root, run as start, run_in, run_with, target_folder};

/// The folder of each package.
const PYTHON: &str = "clients/pytest-shelfmark";
const NODE: &str = "clients/vitest-shelfmark";

/// Runs the tests of each package; one whose tool chain is missing is left out, and that is said.
pub(crate) fn run() -> anyhow::Result<()> {
    python()?;
    if is_there("npm") {
        node()?;
    }
    Ok(())
}

fn python() -> anyhow::Result<()> {
    let requirements = format!("{PYTHON}/requirements-test.txt");
    let python = virtual_environment("clients-pytest", &requirements)?;
    let folder = root().join(PYTHON);
    let command = built("shelfmark");
    let variables = [
        ("SHELFMARK_BIN", &*command.to_string_lossy()),
        ("PYTHONPATH", &*folder.to_string_lossy()),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ];
    let plugins = ["-p", "pytest_shelfmark.plugin", "-p", "no:cacheprovider"];
    let words = [&["-m", "pytest", "-q"][..], &plugins, &[PYTHON]].concat();
    run_with(&python.to_string_lossy(), &words, &variables)
}

fn node() -> anyhow::Result<()> {
    // Modules land beside what names them, so the tests run from a copy.
    let folder = target_folder().join("clients-vitest");
    for own in ["src", "tests"] {
        let copied = folder.join(own);
        if copied.exists() {
            std::fs::remove_dir_all(&copied)?;
        }
        copy(&root().join(NODE).join(own), &copied)?;
    }
    for name in ["package.json", "vitest.config.mjs", "LICENSE-MIT", "LICENSE-APACHE"] {
        std::fs::copy(root().join(NODE).join(name), folder.join(name))?;
    }
    let shown = folder.to_string_lossy();
    start("npm", &["--prefix", &shown, "install", "--no-audit", "--no-fund"])?;
    let command = built("shelfmark");
    let root = root();
    let variables = [
        ("SHELFMARK_BIN", &*command.to_string_lossy()),
        ("SHELFMARK_ROOT", &*root.to_string_lossy()),
    ];
    run_in(&folder, "npm", &["test"], &variables)
}

/// Copies the files of a folder that has no folders.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
