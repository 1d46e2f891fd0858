//! The mark of an unfinished target: where it comes from, and how far it is.
//!
//! Invariant: a target has the mark or the records of its format, never both; the mark is in its first
//! commit, and each commit of copied keys moves it on.

use bytes::Bytes;
use shelfmark_records::catalogue::MigrationMark;
use shelfmark_records::catalogue::keys::{copy_key, format_record, migration_key};
use shelfmark_store::{Direction, KeyRange, ScanLimits, Write};

use crate::Side;
use crate::error::{Error, Result};
use crate::patience::commit;

/// The point from which a call goes on.
pub(crate) enum Beginning {
    /// Keys from this one on are still to be copied.
    At(Bytes),
    /// All keys were copied by an earlier call.
    Compared,
}

/// Refuses a source that is no whole store itself.
pub(crate) fn check_source(from: &Side<'_>) -> Result<()> {
    let snapshot = from.store.snapshot()?;
    if snapshot.get(&migration_key())?.is_some() {
        return Err(Error::Refused(format!(
            "{} is itself the unfinished target of a migration; finish that one first",
            from.name
        )));
    }
    let (format, _) = format_record();
    if snapshot.get(&format)?.is_none() {
        return Err(Error::Refused(format!("there is no store in {}", from.name)));
    }
    Ok(())
}

/// Marks an empty target, or finds how far an earlier call came.
pub(crate) fn begin(from: &Side<'_>, to: &Side<'_>) -> Result<Beginning> {
    let snapshot = to.store.snapshot()?;
    if let Some(value) = snapshot.get(&migration_key())? {
        let mark = MigrationMark::decode(&value)?;
        if mark.from != from.name {
            return Err(Error::Refused(format!(
                "{} is the unfinished target of a migration from {}; finish that one, or empty it",
                to.name, mark.from
            )));
        }
        return Ok(mark.next.map_or(Beginning::Compared, Beginning::At));
    }
    let one = ScanLimits { rows_max: 1, keys_only: true, ..ScanLimits::default() };
    let mut rest = Some(KeyRange::all());
    while let Some(range) = rest {
        let page = snapshot.scan(&range, Direction::Ascending, one)?;
        if !page.rows.is_empty() {
            return Err(Error::Refused(format!(
                "{} already holds a store; give an empty place",
                to.name
            )));
        }
        rest = page.next;
    }
    commit(to, &[at(from, Some(Bytes::new()))])?;
    Ok(Beginning::At(Bytes::new()))
}

/// Returns the write that moves the mark to the next key to be copied; `None`: all are.
pub(crate) fn at(from: &Side<'_>, next: Option<Bytes>) -> Write {
    let mark = MigrationMark { from: from.name.clone(), next };
    Write::Put { key: migration_key(), value: mark.encode() }
}

/// Replaces the mark by the records of the format: from here on it is a store.
pub(crate) fn end(to: &Side<'_>) -> Result<()> {
    let (key, value) = format_record();
    let writes = [
        Write::Delete { key: migration_key() },
        Write::Put { key: copy_key(&key), value: value.clone() },
        Write::Put { key, value },
    ];
    commit(to, &writes)
}
