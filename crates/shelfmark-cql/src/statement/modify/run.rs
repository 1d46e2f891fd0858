//! Modifications and batches of them executed.
//!
//! Everything of one request is one commit: a batch is atomic and isolated over partitions and
//! tables, whatever its kind.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::{BatchKind, BoundValue, Consistency, CqlError, Result, WriteKind};
use shelfmark_cql_types::term::EvalContext;
use shelfmark_cql_types::{compare, partition_parts};
use shelfmark_engine::budget::Room;
use shelfmark_engine::{
    CellChange, CellEntry, CellGet, CellLimits, CellQuery, CellWrites, ClusteringValue,
    ConditionalRead, Decision, Durability, Engine, LiveRow, Mutation, PartitionView, Span,
};

use super::applied::AppliedRows;
use super::measure::{WriteSize, check_batch_size};
use super::mixed::check_mixed;
use super::prepare::{check_clustering_in, check_named};
use super::{Change, Conditions, Lists, Modify, Operation, Place, TimestampAndTtl};
use crate::engine_error::from_engine;
use crate::function_context::EngineContext;
use crate::outcome::{Answer, Answered, Outcome, RequestOptions};
use crate::schema::{ColumnKind, Table};
use crate::statement::row::column_value;

/// A modification with its values.
pub(crate) struct Entry<'p> {
    pub(crate) modify: &'p Modify,
    pub(crate) values: &'p [BoundValue],
}

/// Reads a row of a partition, or without clustering key its statics.
type ReadRow<'r> = &'r mut dyn FnMut(&Bytes, Option<&[ClusteringValue]>) -> Result<Option<LiveRow>>;

/// A modification of a request, evaluated.
pub(super) struct Ready<'p> {
    pub(super) entry: &'p Entry<'p>,
    pub(super) changes: Vec<Change>,
    regular: Cow<'p, [Operation]>,
    statics: Cow<'p, [Operation]>,
    conditions: Cow<'p, Conditions>,
    moment: TimestampAndTtl,
}

/// Runs one modification.
pub(crate) fn run_one(
    engine: &Engine,
    context: &EngineContext<'_>,
    modify: &Modify,
    values: &[BoundValue],
    options: &RequestOptions,
    answer: Answer,
) {
    let entries = [Entry { modify, values }];
    run((engine, context), &entries, options, None, None, answer);
}

