//! ListTables. A key that may use some tables only is shown those: the service shows all or none.

use shelfmark_model::TableName;

use super::listing::page;
use crate::errors::Result;
use crate::face::{Face, RequestHead};
use crate::json::{Reader, Writer};
use crate::limits::LIST_TABLES_MAX;
use crate::reply::Answered;
use crate::shape::Shape;

#[derive(Debug, Default)]
struct Request {
    start: Option<String>,
    limit: Option<i64>,
}

/// Answers ListTables.
pub(super) fn answer(face: &Face, head: &RequestHead<'_>, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(LIST_TABLES_MAX);
    let (found, has_more) = page(
        limit,
        request.start.as_deref().map(|name| face.engine.table_name(name)),
        |after, most| face.engine.table_names(Some(face.engine.set_name()), after, most),
        TableName::clone,
        |name| head.sees(&name.name),
    )?;
    let names: Vec<&str> = found.iter().map(|name| name.name.as_str()).collect();
    Ok(Writer::answer(|out| {
        if let Some(last) = names.last().filter(|_| has_more) {
            out.name("LastEvaluatedTableName").text(last);
        }
        out.name("TableNames").list(|out| names.iter().for_each(|name| out.text(name)));
    }))
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "ExclusiveStartTableName" => request.start = reader.text()?,
            "Limit" => request.limit = reader.integer()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.new_name("ExclusiveStartTableName", request.start.as_deref());
    shape.range("Limit", request.limit, 1, i64::try_from(LIST_TABLES_MAX).ok());
    shape.check()?;
    Ok(request)
}
