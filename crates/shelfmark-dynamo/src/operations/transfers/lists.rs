//! ListExports and ListImports: newest first, by pages whose tokens are ids.

use shelfmark_engine::LedgerEntry;

use super::export::export_arn;
use super::import::{import_arn, put_source};
use crate::describe::put_seconds;
use crate::errors::{Error, Result, texts};
use crate::face::{Face, RequestHead};
use crate::json::{Reader, Writer};
use crate::limits::{IMPORT_TOKEN_CHARS_MIN, TRANSFERS_PAGE_MAX};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{Meta, find_named, name_of, table_arn};
use crate::transfers::{EXPORTS, Form, IMPORTS, take_status};

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    limit: Option<i64>,
    token: Option<String>,
}

/// Answers ListExports. A key that may use some tables only is shown what concerns those.
pub(crate) fn exports(face: &Face, head: &RequestHead<'_>, body: &[u8]) -> Result<Answered> {
    let request = parse(body, "MaxResults")?;
    let (found, next) = page(face, head, &request, EXPORTS)?;
    Ok(Writer::answer(|out| {
        out.name("ExportSummaries").list(|out| {
            for entry in &found {
                out.object(|out| {
                    out.name("ExportArn").text(&export_arn(face, entry));
                    out.name("ExportStatus").text(take_status(entry));
                    let is_full = Form::of(entry).view.is_none();
                    let kind = if is_full { "FULL_EXPORT" } else { "INCREMENTAL_EXPORT" };
                    out.name("ExportType").text(kind);
                });
            }
        });
        put_token(out, next);
    }))
}

/// Answers ListImports, as [`exports`] does.
pub(crate) fn imports(face: &Face, head: &RequestHead<'_>, body: &[u8]) -> Result<Answered> {
    let request = parse(body, "PageSize")?;
    let (found, next) = page(face, head, &request, IMPORTS)?;
    Ok(Writer::answer(|out| {
        out.name("ImportSummaryList").list(|out| {
            for entry in &found {
                out.object(|out| {
                    out.name("ImportArn").text(&import_arn(face, entry));
                    out.name("ImportStatus").text(take_status(entry));
                    let table = table_arn(&face.options, entry.text("table"));
                    out.name("TableArn").text(&table);
                    put_source(out, entry);
                    out.name("InputFormat").text(entry.text("format"));
                    for (name, member) in [("StartTime", "start_ms"), ("EndTime", "end_ms")] {
                        if let Some(time) = entry.number(member) {
                            put_seconds(out.name(name), i64::try_from(time).unwrap_or(i64::MAX));
                        }
                    }
                });
            }
        });
        put_token(out, next);
    }))
}

/// Returns a page of entries, newest first, and the token of the next one if there are more.
fn page(
    face: &Face,
    head: &RequestHead<'_>,
    request: &Request,
    kind: &str,
) -> Result<(Vec<LedgerEntry>, Option<String>)> {
    let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(TRANSFERS_PAGE_MAX);
    let table = request.table.as_deref().map(name_of);
    // Exports of a table that is gone are not among those of a new one of its name.
    let table_id = match table.filter(|_| kind == EXPORTS) {
        None => None,
        Some(name) => match find_named(&face.engine, name) {
            Ok(table) => Some(Meta::of(&table).id),
            Err(_) => return Ok((Vec::new(), None)),
        },
    };
    let before = request.token.as_deref().map(|token| id_of(kind, token)).transpose()?;
    let is_shown = |entry: &LedgerEntry| {
        let own = entry.text("table");
        let is_own = face.engine.owns(entry) && table.is_none_or(|table| table == own);
        let is_of_table = table_id.as_ref().is_none_or(|id| id == entry.text("table_id"));
        let is_behind = before.as_ref().is_none_or(|before| entry.id < *before);
        is_own && is_of_table && is_behind && head.sees(own)
    };
    let mut found = face.engine.ledger_entries(kind, "", None, usize::MAX)?;
    found.retain(is_shown);
    found.reverse();
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|last| token_of(kind, &last.id));
    Ok((found, next))
}

fn put_token(out: &mut Writer, token: Option<String>) {
    if let Some(token) = token {
        out.name("NextToken").text(&token);
    }
}

/// Returns a token: the digits of a kind and an id, and blanks behind it, as long as the service's.
fn token_of(kind: &str, id: &str) -> String {
    let width = IMPORT_TOKEN_CHARS_MIN / 2;
    hex::encode(format!("{:width$}", format!("{}{id}", letter_of(kind))))
}

/// Returns the id that a token of the same kind was made of.
fn id_of(kind: &str, token: &str) -> Result<String> {
    let text = hex::decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let id = text.as_deref().and_then(|text| text.strip_prefix(letter_of(kind)));
    let is_id = |id: &&str| {
        let is_part =
            |part: &str| !part.is_empty() && part.bytes().all(|own| own.is_ascii_hexdigit());
        id.split_once('-').is_some_and(|(time, random)| is_part(time) && is_part(random))
    };
    let id = id.map(str::trim_end).filter(is_id);
    let invalid = || Error::validation(texts::invalid_next_token(token));
    id.map(str::to_owned).ok_or_else(invalid)
}

fn letter_of(kind: &str) -> char {
    if kind == EXPORTS { 'e' } else { 'i' }
}

fn parse(body: &[u8], limit_member: &str) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TableArn" => request.table = reader.text()?,
            "NextToken" => request.token = reader.text()?,
            name if name == limit_member => request.limit = reader.integer()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    if request.table.is_some() {
        shape.table("TableArn", request.table.as_deref());
    }
    shape.range(limit_member, request.limit, 1, i64::try_from(TRANSFERS_PAGE_MAX).ok());
    shape.check()?;
    Ok(request)
}
