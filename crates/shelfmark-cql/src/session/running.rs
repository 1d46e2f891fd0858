//! Plans and runs requests: where they were read, or at the pool.
//!
//! What it is not: it reads no request and keeps no state of the connection.

use std::collections::HashSet;
use std::sync::Arc;

use shelfmark_cql_protocol::frame::Opcode;
use shelfmark_cql_protocol::message::{self, Batch, BatchItem, Prepared as PreparedHead};
use shelfmark_cql_protocol::{CqlError, Values};
use shelfmark_engine::budget::Client;
use shelfmark_engine::weight::Weight;

use super::face::{Face, full};
use super::prepared::Prepared;
use super::reply::{ClientMetadata, PendingRequest};
use crate::limits::{HEAVY_OVERHEAD_BYTES, STATEMENT_PART_SIZE_BYTES, planned_bytes};
use crate::outcome::{RequestOptions, no_room};
use crate::statement::{BatchEntry, BatchRequest, PreparedStatement};

/// Cassandra's warning of prepared statements that rely on `USE`, sent once per connection.
const USE_WARNING: &str = "`USE <keyspace>` with prepared statements is considered to be an anti-pattern due to ambiguity in non-qualified table names. Please consider removing instances of `Session#setKeyspace(<keyspace>)`, `Session#execute(\"USE <keyspace>\")` and `cluster.newSession(<keyspace>)` from your code, and always use fully qualified table names (e.g. <keyspace>.<table>).";

/// The factor by which a short statement of a batch grows once it is planned, about.
const TEXT_TIMES: usize = 16;

/// Returns the refusal of a statement that would take so many bytes of memory.
pub(super) fn no_room_for_statement(client: Option<&Client>, bytes: usize) -> CqlError {
    no_room(client, "this statement", bytes, "come again later")
}

/// Runs a read on this thread as far as that is short, and where it holds nobody up if it is not.
pub(super) fn begin(
    face: &Arc<Face>,
    statement: &Arc<PreparedStatement>,
    mut options: RequestOptions,
    known: ClientMetadata,
    pending: PendingRequest,
) {
    // Read twice, the first rows would be told twice to whoever observes the engine, and in a trace.
    options.is_inline = !face.pool.is_inline() && options.trace.is_none();
    if options.is_inline
        && let Some(outcome) = face.executor.try_short(statement, &options)
    {
        return pending.answer(known)(outcome);
    }
    options.is_inline = false;
    run_long(face, (statement, Weight::Heavy), options, known, pending);
}

/// Runs a statement on the pool.
pub(super) fn run_long(
    face: &Arc<Face>,
    (statement, weight): (&Arc<PreparedStatement>, Weight),
    options: RequestOptions,
    known: ClientMetadata,
    mut pending: PendingRequest,
) {
    pending.charge(HEAVY_OVERHEAD_BYTES);
    pending.take_turn_of_pool();
    let (executor, statement) = (Arc::clone(&face.executor), Arc::clone(statement));
    let (client, waits) = (pending.client, pending.waits());
    let answer = pending.answer(known);
    let work = move |admitted: Result<(), _>| match admitted {
        Ok(()) => executor.execute(&statement, options, answer),
        Err(refused) => answer(Err(full(refused))),
    };
    face.pool.run(Some(client), weight, waits.before(work));
}

/// Prepares a statement.
pub(super) fn run_prepare(text: String, keyspace: Option<Arc<str>>, pending: PendingRequest) {
    let face = Arc::clone(&pending.face);
    let prepared = match face.statements.prepare(&face.executor, text, keyspace) {
        Ok(prepared) => prepared,
        Err(error) => return pending.refuse(&error),
    };
    pending.record_step(|| "Preparing statement".to_owned());
    let version = pending.version;
    let used = prepared.statement.needs_keyspace.then(|| prepared.keyspace()).flatten();
    let warning = used.filter(|_| pending.send_queue.warns_of_use()).map(|keyspace| {
        let id = hex::encode(&prepared.id);
        format!("{USE_WARNING} Keyspace used: {keyspace}, statement keyspace: {keyspace}, statement id: {id}")
    });
    pending.say_traced(Opcode::Result, warning.into_iter().collect(), |out| {
        let Prepared { id, metadata_id, statement, .. } = &*prepared;
        let head = PreparedHead {
            id,
            metadata_id,
            markers: &statement.markers,
            pk_indices: &statement.pk_indices,
            result: &statement.result,
        };
        message::prepared(head, version, out);
    });
}

