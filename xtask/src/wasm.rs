//! The modeller for browsers: built for `wasm32-unknown-unknown` where that target is installed.
//!
//! What it is not: it installs nothing. Where the target is missing it says so in one line, and the
//! test of the crate's imports stays the only check that it, and what it stands on, is pure.

use std::process::Command;

use anyhow::Context as _;

use crate::run::run as start;

/// The target of browsers without an operating system under them.
const TARGET: &str = "wasm32-unknown-unknown";

/// Checks the crate that must run in a browser.
pub(crate) fn run() -> anyhow::Result<()> {
    if !is_installed()? {
        println!("not checked: shelfmark-design for {TARGET}; `rustup target add {TARGET}`");
        return Ok(());
    }
    start("cargo", &["check", "--package", "shelfmark-design", "--target", TARGET])
}

/// Returns true if the compiler in use has the target's library.
fn is_installed() -> anyhow::Result<bool> {
    let libraries = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .context("cannot start rustc")?;
    let folder = String::from_utf8_lossy(&libraries.stdout).trim().to_owned();
    Ok(libraries.status.success() && std::path::Path::new(&folder).is_dir())
}
