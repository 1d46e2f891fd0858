//! UpdateContinuousBackups and DescribeContinuousBackups.

use shelfmark_engine::{ErrorKind, Table};

use super::create::find;
use crate::describe::put_seconds;
use crate::errors::{Error, Exception, Result, in_words, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::RECOVERY_DAYS_MAX;
use crate::operations::describe_table;
use crate::reply::Answered;
use crate::shape::Shape;

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    is_specified: bool,
    enabled: Option<bool>,
    days: Option<i64>,
}

/// Answers UpdateContinuousBackups.
pub(crate) fn update(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let table = find(face, &request.table.unwrap_or_default())?;
    let name = &table.schema.name;
    let days = request.days.unwrap_or(RECOVERY_DAYS_MAX);
    let changed = match request.enabled {
        Some(true) => {
            let days = u32::try_from(days).unwrap_or_default();
            face.engine.start_continuous_backups(name, days)
        }
        _ => face.engine.stop_continuous_backups(name),
    };
    changed.map_err(|error| {
        in_words(
            error,
            &[(ErrorKind::Conflict, &|| {
                Error::new(Exception::ContinuousBackupsUnavailable, texts::BACKUP_IS_MADE)
            })],
        )
    })?;
    super::hurry(face);
    description(face, &table)
}

/// Answers DescribeContinuousBackups.
pub(crate) fn describe(face: &Face, body: &[u8]) -> Result<Answered> {
    let name = describe_table::parse(body)?;
    description(face, &*find(face, &name)?)
}

fn description(face: &Face, table: &Table) -> Result<Answered> {
    let moments = face.engine.continuous_backups(table)?;
    // To the second, as RestoreDateTime is; none before the earliest.
    let millis = |micros: u64| i64::try_from(micros / 1_000_000 * 1_000).unwrap_or(i64::MAX);
    Ok(Writer::answer(|out| {
        out.name("ContinuousBackupsDescription").object(|out| {
            out.name("ContinuousBackupsStatus").text("ENABLED");
            out.name("PointInTimeRecoveryDescription").object(|out| {
                let Some(moments) = moments else {
                    out.name("PointInTimeRecoveryStatus").text("DISABLED");
                    return;
                };
                out.name("PointInTimeRecoveryStatus").text("ENABLED");
                out.name("RecoveryPeriodInDays").integer(i64::from(moments.days));
                if let Some(earliest) = moments.earliest_micros {
                    let earliest = millis(earliest.saturating_add(999_999));
                    put_seconds(out.name("EarliestRestorableDateTime"), earliest);
                    let latest = millis(moments.latest_micros).max(earliest);
                    put_seconds(out.name("LatestRestorableDateTime"), latest);
                }
            });
        });
    }))
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => request.table = reader.text()?,
            "PointInTimeRecoverySpecification" => {
                request.is_specified = reader.structure(|reader, name| {
                    match name {
                        "PointInTimeRecoveryEnabled" => request.enabled = reader.boolean()?,
                        "RecoveryPeriodInDays" => request.days = reader.integer()?,
                        _ => reader.skip()?,
                    }
                    Ok(())
                })?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.table("TableName", request.table.as_deref());
    let path = "PointInTimeRecoverySpecification";
    shape.required(path, request.is_specified);
    if request.is_specified {
        let enabled = request.enabled.is_some();
        shape.required(&format!("{path}.PointInTimeRecoveryEnabled"), enabled);
        let path = format!("{path}.RecoveryPeriodInDays");
        shape.range(&path, request.days, 1, Some(RECOVERY_DAYS_MAX));
    }
    shape.check()?;
    if request.enabled == Some(false) && request.days.is_some() {
        return Err(Error::validation(texts::RECOVERY_DAYS_UNEXPECTED));
    }
    Ok(request)
}
