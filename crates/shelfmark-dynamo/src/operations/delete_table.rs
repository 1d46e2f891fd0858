//! DeleteTable.

use super::describe_table;
use crate::describe;
use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::Writer;
use crate::reply::Answered;
use crate::table::{self, Meta};

/// Answers DeleteTable.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let name = describe_table::parse(body)?;
    let table = table::find_own(&face.engine, &name)?;
    if Meta::of(&table).deletion_protection {
        return Err(Error::validation(texts::DELETION_PROTECTED));
    }
    let name = &table.schema.name;
    if face.engine.is_backed_up_now(name)? {
        let text = texts::table_is_backed_up(&name.name);
        return Err(Error::new(Exception::ResourceInUse, text));
    }
    let sizes = describe_table::quick_sizes(face, &table)?;
    let history = table.schema.options.history.as_ref();
    match history.is_some_and(|own| own.days.is_some()) {
        // What could be restored stays for a while as it was at last.
        true => {
            let backup = format!("{}$DeletedTableBackup", name.name);
            face.engine.drop_table_keeping_backup(name, &backup)?;
        }
        false => face.engine.drop_table(name)?,
    }
    Ok(Writer::answer(|out| {
        out.name("TableDescription");
        describe::put_deleted(out, face, &table, &sizes);
    }))
}
