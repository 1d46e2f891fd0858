//! `shelfmark verify`: reads every byte of a store and looks whether its records belong together;
//! rescues one that is damaged.

use std::io::Write as _;

use anyhow::bail;
use shelfmark_engine::{Engine, Verification};
use shelfmark_model::RowKind;
use shelfmark_store::embedded::{self, Report, Salvage};

use crate::arguments::Verify;
use crate::store::with_engine;

pub(crate) fn run(verify: &Verify) -> anyhow::Result<()> {
    let folder = &verify.data.data;
    if !folder.exists() {
        bail!("there is no store in {}; pass --data DIR", folder.display());
    }
    let mut out = std::io::stdout();
    if verify.salvage {
        let salvage = embedded::salvage(folder)?;
        writeln!(out, "{}", salvage_text(&salvage))?;
        if salvage.set_aside.is_none() {
            return Ok(());
        }
        // Rows may have gone without their entries, and entries without their rows.
        return with_engine(folder, |engine| renew_indexes(engine, &mut out));
    }
    let report = embedded::verify(folder)?;
    writeln!(out, "{}", report_text(&report))?;
    if !report.is_clean() {
        bail!(
            "the store is damaged; this keeps what is intact: shelfmark verify --data {} --salvage",
            folder.display()
        );
    }
    // Only a store whose bytes are right is opened, which recovers it as any start does.
    let found = with_engine(folder, |engine| Ok(engine.verify()?))?;
    writeln!(out, "{}", records_text(&found))?;
    if !found.is_clean() {
        bail!(
            "records do not belong together: drop the indexes and views that are named above and \
             create them again; where no salvage came before, report it"
        );
    }
    Ok(())
}

/// Builds the indexes of all tables of items anew, and says what else is not as it was.
fn renew_indexes(engine: &Engine, out: &mut impl std::io::Write) -> anyhow::Result<()> {
    for name in engine.table_names(None, None, usize::MAX)? {
        if engine.table(&name)?.schema.rows == RowKind::Items {
            let indexes = engine.renew_indexes(&name)?;
            if indexes > 0 {
                writeln!(out, "indexes of {name} were built anew: {indexes}")?;
            }
        }
    }
    let found = engine.verify()?;
    writeln!(out, "{}", records_text(&found))?;
    Ok(())
}

fn records_text(found: &Verification) -> String {
    let mut lines = vec![
        format!("tables         {}", found.tables),
        format!("rows           {} with {} index entries", found.rows, found.entries),
        format!("changes        {}", found.changes),
        format!("to expire      {} due times, {} tokens", found.due_times, found.tokens),
    ];
    lines.extend(found.findings.iter().map(|finding| format!("wrong: {finding}")));
    if found.findings_more > 0 {
        lines.push(format!("wrong: {} more", found.findings_more));
    }
    if found.is_clean() {
        lines.push("every record belongs where it is".to_owned());
    }
    lines.join("\n")
}

fn report_text(report: &Report) -> String {
    let mut lines = vec![
        format!("log files      {} with {} groups", report.log_files, report.groups),
        format!("last commit    {}", report.last_commit),
        format!(
            "table files    {} of {}",
            report.table_files,
            indicatif::HumanBytes(report.table_bytes)
        ),
        format!(
            "stopped        {}",
            if report.clean_stop { "in good order" } else { "by a crash" }
        ),
    ];
    lines.extend(report.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(report.damages.iter().map(|damage| format!("damage: {damage}")));
    if report.is_clean() {
        lines.push("every byte is as it was written".to_owned());
    }
    lines.join("\n")
}

fn salvage_text(salvage: &Salvage) -> String {
    if salvage.set_aside.is_none() {
        return "nothing was damaged; nothing was changed".to_owned();
    }
    let mut lines: Vec<String> =
        salvage.damages.iter().map(|damage| format!("damage: {damage}")).collect();
    lines.extend(salvage.table_parts_lost.iter().map(|part| format!("lost: {part}")));
    for groups in &salvage.groups_lost {
        lines.push(format!("lost: groups {} to {}", groups.start(), groups.end()));
    }
    if let Some(commits) = salvage.commits_lost.filter(|commits| *commits > 0) {
        lines.push(format!("lost: {commits} commits"));
    }
    lines.extend(salvage.notes.iter().map(|note| format!("note: {note}")));
    lines.push(format!("kept: groups of the log: {}", salvage.groups_kept));
    if let Some(folder) = &salvage.set_aside {
        lines.push(format!("damaged originals are in {}", folder.display()));
    }
    lines.join("\n")
}
