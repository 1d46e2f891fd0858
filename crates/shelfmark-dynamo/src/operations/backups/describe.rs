//! DescribeBackup, and the description of a backup that others answer with.

use shelfmark_engine::Backup;

use super::name::{BackupName, not_found, put_own, shape_arn};
use crate::describe;
use crate::errors::Result;
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::reply::Answered;
use crate::shape::Shape;

/// Answers DescribeBackup.
pub(crate) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let arn = parse(body)?;
    let backup = BackupName::asked(&arn)?.find(face, &arn)?;
    description(face, &arn, &backup, None)
}

/// Reads a request whose only member is the ARN of a backup.
pub(super) fn parse(body: &[u8]) -> Result<String> {
    let mut arn = None;
    Reader::body(body, |reader, name| {
        match name {
            "BackupArn" => arn = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape_arn(&mut shape, "BackupArn", arn.as_deref());
    shape.check()?;
    Ok(arn.unwrap_or_default())
}

/// Returns a `BackupDescription` as an answer.
pub(super) fn description(
    face: &Face,
    arn: &str,
    backup: &Backup,
    status: Option<&str>,
) -> Result<Answered> {
    // It may be deleted just now.
    let saved = face.engine.backup_schema(backup).map_err(|_| not_found(arn))?;
    let size = (backup.items, backup.bytes);
    Ok(Writer::answer(|out| {
        out.name("BackupDescription").object(|out| {
            out.name("BackupDetails").object(|out| put_own(out, face, backup, status));
            out.name("SourceTableDetails").object(|out| {
                describe::put_source(out, face, &saved.schema, size);
            });
            out.name("SourceTableFeatureDetails").object(|out| describe::put_features(out, &saved));
        });
    }))
}
