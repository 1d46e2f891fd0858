//! DeleteBackup.

use shelfmark_engine::ErrorKind;

use super::describe;
use super::name::{BackupName, not_found};
use crate::errors::{Error, Exception, Result, in_words, texts};
use crate::face::Face;
use crate::reply::Answered;

/// Answers DeleteBackup. The backup is gone at once; its space comes back in the background.
pub(crate) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let arn = describe::parse(body)?;
    let backup = BackupName::asked(&arn)?.find(face, &arn)?;
    let answered = describe::description(face, &arn, &backup, Some("DELETED"))?;
    face.engine.delete_backup(&backup).map_err(|error| {
        in_words(
            error,
            &[
                (ErrorKind::Conflict, &|| {
                    Error::new(Exception::BackupInUse, texts::backup_in_use(&arn))
                }),
                (ErrorKind::NotFound, &|| not_found(&arn)),
            ],
        )
    })?;
    Ok(answered)
}
