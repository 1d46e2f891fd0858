//! BatchExecuteStatement: up to 25 statements, each with an outcome of its own.
//!
//! All read or all write. A fault of one statement, also that its key may not use the table, is told
//! in its place; the others are done. A write that its condition refuses is charged with the item that
//! is there or that it carried, where another write of its table succeeds. The item itself is never
//! shown, whatever `ReturnValuesOnConditionCheckFailure` says.
//!
//! Source: captures of the service in the changelog of an emulator, read 2026-11.

use std::sync::{Arc, Mutex, PoisonError};

use shelfmark_engine::weight::Allowance;
use shelfmark_engine::{AccessReport, Change, Engine};
use shelfmark_model::Item;

use super::access;
use super::single_reads::{self, Single, SingleReads};
use super::statement_request::{Asked, StatementRequest};
use super::statement_write::{self, Bound, check_distinct};
use crate::capacity::{Consumed, ConsumedByTable, Detail};
use crate::errors::{Error, Exception, Result, texts};
use crate::face::{Done, Face, Reading, RequestHead, read};
use crate::json::{Reader, Writer, put_item};
use crate::limits::BATCH_STATEMENTS_MAX;
use crate::partiql::Statement;
use crate::reply::Answered;
use crate::scope::ScopedEngine;
use crate::shape::{CAPACITIES, Shape};

const OPERATION: &str = "BatchExecuteStatement";

#[derive(Debug, Default)]
struct Request {
    statements: Option<Vec<StatementRequest>>,
    capacity: Option<String>,
}

/// The outcome of one statement: the item that it shows, or its fault.
struct Outcome {
    /// The table, if the statement ran.
    table: Option<String>,
    result: Result<Option<Item>>,
}

impl Outcome {
    /// Returns the outcome of a statement that did not run.
    const fn refused(error: Error) -> Self {
        Self { table: None, result: Err(error) }
    }
}

/// Runs the statements; calls `done` when all reads are done, or all writes durable.
pub(super) fn start(
    face: &Face,
    head: &RequestHead<'_>,
    body: &[u8],
    allowance: Allowance,
    done: Done,
) {
    let asked = parse(body).and_then(|request| {
        let detail = Detail::of(request.capacity.as_deref());
        let statements = request.statements.unwrap_or_default();
        Ok((asked(face, head, statements)?, detail))
    });
    let (asked, detail) = match asked {
        Ok(asked) => asked,
        Err(error) => return done.answer(Err(error)),
    };
    let reads = |asked: &Result<Asked>| asked.as_ref().is_ok_and(|own| own.statement.is_read());
    if asked.iter().any(reads) {
        match Reads::new(&face.engine, asked, detail) {
            Ok(reads) => read(face, reads, allowance, done),
            Err(error) => done.answer(Err(error)),
        }
    } else {
        match bind(&face.engine, asked, detail) {
            Ok(bound) => write(&face.engine, bound, detail, done),
            Err(error) => done.answer(Err(error)),
        }
    }
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "Statements" => request.statements = StatementRequest::list(reader)?,
            "ReturnConsumedCapacity" => request.capacity = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("Statements", request.statements.is_some());
    if let Some(statements) = &request.statements {
        shape.length("Statements", statements.len(), 1, BATCH_STATEMENTS_MAX);
    }
    for (position, statement) in request.statements.iter().flatten().enumerate() {
        statement.shape(&format!("Statements.{}.member.", position + 1), &mut shape);
    }
    shape.one_of("ReturnConsumedCapacity", request.capacity.as_deref(), CAPACITIES);
    shape.check()?;
    Ok(request)
}

/// Parses the statements, and refuses the batch if some read and some write.
fn asked(
    face: &Face,
    head: &RequestHead<'_>,
    statements: Vec<StatementRequest>,
) -> Result<Vec<Result<Asked>>> {
    let parsed: Vec<Result<Asked>> = statements
        .into_iter()
        .map(|statement| {
            let asked = statement.checked()?.parsed()?;
            if let Some(policy) = head.policy {
                access::check_statement(&face.options, policy, &asked.statement, &asked.named)?;
            }
            if matches!(asked.statement, Statement::Exists(_)) {
                return Err(Error::validation(texts::EXISTS_OUTSIDE));
            }
            Ok(asked)
        })
        .collect();
    let is_read = |asked: &Asked| asked.statement.is_read();
    let mut valid = parsed.iter().flatten();
    if let Some(first) = valid.next()
        && valid.any(|other| is_read(other) != is_read(first))
    {
        return Err(Error::validation(texts::READS_AND_WRITES_IN_BATCH));
    }
    Ok(parsed)
}

