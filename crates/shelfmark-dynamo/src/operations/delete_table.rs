//! DeleteTable.

use shelfmark_engine::{Engine, Table};

use super::describe_table;
use crate::describe;
use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::Writer;
use crate::reply::Answered;
use crate::sizes::Sizes;
use crate::table::{self, Meta};
use crate::transfers::give_up_import;

/// Answers DeleteTable.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let name = describe_table::parse(body)?;
    if let Some(answered) = given_up(face, &name)? {
        return Ok(answered);
    }
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
    Ok(deleted(face, &table, &sizes))
}

/// Deletes a table whose import waits for a server with buckets, which ends the import. Where servers
/// share the store another one may go on with it.
fn given_up(face: &Face, name: &str) -> Result<Option<Answered>> {
    if face.transfers.is_some() || face.engine.store().peers().is_some() {
        return Ok(None);
    }
    let table = table::find_named(&face.engine, name)?;
    if !Engine::is_being_filled(&table) || !give_up_import(&face.engine, &table.schema.name)? {
        return Ok(None);
    }
    Ok(Some(deleted(face, &table, &Sizes::default())))
}

fn deleted(face: &Face, table: &Table, sizes: &Sizes) -> Answered {
    Writer::answer(|out| {
        out.name("TableDescription");
        describe::put_deleted(out, face, table, sizes);
    })
}
