//! `shelfmark man`: manual pages, generated from the command line's definition.
//!
//! What it is not: a second text about the command. A page says what `--help` says.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_mangen::Man as Page;

use crate::arguments::{Arguments, Man};

/// Prints the page of the command, or writes one for each command into a folder.
pub(crate) fn run(man: &Man) -> anyhow::Result<()> {
    match &man.out {
        Some(folder) => write_all(folder),
        None => {
            let mut page = Vec::new();
            Page::new(Arguments::command()).render(&mut page)?;
            std::io::stdout().write_all(&page)?;
            Ok(())
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "pages are no data of users")]
fn write_all(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder))
        .with_context(|| format!("cannot write manual pages into {}", folder.display()))
}
