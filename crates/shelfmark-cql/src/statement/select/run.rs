//! A page of a `SELECT`, or all of its rows where they are sorted.
//!
//! What it is not: `aggregate` counts and groups the rows that it hands out.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use shelfmark_cql_protocol::{BoundValue, Consistency, CqlError, Result};
use shelfmark_cql_types::term::{EvalContext, Expr, RowView};
use shelfmark_cql_types::{compare, partition_parts, to_json_into};
use shelfmark_engine::weight::{Allowance, Pool};
use shelfmark_engine::{CellEntry, CellFilter, CellQuery, Engine};

use super::held::Held;
use super::misfits::Misfits;
use super::show::Encoder;
use super::source::{Position, ROWS_PER_READ, ROWS_PER_SHOW, Reading, Unit, engine_filter, units};
use super::walk::{Place, ReadLimits, Walk};
use super::whole_partitions::UnitCursor;
use super::{Access, Select};
use crate::function_context::EngineContext;
use crate::limits::READ_SIZE_BYTES_MAX;
use crate::outcome::{Answered, Outcome, RequestOptions, ResultRows, RowBuffer};
use crate::schema::Schema;
use crate::schema::VirtualTable;
use crate::statement::filter::RowFilter;
use crate::statement::keys::partitions;
use crate::statement::modify::now_of;
use crate::statement::row::{ComputedRow, StoredRow};

/// Most rows that are held in memory to be sorted. Ours.
const SORTED_ROWS_MAX: usize = 1_000_000;

/// The context of an execution.
pub(crate) struct Run<'r> {
    pub(crate) engine: &'r Engine,
    pub(crate) context: EngineContext<'r>,
    /// The pool on which the read runs, if it is long.
    pub(crate) pool: &'r dyn Pool,
    pub(crate) schema: &'r Schema,
    pub(crate) computed: Option<&'r Arc<dyn VirtualTable>>,
    pub(crate) values: &'r [BoundValue],
    pub(crate) options: &'r RequestOptions,
    /// Rows that may still be read on this thread; see [`Run::before_read`].
    pub(crate) inline: Inline,
}

/// The budget of a read that runs on the thread of a socket.
#[derive(Debug)]
pub(crate) struct Inline {
    left: Cell<Allowance>,
    is_given_up: Cell<bool>,
}

impl Default for Inline {
    fn default() -> Self {
        Self { left: Cell::new(Allowance::inline()), is_given_up: Cell::default() }
    }
}

/// Runs a page.
///
/// # Errors
///
/// * `Invalid`: a value does not fit; `Protocol`: the paging state is none of ours; `Overloaded`: a view
///   that is still being built would answer a part.
pub(crate) fn run_select(select: &Arc<Select>, run: &Run<'_>) -> Result<Answered> {
    if select.table.is_unbuilt_view() {
        return Err(CqlError::overloaded(format!(
            "The view {} is being built; read its base table until system.built_views has it",
            select.table.full_name()
        )));
    }
    let env = run.env(None);
    check_serial(select, run.options, env)?;
    let limit = positive(select.limit.as_ref(), env, "limit")?;
    let per_partition = positive(select.per_partition_limit.as_ref(), env, "limit")?;
    let position = match &run.options.paging {
        Some(bytes) => Position::decode(bytes)?,
        None => Position::default(),
    };
    let page_size = run.options.page_size.filter(|size| *size > 0).map(u64::from);
    let sorts = !select.ordered.is_empty()
        && select.restrictions.single.iter().any(|(at, tests)| {
            *at < select.table.partition_count
                && tests.iter().any(|test| matches!(test, crate::statement::relation::Test::In(_)))
        });
    if sorts && page_size.is_some() {
        return Err(CqlError::invalid(
            "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either remove the ORDER BY or the IN and sort client side, or disable paging for this query",
        ));
    }
    let mut page = Page {
        select,
        run,
        limit,
        per_partition: if select.distinct { Some(1) } else { per_partition },
        position,
        now: run
            .options
            .now_in_seconds
            .and_then(|now| u64::try_from(now).ok())
            .unwrap_or_else(|| run.engine.environment().clock.now_seconds()),
        misfits: Arc::default(),
    };
    let (rows, paging) = if let Some(nearest) = &select.nearest {
        (page.nearest(nearest, run)?, None)
    } else if select.is_aggregate() {
        page.aggregate(page_size, sorts)?
    } else if sorts {
        (page.sorted()?, None)
    } else {
        page.plain(page_size)?
    };
    let outcome = Outcome::Rows(ResultRows { columns: Arc::clone(&select.result), rows, paging });
    let misfits = page.misfits.warning(&select.table);
    let mut answered = Answered::from(outcome);
    answered.warnings.extend(misfits);
    answered.warnings.extend(select.warning.map(str::to_owned));
    if select.nearest.is_some() {
        answered.warnings.extend(super::nearest::downgraded(run.options.consistency));
        answered.warnings.extend(super::nearest::paged(page_size, limit));
    }
    Ok(answered)
}