/// The reads of a batch in progress.
struct Reads {
    reads: SingleReads,
    /// The fault of each statement that has one.
    faults: Vec<Option<Error>>,
    detail: Detail,
}

impl Reads {
    fn new(engine: &ScopedEngine, asked: Vec<Result<Asked>>, detail: Detail) -> Result<Self> {
        let planned = asked.into_iter().map(|asked| {
            let asked = asked?;
            let Statement::Select(select) = &asked.statement else {
                return Err(Error::validation(texts::READS_AND_WRITES_IN_BATCH));
            };
            single_reads::plan(engine, &asked, select, OPERATION)
        });
        let (singles, faults): (Vec<Option<Single>>, Vec<Option<Error>>) = planned
            .map(|planned| match planned {
                Ok(single) => (Some(single), None),
                Err(error) => (None, Some(error)),
            })
            .unzip();
        let items = singles.iter().flatten().map(|single| (single.table.id, single.key.clone()));
        check_distinct(&items.collect::<Vec<_>>(), texts::KEYS_HAVE_DUPLICATES)?;
        Ok(Self { reads: SingleReads::new(engine, singles)?, faults, detail })
    }
}

impl Reading for Reads {
    fn go_on(&mut self, allowance: Allowance) -> Result<Option<Answered>> {
        if !self.reads.go_on(allowance)? {
            return Ok(None);
        }
        let mut consumed = ConsumedByTable::default();
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(self.faults.len());
        let found = std::mem::take(&mut self.reads.found);
        for (found, fault) in found.into_iter().zip(std::mem::take(&mut self.faults)) {
            outcomes.push(match (found, fault) {
                (Some(found), _) => {
                    let name = &found.table.schema.name.name;
                    consumed.add(name, Consumed::read(found.bytes, found.consistent));
                    Outcome { table: Some(name.clone()), result: Ok(found.item) }
                }
                (None, Some(error)) => Outcome::refused(error),
                (None, None) => lost(),
            });
        }
        let report = std::mem::take(&mut self.reads.report);
        Ok(Some(encode(&outcomes, &consumed, self.detail).reporting(report)))
    }
}

/// Fits the writes to their tables, and refuses the batch if two are of one item.
fn bind(
    engine: &ScopedEngine,
    asked: Vec<Result<Asked>>,
    detail: Detail,
) -> Result<Vec<Result<Bound>>> {
    let bound = asked
        .into_iter()
        .map(|asked| statement_write::plan(engine, &asked?)?.bind(detail.is_wanted()));
    let bound: Vec<Result<Bound>> = bound.collect();
    let items = bound.iter().flatten().map(Bound::item).collect::<Result<Vec<_>>>()?;
    check_distinct(&items, texts::KEYS_HAVE_DUPLICATES)?;
    Ok(bound)
}

/// Queues the writes, each for itself.
fn write(engine: &Engine, bound: Vec<Result<Bound>>, detail: Detail, done: Done) {
    let left = bound.iter().flatten().count();
    let mut pending = Pending {
        left,
        outcomes: Vec::with_capacity(bound.len()),
        consumed: ConsumedByTable::default(),
        refused: Vec::new(),
        report: AccessReport::default(),
        detail,
        done: Some(done),
    };
    let mut writes = Vec::with_capacity(left);
    for (position, bound) in bound.into_iter().enumerate() {
        match bound {
            Ok(bound) => {
                writes.push((position, bound.shown(), bound.write));
                pending.outcomes.push(None);
            }
            Err(error) => pending.outcomes.push(Some(Outcome::refused(error))),
        }
    }
    if writes.is_empty() {
        return pending.answer();
    }
    let pending = Arc::new(Mutex::new(pending));
    for (position, shown, mut write) in writes {
        let pending = Arc::clone(&pending);
        write.old_on_refusal = detail.is_wanted();
        let carried = match &write.change {
            Change::Put(item) if detail.is_wanted() => Some(item.clone()),
            Change::Put(_) | Change::Patch { .. } | Change::Delete(_) | Change::Check(_) => None,
        };
        engine.submit_all(
            vec![write],
            Box::new(move |outcome| {
                let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
                let name = shown.table.schema.name.name.clone();
                let result = match outcome {
                    Ok(written) => {
                        let written = written.into_iter().next().unwrap_or_default();
                        if pending.detail.is_wanted() {
                            let (old, new) = (written.old.as_ref(), written.new.as_ref());
                            let units = Consumed::write(&shown.table, old, new);
                            pending.consumed.add(&name, units);
                        }
                        let item = shown.item(&written);
                        pending.report.extend(written.report);
                        Ok(item)
                    }
                    Err(error) => {
                        let error = shown.refused(error);
                        if pending.detail.is_wanted() && error.is_refusal {
                            let (old, new) = (error.there.as_ref(), carried.as_ref());
                            let units = Consumed::refused_write(&shown.table, old, new);
                            pending.refused.push((name.clone(), units));
                        }
                        Err(error.error)
                    }
                };
                pending.ended(position, Outcome { table: Some(name), result });
            }),
        );
    }
}

