//! Licences, sources and advisories of the dependencies, by `cargo deny` where it is installed.
//!
//! What it is not: it installs nothing. What a dependency may be stands in `deny.toml`. Advisories
//! come from outside and change without a change of ours, so only the long mode asks for them.

use std::process::{Command, Stdio};

use crate::run::run as start;

/// Checks the dependencies; `advisories` also asks for known weaknesses.
pub(crate) fn run(advisories: bool) -> anyhow::Result<()> {
    if !is_installed() {
        println!("not checked: licences of dependencies; `cargo install cargo-deny`");
        return Ok(());
    }
    start("cargo", &["deny", "--offline", "check", "bans", "licenses", "sources"])?;
    if advisories {
        start("cargo", &["deny", "check", "advisories"])?;
    }
    Ok(())
}

/// Returns true if cargo knows the subcommand.
fn is_installed() -> bool {
    Command::new("cargo")
        .args(["deny", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
