//! The book: built with every link checked, and every command on its pages run.
//!
//! What a page says and what it may look like is in `docs/book`; how its blocks are run, in
//! `clients/book`.

use crate::clients::{is_there, virtual_environment};
use crate::run::{built, run, run_with, target_folder};

/// Builds the book and runs the commands on its pages against the command as it was built.
pub(crate) fn check() -> anyhow::Result<()> {
    let python = virtual_environment("clients-book", "clients/book/requirements.txt")?;
    let python = python.to_string_lossy();
    let site = target_folder().join("book");
    let site = site.to_string_lossy();
    // Not `--quiet`: what is not told is not counted, and `--strict` then finds nothing.
    run_with(&python, &["-m", "mkdocs", "build", "--strict", "--site-dir", &site], &[])?;
    let (command, examples) = (built("shelfmark"), built("examples"));
    let variables = [
        ("SHELFMARK_BIN", &*command.to_string_lossy()),
        ("SHELFMARK_EXAMPLES", &*examples.to_string_lossy()),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ];
    run_with(&python, &["clients/book/check.py", &site], &variables)
}

/// Builds the image of `deploy/Containerfile`, starts and stops it, where there is a builder.
pub(crate) fn image() -> anyhow::Result<()> {
    if is_there("buildah") {
        let command = built("shelfmark");
        run("python3", &["deploy/try_image.py", &command.to_string_lossy()])?;
    }
    Ok(())
}