/// The writes of a batch in progress.
struct Pending {
    /// Number of writes in progress.
    left: usize,
    outcomes: Vec<Option<Outcome>>,
    consumed: ConsumedByTable,
    /// The units of refused writes, by table.
    refused: Vec<(String, Consumed)>,
    report: AccessReport,
    detail: Detail,
    done: Option<Done>,
}

impl Pending {
    fn ended(&mut self, position: usize, outcome: Outcome) {
        if let Some(own) = self.outcomes.get_mut(position) {
            *own = Some(outcome);
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.answer();
        }
    }

    fn answer(&mut self) {
        let Some(done) = self.done.take() else { return };
        let outcomes: Vec<Outcome> = std::mem::take(&mut self.outcomes)
            .into_iter()
            .map(|outcome| outcome.unwrap_or_else(lost))
            .collect();
        for (table, units) in std::mem::take(&mut self.refused) {
            self.consumed.add_to(&table, units);
        }
        let report = std::mem::take(&mut self.report);
        done.answer(Ok(encode(&outcomes, &self.consumed, self.detail).reporting(report)));
    }
}

/// Returns the outcome of a statement of which none was told.
fn lost() -> Outcome {
    Outcome::refused(Error::new(Exception::InternalServerError, texts::INTERNAL))
}

fn encode(outcomes: &[Outcome], consumed: &ConsumedByTable, detail: Detail) -> Answered {
    Writer::answer(|out| {
        out.name("Responses").list(|out| {
            for outcome in outcomes {
                out.object(|out| {
                    if let Some(table) = &outcome.table {
                        out.name("TableName").text(table);
                    }
                    match &outcome.result {
                        Ok(Some(item)) => {
                            out.name("Item");
                            put_item(out, item);
                        }
                        Ok(None) => {}
                        Err(error) => put_error(out, error),
                    }
                });
            }
        });
        consumed.put(out, detail);
    })
}

fn put_error(out: &mut Writer, error: &Error) {
    out.name("Error").object(|out| {
        out.name("Code").text(code(error.exception));
        let message = match error.enveloped {
            true => texts::envelope(&error.message),
            false => error.message.clone(),
        };
        out.name("Message").text(&message);
    });
}

/// Returns the code of a fault among those of BatchStatementError.
const fn code(exception: Exception) -> &'static str {
    match exception {
        Exception::AccessDenied => "AccessDenied",
        Exception::ConditionalCheckFailed => "ConditionalCheckFailed",
        Exception::DuplicateItem => "DuplicateItem",
        Exception::ProvisionedThroughputExceeded => "ProvisionedThroughputExceeded",
        Exception::ResourceNotFound | Exception::TableNotFound => "ResourceNotFound",
        Exception::TransactionConflict => "TransactionConflict",
        Exception::Validation | Exception::Serialization => "ValidationError",
        Exception::LimitExceeded => "RequestLimitExceeded",
        // A statement meets none of these.
        Exception::BackupInUse
        | Exception::BackupNotFound
        | Exception::ContinuousBackupsUnavailable
        | Exception::ExpiredIterator
        | Exception::ExportConflict
        | Exception::ExportNotFound
        | Exception::ImportConflict
        | Exception::ImportNotFound
        | Exception::InvalidExportTime
        | Exception::InvalidRestoreTime
        | Exception::PointInTimeRecoveryUnavailable
        | Exception::TableAlreadyExists
        | Exception::TableInUse
        | Exception::GlobalTableNotFound
        | Exception::IdempotentParameterMismatch
        | Exception::IncompleteSignature
        | Exception::InternalServerError
        | Exception::InvalidSignature
        | Exception::MissingAuthenticationToken
        | Exception::PolicyNotFound
        | Exception::RequestTooLarge
        | Exception::ResourceInUse
        | Exception::ServiceUnavailable
        | Exception::TransactionCanceled
        | Exception::TransactionInProgress
        | Exception::TrimmedDataAccess
        | Exception::UnknownOperation
        | Exception::UnrecognizedClient => "InternalServerError",
    }
}
