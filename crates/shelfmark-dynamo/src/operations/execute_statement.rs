//! ExecuteStatement: one statement, a page of a SELECT or a write.

use shelfmark_engine::Written;
use shelfmark_engine::weight::Allowance;

use super::statement_read::{self, PageOptions};
use super::statement_request::StatementRequest;
use super::statement_write::{self, Shown};
use crate::capacity::{Consumed, Detail};
use crate::errors::{Error, Result, texts};
use crate::face::{Done, Face, read};
use crate::json::{Reader, Writer, put_item};
use crate::limits::NEXT_TOKEN_CHARS_MAX;
use crate::partiql::Statement;
use crate::reply::Answered;
use crate::shape::{CAPACITIES, Shape};

#[derive(Debug, Default)]
struct Request {
    statement: StatementRequest,
    limit: Option<i64>,
    next_token: Option<String>,
    capacity: Option<String>,
}

/// Runs the statement; calls `done` with a page, or once a write is durable.
pub(super) fn start(face: &Face, body: &[u8], allowance: Allowance, done: Done) {
    let asked = parse(body).and_then(|request| {
        let options = PageOptions {
            limit: request.limit.and_then(|limit| usize::try_from(limit).ok()),
            next_token: request.next_token,
            detail: Detail::of(request.capacity.as_deref()),
        };
        Ok((request.statement.checked()?.parsed()?, options))
    });
    let (asked, options) = match asked {
        Ok(asked) => asked,
        Err(error) => return done.answer(Err(error)),
    };
    match &asked.statement {
        Statement::Select(select) => {
            match statement_read::plan(&face.engine, &asked, select, options) {
                Ok(selecting) => read(face, selecting, allowance, done),
                Err(error) => done.answer(Err(error)),
            }
        }
        Statement::Exists(_) => done.answer(Err(Error::validation(texts::EXISTS_OUTSIDE))),
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Other(_) => {
            let detail = options.detail;
            let bound = statement_write::plan(&face.engine, &asked)
                .and_then(|planned| planned.bind(detail.is_wanted()));
            let bound = match bound {
                Ok(bound) => bound,
                Err(error) => return done.answer(Err(error)),
            };
            let shown = bound.shown();
            face.engine.submit_all(
                vec![bound.write],
                Box::new(move |outcome| {
                    done.answer(match outcome {
                        Ok(written) => {
                            let written = written.into_iter().next().unwrap_or_default();
                            Ok(encode(&shown, written, detail))
                        }
                        Err(error) => Err(shown.error(error)),
                    });
                }),
            );
        }
    }
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "Limit" => request.limit = reader.integer()?,
            "NextToken" => request.next_token = reader.text()?,
            "ReturnConsumedCapacity" => request.capacity = reader.text()?,
            _ if request.statement.member(reader, name)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    request.statement.shape("", &mut shape);
    shape.shown_least("Limit", request.limit, 1);
    if let Some(token) = &request.next_token {
        shape.text("NextToken", token, 1, NEXT_TOKEN_CHARS_MAX);
    }
    shape.one_of("ReturnConsumedCapacity", request.capacity.as_deref(), CAPACITIES);
    shape.check()?;
    Ok(request)
}

fn encode(shown: &Shown, written: Written, detail: Detail) -> Answered {
    let item = shown.item(&written);
    Writer::answer(|out| {
        out.name("Items").list(|out| item.iter().for_each(|item| put_item(out, item)));
        if detail.is_wanted() {
            out.name("ConsumedCapacity");
            let consumed =
                Consumed::write(&shown.table, written.old.as_ref(), written.new.as_ref());
            consumed.put(out, &shown.table.schema.name.name, detail);
        }
    })
    .reporting(written.report)
}
