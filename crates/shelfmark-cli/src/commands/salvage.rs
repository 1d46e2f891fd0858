//! `shelfmark verify --salvage`: makes a damaged store usable again, and reports the losses by
//! table.
//!
//! What it is not: the salvage itself. The store keeps the bytes that are whole; the engine makes
//! anew what follows from the rows that are left; here the two are put together and told.
//!
//! Invariant: the store is told that its losses were seen to after everything else, so a command that
//! is stopped goes on when it is called again.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::bail;
use shelfmark_engine::{
    Engine, GivenSchema, KeyOwner, KeyOwners, LiveRows, Survivors, TableLoss, Verification,
};
use shelfmark_store::embedded::{self, LostPart, Salvage};

use super::schema;
use super::verify::records_text;
use crate::arguments::Verify;
use crate::store::with_engine;

/// Limits how many owners of one lost part are named; a part without known keys may have many.
const OWNERS_NAMED_MAX: usize = 12;

pub(super) fn run(verify: &Verify, out: &mut impl Write) -> anyhow::Result<()> {
    let folder = &verify.place.data;
    let given = schema::read(&verify.schema)?;
    preview_losses(verify, &given, out)?;
    let salvage = embedded::salvage(folder)?;
    for damage in &salvage.damages {
        writeln!(out, "damage: {damage}")?;
    }
    if !salvage.has_losses() {
        end(&salvage, out)?;
        return with_engine(folder, |engine| renew_if_wrong(engine, &salvage, verify, &given, out));
    }
    let mut is_told = false;
    let found = with_engine(folder, |engine| {
        restore(engine, &given, out)?;
        let owners = engine.key_owners()?;
        tell_losses(&salvage, Some(&owners), out)?;
        end(&salvage, out)?;
        is_told = true;
        let mut concerned = concerned_by(&salvage, &owners);
        if !given.tables.is_empty() {
            concerned = None;
        }
        // What still does not belong together is no reason to begin all this again.
        renew(engine, concerned.as_ref(), out)
    });
    if !is_told {
        // What is known is told whatever comes.
        tell_losses(&salvage, None, out)?;
        end(&salvage, out)?;
    }
    let found = found?;
    embedded::end_salvage(folder)?;
    check(&found)
}

/// Previews the losses before anything is done, and refuses lost tables unless that is accepted.
fn preview_losses(
    verify: &Verify,
    given: &GivenSchema,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut survivors = Survivors::default();
    let preview = embedded::preview_salvage(&verify.place.data, &mut |kept| {
        survivors.see(kept.key, kept.value, kept.version);
    })?;
    if !preview.has_losses() {
        return Ok(());
    }
    let owners = survivors.key_owners();
    for part in &preview.table_parts_lost {
        writeln!(out, "will be lost: {part}, {}", concerned(part, &owners))?;
    }
    for groups in &preview.groups_lost {
        writeln!(out, "will be lost: groups {} to {} of the log", groups.start(), groups.end())?;
    }
    let parts: Vec<_> = preview
        .table_parts_lost
        .iter()
        .map(|part| (part.after.clone(), part.before.clone()))
        .collect();
    let mut tables = survivors.tables_lost(&parts, &given.tables);
    let unknown: BTreeSet<u64> = tables.iter().filter_map(TableLoss::unknown_id).collect();
    if !unknown.is_empty() {
        // Rows of a dropped table lie beside their deletions until files are merged.
        let mut live = LiveRows::of(&unknown);
        embedded::preview_salvage(&verify.place.data, &mut |kept| {
            live.see(&kept.key, kept.value.is_some(), kept.version);
        })?;
        tables.retain(|table| table.unknown_id().is_none_or(|id| live.has(id)));
    }
    for table in &tables {
        writeln!(out, "will be lost: {table}")?;
    }
    accept(verify, tables.len())
}

/// Refuses to go on where whole tables are lost and that was not accepted.
fn accept(verify: &Verify, tables: usize) -> anyhow::Result<()> {
    if tables == 0 || verify.accept_loss {
        return Ok(());
    }
    bail!(
        "nothing was changed, for tables would be lost as a whole: {tables}; give what they were with \
         --schema FILE, or go on without them with --accept-loss"
    )
}

/// Restores the catalogue as far as possible.
fn restore(engine: &Engine, given: &GivenSchema, out: &mut impl Write) -> anyhow::Result<()> {
    let mut told = Ok(());
    let mut tell = |mended| {
        if told.is_ok() {
            told = writeln!(out, "{mended}");
        }
    };
    engine.restore_catalogue(&mut tell)?;
    engine.adopt(given, &mut tell)?;
    Ok(told?)
}

