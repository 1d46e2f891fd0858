//! RestoreTableFromBackup and RestoreTableToPointInTime.

use std::sync::Arc;

use shelfmark_engine::{ErrorKind, Moment, Table};
use shelfmark_model::TableSchema;

use super::create::find;
use super::name::{BackupName, backup_arn, not_found, shape_arn};
use super::restore_request::{Overrides, restored_schema};
use crate::describe;
use crate::errors::{Error, Exception, Result, in_words, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::sizes::Sizes;
use crate::table::{Restored, table_arn};

/// Microseconds in a second.
const MICROS: u64 = 1_000_000;

#[derive(Debug, Default)]
struct Request {
    target: Option<String>,
    backup: Option<String>,
    source: Option<String>,
    source_arn: Option<String>,
    latest: Option<bool>,
    /// Seconds since the Unix epoch.
    second: Option<i64>,
    overrides: Overrides,
}

/// Answers RestoreTableFromBackup. The answer says CREATING, also where the table is whole already.
pub(crate) fn from_backup(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let mut shape = Shape::default();
    shape.required("TargetTableName", request.target.is_some());
    shape.new_name("TargetTableName", request.target.as_deref());
    shape_arn(&mut shape, "BackupArn", request.backup.as_deref());
    request.overrides.shape(&mut shape);
    shape.check()?;
    request.overrides.check()?;
    let arn = request.backup.unwrap_or_default();
    let target = request.target.unwrap_or_default();
    let backup = BackupName::asked(&arn)?.find(face, &arn)?;
    let source = face.engine.backup_schema(&backup).map_err(|_| not_found(&arn))?.schema;
    let restored = Restored {
        backup_arn: Some(backup_arn(&face.options, &backup)),
        table_arn: table_arn(&face.options, &backup.table.name),
        at_ms: i64::try_from(backup.created_ms).unwrap_or(i64::MAX),
    };
    let schema = restored_schema(face, &source, &target, &request.overrides, restored)?;
    check_free(face, &schema)?;
    let begun = face.engine.restore_backup(&backup, schema);
    let table = begun.map_err(|error| {
        in_words(
            error,
            &[
                (ErrorKind::Conflict, &|| {
                    Error::new(Exception::BackupInUse, texts::backup_in_use(&arn))
                }),
                (ErrorKind::NotFound, &|| not_found(&arn)),
                (ErrorKind::AlreadyExists, &|| exists(&target)),
            ],
        )
    })?;
    Ok(begun_answer(face, &table))
}

/// Answers RestoreTableToPointInTime. As [`from_backup`] otherwise.
pub(crate) fn to_point_in_time(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let mut shape = Shape::default();
    shape.required("TargetTableName", request.target.is_some());
    shape.new_name("TargetTableName", request.target.as_deref());
    for (path, source) in
        [("SourceTableName", &request.source), ("SourceTableArn", &request.source_arn)]
    {
        if source.is_some() {
            shape.table(path, source.as_deref());
        }
    }
    request.overrides.shape(&mut shape);
    shape.check()?;
    request.overrides.check()?;
    let source = match (&request.source_arn, &request.source) {
        (Some(_), Some(_)) => return Err(Error::validation(texts::RESTORE_SOURCE_TWICE)),
        (Some(source), None) | (None, Some(source)) => source.clone(),
        (None, None) => return Err(Error::validation(texts::RESTORE_SOURCE_REQUIRED)),
    };
    let is_latest = request.latest == Some(true);
    // Before 1970 nothing is kept, as in its first second.
    let second = request.second.map(|second| u64::try_from(second).unwrap_or_default());
    let (moment, micros) = match (is_latest, second) {
        (true, None) => (Moment::Latest, u64::try_from(face.now_ms()).unwrap_or(0) * 1_000),
        // To the end of the second, as far as it is over.
        (false, Some(second)) => {
            let micros = second.saturating_mul(MICROS);
            (Moment::At(micros), micros)
        }
        (true, Some(_)) => return Err(Error::validation(texts::RESTORE_TIME_TWICE)),
        (false, None) => return Err(Error::validation(texts::RESTORE_TIME_REQUIRED)),
    };
    let target = request.target.unwrap_or_default();
    let table = find(face, &source)?;
    if face.engine.continuous_backups(&table)?.is_none() {
        let text = texts::recovery_is_off(&table.schema.name.name);
        return Err(Error::new(Exception::PointInTimeRecoveryUnavailable, text));
    }
    let restored = Restored {
        backup_arn: None,
        table_arn: table_arn(&face.options, &table.schema.name.name),
        at_ms: i64::try_from(micros / 1_000).unwrap_or(i64::MAX),
    };
    let schema = restored_schema(face, &table.schema, &target, &request.overrides, restored)?;
    check_free(face, &schema)?;
    let begun = face.engine.restore_to_moment(&table, moment, schema);
    let table = begun.map_err(|error| {
        in_words(
            error,
            &[
                (ErrorKind::TooOld, &|| {
                    Error::new(Exception::InvalidRestoreTime, texts::RESTORE_TIME_INVALID)
                }),
                (ErrorKind::AlreadyExists, &|| exists(&target)),
            ],
        )
    })?;
    Ok(begun_answer(face, &table))
}

/// Answers with the table as it is in the beginning, and does what is small of it before.
fn begun_answer(face: &Face, table: &Arc<Table>) -> Answered {
    super::hurry(face);
    Writer::answer(|out| {
        out.name("TableDescription");
        describe::put(out, &face.options, table, "CREATING", &Sizes::default());
    })
}

fn check_free(face: &Face, schema: &TableSchema) -> Result<()> {
    let name = &schema.name.name;
    match crate::table::find_named(&face.engine, name) {
        Ok(_) => Err(exists(name)),
        Err(_) => Ok(()),
    }
}

fn exists(name: &str) -> Error {
    Error::new(Exception::TableAlreadyExists, texts::table_exists(name))
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TargetTableName" => request.target = reader.text()?,
            "BackupArn" => request.backup = reader.text()?,
            "SourceTableName" => request.source = reader.text()?,
            "SourceTableArn" => request.source_arn = reader.text()?,
            "UseLatestRestorableTime" => request.latest = reader.boolean()?,
            "RestoreDateTime" => request.second = reader.integer()?,
            _ if request.overrides.read(reader, name)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(request)
}
