//! DeleteTable.

use super::describe_table;
use crate::describe;
use crate::errors::{Error, Result, texts};
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
    face.engine.drop_table(&table.schema.name)?;
    Ok(Writer::answer(|out| {
        out.name("TableDescription");
        describe::put_deleted(out, face, &table);
    }))
}
