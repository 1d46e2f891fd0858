//! Finds exports and imports: by their ARN, and by the token of the request that began them.

use shelfmark_engine::LedgerEntry;

use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::Reader;
use crate::limits::{BACKUP_ARN_CHARS_MAX, BACKUP_ARN_CHARS_MIN, NAME_CHARS_MIN};
use crate::shape::Shape;
use crate::transfers::Form;

/// The service's words for ARNs of exports or of imports.
pub(super) struct ArnWords {
    pub(super) exception: Exception,
    /// The text for what is no such ARN.
    pub(super) invalid: &'static str,
    /// The text for an ARN of another region.
    pub(super) elsewhere: &'static str,
    /// Words an ARN that names nothing.
    pub(super) not_found: fn(&str) -> String,
}

/// Checks the ARN of the table of an export.
pub(super) fn check_table_arn(face: &Face, arn: &str) -> Result<()> {
    let Some(resource) = resource_of(face, arn)? else {
        return Err(Error::validation(texts::TABLE_ARN_IS_NONE));
    };
    match resource.strip_prefix("table/").is_some_and(|name| !name.contains('/')) {
        true => Ok(()),
        false => Err(Error::validation(texts::TABLE_ARN_INVALID)),
    }
}

/// Returns what an ARN names behind its account; `None` if it is no ARN. One of another account is refused.
fn resource_of<'a>(face: &Face, arn: &'a str) -> Result<Option<&'a str>> {
    let Some(rest) = arn.strip_prefix("arn:aws:dynamodb:") else { return Ok(None) };
    let mut parts = rest.splitn(3, ':');
    let (_, Some(account), Some(resource)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(None);
    };
    if !face.engine.is_place_of(arn) && account != face.options.account {
        return Err(Error::new(Exception::AccessDenied, texts::ACCESS_IS_DENIED));
    }
    Ok(Some(resource))
}

/// Returns true if an ARN is of another partition of the service's, or of another of its services.
fn is_of_others(arn: &str) -> bool {
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    matches!(parts.as_slice(), ["arn", partition, service, _, _, _]
        if (*partition, *service) != ("aws", "dynamodb"))
}

/// Reads a request whose only member is an ARN, and finds what it names. `between` stands in the ARN behind
/// the name of the table and before the id.
pub(super) fn by_arn(
    face: &Face,
    body: &[u8],
    member: &str,
    (kind, between): (&str, &str),
    words: &ArnWords,
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
    if is_of_others(&arn) {
        return Err(Error::new(Exception::AccessDenied, texts::ACCESS_IS_DENIED));
    }
    let named = resource_of(face, &arn)?.and_then(|own| own.strip_prefix("table/"));
    let named = named.and_then(|own| own.split_once(between));
    let named = named.filter(|(table, _)| table.chars().count() >= NAME_CHARS_MIN);
    let (table, id) = named.ok_or_else(|| Error::validation(words.invalid))?;
    if !face.engine.is_place_of(&arn) {
        return Err(Error::new(words.exception, words.elsewhere));
    }
    let found = face.engine.ledger_entry(kind, id)?;
    let is_own = |own: &LedgerEntry| face.engine.owns(own) && own.text("table") == table;
    let not_found = || Error::new(words.exception, (words.not_found)(&arn));
    found.filter(is_own).ok_or_else(not_found)
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
    let is_same = |(name, value): &(&str, &str)| match *name {
        "format" => Form::of(&entry).name() == *value,
        name => entry.text(name) == *value,
    };
    match same.iter().all(is_same) {
        true => Ok(Some(entry)),
        false => Err(conflict()),
    }
}
