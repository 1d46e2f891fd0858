//! DescribeTable.

use shelfmark_engine::Engine;

use crate::describe::{self, Sizes};
use crate::errors::Result;
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table;

/// Answers DescribeTable.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let name = parse(body)?;
    let table = table::find_named(&face.engine, &name)?;
    let is_filled = !Engine::is_being_filled(&table);
    let sizes = if is_filled { Sizes::of(&face.engine, &table)? } else { Sizes::default() };
    let status = if is_filled { "ACTIVE" } else { "CREATING" };
    Ok(Writer::answer(|out| {
        out.name("Table");
        describe::put(out, face, &table, status, &sizes);
    }))
}

/// Reads a request whose only member is the name of a table.
pub(super) fn parse(body: &[u8]) -> Result<String> {
    let mut table = None;
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => table = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.table("TableName", table.as_deref());
    shape.check()?;
    Ok(table.unwrap_or_default())
}