/// Refuses serial reads of several partitions that are named; of a range they are taken.
fn check_serial(select: &Select, options: &RequestOptions, env: EvalContext<'_>) -> Result<()> {
    let is_serial = matches!(options.consistency, Consistency::Serial | Consistency::LocalSerial);
    if is_serial
        && select.table.stored.is_some()
        && select.access == Access::Partitions
        && partitions(&select.table, &select.restrictions, env)?.len() > 1
    {
        return Err(CqlError::invalid(
            "SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time",
        ));
    }
    Ok(())
}

fn positive(expr: Option<&Expr>, env: EvalContext<'_>, what: &str) -> Result<Option<u64>> {
    let Some(expr) = expr else { return Ok(None) };
    match expr.eval(env)? {
        BoundValue::Unset => Ok(None),
        BoundValue::Null => Err(CqlError::invalid(format!("Invalid null value of {what}"))),
        BoundValue::Bytes(bytes) => {
            let number = bytes.as_ref().try_into().map(i32::from_be_bytes);
            let number = number.map_err(|_| CqlError::invalid(format!("Invalid {what} value")))?;
            match u64::try_from(number) {
                Ok(number) if number > 0 => Ok(Some(number)),
                _ => Err(CqlError::invalid("LIMIT must be strictly positive")),
            }
        }
    }
}

impl<'r> Run<'r> {
    /// Tells whether the read was given up because it is long; what it came to is void then.
    pub(crate) fn is_given_up(&self) -> bool {
        self.inline.is_given_up.get()
    }

    /// Returns how many of `most` rows the next read of the engine may have. At the pool, lets others
    /// have their turn first.
    ///
    /// # Errors
    ///
    /// * Any: the read is given up on this thread, or its client has gone.
    fn before_read(&self, most: usize) -> Result<usize> {
        if !self.options.is_inline {
            return self.rest().map(|()| most);
        }
        match self.inline.left.get().rows() {
            0 => Err(self.give_up()),
            left => Ok(most.min(left)),
        }
    }

    /// Lets others have their turn, at the pool.
    ///
    /// # Errors
    ///
    /// * `Server`: the client has gone.
    fn rest(&self) -> Result<()> {
        self.pool.pause();
        if self.options.has_gone.load(Ordering::Relaxed) {
            let code = shelfmark_cql_protocol::ErrorCode::Server;
            return Err(CqlError::new(code, "the client has gone"));
        }
        Ok(())
    }

    /// Accounts for rows that were read. Where a read has not come to its end, the next one would go
    /// on for as long again.
    fn after_read(&self, rows: usize, bytes: usize, is_at_end: bool) {
        let mut left = self.inline.left.get();
        left.spend(if is_at_end { rows.max(1) } else { usize::MAX }, bytes);
        self.inline.left.set(left);
    }

    /// Returns how many bytes the next read of the engine may have.
    fn bytes_per_read(&self) -> usize {
        if self.options.is_inline { self.inline.left.get().bytes() } else { READ_SIZE_BYTES_MAX }
    }