/// Parses, plans and runs a long statement.
pub(super) fn long_query(
    face: &Arc<Face>,
    text: &str,
    mut options: RequestOptions,
    skip: bool,
    mut pending: PendingRequest,
) {
    let mut share = options.client.as_ref().map(Client::share);
    let planned = planned_bytes(text);
    options.held_bytes += planned;
    if share.as_mut().is_some_and(|share| !share.cover(planned)) {
        let (client, bytes) = (options.client.as_ref(), options.held_bytes);
        return pending.refuse(&no_room_for_statement(client, bytes));
    }
    match face.executor.prepare(text, options.keyspace.as_deref()) {
        Ok(statement) if !fills(&options.values, &statement) => {
            pending.refuse(&CqlError::invalid("Invalid amount of bind variables"));
        }
        Ok(statement) => {
            pending.record_step(|| "Preparing statement".to_owned());
            pending.runs_statement(&statement);
            pending.goes_on(options.paging.is_some());
            let known = if skip { ClientMetadata::All } else { ClientMetadata::None };
            face.executor.execute(&statement, options, pending.answer(known));
        }
        Err(error) => pending.refuse(&error),
    }
}

/// Plans and runs a batch: at the pool if it is there, or if a statement turns out heavy.
pub(super) fn run_batch(
    face: &Arc<Face>,
    weight: Weight,
    batch: Batch,
    mut options: RequestOptions,
    mut pending: PendingRequest,
) {
    let texts = batch.items.iter().map(|(item, _)| match item {
        // Lists are long once they are planned, and so are short statements.
        BatchItem::Text(text) => {
            let parts = text.bytes().filter(|own| *own == b',').count();
            (text.len() * TEXT_TIMES).max(parts * STATEMENT_PART_SIZE_BYTES)
        }
        BatchItem::Prepared(_) => STATEMENT_PART_SIZE_BYTES,
    });
    let mut share = options.client.as_ref().map(Client::share);
    let planned = texts.sum();
    if share.as_mut().is_some_and(|share| !share.cover(planned)) {
        return pending.refuse(&options.no_room("this batch", planned));
    }
    options.held_bytes += planned;
    let mut entries = Vec::with_capacity(batch.items.len());
    for (item, values) in batch.items {
        let statement = match item {
            BatchItem::Text(text) => {
                pending.asks(&text);
                face.executor.prepare(&text, options.keyspace.as_deref())
            }
            BatchItem::Prepared(id) => {
                face.statements.find(&face.executor, &id, pending.version).map(|prepared| {
                    pending.asks(prepared.text());
                    Arc::clone(&prepared.statement)
                })
            }
        };
        match statement {
            Ok(statement) => {
                entries.push(BatchEntry { statement, values: Values::Positional(values) });
            }
            Err(error) => return pending.refuse(&error),
        }
    }
    pending.record_step(|| format!("Planned {} statements of the batch", entries.len()));
    let heaviest = entries.iter().map(|entry| entry.statement.weight).max();
    let request = BatchRequest { kind: batch.kind, entries };
    if weight.is_for_pool() || heaviest.is_none_or(|own| !own.is_for_pool()) {
        return face.executor.batch(request, options, pending.answer(ClientMetadata::None));
    }
    pending.take_turn_of_pool();
    let (client, waits) = (pending.client, pending.waits());
    let answer = pending.answer(ClientMetadata::None);
    let executor = Arc::clone(&face.executor);
    let work = move |admitted: Result<(), _>| match admitted {
        Ok(()) => executor.batch(request, options, answer),
        Err(refused) => answer(Err(full(refused))),
    };
    face.pool.run(Some(client), Weight::Heavy, waits.before(work));
}

/// Returns true if there is a value for each marker.
pub(super) fn fills(values: &Values, statement: &PreparedStatement) -> bool {
    match values {
        Values::Positional(values) => values.len() == statement.markers.len(),
        Values::Named(values) => {
            let names: HashSet<&str> = values.iter().map(|(name, _)| &**name).collect();
            statement.markers.iter().all(|marker| names.contains(&*marker.name))
        }
    }
}
