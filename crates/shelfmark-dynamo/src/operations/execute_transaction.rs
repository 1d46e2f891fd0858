//! ExecuteTransaction: up to 100 statements, all or none, at most once per client request token.
//!
//! All read, as of one moment, or all write; `EXISTS(SELECT …)` is a condition among writes.

use std::sync::Arc;

use shelfmark_engine::weight::Allowance;
use shelfmark_engine::{Once, Table, Token, Write, Written};
use shelfmark_model::Key;
use xxhash_rust::xxh3::Xxh3;

use super::single_reads::{self, SingleReads};
use super::statement_request::{Asked, Given, StatementRequest};
use super::statement_write::{self, Planned as PlannedWrite, check_distinct};
use super::write_request::reports;
use crate::capacity::{Consumed, ConsumedByTable, Detail};
use crate::errors::{Error, Exception, Result, cancelled, cancelled_at, texts, transaction_error};
use crate::face::{Done, Face, Reading, read};
use crate::json::{Reader, Writer, put_item};
use crate::limits::{
    REQUEST_TOKEN_CHARS_MAX, REQUEST_TOKEN_SECONDS, TRANSACTION_ITEMS_MAX,
    TRANSACTION_SIZE_BYTES_MAX,
};
use crate::partiql::Statement;
use crate::reply::Answered;
use crate::scope::ScopedEngine;
use crate::shape::{CAPACITIES, Shape};

const OPERATION: &str = "ExecuteTransaction";

/// The prefix of this operation's tokens among those of the engine.
const TOKEN_PREFIX: &[u8] = b"dynamodb-partiql/";

#[derive(Debug, Default)]
struct Request {
    statements: Option<Vec<StatementRequest>>,
    token: Option<String>,
    capacity: Option<String>,
}

/// Writes that are ready.
struct Planned {
    writes: Vec<Write>,
    /// True for each write that is an INSERT.
    inserts: Vec<bool>,
    token: Option<Token>,
    detail: Detail,
}

/// Runs the statements; calls `done` when all are read, or durable.
pub(super) fn start(face: &Face, body: &[u8], allowance: Allowance, done: Done) {
    let asked = parse(body).and_then(|request| {
        let statements = request.statements.unwrap_or_default().into_iter();
        let given = statements.map(StatementRequest::checked).collect::<Result<Vec<_>>>()?;
        let detail = Detail::of(request.capacity.as_deref());
        Ok((asked(given)?, request.token, detail))
    });
    let (asked, token, detail) = match asked {
        Ok(asked) => asked,
        Err(error) => return done.answer(Err(error)),
    };
    if asked.iter().any(|asked| asked.statement.is_read()) {
        return match reads(&face.engine, &asked, detail) {
            Ok(reads) => read(face, reads, allowance, done),
            Err(error) => done.answer(Err(error)),
        };
    }
    match plan(face, &asked, token, detail) {
        Ok(planned) => submit(face, planned, done),
        Err(error) => done.answer(Err(error)),
    }
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TransactStatements" => request.statements = StatementRequest::list(reader)?,
            "ClientRequestToken" => request.token = reader.text()?,
            "ReturnConsumedCapacity" => request.capacity = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("TransactStatements", request.statements.is_some());
    if let Some(statements) = &request.statements {
        shape.length("TransactStatements", statements.len(), 1, TRANSACTION_ITEMS_MAX);
    }
    for (position, statement) in request.statements.iter().flatten().enumerate() {
        statement.shape(&format!("TransactStatements.{}.member.", position + 1), &mut shape);
    }
    if let Some(token) = &request.token {
        shape.text("ClientRequestToken", token, 1, REQUEST_TOKEN_CHARS_MAX);
    }
    shape.one_of("ReturnConsumedCapacity", request.capacity.as_deref(), CAPACITIES);
    shape.check()?;
    Ok(request)
}