    fn give_up(&self) -> CqlError {
        self.inline.is_given_up.set(true);
        CqlError::new(shelfmark_cql_protocol::ErrorCode::Server, "the read goes on elsewhere")
    }

    pub(super) fn env<'e>(&'e self, row: Option<&'e dyn RowView>) -> EvalContext<'e> {
        EvalContext { context: Some(&self.context), values: self.values, row }
    }
}

/// A row from either kind of table.
pub(super) enum Row {
    Stored(CellEntry),
    Computed(Vec<Option<Bytes>>),
}

impl Row {
    /// Returns about how many bytes it takes in memory.
    pub(super) fn size_bytes(&self) -> usize {
        /// The memory that a cell takes beside its value.
        const CELL_BYTES: usize = 96;
        match self {
            Self::Stored(entry) => {
                entry.partition.len() + entry.row.size_bytes() + CELL_BYTES * entry.row.cells.len()
            }
            Self::Computed(values) => {
                values.iter().map(|own| own.as_ref().map_or(0, Bytes::len) + CELL_BYTES).sum()
            }
        }
    }
}

pub(super) struct Page<'r> {
    pub(super) select: &'r Arc<Select>,
    pub(super) run: &'r Run<'r>,
    pub(super) limit: Option<u64>,
    pub(super) per_partition: Option<u64>,
    pub(super) position: Position,
    now: u64,
    misfits: Arc<Misfits>,
}

/// True if to go on reading.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    Enough,
    /// The row belongs to the next page.
    Before,
}