/// Runs the entries of a batch; `timestamp` is the batch's own.
pub(crate) fn run_batch(
    engine: &Engine,
    context: &EngineContext<'_>,
    entries: &[Entry<'_>],
    options: &RequestOptions,
    timestamp: Option<i64>,
    kind: BatchKind,
    answer: Answer,
) {
    run((engine, context), entries, options, timestamp, Some(kind), answer);
}

fn run(
    (engine, context): (&Engine, &EngineContext<'_>),
    entries: &[Entry<'_>],
    options: &RequestOptions,
    timestamp: Option<i64>,
    batch: Option<BatchKind>,
    answer: Answer,
) {
    let is_batch = batch.is_some();
    let conditional = entries.iter().any(|entry| entry.modify.is_conditional());
    let ready = match evaluate((engine, context), entries, options, timestamp, conditional) {
        Ok(ready) => ready,
        Err(error) => return answer(Err(error)),
    };
    if conditional {
        let named =
            ready.iter().filter(|own| own.entry.modify.is_conditional()).try_for_each(|own| {
                let first = own.changes.first().map(|change| &change.partition);
                let one = own.changes.iter().all(|change| Some(&change.partition) == first);
                check_named(own.entry.modify, if one { 1 } else { 2 })
            });
        let levels = check_levels(options);
        let others = || ready.iter().try_for_each(|own| check_clustering_in(own.entry.modify));
        if let Err(error) = levels.and(named).and_then(|()| others()) {
            return answer(Err(error));
        }
        run_conditional(engine, &ready, options, is_batch, answer);
        return;
    }
    let alone = entries.first().filter(|_| !is_batch);
    if let Err(error) = alone.map_or(Ok(()), |own| check_level(own.modify, options.consistency)) {
        return answer(Err(error));
    }
    let kind = match (is_batch, entries.first().is_some_and(|own| own.modify.table.flags.counter)) {
        (_, true) => WriteKind::Counter,
        (true, false) => WriteKind::Batch,
        (false, false) => WriteKind::Simple,
    };
    let mut mutations = Vec::new();
    let mut size = WriteSize::new(options);
    for own in &ready {
        let table = &own.entry.modify.table;
        let before = mutations.len();
        let mut read = |partition: &Bytes, clustering: Option<&[ClusteringValue]>| {
            read_row(engine, table, partition, clustering, options)
        };
        let put = own.put(engine, &mut read, &mut mutations);
        let put = put.and_then(|()| size.add(mutations.get(before..).unwrap_or_default()));
        if let Err(error) = put {
            return answer(Err(error));
        }
    }
    let warnings = batch.map_or(Ok(Vec::new()), |kind| check_batch_size(kind, &ready, &mutations));
    let warnings = match warnings {
        Ok(warnings) => warnings,
        Err(error) => return answer(Err(error)),
    };
    if mutations.is_empty() {
        return answer(Ok(Outcome::Void.into()));
    }
    tell_writes(options, &mutations);
    let (consistency, trace) = (options.consistency, options.trace.clone());
    let synced = synced(engine);
    let (writes, held) = (CellWrites { mutations, now: now_of(options) }, size.into_share());
    engine.submit_cells(
        writes,
        Box::new(move |outcome| {
            // What waits to be written is held as well.
            drop(held);
            if let (Some(trace), Ok(())) = (&trace, &outcome) {
                trace.record(synced);
            }
            answer(match outcome {
                Ok(()) => Ok(Answered { warnings, ..Outcome::Void.into() }),
                Err(error) => Err(from_engine(&error, consistency, Some(kind))),
            });
        }),
    );
}

/// Notes what is about to be written, if there is a trace: by table how many rows, in how many
/// partitions, and what follows from them in the same commit.
fn tell_writes(options: &RequestOptions, mutations: &[Mutation]) {
    let Some(trace) = &options.trace else { return };
    let mut tables: Vec<(&shelfmark_engine::Table, usize, HashSet<&Bytes>)> = Vec::new();
    for own in mutations {
        let place = match tables.iter().position(|(table, ..)| table.id == own.table.id) {
            Some(place) => place,
            None => {
                tables.push((&own.table, 0, HashSet::new()));
                tables.len() - 1
            }
        };
        if let Some((_, changes, partitions)) = tables.get_mut(place) {
            *changes += 1;
            partitions.insert(&own.partition);
        }
    }
    for (table, changes, partitions) in tables {
        let cells = table.schema.cells.as_deref();
        let indexes = cells.map_or(0, |cells| cells.indexes.len());
        let views = cells.map_or(0, |cells| cells.views.len());
        trace.record(format!(
            "Writing {changes} changes of rows of {} in {} partitions, with {indexes} indexes and \
             {views} views in the same commit",
            table.schema.name.name,
            partitions.len()
        ));
    }
}

/// Returns what a trace says of a commit that was acknowledged.
fn synced(engine: &Engine) -> String {
    match engine.store().caps().durability {
        Durability::Sync => "Appended to the commit log and synced".to_owned(),
        Durability::Interval(interval) => {
            format!("Appended to the commit log, to be synced within {} ms", interval.as_millis())
        }
    }
}

/// Refuses consistency levels that writes without conditions do not have.
fn check_level(modify: &Modify, level: Consistency) -> Result<()> {
    let serial = matches!(level, Consistency::Serial | Consistency::LocalSerial);
    match (modify.table.flags.counter, level) {
        (true, Consistency::Any) => Err(CqlError::invalid(format!(
            "Consistency level ANY is not yet supported for counter table {}",
            modify.table.name
        ))),
        (true, _) if serial => {
            Err(CqlError::invalid("Counter operations are inherently non-serializable"))
        }
        (false, _) if serial => {
            Err(CqlError::invalid("You must use conditional updates for serializable writes"))
        }
        _ => Ok(()),
    }
}

/// Refuses consistency levels that conditional writes do not have.
fn check_levels(options: &RequestOptions) -> Result<()> {
    let serial = |level| matches!(level, Consistency::Serial | Consistency::LocalSerial);
    if options.serial_consistency.is_some_and(|level| !serial(level)) {
        return Err(CqlError::invalid(
            "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL",
        ));
    }
    if serial(options.consistency) {
        let name =
            if options.consistency == Consistency::Serial { "SERIAL" } else { "LOCAL_SERIAL" };
        return Err(CqlError::invalid(format!(
            "{name} is not supported as conditional update commit consistency. Use ANY if you mean \"make sure it is accepted but I don't care how many replicas commit it for non-SERIAL reads\""
        )));
    }
    Ok(())
}

/// Returns the second that the request wants expiries judged by.
pub(crate) fn now_of(options: &RequestOptions) -> Option<u64> {
    options.now_in_seconds.and_then(|now| u64::try_from(now).ok())
}

fn evaluate<'p>(
    (engine, context): (&Engine, &EngineContext<'_>),
    entries: &'p [Entry<'p>],
    options: &RequestOptions,
    timestamp: Option<i64>,
    conditional: bool,
) -> Result<Vec<Ready<'p>>> {
    let mut default = timestamp.or(options.timestamp);
    // What a conditional request writes has one timestamp, that of its decision: neither the client's
    // nor those of a batch's statements count.
    let decided_at = conditional.then(|| engine.cell_timestamp());
    let mut out = Vec::with_capacity(entries.len());
    for entry in entries {
        let env = EvalContext { context: Some(context), values: entry.values, row: None };
        let modify = entry.modify;
        let moment = match decided_at {
            Some(timestamp) => modify.moment_at(timestamp, env)?,
            // All statements of a batch share one timestamp.
            None => {
                modify.moment(env, || *default.get_or_insert_with(|| engine.cell_timestamp()))?
            }
        };
        let ready = match &modify.json {
            None => Ready {
                entry,
                changes: modify.changes(env)?,
                regular: Operation::without_calls(&modify.regular, env)?,
                statics: Operation::without_calls(&modify.statics, env)?,
                conditions: modify.conditions.without_calls(env)?,
                moment,
            },
            Some((text, keep)) => {
                let (change, regular, statics) = modify.json_change(text, *keep, env)?;
                let (regular, statics) = (Cow::Owned(regular), Cow::Owned(statics));
                let conditions = Cow::Borrowed(&modify.conditions);
                Ready { entry, changes: vec![change], regular, statics, conditions, moment }
            }
        };
        out.push(ready);
    }
    Ok(out)
}

impl Ready<'_> {
    /// Appends the mutations. `read` answers rows of a partition, for operations on lists by
    /// position.
    fn put(&self, engine: &Engine, read: ReadRow<'_>, out: &mut Vec<Mutation>) -> Result<()> {
        let context = EngineContext::new(engine.environment());
        let env = EvalContext { context: Some(&context), values: self.entry.values, row: None };
        for change in &self.changes {
            let mut read_one =
                |clustering: Option<&[ClusteringValue]>| read(&change.partition, clustering);
            let mut lists = Lists { read: &mut read_one };
            let (regular, statics) = (&self.regular, &self.statics);
            self.entry.modify.mutations(
                change,
                regular,
                statics,
                self.moment,
                env,
                &mut lists,
                out,
            )?;
        }
        Ok(())
    }
}