/// Says in which statement a fault is.
fn placed(position: usize) -> impl Fn(Error) -> Error {
    move |error| {
        if error.exception == Exception::Validation {
            return error.prefixed(&texts::in_statement(position));
        }
        error
    }
}

/// Parses the statements, and refuses the transaction if some read and some write.
fn asked(given: Vec<Given>) -> Result<Vec<Asked>> {
    let parsed = given.into_iter().enumerate();
    let parsed = parsed.map(|(position, given)| given.parsed().map_err(placed(position)));
    let asked = parsed.collect::<Result<Vec<Asked>>>()?;
    let is_read = |asked: &Asked| asked.statement.is_read();
    if asked.iter().any(is_read) && !asked.iter().all(is_read) {
        return Err(Error::validation(texts::READS_AND_WRITES));
    }
    Ok(asked)
}

/// The reads of a transaction in progress.
struct Reads {
    reads: SingleReads,
    detail: Detail,
}

fn reads(engine: &ScopedEngine, asked: &[Asked], detail: Detail) -> Result<Reads> {
    let mut singles = Vec::with_capacity(asked.len());
    let mut keys: Vec<(u64, Key)> = Vec::with_capacity(asked.len());
    for (position, asked) in asked.iter().enumerate() {
        let Statement::Select(select) = &asked.statement else { continue };
        if asked.named.index.is_some() {
            let error = Error::validation(texts::INDEX_IN_TRANSACTION);
            return Err(placed(position)(error));
        }
        let single = single_reads::plan(engine, asked, select, OPERATION);
        let single = single.map_err(placed(position))?;
        keys.push((single.table.id, single.key.clone()));
        singles.push(Some(single));
    }
    check_distinct(&keys, texts::ITEM_TWICE)?;
    Ok(Reads { reads: SingleReads::new(engine, singles)?, detail })
}

impl Reading for Reads {
    fn go_on(&mut self, allowance: Allowance) -> Result<Option<Answered>> {
        let is_done = self.reads.go_on(allowance)?;
        if self.reads.bytes() > TRANSACTION_SIZE_BYTES_MAX {
            return Err(Error::validation(texts::TRANSACTION_TOO_LARGE));
        }
        if !is_done {
            return Ok(None);
        }
        let mut consumed = ConsumedByTable::default();
        for found in self.reads.found.iter().flatten() {
            let units = Consumed::transaction_read(found.bytes);
            consumed.add(&found.table.schema.name.name, units);
        }
        let report = std::mem::take(&mut self.reads.report);
        let answered = Writer::answer(|out| {
            out.name("Responses").list(|out| {
                for found in self.reads.found.iter().flatten() {
                    out.object(|out| {
                        if let Some(item) = &found.item {
                            out.name("Item");
                            put_item(out, item);
                        }
                    });
                }
            });
            consumed.put(out, self.detail);
        });
        Ok(Some(answered.reporting(report)))
    }
}

fn plan(face: &Face, asked: &[Asked], token: Option<String>, detail: Detail) -> Result<Planned> {
    let mut planned = Vec::with_capacity(asked.len());
    for (position, asked) in asked.iter().enumerate() {
        let write = statement_write::plan(&face.engine, asked).map_err(placed(position))?;
        if write.is_returning() {
            let error = Error::validation(texts::RETURNING_IN_TRANSACTION);
            return Err(placed(position)(error));
        }
        planned.push(write);
    }
    let size: usize = planned.iter().map(PlannedWrite::size_bytes).sum();
    if size > TRANSACTION_SIZE_BYTES_MAX {
        return Err(Error::validation(texts::TRANSACTION_TOO_LARGE));
    }
    let (writes, inserts) = bind(planned, detail)?;
    let now = face.environment.clock.now_seconds();
    let token = token.map(|token| Token {
        token: face.engine.token(TOKEN_PREFIX, &token),
        request_hash: fingerprint(asked),
        expires_at: now + REQUEST_TOKEN_SECONDS,
    });
    Ok(Planned { writes, inserts, token, detail })
}

