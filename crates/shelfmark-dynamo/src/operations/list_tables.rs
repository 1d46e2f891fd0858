//! ListTables. A key that may use some tables only is shown those: the service shows all or none.

use shelfmark_model::TableName;

use crate::auth::Access;
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
    let is_shown = |name: &TableName| {
        let any = |access| head.policy.is_none_or(|policy| policy.allows(access, &name.name));
        Access::ALL.into_iter().any(any)
    };
    let mut after = request.start.as_deref().map(|name| face.engine.table_name(name));
    let set = face.engine.set_name();
    let mut found: Vec<TableName> = Vec::new();
    // One more than asked for says whether there is another page.
    while found.len() <= limit {
        let page = face.engine.table_names(Some(set), after.as_ref(), limit + 1)?;
        let is_last = page.len() <= limit;
        after = page.last().cloned();
        found.extend(page.into_iter().filter(is_shown));
        if is_last {
            break;
        }
    }
    found.truncate(limit + 1);
    let names: Vec<&str> = found.iter().take(limit).map(|name| name.name.as_str()).collect();
    Ok(Writer::answer(|out| {
        if let Some(last) = names.last().filter(|_| found.len() > limit) {
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