fn read_row(
    engine: &Engine,
    table: &Table,
    partition: &Bytes,
    clustering: Option<&[ClusteringValue]>,
    options: &RequestOptions,
) -> Result<Option<LiveRow>> {
    let Some(stored) = &table.stored else { return Ok(None) };
    let failed = |error: shelfmark_engine::Error| from_engine(&error, options.consistency, None);
    match clustering {
        None => {
            engine.get_statics(stored, partition).map(|row| Some((*row).clone())).map_err(failed)
        }
        Some(clustering) => {
            let get = CellGet {
                partition: partition.clone(),
                clustering: clustering.to_vec(),
                statics: false,
                now: now_of(options),
            };
            engine.get_cells(stored, &get).map(|got| got.row).map_err(failed)
        }
    }
}

/// The rows that a conditional statement or batch names, each once.
#[derive(Default)]
struct Keys {
    all: Vec<Vec<ClusteringValue>>,
    /// The places of rows in `all`; left empty while they are few.
    places: HashMap<Vec<ClusteringValue>, usize>,
}

impl Keys {
    /// So many are looked through faster than they are hashed.
    const FEW: usize = 8;

    fn place(&self, key: &[ClusteringValue]) -> Option<usize> {
        if self.all.len() <= Self::FEW {
            return self.all.iter().position(|own| own == key);
        }
        self.places.get(key).copied()
    }

    fn add(&mut self, key: &[ClusteringValue]) {
        if self.place(key).is_some() {
            return;
        }
        self.all.push(key.to_vec());
        let known = self.places.len();
        if self.all.len() > Self::FEW {
            let new = self.all.iter().enumerate().skip(known);
            self.places.extend(new.map(|(at, own)| (own.clone(), at)));
        }
    }
}