/// Hashes the statements, to recognise a repeated request under the same token. Stored hashes depend
/// on it: it stays as it is over versions, as that of each statement does.
fn fingerprint(asked: &[Asked]) -> u64 {
    let mut hash = Xxh3::new();
    for asked in asked {
        hash.update(&asked.request.to_be_bytes());
    }
    hash.digest()
}

/// Fits the writes to their tables. The first one that does not fit cancels the transaction.
fn bind(planned: Vec<PlannedWrite>, detail: Detail) -> Result<(Vec<Write>, Vec<bool>)> {
    let count = planned.len();
    let mut writes: Vec<Write> = Vec::with_capacity(count);
    let mut inserts = Vec::with_capacity(count);
    let mut keys: Vec<(u64, Key)> = Vec::with_capacity(count);
    for write in planned {
        match write.bind(detail.is_wanted()) {
            Ok(bound) => {
                keys.push(bound.item()?);
                inserts.push(bound.is_insert);
                writes.push(bound.write);
            }
            Err(error) if error.whole => return Err(error),
            Err(error) => return Err(cancelled_at(writes.len(), count, error)),
        }
    }
    check_distinct(&keys, texts::ITEM_TWICE)?;
    Ok((writes, inserts))
}

fn submit(face: &Face, planned: Planned, done: Done) {
    let Planned { writes, inserts, token, detail } = planned;
    let tables: Vec<Arc<Table>> = writes.iter().map(|write| Arc::clone(&write.table)).collect();
    let engine = done.engine(face);
    let finish = move |outcome: std::result::Result<Once, shelfmark_engine::Error>| {
        done.answer(match outcome {
            Ok(Once::Written(written)) => Ok(encode(&tables, Some(&written), detail)),
            Ok(Once::Repeated) => Ok(encode(&tables, None, detail)),
            Ok(Once::Mismatch) => {
                Err(Error::new(Exception::IdempotentParameterMismatch, texts::TOKEN_MISMATCH))
            }
            Err(error) => Err(with_duplicates(transaction_error(error, &tables), &inserts)),
        });
    };
    match token {
        Some(token) => engine.submit_all_once(token, writes, Box::new(finish)),
        None => {
            engine.submit_all(writes, Box::new(move |outcome| finish(outcome.map(Once::Written))));
        }
    }
}

/// Words the failed conditions of INSERTs: their items are there.
fn with_duplicates(error: Error, inserts: &[bool]) -> Error {
    if error.exception != Exception::TransactionCanceled {
        return error;
    }
    let mut reasons = error.reasons;
    for (reason, is_insert) in reasons.iter_mut().zip(inserts) {
        if *is_insert && reason.code() == "ConditionalCheckFailed" {
            reason.fault = Some(("DuplicateItem", texts::DUPLICATE_ITEM.to_owned()));
        }
    }
    cancelled(reasons)
}

/// Writes the answer. One of a repeated request shows what reading the items would have cost.
fn encode(tables: &[Arc<Table>], written: Option<&[Written]>, detail: Detail) -> Answered {
    let mut consumed = ConsumedByTable::default();
    if detail.is_wanted() {
        for (position, table) in tables.iter().enumerate() {
            let images = written.and_then(|written| written.get(position));
            let units = match (written, images) {
                (None, _) => Consumed::transaction_read(0),
                (Some(_), images) => {
                    let old = images.and_then(|written| written.old.as_ref());
                    let new = images.and_then(|written| written.new.as_ref());
                    Consumed::write(table, old, new).in_transaction()
                }
            };
            consumed.add(&table.schema.name.name, units);
        }
    }
    Writer::answer(|out| {
        out.name("Responses").list(|_| {});
        consumed.put(out, detail);
    })
    .reporting(reports(written.unwrap_or_default()))
}
