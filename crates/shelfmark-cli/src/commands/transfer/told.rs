//! The outcome of a transfer, for people and as JSON.

use std::io::Write as _;

use indicatif::{HumanBytes, HumanCount};
use serde_json::json;
use shelfmark_transfer::Sums;
use shelfmark_transfer::feed::Imported;

use crate::arguments::{Export, Import};

/// An import that ended.
pub(super) struct Told {
    pub(super) table: String,
    pub(super) is_new: bool,
    pub(super) imported: Imported,
}

/// Tells of an export.
pub(super) fn export(export: &Export, sums: &Sums, bytes: u64, earlier: u64) -> anyhow::Result<()> {
    if export.pace.json {
        let told = json!({
            "table": export.table,
            "rows": sums.rows,
            "checksum": format!("{:032x}", sums.checksum),
            "bytes": bytes,
            "earlier": earlier,
        });
        writeln!(std::io::stdout(), "{told:#}")?;
        return Ok(());
    }
    let (table, rows, checksum) = (&export.table, HumanCount(sums.rows), sums.checksum);
    let bytes = HumanBytes(bytes);
    if export.to.as_os_str() == "-" {
        // Standard output is the rows' alone.
        anstream::eprintln!("{rows} rows of {table}, {bytes}, checksum {checksum:032x}");
        return Ok(());
    }
    let to = export.to.display();
    writeln!(
        std::io::stdout(),
        "{rows} rows of {table} are in {to}, {bytes}, checksum {checksum:032x}"
    )?;
    Ok(())
}

/// Tells of imports.
pub(super) fn imports(import: &Import, all: &[Told]) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    for Told { table, is_new, imported } in all {
        for bad in &imported.bad_told {
            anstream::eprintln!("passed over: {}: {}", bad.place, bad.why);
        }
        let more = imported.bad.saturating_sub(imported.bad_told.len() as u64);
        if more > 0 {
            anstream::eprintln!("passed over: {more} more");
        }
        if import.pace.json {
            let told = json!({
                "table": table,
                "created": is_new,
                "rows": imported.sums.rows,
                "checksum": format!("{:032x}", imported.sums.checksum),
                "bad": imported.bad,
                "earlier_records": imported.earlier,
            });
            writeln!(out, "{told:#}")?;
            continue;
        }
        let (rows, checksum) = (HumanCount(imported.sums.rows), imported.sums.checksum);
        let made = if *is_new { ", which was created" } else { "" };
        writeln!(out, "{rows} rows are in {table}{made}, checksum {checksum:032x}")?;
        if imported.bad > 0 {
            writeln!(out, "{} records were passed over", HumanCount(imported.bad))?;
        }
    }
    Ok(())
}
