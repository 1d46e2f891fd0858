//! Names of backups: `arn:aws:dynamodb:<region>:<account>:table/<name>/backup/<id>`.
//!
//! An id is a time in milliseconds of 14 digits and eight hexadecimal ones: `01489602797149-73d8d5bc`.

use shelfmark_engine::Backup;

use crate::describe::put_seconds;
use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::Writer;
use crate::limits::{BACKUP_ARN_CHARS_MAX, BACKUP_ARN_CHARS_MIN};
use crate::operations::resource::{access_denied, account_of};
use crate::options::FaceOptions;
use crate::shape::Shape;
use crate::table::table_arn;

/// The table and the id in a backup's ARN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BackupName {
    pub(super) table: String,
    pub(super) id: String,
}

impl BackupName {
    /// Reads an ARN; whether region and account fit is for the scope to say.
    fn of_arn(arn: &str) -> Option<Self> {
        let resource = arn.strip_prefix("arn:aws:dynamodb:")?.splitn(3, ':').nth(2)?;
        let (table, id) = resource.strip_prefix("table/")?.split_once("/backup/")?;
        let is_plain = |text: &str| !text.is_empty() && !text.contains('/');
        (is_plain(table) && is_plain(id))
            .then(|| Self { table: table.to_owned(), id: id.to_owned() })
    }

    /// Reads the ARN of a request.
    pub(super) fn asked(arn: &str) -> Result<Self> {
        Self::of_arn(arn).ok_or_else(|| Error::validation(texts::INVALID_BACKUP_ARN))
    }

    /// Finds the backup; `arn` is how the client called it.
    pub(super) fn find(&self, face: &Face, arn: &str) -> Result<Backup> {
        match face.engine.is_place_of(arn) {
            false if account_of(arn) != face.options.account => return Err(access_denied()),
            false => return Err(not_found(arn)),
            true => {}
        }
        let found = face.engine.backup(&face.engine.table_name(&self.table), &self.id)?;
        found.ok_or_else(|| not_found(arn))
    }
}

/// Returns the error of a backup that is not there.
pub(super) fn not_found(arn: &str) -> Error {
    Error::new(Exception::BackupNotFound, texts::backup_not_found(arn))
}

/// Checks the shape of a backup's ARN.
pub(super) fn shape_arn(shape: &mut Shape, path: &str, arn: Option<&str>) {
    shape.required(path, arn.is_some());
    if let Some(arn) = arn {
        shape.text(path, arn, BACKUP_ARN_CHARS_MIN, BACKUP_ARN_CHARS_MAX);
    }
}

/// Returns a backup's ARN.
pub(super) fn backup_arn(options: &FaceOptions, backup: &Backup) -> String {
    format!("{}/backup/{}", table_arn(options, &backup.table.name), backup.id)
}

/// Writes what describes a backup itself, in all answers alike.
pub(super) fn put_own(out: &mut Writer, face: &Face, backup: &Backup, status: Option<&str>) {
    let own = if backup.is_complete { "AVAILABLE" } else { "CREATING" };
    out.name("BackupArn").text(&backup_arn(&face.options, backup));
    out.name("BackupName").text(&backup.name);
    out.name("BackupSizeBytes").integer(i64::try_from(backup.bytes).unwrap_or(i64::MAX));
    out.name("BackupStatus").text(status.unwrap_or(own));
    out.name("BackupType").text(if backup.is_of_dropped { "SYSTEM" } else { "USER" });
    put_millis(out.name("BackupCreationDateTime"), backup.created_ms);
    if let Some(expires) = backup.expires_ms {
        put_millis(out.name("BackupExpiryDateTime"), expires);
    }
}

/// Writes a time in milliseconds since the Unix epoch.
pub(super) fn put_millis(out: &mut Writer, millis: u64) {
    put_seconds(out, i64::try_from(millis).unwrap_or(i64::MAX));
}

#[cfg(test)]
mod tests {
    use super::BackupName;

    #[test]
    fn only_arns_of_backups_name_one() {
        let arn =
            "arn:aws:dynamodb:eu-west-1:123456789012:table/Music/backup/01489602797149-73d8d5bc";
        let found = BackupName::of_arn(arn).unwrap();
        assert_eq!((found.table.as_str(), found.id.as_str()), ("Music", "01489602797149-73d8d5bc"));
        for arn in [
            "arn:aws:dynamodb:eu-west-1:123456789012:table/Music",
            "arn:aws:dynamodb:eu-west-1:123456789012:table/Music/backup/",
            "arn:aws:dynamodb:eu-west-1:123456789012:table/Music/backup/a/b",
            "arn:aws:s3:::bucket",
            "Music",
        ] {
            assert_eq!(BackupName::of_arn(arn), None, "{arn}");
        }
    }
}
