//! ListBackups.

use shelfmark_engine::Backup;

use super::name::{BackupName, backup_arn, put_own, shape_arn};
use crate::errors::{Error, Result, texts};
use crate::face::{Face, RequestHead};
use crate::json::{Reader, Writer};
use crate::limits::BACKUPS_PAGE_MAX;
use crate::operations::listing::page;
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{Meta, name_of, table_arn};

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    limit: Option<i64>,
    /// Seconds since the Unix epoch: from the first on, before the second.
    from: Option<i64>,
    before: Option<i64>,
    start: Option<String>,
    backup_type: Option<String>,
}

/// Answers ListBackups, by tables and then by time. A key that may use some tables only is shown the
/// backups of those.
pub(crate) fn answer(face: &Face, head: &RequestHead<'_>, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(BACKUPS_PAGE_MAX);
    let table = request.table.as_deref().map(name_of);
    let after = match &request.start {
        Some(arn) => {
            let name = BackupName::asked(arn)?;
            if !face.engine.is_place_of(arn) {
                return Err(Error::validation(texts::BACKUPS_START_ELSEWHERE));
            }
            Some((name.table, name.id))
        }
        None => None,
    };
    let (found, has_more) = page(
        limit,
        after,
        |after, most| {
            let after = after.map(|(table, id)| (table.as_str(), id.as_str()));
            face.engine.backups(face.engine.set_name(), table, after, most)
        },
        |backup| (backup.table.name.clone(), backup.id.clone()),
        |backup| request.wants(backup) && head.sees(&backup.table.name),
    )?;
    Ok(Writer::answer(|out| {
        out.name("BackupSummaries").list(|out| {
            for backup in &found {
                out.object(|out| put_summary(out, face, backup));
            }
        });
        if let Some(last) = found.last().filter(|_| has_more) {
            out.name("LastEvaluatedBackupArn").text(&backup_arn(&face.options, last));
        }
    }))
}

fn put_summary(out: &mut Writer, face: &Face, backup: &Backup) {
    let name = &backup.table.name;
    out.name("TableName").text(name);
    if let Ok(saved) = face.engine.backup_schema(backup) {
        out.name("TableId").text(&Meta::read(&saved.schema.options.face).id);
    }
    out.name("TableArn").text(&table_arn(&face.options, name));
    put_own(out, face, backup, None);
}

impl Request {
    fn wants(&self, backup: &Backup) -> bool {
        let seconds = i64::try_from(backup.created_ms / 1_000).unwrap_or(i64::MAX);
        let of_type = match self.backup_type.as_deref() {
            Some("SYSTEM") => backup.is_of_dropped,
            Some("ALL") => true,
            Some("AWS_BACKUP") => false,
            // Without a type those that clients made.
            _ => !backup.is_of_dropped,
        };
        of_type
            && self.from.is_none_or(|from| from <= seconds)
            && self.before.is_none_or(|before| seconds < before)
    }
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => request.table = reader.text()?,
            "Limit" => request.limit = reader.integer()?,
            "TimeRangeLowerBound" => request.from = reader.integer()?,
            "TimeRangeUpperBound" => request.before = reader.integer()?,
            "ExclusiveStartBackupArn" => request.start = reader.text()?,
            "BackupType" => request.backup_type = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    if request.table.is_some() {
        shape.table("TableName", request.table.as_deref());
    }
    shape.range("Limit", request.limit, 1, i64::try_from(BACKUPS_PAGE_MAX).ok());
    if request.start.is_some() {
        shape_arn(&mut shape, "ExclusiveStartBackupArn", request.start.as_deref());
    }
    let types = &["USER", "SYSTEM", "AWS_BACKUP", "ALL"];
    shape.one_of("BackupType", request.backup_type.as_deref(), types);
    shape.check()?;
    if request.from.zip(request.before).is_some_and(|(from, before)| from > before) {
        return Err(Error::validation(texts::BACKUP_TIMES_TURNED));
    }
    Ok(request)
}
