//! `shelfmark verify`: reads every byte of a store and checks its records against each other.

use std::io::Write as _;

use anyhow::bail;
use shelfmark_admin::VerifyAnswer;
use shelfmark_store::embedded::{self, Report};

use crate::arguments::Verify;
use crate::store::with_engine;

pub(crate) fn run(verify: &Verify) -> anyhow::Result<()> {
    let place = &verify.place;
    #[cfg(feature = "tikv")]
    if let (true, Some(address)) = (verify.suites, &place.engine) {
        return super::suites::run(verify, address);
    }
    if place.engine.is_some() {
        records_alone(verify, "report it, and keep the cluster's backup")?;
        anstream::eprintln!("the cluster itself was not tried; --suites does that");
        return Ok(());
    }
    if place.server.is_some() {
        let next = "stop the server, and check its folder with: shelfmark verify --data DIR";
        return records_alone(verify, next);
    }
    let folder = &place.data;
    if !folder.exists() {
        bail!("there is no store in {}; pass --data DIR", folder.display());
    }
    let mut out = std::io::stdout();
    if verify.salvage {
        return super::salvage::run(verify, &mut out);
    }
    let report = embedded::verify(folder)?;
    writeln!(out, "{}", if verify.json { report_json(&report) } else { report_text(&report) })?;
    if !report.is_clean() {
        bail!(
            "the store is damaged; this keeps what is intact: shelfmark verify --data {} --salvage",
            folder.display()
        );
    }
    if !report.unfinished.is_empty() {
        bail!(
            "what a salvage lost was not seen to yet, for it was interrupted; go on with: shelfmark \
             verify --data {} --salvage",
            folder.display()
        );
    }
    // Only a store whose bytes are right is opened, which recovers it as any start does.
    let found = match with_engine(folder, |engine| Ok(VerifyAnswer::from(&engine.verify()?))) {
        Err(error) if cannot_be_written(&error) => {
            anstream::eprintln!(
                "note: whether its records belong together was not looked at, for the store cannot be \
                 opened here: {error:#}"
            );
            return Ok(());
        }
        found => found?,
    };
    print_records(verify, &found)?;
    if !found.is_clean() {
        bail!(
            "records do not belong together; this makes anew what follows from others: shelfmark \
             verify --data {} --salvage; where no salvage came before, report it",
            folder.display()
        );
    }
    Ok(())
}

/// Verifies the records of a store whose bytes are somebody else's to look after: a cluster's, or those of
/// a server that has it open.
fn records_alone(verify: &Verify, next: &str) -> anyhow::Result<()> {
    let found = verify.place.ask(|asked| asked.run(shelfmark_admin::Verify {}))?;
    print_records(verify, &found)?;
    if !found.is_clean() {
        bail!("records do not belong together; {next}");
    }
    Ok(())
}

fn print_records(verify: &Verify, found: &VerifyAnswer) -> anyhow::Result<()> {
    let shown = match verify.json {
        true => serde_json::json!({ "records": found }).to_string(),
        false => records_text(found),
    };
    writeln!(std::io::stdout(), "{shown}")?;
    Ok(())
}

/// Returns true if an error says that the disk is full or read-only.
fn cannot_be_written(error: &anyhow::Error) -> bool {
    use std::io::ErrorKind;
    error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>()).any(|error| {
        matches!(
            error.kind(),
            ErrorKind::ReadOnlyFilesystem
                | ErrorKind::PermissionDenied
                | ErrorKind::StorageFull
                | ErrorKind::QuotaExceeded
        )
    })
}

pub(super) fn records_text(found: &VerifyAnswer) -> String {
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

fn report_json(report: &Report) -> String {
    let damages: Vec<String> = report.damages.iter().map(ToString::to_string).collect();
    let files = serde_json::json!({
        "log_files": report.log_files,
        "groups": report.groups,
        "last_commit": report.last_commit,
        "table_files": report.table_files,
        "table_bytes": report.table_bytes,
        "clean_stop": report.clean_stop,
        "notes": report.notes,
        "damages": damages,
    });
    serde_json::json!({ "files": files }).to_string()
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