/// The rows of a partition that a condition is decided on.
struct Seen<'v> {
    keys: &'v Keys,
    view: &'v PartitionView,
}

impl Seen<'_> {
    fn row(&self, clustering: Option<&[ClusteringValue]>) -> Option<&LiveRow> {
        let Some(clustering) = clustering else { return Some(&self.view.statics) };
        let at = self.keys.place(clustering)?;
        self.view.rows.get(at)?.as_ref()
    }
}

fn run_conditional(
    engine: &Engine,
    ready: &[Ready<'_>],
    options: &RequestOptions,
    is_batch: bool,
    answer: Answer,
) {
    let (table, partition) = match check_mixed(ready).and_then(|()| one_partition(ready)) {
        Ok(found) => found,
        Err(error) => return answer(Err(error)),
    };
    let Some(stored) = table.stored.clone() else {
        return answer(Err(CqlError::invalid("the table cannot be written")));
    };
    let mut keys = Keys::default();
    for change in ready.iter().flat_map(|own| &own.changes) {
        if let Place::Row(clustering) = &change.place {
            keys.add(clustering);
        }
    }
    let read = ConditionalRead {
        table: stored,
        partition: partition.clone(),
        rows: keys.all.clone(),
        statics: table.has_statics(),
        now: now_of(options),
    };
    let consistency = options.consistency;
    let trace = options.trace.clone();
    if let Some(trace) = &trace {
        trace.record(format!(
            "Reading existing values for CAS precondition: {} rows of {}",
            keys.all.len(),
            table.name
        ));
    }
    let synced = synced(engine);
    let room = options.client.as_ref().map(|client| Room::beside(client, options.held_bytes));
    let within = room.map(|room| engine.within(room));
    let engine = within.as_ref().unwrap_or(engine);
    let decide = |view: &PartitionView| {
        let seen = Seen { keys: &keys, view };
        let decided = decide(engine, ready, options, (&table, &partition), &seen, is_batch);
        Ok(match decided {
            Ok((mutations, rows)) => {
                if let Some(trace) = &options.trace {
                    let met = if mutations.is_empty() { "is not met" } else { "is met" };
                    trace.record(format!("CAS precondition {met}"));
                }
                tell_writes(options, &mutations);
                Decision { mutations, answer: Ok(rows) }
            }
            Err(error) => Decision { mutations: Vec::new(), answer: Err(error) },
        })
    };
    engine.submit_cells_if(
        read,
        decide,
        Box::new(move |outcome: shelfmark_engine::Result<Result<Answered>>| {
            if let (Some(trace), Ok(Ok(_))) = (&trace, &outcome) {
                trace.record(synced);
            }
            answer(match outcome {
                Ok(decided) => decided,
                Err(error) => Err(from_engine(&error, consistency, Some(WriteKind::Cas))),
            });
        }),
    );
}

/// Returns the table and partition that all conditional changes concern.
fn one_partition(ready: &[Ready<'_>]) -> Result<(Arc<Table>, Bytes)> {
    let mut found: Option<(Arc<Table>, Bytes)> = None;
    for own in ready {
        if own.changes.is_empty() {
            return Err(CqlError::invalid(
                "Batch with conditions cannot span multiple partitions (you cannot use IN on the partition key)",
            ));
        }
        let table = &own.entry.modify.table;
        for change in &own.changes {
            match &found {
                None => found = Some((Arc::clone(table), change.partition.clone())),
                Some((other, _)) if other.full_name() != table.full_name() => {
                    return Err(CqlError::invalid(
                        "Batch with conditions cannot span multiple tables",
                    ));
                }
                Some((_, partition)) if *partition != change.partition => {
                    return Err(CqlError::invalid(
                        "Batch with conditions cannot span multiple partitions",
                    ));
                }
                Some(_) => {}
            }
        }
    }
    found.ok_or_else(|| CqlError::invalid("the conditional statement names no partition"))
}

type Decided = (Vec<Mutation>, Answered);

fn decide(
    engine: &Engine,
    ready: &[Ready<'_>],
    options: &RequestOptions,
    (table, partition): (&Arc<Table>, &Bytes),
    seen: &Seen<'_>,
    is_batch: bool,
) -> Result<Decided> {
    let mut applied = true;
    for own in ready {
        let conditions = &own.conditions;
        let context = EngineContext::new(engine.environment());
        let env = EvalContext { context: Some(&context), values: own.entry.values, row: None };
        for change in &own.changes {
            let row = match &change.place {
                Place::Row(clustering) => seen.row(Some(clustering)),
                // Of statics, existence is that of any static.
                _ => Some(&seen.view.statics).filter(|statics| statics.exists()),
            };
            applied &= conditions.hold(table, row, &seen.view.statics, env)?;
        }
    }
    if applied {
        let mutations = written(engine, ready, options, seen)?;
        return Ok((mutations, AppliedRows::new(table, &[], options).answer(true)));
    }
    let places = shown_columns(ready, table, is_batch);
    let reads = Reads::of(ready);
    let mut named: Vec<&[ClusteringValue]> = Vec::new();
    let mut known: HashSet<&[ClusteringValue]> = HashSet::new();
    // Of conditions on statics alone the row is not read.
    let of_row = |own: &&Ready<'_>| own.entry.modify.conditions.are_of_row();
    for change in ready.iter().filter(of_row).flat_map(|own| &own.changes) {
        if let Place::Row(clustering) = &change.place
            && known.insert(clustering)
        {
            named.push(clustering);
        }
    }
    named.sort_by(|a, b| compare_clusterings(table, a, b));
    let statics = &seen.view.statics;
    let mut answer = AppliedRows::new(table, &places, options);
    let mut show = |clustering: Option<&[ClusteringValue]>, row: Option<&LiveRow>| {
        answer.add(engine, values_of(table, partition, clustering, row, statics, &places, &reads))
    };
    for own in &named {
        if let Some(row) = seen.row(Some(own)) {
            show(Some(own), Some(row))?;
        }
    }
    if named.is_empty()
        && let Some((clustering, row)) = first_row(engine, table, partition, &reads)?
    {
        // Conditions on statics alone show the first row of the partition.
        show(Some(&clustering), Some(&row))?;
    }
    let has_statics = table.columns.iter().any(|own| {
        own.role == ColumnKind::Static
            && reads.static_column(own.id)
            && column_value(own, statics).is_some()
    });
    if answer.is_empty() && has_statics {
        answer.add(engine, values_of(table, partition, None, None, statics, &places, &reads))?;
    }
    Ok((Vec::new(), answer.answer(false)))
}

/// Returns what a conditional request writes once its conditions hold.
fn written(
    engine: &Engine,
    ready: &[Ready<'_>],
    options: &RequestOptions,
    seen: &Seen<'_>,
) -> Result<Vec<Mutation>> {
    let mut mutations = Vec::new();
    let mut size = WriteSize::new(options);
    for own in ready {
        let before = mutations.len();
        // The rows that the condition was decided on are those that lists are read from.
        own.put(engine, &mut |_, clustering| Ok(seen.row(clustering).cloned()), &mut mutations)?;
        size.add(mutations.get(before..).unwrap_or_default())?;
    }
    if ready.len() > 1 {
        // A range that a conditional batch deletes goes before what the batch writes into it. A row that
        // it deletes is gone, whatever else it says of that row; without clustering columns a row is a
        // partition. As in Cassandra.
        let is_whole = ready.iter().all(|own| own.entry.modify.table.clustering_count == 0);
        for own in &mut mutations {
            let deletes = match &own.change {
                CellChange::DeleteSpan(_) | CellChange::DeletePartition => true,
                CellChange::DeleteRow(_) => is_whole,
                _ => false,
            };
            own.timestamp -= i64::from(deletes);
        }
    }
    Ok(mutations)
}

/// The columns that a condition which did not hold has read: those that it names, the regular ones if
/// rows would be written, and the statics if a statement with conditions would write some.
///
/// Source: Cassandra 5.0, `BatchStatement` and `CQL3CasRequest`, and its answers.
struct Reads {
    all_statics: bool,
    all_regular: bool,
    named: BTreeSet<u32>,
}

impl Reads {
    fn of(ready: &[Ready<'_>]) -> Self {
        let mut named = BTreeSet::new();
        for own in ready {
            let modify = own.entry.modify;
            let places = modify.conditions.columns().unwrap_or_default();
            let columns = places.into_iter().filter_map(|at| modify.table.columns.get(at));
            named.extend(columns.filter(|own| !own.role.is_key()).map(|own| own.id));
        }
        Self {
            all_statics: ready
                .iter()
                .any(|own| own.entry.modify.is_conditional() && !own.statics.is_empty()),
            all_regular: ready
                .iter()
                .flat_map(|own| &own.changes)
                .any(|change| !matches!(change.place, Place::Statics)),
            named,
        }
    }

    fn static_column(&self, id: u32) -> bool {
        self.all_statics || self.named.contains(&id)
    }

    fn regular_column(&self, id: u32) -> bool {
        self.all_regular || self.named.contains(&id)
    }
}

/// Compares clustering keys in the order of their rows.
fn compare_clusterings(
    table: &Table,
    a: &[ClusteringValue],
    b: &[ClusteringValue],
) -> std::cmp::Ordering {
    let columns = table.clustering_columns().iter().zip(a.iter().zip(b));
    columns
        .map(|(column, (a, b))| {
            let (a, b) = (a.as_deref().unwrap_or_default(), b.as_deref().unwrap_or_default());
            let order = compare(&column.kind, a, b);
            if column.descending { order.reverse() } else { order }
        })
        .find(|order| order.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

/// Most bytes of rows that are looked at for the first that is there, while the partition is locked.
/// Ours: behind them there is none, and the condition that failed shows the statics alone.
const FIRST_ROW_READ_BYTES_MAX: usize = 1024 * 1024;

/// Returns the first row of a partition that is there by what a condition reads: it was inserted, or has
/// a value in one of the columns that are read.
fn first_row(
    engine: &Engine,
    table: &Table,
    partition: &Bytes,
    reads: &Reads,
) -> Result<Option<(Vec<ClusteringValue>, LiveRow)>> {
    let Some(stored) = &table.stored else { return Ok(None) };
    let (all, named) = (reads.all_regular, reads.named.clone());
    let is_there = move |entry: &CellEntry| {
        let row = &entry.row;
        all || row.inserted.is_some() || row.cells.iter().any(|cell| named.contains(&cell.column))
    };
    let query = CellQuery {
        partition: partition.clone(),
        span: Span::all(),
        reversed: false,
        limits: CellLimits {
            rows_max: Some(1),
            bytes_max: Some(FIRST_ROW_READ_BYTES_MAX),
            filter: Some(Arc::new(is_there)),
            ..CellLimits::default()
        },
    };
    let page = engine
        .query_cells(stored, &query)
        .map_err(|error| from_engine(&error, Consistency::Serial, None))?;
    let first = page.rows.into_iter().next();
    Ok(first.and_then(|entry| Some((entry.clustering?, entry.row))))
}

/// Returns the columns that a condition that did not hold shows.
fn shown_columns(ready: &[Ready<'_>], table: &Table, is_batch: bool) -> Vec<usize> {
    let is_of_existence = |own: &Ready<'_>| {
        matches!(own.entry.modify.conditions, Conditions::Exists | Conditions::NotExists)
    };
    // Conditions on existence show everything.
    if ready.iter().any(is_of_existence) {
        return (0..table.columns.len()).collect();
    }
    let mut places: Vec<usize> = Vec::new();
    let mut is_shown = vec![false; table.columns.len()];
    let mut add = |at: usize| {
        if let Some(is_shown) = is_shown.get_mut(at)
            && !std::mem::replace(is_shown, true)
        {
            places.push(at);
        }
    };
    for own in ready.iter().filter(|own| own.entry.modify.is_conditional()) {
        if is_batch {
            (0..table.partition_count + table.clustering_count).for_each(&mut add);
        }
        own.entry.modify.conditions.columns().into_iter().flatten().for_each(&mut add);
    }
    places
}

fn values_of(
    table: &Table,
    partition: &Bytes,
    clustering: Option<&[ClusteringValue]>,
    row: Option<&LiveRow>,
    statics: &LiveRow,
    places: &[usize],
    reads: &Reads,
) -> Vec<Option<Bytes>> {
    let parts = partition_parts(partition, table.partition_count);
    places
        .iter()
        .map(|at| {
            let column = table.columns.get(*at)?;
            let place = usize::try_from(column.id).ok()?;
            match column.role {
                ColumnKind::PartitionKey => parts.get(place).cloned(),
                ColumnKind::Clustering => clustering?.get(place)?.clone(),
                ColumnKind::Static if reads.static_column(column.id) => {
                    column_value(column, statics)
                }
                ColumnKind::Regular if reads.regular_column(column.id) => {
                    column_value(column, row?)
                }
                ColumnKind::Static | ColumnKind::Regular => None,
            }
        })
        .collect()
}