fn check(found: &Verification) -> anyhow::Result<()> {
    if !found.is_clean() {
        bail!("some records still do not belong together, as is said above");
    }
    Ok(())
}

/// Verifies the records of an undamaged store, which may contradict each other after a salvage of
/// an earlier build, or where two faces share a name, and repairs them.
fn renew_if_wrong(
    engine: &Engine,
    salvage: &Salvage,
    verify: &Verify,
    given: &GivenSchema,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let found = engine.verify()?;
    if !found.is_clean() {
        writeln!(out, "{}", records_text(&(&found).into()))?;
        restore(engine, given, out)?;
        let unknown = engine.unknown_tables()?;
        for id in &unknown {
            writeln!(out, "will be lost: table number {id}, for nothing says what it is")?;
        }
        accept(verify, unknown.len())?;
        return check(&renew(engine, None, out)?);
    }
    if salvage.set_aside.is_none() {
        writeln!(out, "nothing was damaged; nothing was changed")?;
    }
    Ok(())
}

/// Reports what was kept and where the originals are.
fn end(salvage: &Salvage, out: &mut impl Write) -> anyhow::Result<()> {
    let Some(folder) = &salvage.set_aside else { return Ok(()) };
    for note in &salvage.notes {
        writeln!(out, "note: {note}")?;
    }
    writeln!(out, "kept: groups of the log: {}", salvage.groups_kept)?;
    writeln!(out, "damaged originals are in {}", folder.display())?;
    Ok(())
}

fn tell_losses(
    salvage: &Salvage,
    owners: Option<&KeyOwners>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    for part in &salvage.table_parts_lost {
        match owners {
            Some(owners) => writeln!(out, "lost: {part}, {}", concerned(part, owners))?,
            None => writeln!(out, "lost: {part}")?,
        }
    }
    if !salvage.table_parts_lost.is_empty() {
        writeln!(out, "note: what lay there is gone, or as it was before its last change")?;
    }
    for groups in &salvage.groups_lost {
        writeln!(out, "lost: groups {} to {} of the log", groups.start(), groups.end())?;
    }
    if let Some(commits) = salvage.commits_lost.filter(|commits| *commits > 0) {
        writeln!(out, "lost: {commits} commits; nothing tells what they wrote")?;
    }
    Ok(())
}

/// Describes the owners of the keys in a lost part, and the rows around it if it is of rows alone.
fn concerned(part: &LostPart, owners: &KeyOwners) -> String {
    let named = owners_of(part, owners);
    let mut texts: Vec<String> =
        named.iter().take(OWNERS_NAMED_MAX).map(ToString::to_string).collect();
    let more = named.len() - texts.len();
    if more > 0 {
        texts.push(format!("{more} more"));
    }
    let text = format!("of {}", joined(&texts));
    match (&part.after, &part.before) {
        (Some(after), Some(before)) if owners.are_of_one_table(after, before) => {
            match (owners.row_name(after), owners.row_name(before)) {
                (Some(after), Some(before)) => {
                    format!("{text}, between ({after}) and ({before}) in the order of the store")
                }
                _ => text,
            }
        }
        _ => text,
    }
}

fn joined(texts: &[String]) -> String {
    match texts {
        [] => "nothing that is known".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

fn owners_of(part: &LostPart, owners: &KeyOwners) -> Vec<KeyOwner> {
    owners.between(part.after.as_deref(), part.before.as_deref())
}

/// Returns the owners of keys that may be lost; `None`: any table.
fn concerned_by(salvage: &Salvage, owners: &KeyOwners) -> Option<BTreeSet<KeyOwner>> {
    let parts = salvage.table_parts_lost.iter();
    (!salvage.lost_anywhere).then(|| parts.flat_map(|part| owners_of(part, owners)).collect())
}

/// Renews what is derived from the remaining rows, and verifies the records then.
fn renew(
    engine: &Engine,
    lost: Option<&BTreeSet<KeyOwner>>,
    out: &mut impl Write,
) -> anyhow::Result<Verification> {
    let mut told = Ok(());
    engine.renew_after_loss(lost, &mut |mended| {
        if told.is_ok() {
            told = writeln!(out, "{mended}");
        }
    })?;
    told?;
    let found = engine.verify()?;
    writeln!(out, "{}", records_text(&(&found).into()))?;
    Ok(found)
}
