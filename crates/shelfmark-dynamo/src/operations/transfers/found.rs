//! Finds exports and imports: by their ARN, and by the token of the request that began them.

use shelfmark_engine::LedgerEntry;

use crate::errors::{Error, Result};
use crate::face::Face;
use crate::json::Reader;
use crate::limits::{BACKUP_ARN_CHARS_MAX, BACKUP_ARN_CHARS_MIN};
use crate::shape::Shape;

/// Reads a request whose only member is an ARN, and finds what it names. `between` stands in the ARN behind
/// the name of the table and before the id.
pub(super) fn by_arn(
    face: &Face,
    body: &[u8],
    member: &str,
    (kind, between): (&str, &str),
    not_found: impl Fn(&str) -> Error,
) -> Result<LedgerEntry> {
    let mut arn = None;
    Reader::body(body, |reader, name| {
        match name {
            name if name == member => arn = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required(member, arn.is_some());
    if let Some(arn) = &arn {
        shape.text(member, arn, BACKUP_ARN_CHARS_MIN, BACKUP_ARN_CHARS_MAX);
    }
    shape.check()?;
    let arn = arn.unwrap_or_default();
    let (table, id) = parts_of(&arn, between).ok_or_else(|| not_found(&arn))?;
    let found = face.engine.ledger_entry(kind, id)?;
    let is_own = |own: &LedgerEntry| face.engine.owns(own) && face.engine.is_place_of(&arn);
    found.filter(|own| is_own(own) && own.text("table") == table).ok_or_else(|| not_found(&arn))
}

fn parts_of<'a>(arn: &'a str, between: &str) -> Option<(&'a str, &'a str)> {
    let resource = arn.strip_prefix("arn:aws:dynamodb:")?.splitn(3, ':').nth(2)?;
    resource.strip_prefix("table/")?.split_once(between)
}

/// Finds the export or import that an earlier request with the same token began. It must have said the
/// same under these names.
pub(super) fn by_token(
    face: &Face,
    kind: &str,
    token: Option<&str>,
    same: &[(&str, &str)],
    conflict: impl Fn() -> Error,
) -> Result<Option<LedgerEntry>> {
    let Some(token) = token else { return Ok(None) };
    let all = face.engine.ledger_entries(kind, "", None, usize::MAX)?;
    let is_same = |own: &LedgerEntry| own.text("token") == token && face.engine.owns(own);
    let Some(entry) = all.into_iter().rev().find(is_same) else {
        return Ok(None);
    };
    match same.iter().all(|(name, value)| entry.text(name) == *value) {
        true => Ok(Some(entry)),
        false => Err(conflict()),
    }
}