impl Page<'_> {
    /// Writes rows until the page is full.
    fn plain(&mut self, page_size: Option<u64>) -> Result<(RowBuffer, Option<Bytes>)> {
        let mut buffer = RowBuffer::of(self.run.options);
        let left = self.limit.map(|limit| limit.saturating_sub(self.position.answered));
        let wanted = match (left, page_size) {
            (Some(left), Some(size)) => Some(left.min(size)),
            (left, size) => left.or(size),
        };
        if wanted == Some(0) {
            return Ok((buffer, None));
        }
        let select = Arc::clone(self.select);
        let mut end = self.position.clone();
        let done = match self.shown(wanted, &mut end, &mut buffer)? {
            Some(done) => done,
            None => self.each_row(wanted, &mut end, &mut |page, row| {
                if page.is_long(&buffer) {
                    return Ok(Flow::Before);
                }
                page.put(&select, row, &[], &mut buffer)?;
                page.checked(&mut buffer)?;
                Ok(Flow::More)
            })?,
        };
        let exhausted = self.limit.is_some_and(|limit| end.answered >= limit);
        let on_page = end.answered - self.position.answered;
        let paging = if exhausted {
            None
        } else if !done {
            Some(end.encode())
        } else {
            self.behind_full(on_page, page_size, &end)
        };
        Ok((buffer, paging))
    }

    /// Accounts for what was written, as [`RowBuffer::check`] does. Where some of it goes to a file, others
    /// have their turn meanwhile.
    pub(super) fn checked(&self, buffer: &mut RowBuffer) -> Result<bool> {
        if !buffer.is_to_be_spooled() || self.run.options.is_inline {
            return buffer.check();
        }
        let mut checked = Ok(false);
        self.run.pool.beside(&mut || checked = buffer.check());
        checked
    }

    /// Returns true if a page has as many bytes as it may.
    fn is_long(&self, buffer: &RowBuffer) -> bool {
        let options = self.run.options;
        let most = options.page_bytes_max.filter(|_| options.page_size.is_some());
        buffer.rows() > 0 && most.is_some_and(|most| buffer.size_bytes() >= most as u64)
    }

    /// Returns the paging state of a page that is full and behind which nothing is left: an empty page
    /// follows, but where the last partition that is named has given all that it may.
    pub(super) fn behind_full(
        &self,
        on_page: u64,
        page_size: Option<u64>,
        end: &Position,
    ) -> Option<Bytes> {
        let is_full = page_size.is_some_and(|size| on_page >= size);
        let is_given_all = |most| end.of_partition >= most;
        let has_given_all = self.select.access == Access::Partitions
            && (self.select.table.clustering_count == 0
                || self.per_partition.is_some_and(is_given_all));
        (is_full && !has_given_all).then(|| Position::behind_all(end.answered).encode())
    }

    /// Works as [`Page::each_row`] with writing each row, where that takes no more than the rows of
    /// one partition as they are stored; `None` where it does.
    fn shown(
        &self,
        wanted: Option<u64>,
        end: &mut Position,
        buffer: &mut RowBuffer,
    ) -> Result<Option<bool>> {
        let select = self.select;
        let (Some(columns), None) = (&select.shown, self.run.computed) else { return Ok(None) };
        let found = units(select, self.run.env(None))?;
        let [unit @ Unit::Span(partition, span)] = found.units.as_slice() else {
            return Ok(None);
        };
        if found.need_filter || end.unit > 0 {
            return Ok(None);
        }
        let reading = self.reading(None);
        let parts = partition_parts(partition, select.table.partition_count);
        let hides_statics = select.restrictions.restricts_clustering(&select.table);
        let mut cursor = UnitCursor::engine(end.unit_cursor()?);
        let mut taken = 0;
        loop {
            let of_partition = self.per_partition.map(|most| most.saturating_sub(end.of_partition));
            let of_page = wanted.map(|wanted| wanted.saturating_sub(taken));
            let most = of_partition.into_iter().chain(of_page).min();
            if most == Some(0) {
                let Some(cursor) = cursor.filter(|_| of_partition != Some(0)) else {
                    return Ok(Some(true));
                };
                end.cursor = cursor.to_bytes();
                return Ok(Some(false));
            }
            let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(ROWS_PER_SHOW);
            let allowed = self.run.before_read(most.min(ROWS_PER_SHOW))?;
            let mut encoder = Encoder::new(columns, &parts, hides_statics, buffer);
            let query = CellQuery {
                partition: partition.clone(),
                span: span.clone(),
                reversed: select.reversed,
                limits: reading.limits(select, cursor, allowed, None),
            };
            reading.tell(select, unit);
            let shown = reading.show(select, &query, &mut encoder)?;
            taken += encoder.rows();
            end.answered += encoder.rows();
            end.of_partition += encoder.rows();
            cursor = shown.cursor;
            self.run.after_read(
                usize::try_from(encoder.rows()).unwrap_or(usize::MAX),
                encoder.bytes(),
                cursor.is_none(),
            );
            self.checked(buffer)?;
            let Some(behind) = &cursor else { return Ok(Some(true)) };
            if self.is_long(buffer) {
                end.cursor = behind.to_bytes();
                return Ok(Some(false));
            }
        }
    }

    /// Reads all rows, sorts them by clustering key and writes them.
    fn sorted(&mut self) -> Result<RowBuffer> {
        let mut rows: Vec<Row> = Vec::new();
        let mut held = Held::of(self.run.options);
        let mut end = Position::default();
        self.each_row(None, &mut end, &mut |_, row| {
            held.add(&row)?;
            rows.push(row);
            if rows.len() > SORTED_ROWS_MAX {
                return Err(CqlError::invalid(format!(
                    "more than {SORTED_ROWS_MAX} rows would have to be sorted; restrict the query"
                )));
            }
            Ok(Flow::More)
        })?;
        rows.sort_by(|a, b| self.in_order(a, b));
        let most = self.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let mut buffer = RowBuffer::of(self.run.options);
        let select = Arc::clone(self.select);
        for row in rows.into_iter().take(most) {
            self.put(&select, row, &[], &mut buffer)?;
            self.checked(&mut buffer)?;
        }
        Ok(buffer)
    }

    /// Compares two rows by the columns of `ORDER BY`.
    pub(super) fn in_order(&self, a: &Row, b: &Row) -> std::cmp::Ordering {
        for at in self.select.ordered.iter().copied() {
            let Some(column) = self.select.table.columns.get(at) else { continue };
            let (left, right) = (self.value(a, at), self.value(b, at));
            let order = compare(
                &column.kind,
                left.as_deref().unwrap_or_default(),
                right.as_deref().unwrap_or_default(),
            );
            let order =
                if column.descending != self.select.reversed { order.reverse() } else { order };
            if order.is_ne() {
                return order;
            }
        }
        std::cmp::Ordering::Equal
    }

    pub(super) fn value(&self, row: &Row, at: usize) -> Option<Bytes> {
        match row {
            Row::Stored(entry) => self.stored(entry, &[]).value(at),
            Row::Computed(values) => values.get(at).cloned().flatten(),
        }
    }

    fn stored<'e>(
        &'e self,
        entry: &'e CellEntry,
        aggregates: &'e [Option<Bytes>],
    ) -> StoredRow<'e> {
        StoredRow { table: &self.select.table, entry, now: self.now, aggregates }
    }

    pub(super) fn with_row<T>(
        &self,
        row: &Row,
        aggregates: &[Option<Bytes>],
        body: impl FnOnce(EvalContext<'_>) -> Result<T>,
    ) -> Result<T> {
        match row {
            Row::Stored(entry) => body(self.run.env(Some(&self.stored(entry, aggregates)))),
            Row::Computed(values) => body(self.run.env(Some(&ComputedRow { values, aggregates }))),
        }
    }

    /// Writes one row of the answer.
    pub(super) fn put(
        &self,
        select: &Select,
        row: Row,
        aggregates: &[Option<Bytes>],
        buffer: &mut RowBuffer,
    ) -> Result<()> {
        self.with_row(&row, aggregates, |env| {
            if select.json {
                let mut text = String::from("{");
                for (at, expr) in select.items.iter().enumerate() {
                    if at > 0 {
                        text.push_str(", ");
                    }
                    let (Some(name), Some(ty)) = (select.names.get(at), select.types.get(at))
                    else {
                        continue;
                    };
                    shelfmark_cql_types::put_json_name(name, &mut text);
                    text.push_str(": ");
                    let value = expr.value(env, " in a selection")?;
                    to_json_into(ty, value.as_deref(), &mut text);
                    self.run.context.keeps(text.len())?;
                }
                text.push('}');
                buffer.cell(Some(text.as_bytes()));
            } else {
                for expr in &select.items {
                    // A row may be much longer than what it is made of.
                    if self.checked(buffer)? {
                        self.run.rest()?;
                    }
                    match (expr, env.row) {
                        // The common case takes no detour.
                        (Expr::Column(at), Some(row)) => row.put(*at, buffer.cells()),
                        _ => buffer.cell(expr.value(env, " in a selection")?.as_deref()),
                    }
                }
            }
            buffer.end_row();
            self.run.context.keeps(0)
        })
    }

    /// Hands rows to `take` until `wanted` were taken or nothing is left. `end` becomes the position
    /// behind the last that was taken; returns whether nothing is left.
    pub(super) fn each_row(
        &mut self,
        wanted: Option<u64>,
        end: &mut Position,
        take: &mut dyn FnMut(&Self, Row) -> Result<Flow>,
    ) -> Result<bool> {
        if end.is_behind_all() {
            return Ok(true);
        }
        if self.run.computed.is_some() {
            return self.each_computed(wanted, end, take);
        }
        let env = self.run.env(None);
        let found = units(self.select, env)?;
        let filter = match found.need_filter {
            true => Some(engine_filter(
                self.select,
                RowFilter::of(&self.select.restrictions, &self.select.table, env)?,
                &self.misfits,
            )),
            false => None,
        };
        if self.run.options.is_inline && filter.is_some() {
            // Of what it passes over nothing is known.
            return Err(self.run.give_up());
        }
        let mut walk = Walk {
            units: &found.units,
            reading: self.reading(filter),
            hides_statics: self.select.restrictions.restricts_clustering(&self.select.table),
            wanted,
            taken: 0,
        };
        let start = usize::try_from(end.unit).unwrap_or(usize::MAX);
        for number in start..found.units.len() {
            let Some(mut place) = walk.enter(number, start, end)? else { break };
            while let Some(limits) = self.limits(&walk, &place, end)? {
                if let Some(is_done) = self.read_page(&mut walk, &mut place, limits, end, take)? {
                    return Ok(is_done);
                }
                if place.cursor.is_none() {
                    break;
                }
            }
        }
        Ok(true)
    }

    /// Returns how many rows the next read may bring; `None` if the partition has given all that
    /// `PER PARTITION LIMIT` allows.
    fn limits(
        &self,
        walk: &Walk<'_>,
        place: &Place<'_>,
        end: &Position,
    ) -> Result<Option<ReadLimits>> {
        let per_partition = self.per_partition.map(|most| {
            let before = if place.in_partition { end.of_partition } else { 0 };
            usize::try_from(most.saturating_sub(before)).unwrap_or(usize::MAX)
        });
        if per_partition == Some(0) {
            return Ok(None);
        }
        let rows = walk
            .wanted
            .and_then(|wanted| usize::try_from(wanted.saturating_sub(walk.taken)).ok())
            .unwrap_or(ROWS_PER_READ)
            .min(ROWS_PER_READ)
            .min(per_partition.filter(|_| place.in_partition).unwrap_or(usize::MAX));
        let rows = self.run.before_read(rows)?;
        // Of one partition `rows` says how many are left; a cursor would count those before.
        Ok(Some(ReadLimits { rows, of_each: per_partition.filter(|_| !place.in_partition) }))
    }

    /// Returns the cursor behind the next `count` rows of a unit, for only the end of a read has one. A
    /// read by an index counts what its filter looks at, so it may take several.
    fn behind_rows(
        &self,
        walk: &Walk<'_>,
        unit: &Unit,
        from: Option<UnitCursor>,
        (count, of_each): (usize, Option<usize>),
    ) -> Result<Option<UnitCursor>> {
        let (mut cursor, mut left) = (from, count);
        while left > 0 {
            let page = walk.reading.read(self.select, unit, cursor, left, of_each)?;
            left = left.saturating_sub(page.rows.len());
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(cursor)
    }

    /// Reads once in a unit and hands the rows to `take`. Returns whether nothing is left, if the walk
    /// ends here.
    fn read_page(
        &self,
        walk: &mut Walk<'_>,
        place: &mut Place<'_>,
        limits: ReadLimits,
        end: &mut Position,
        take: &mut dyn FnMut(&Self, Row) -> Result<Flow>,
    ) -> Result<Option<bool>> {
        let from = place.cursor.take();
        // A filter counts what it looks at itself.
        let is_filtered = walk.reading.filter.is_some();
        let page = walk.reading.read(
            self.select,
            place.unit,
            from.clone(),
            limits.rows,
            limits.of_each,
        )?;
        let count = page.rows.len();
        let bytes = match self.run.options.is_inline {
            true => page.rows.iter().map(|entry| entry.row.size_bytes()).sum(),
            false => 0,
        };
        self.run.after_read(count, bytes, page.cursor.is_none());
        for (at, entry) in page.rows.into_iter().enumerate() {
            if place.passes_over(&entry, walk.hides_statics, self.per_partition) {
                continue;
            }
            if let Some(shared) = self.select.shared.as_ref().filter(|_| !is_filtered) {
                self.misfits.note(&entry, &shared.looked_at);
            }
            match take(self, Row::Stored(entry))? {
                Flow::More => {}
                Flow::Enough => return Ok(Some(true)),
                Flow::Before => {
                    let behind = match at {
                        0 => from,
                        _ => self.behind_rows(walk, place.unit, from, (at, limits.of_each))?,
                    };
                    end.unit = place.number();
                    end.cursor = behind.map(|own| own.to_bytes()).unwrap_or_default();
                    return Ok(Some(false));
                }
            }
            walk.taken += 1;
            end.answered += 1;
            end.of_partition += 1;
        }
        if place.is_index {
            (end.of_partition, end.skip) = (0, 0);
        }
        let is_over = self.per_partition.is_some_and(|most| end.of_partition >= most);
        place.cursor = page.cursor.filter(|_| !(place.in_partition && is_over));
        Ok(walk.is_full().then(|| walk.leave(place, end)))
    }

    fn reading(&self, filter: Option<CellFilter>) -> Reading<'_> {
        Reading {
            engine: self.run.engine,
            filter,
            now: now_of(self.run.options),
            consistency: self.run.options.consistency,
            trace: self.run.options.trace.as_ref(),
            bytes_max: self.run.bytes_per_read(),
        }
    }

    /// Works as [`Page::each_row`], for a table whose rows are computed.
    fn each_computed(
        &mut self,
        wanted: Option<u64>,
        end: &mut Position,
        take: &mut dyn FnMut(&Self, Row) -> Result<Flow>,
    ) -> Result<bool> {
        let Some(computed) = self.run.computed else { return Ok(true) };
        let rows = self.computed_rows(computed)?;
        let skip = end.cursor.as_slice().try_into().map(u64::from_be_bytes).unwrap_or(0);
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        let left = rows.len().saturating_sub(skip);
        let most = wanted.and_then(|wanted| usize::try_from(wanted).ok()).unwrap_or(usize::MAX);
        for (row, passed) in rows.into_iter().zip(1_u64..).skip(skip).take(most) {
            match take(self, Row::Computed(row))? {
                Flow::More => {}
                Flow::Enough => return Ok(true),
                Flow::Before => return Ok(false),
            }
            end.answered += 1;
            end.cursor = passed.to_be_bytes().to_vec();
        }
        Ok(left <= most)
    }

    /// Returns all rows of a computed table that pass, in order.
    fn computed_rows(&self, computed: &Arc<dyn VirtualTable>) -> Result<Vec<Vec<Option<Bytes>>>> {
        let table = &self.select.table;
        let env = self.run.env(None);
        let found = units(self.select, env)?;
        let filter = RowFilter::of(&self.select.restrictions, table, env)?;
        let mut out: Vec<Vec<Option<Bytes>>> = Vec::new();
        let count = table.partition_count;
        let key = |row: &[Option<Bytes>]| -> Bytes {
            let parts: Vec<Bytes> =
                row.iter().take(count).map(|own| own.clone().unwrap_or_default()).collect();
            shelfmark_cql_types::partition_bytes(&parts)
        };
        let mut seen: HashSet<&Bytes> = HashSet::new();
        for unit in &found.units {
            let mut rows = match unit {
                Unit::Get(partition, _) | Unit::Span(partition, _) => {
                    if !seen.insert(partition) {
                        continue;
                    }
                    let parts = shelfmark_cql_types::partition_parts(partition, count);
                    let mut rows = computed.rows(self.run.schema, Some(&parts));
                    rows.retain(|row| key(row) == *partition);
                    rows
                }
                Unit::Scan(lower, upper) => {
                    let mut rows = computed.rows(self.run.schema, None);
                    let inside = |row: &Vec<Option<Bytes>>| {
                        let token = shelfmark_keycode::token(&key(row));
                        std::ops::RangeBounds::contains(&(*lower, *upper), &token)
                    };
                    rows.retain(inside);
                    // Keys of what is computed in the original, too, have no order by token there.
                    let is_hashed = !crate::schema::is_virtual(&table.keyspace);
                    let token = |row: &[Option<Bytes>]| shelfmark_keycode::token(&key(row));
                    rows.sort_by_cached_key(|row| (is_hashed.then(|| token(row)), key(row)));
                    rows
                }
                Unit::Index { .. } => Vec::new(),
            };
            rows.retain(|row| filter.accepts(&|at| row.get(at).cloned().flatten()));
            if self.select.reversed {
                rows.reverse();
            }
            out.append(&mut rows);
        }
        if let Some(most) = self.per_partition {
            let mut last: Option<Bytes> = None;
            let mut of_partition = 0;
            out.retain(|row| {
                let own = key(row);
                if last.as_ref() != Some(&own) {
                    last = Some(own);
                    of_partition = 0;
                }
                of_partition += 1;
                of_partition <= most
            });
        }
        Ok(out)
    }
}
