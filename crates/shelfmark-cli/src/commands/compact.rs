//! `shelfmark compact`: does the background work of a store that is due.

use std::io::Write as _;

use crate::arguments::Compact;

pub(crate) fn run(compact: &Compact) -> anyhow::Result<()> {
    let done = compact.place.ask(|asked| asked.run(shelfmark_admin::Compact {}))?;
    let mut out = std::io::stdout();
    if compact.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&done)?)?;
        return Ok(());
    }
    let flushed = indicatif::HumanBytes(done.flushed_bytes);
    let rows = indicatif::HumanBytes(done.tree_bytes_on_disk);
    let files = done.log_files_removed;
    writeln!(out, "{flushed} written to table files, {files} log files removed; {rows} of rows")?;
    Ok(())
}
