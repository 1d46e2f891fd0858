//! CreateBackup.

use shelfmark_engine::ErrorKind;

use super::name::put_own;
use crate::errors::{Error, Exception, Result, in_words, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table;

/// Answers CreateBackup. The answer says CREATING, also where it is complete already.
pub(crate) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let (mut name, mut backup_name) = (None, None);
    Reader::body(body, |reader, member| {
        match member {
            "TableName" => name = reader.text()?,
            "BackupName" => backup_name = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.table("TableName", name.as_deref());
    shape.required("BackupName", backup_name.is_some());
    shape.new_name("BackupName", backup_name.as_deref());
    shape.check()?;
    let name = name.unwrap_or_default();
    let table = find(face, &name)?;
    let begun = face.engine.begin_backup(&table.schema.name, &backup_name.unwrap_or_default());
    let backup =
        begun.map_err(|error| in_words(error, &[(ErrorKind::NotFound, &|| not_found(&name))]))?;
    super::hurry(face);
    Ok(Writer::answer(|out| {
        out.name("BackupDetails").object(|out| put_own(out, face, &backup, None));
    }))
}

/// Finds the table of an operation on backups, in their words.
pub(crate) fn find(face: &Face, name: &str) -> Result<std::sync::Arc<shelfmark_engine::Table>> {
    let found = table::find_or(&face.engine, name, texts::backup_table_not_found);
    let is_missing = |error: &Error| error.exception == Exception::ResourceNotFound;
    let table = found.map_err(|error| if is_missing(&error) { not_found(name) } else { error })?;
    if table.is_shared() {
        return table::own(table);
    }
    match shelfmark_engine::Engine::is_being_filled(&table) {
        true => {
            let text = texts::table_is_created(&table.schema.name.name);
            Err(Error::new(Exception::TableInUse, text))
        }
        false => Ok(table),
    }
}

fn not_found(name: &str) -> Error {
    let text = texts::backup_table_not_found(table::name_of(name));
    Error::new(Exception::TableNotFound, text)
}
