//! `shelfmark completions`: completion scripts, generated from the command line's definition.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell as Target;

use crate::arguments::{Arguments, Completions, Shell};

pub(crate) fn run(completions: &Completions) -> anyhow::Result<()> {
    let target = match completions.shell {
        Shell::Bash => Target::Bash,
        Shell::Elvish => Target::Elvish,
        Shell::Fish => Target::Fish,
        Shell::Powershell => Target::PowerShell,
        Shell::Zsh => Target::Zsh,
    };
    let mut script = Vec::new();
    clap_complete::generate(target, &mut Arguments::command(), "shelfmark", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(())
}
