//! The reads of one execution: units one after the other, each read page by page.
//!
//! The units follow from the statement and its values alone, so a paging state is a unit's number,
//! a cursor in it, and how many rows were answered before.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::{BoundValue, Consistency, CqlError, ErrorCode, Result};
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::term::EvalContext;
use shelfmark_engine::{
    CellEntry, CellFilter, CellGet, CellIndexQuery, CellLimits, CellPage, CellQuery, CellScan,
    CellSink, CellsShown, Cursor, Engine, Span, SpanBound,
};

use super::index_choice::ordered_by;
use super::misfits::Misfits;
use super::tokens::TokenBounds;
use super::trace_steps::told;
use super::whole_partitions::{UnitCursor, names_partitions};
use super::{Access, Select};
use crate::engine_error::from_engine;
use crate::limits::KEY_SIZE_BYTES_MAX;
use crate::schema::IndexTarget;
use crate::statement::keys::{Spans, check_product, joined_partitions, partitions, spans};
use crate::statement::relation::Test;
use crate::trace_recorder::TraceRecorder;

/// A unit of reading: a partition, a slice of one, a range of tokens or an index's entries.
#[derive(Debug, Clone)]
pub(super) enum Unit {
    /// One row.
    Get(Bytes, Vec<Option<Bytes>>),
    /// A span of a partition.
    Span(Bytes, Span),
    /// Partitions of a range of tokens.
    Scan(Bound<i64>, Bound<i64>),
    /// Entries of an index.
    Index { index: String, terms: Span, partition: Option<Bytes>, tokens: (Bound<i64>, Bound<i64>) },
}

/// The units of an execution, and whether rows must be tested all the same.
pub(super) struct Units {
    pub(super) units: Vec<Unit>,
    pub(super) need_filter: bool,
}

/// Evaluates what is to be read.
pub(super) fn units(select: &Select, env: EvalContext<'_>) -> Result<Units> {
    let own = &select.restrictions;
    match &select.access {
        Access::Scan => {
            let Some((lower, upper)) = TokenBounds::of(select, env)?.range() else {
                return Ok(Units { units: Vec::new(), need_filter: false });
            };
            let units = vec![Unit::Scan(lower, upper)];
            Ok(Units { units, need_filter: select.filters })
        }
        Access::Partitions => {
            let keys = partitions(&select.table, own, env)?;
            // What clustering columns are compared with is looked at before the keys are.
            let spans = spans(&select.table, own, env)?;
            check_product(keys.len(), spans.spans.len())?;
            let mut keys = joined_partitions(&select.table, &keys)?;
            let bounds = TokenBounds::of(select, env)?;
            keys.retain(|key| bounds.pass(key));
            Ok(of_partitions(select, keys, spans))
        }
        Access::Index { index, column, test, in_partition } => {
            let Some(terms) = terms(select, *index, *column, *test, env)? else {
                return Ok(Units { units: Vec::new(), need_filter: false });
            };
            if terms.equal.iter().flatten().any(|term| term.len() > KEY_SIZE_BYTES_MAX) {
                return Err(CqlError::invalid(
                    "Index expression values may not be larger than 64K",
                ));
            }
            let nothing = Units { units: Vec::new(), need_filter: false };
            let bounds = TokenBounds::of(select, env)?;
            let (partition, tokens) = if *in_partition {
                let keys = partitions(&select.table, own, env)?;
                let key = joined_partitions(&select.table, &keys)?.pop();
                if key.as_ref().is_some_and(|key| !bounds.pass(key)) {
                    return Ok(nothing);
                }
                (key, (Bound::Unbounded, Bound::Unbounded))
            } else {
                let Some(tokens) = bounds.range() else { return Ok(nothing) };
                (None, tokens)
            };
            let name = select.table.indexes.get(*index).map(|own| own.name.clone());
            let unit = Unit::Index { index: name.unwrap_or_default(), terms, partition, tokens };
            Ok(Units { units: vec![unit], need_filter: true })
        }
    }
}

fn of_partitions(select: &Select, keys: Vec<Bytes>, mut spans: Spans) -> Units {
    if select.reversed {
        spans.spans.reverse();
    }
    let restricted = select.restrictions.restricts_clustering(&select.table);
    // Values of these types may be spelled in several ways: the answer has the one that is stored.
    let spelled = |ty: &CqlType| {
        matches!(ty, CqlType::Tuple(_) | CqlType::User { .. }) || *ty == CqlType::Decimal
    };
    let gets = spans.are_rows
        && restricted
        && select.table.clustering_count > 0
        && !select.table.clustering_columns().iter().any(|own| spelled(&own.kind));
    // Without clustering columns a partition is one row, and statics there are none.
    let single = select.table.clustering_count == 0;
    let mut units = Vec::with_capacity(keys.len() * spans.spans.len());
    for key in keys {
        for span in &spans.spans {
            units.push(if gets || single {
                Unit::Get(key.clone(), span.equal.clone())
            } else {
                Unit::Span(key.clone(), span.clone())
            });
        }
    }
    Units { units, need_filter: select.filters || spans.need_filter }
}

/// Returns the terms of an index that a restriction names; `None` when nothing can match.
fn terms(
    select: &Select,
    index: usize,
    column: usize,
    test: usize,
    env: EvalContext<'_>,
) -> Result<Option<Span>> {
    let tests = select.restrictions.of(column);
    let name = select.table.columns.get(column).map_or("", |own| &*own.name);
    let of = |expr: &shelfmark_cql_types::term::Expr, what: &str| match expr.eval(env)? {
        BoundValue::Bytes(bytes) => Ok(Some(bytes)),
        BoundValue::Null => {
            Err(CqlError::invalid(format!("Unsupported null {what} for column {name}")))
        }
        BoundValue::Unset => {
            Err(CqlError::invalid(format!("Unsupported unset {what} for column {name}")))
        }
    };
    let value = |expr: &shelfmark_cql_types::term::Expr| of(expr, "value");
    let entries =
        select.table.indexes.get(index).is_some_and(|own| own.target == IndexTarget::Entries);
    Ok(match tests.get(test) {
        Some(Test::Equal(expr) | Test::Contains(expr) | Test::ContainsKey(expr)) => {
            let mut span = Span::equal(vec![value(expr)?]);
            put_order(select, index, env, &mut span)?;
            Some(span)
        }
        Some(Test::Entry(key, wanted)) if entries => {
            Some(Span::equal(vec![of(key, "map key")?, of(wanted, "map value")?]))
        }
        Some(Test::Lower(..) | Test::Upper(..)) => {
            let mut span = Span::all();
            for own in tests {
                match own {
                    Test::Lower(expr, included) => {
                        span.lower =
                            Some(SpanBound { values: vec![value(expr)?], included: *included });
                    }
                    Test::Upper(expr, included) => {
                        span.upper =
                            Some(SpanBound { values: vec![value(expr)?], included: *included });
                    }
                    _ => {}
                }
            }
            Some(span)
        }
        _ => None,
    })
}

/// Narrows the terms of an index of another face's table by the columns that order it.
fn put_order(select: &Select, index: usize, env: EvalContext<'_>, span: &mut Span) -> Result<()> {
    let (table, own) = (&select.table, &select.restrictions);
    let Some(index) = table.indexes.get(index) else { return Ok(()) };
    let Some(shared) = &index.shared else { return Ok(()) };
    for name in shared.order.iter().take(ordered_by(table, own, index)) {
        let Some((at, _)) = table.find(name) else { continue };
        for test in own.of(at) {
            let (Test::Equal(expr) | Test::Lower(expr, _) | Test::Upper(expr, _)) = test else {
                continue;
            };
            let BoundValue::Bytes(value) = expr.eval(env)? else {
                let text = format!("Unsupported null or unset value for column {name}");
                return Err(CqlError::invalid(text));
            };
            let values = vec![Some(value)];
            match test {
                Test::Lower(_, included) => {
                    span.lower = Some(SpanBound { values, included: *included });
                }
                Test::Upper(_, included) => {
                    span.upper = Some(SpanBound { values, included: *included });
                }
                _ => span.equal.extend(values),
            }
        }
    }
    Ok(())
}

/// The parameters with which units are read.
#[derive(Clone)]
pub(super) struct Reading<'e> {
    pub(super) engine: &'e Engine,
    pub(super) filter: Option<CellFilter>,
    pub(super) now: Option<u64>,
    pub(super) consistency: Consistency,
    pub(super) trace: Option<&'e TraceRecorder>,
    /// Bytes after which a read of the engine ends.
    pub(super) bytes_max: usize,
}

/// Rows of a unit, and where to go on in it.
pub(super) struct Read {
    pub(super) rows: Vec<CellEntry>,
    pub(super) cursor: Option<UnitCursor>,
}

fn stored(select: &Select) -> Result<&shelfmark_engine::Table> {
    let narrow = select.shared.as_ref().and_then(|own| own.narrow.as_deref());
    narrow
        .or(select.table.stored.as_deref())
        .ok_or_else(|| CqlError::new(ErrorCode::Server, "a computed table has no stored rows"))
}

impl Reading<'_> {
    fn failed(&self, select: &Select, error: &shelfmark_engine::Error) -> CqlError {
        if error.kind() == shelfmark_engine::ErrorKind::NotFound {
            return CqlError::invalid(format!("table {} does not exist", select.table.name));
        }
        from_engine(error, self.consistency, None)
    }

    /// Notes what is about to be read, if there is a trace.
    pub(super) fn tell(&self, select: &Select, unit: &Unit) {
        if let Some(trace) = self.trace {
            trace.record(told(select, unit));
        }
    }

    pub(super) fn limits(
        &self,
        select: &Select,
        cursor: Option<Cursor>,
        most: usize,
        per_partition: Option<usize>,
    ) -> CellLimits {
        CellLimits {
            rows_max: Some(most),
            partition_rows_max: per_partition,
            bytes_max: Some(self.bytes_max),
            start: cursor,
            statics: select.needs_statics,
            filter: self.filter.clone(),
            now: self.now,
        }
    }

    /// Shows the rows of a query to `sink`.
    pub(super) fn show(
        &self,
        select: &Select,
        query: &CellQuery,
        sink: &mut dyn CellSink,
    ) -> Result<CellsShown> {
        let shown = self.engine.show_cells(stored(select)?, query, sink);
        shown.map_err(|error| self.failed(select, &error))
    }

    /// Reads at most `most` rows of a unit, of each partition at most `per_partition`.
    pub(super) fn read(
        &self,
        select: &Select,
        unit: &Unit,
        cursor: Option<UnitCursor>,
        most: usize,
        per_partition: Option<usize>,
    ) -> Result<Read> {
        let table = stored(select)?;
        self.tell(select, unit);
        if matches!(unit, Unit::Index { .. }) && names_partitions(select) {
            return self.read_partitions(select, unit, cursor, (most, per_partition));
        }
        let failed = |error| self.failed(select, &error);
        let limits = self.limits(select, UnitCursor::engine(cursor), most, per_partition);
        let page = match unit {
            Unit::Get(partition, clustering) => {
                let get = CellGet {
                    partition: partition.clone(),
                    clustering: clustering.clone(),
                    statics: select.needs_statics,
                    now: self.now,
                };
                let got = self.engine.get_cells(table, &get).map_err(failed)?;
                let entry = got.row.map(|row| CellEntry {
                    partition: partition.clone(),
                    clustering: Some(clustering.clone()),
                    row,
                    statics: got.statics,
                });
                let kept =
                    entry.filter(|entry| self.filter.as_ref().is_none_or(|filter| filter(entry)));
                return Ok(Read { rows: kept.into_iter().collect(), cursor: None });
            }
            Unit::Span(partition, span) => {
                let query = CellQuery {
                    partition: partition.clone(),
                    span: span.clone(),
                    reversed: select.reversed,
                    limits,
                };
                self.engine.query_cells(table, &query).map_err(failed)?
            }
            Unit::Scan(lower, upper) => {
                let scan = CellScan { tokens: (*lower, *upper), limits };
                self.engine.scan_cells(table, &scan).map_err(failed)?
            }
            Unit::Index { .. } => {
                let page = self.entries(select, unit, limits)?;
                let rows = self.with_statics_alone(select, page.rows)?;
                return Ok(Read { rows, cursor: page.cursor.map(UnitCursor::from) });
            }
        };
        Ok(Read { rows: page.rows, cursor: page.cursor.map(UnitCursor::from) })
    }

    /// Reads entries of an index; nothing is tested yet.
    pub(super) fn entries(
        &self,
        select: &Select,
        unit: &Unit,
        limits: CellLimits,
    ) -> Result<CellPage> {
        let Unit::Index { index, terms, partition, tokens } = unit else {
            return Ok(CellPage::default());
        };
        let query = CellIndexQuery {
            index: index.clone(),
            terms: terms.clone(),
            partition: partition.clone(),
            tokens: *tokens,
            limits: CellLimits { filter: None, ..limits },
        };
        let page = self.engine.query_cell_index(stored(select)?, &query);
        page.map_err(|error| self.failed(select, &error))
    }
}

/// The number of rows read at a time where all are wanted.
pub(super) const ROWS_PER_READ: usize = 1_000;

/// The number of rows read at a time where none is held.
pub(super) const ROWS_PER_SHOW: usize = 10_000;

/// The end of a page, as the paging state carries it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Position {
    /// The number of the unit.
    pub(super) unit: u32,
    /// Rows answered before, for `LIMIT`.
    pub(super) answered: u64,
    /// Rows of the partition of the next unit that were answered before, for `PER PARTITION LIMIT`.
    pub(super) of_partition: u64,
    /// Rows behind the cursor that were answered before: earlier builds counted them where an entry of
    /// an index makes several.
    pub(super) skip: u64,
    /// An earlier build made it, which counted what an index skips in `of_partition`.
    pub(super) is_shared: bool,
    /// The engine's cursor in the unit; of computed tables the number of rows that were passed.
    pub(super) cursor: Vec<u8>,
    /// The partition of the last row of an index, and the number of its rows that were answered.
    pub(super) indexed: Option<(Bytes, u64)>,
}

/// Positions of earlier builds, without and with a partition in them: what an index has to skip stands
/// where rows of a partition are counted.
const VERSION_SHARED: u8 = 1;
const VERSION_SHARED_INDEXED: u8 = 2;

const VERSION: u8 = 3;

/// The version of a position with a partition in it.
const VERSION_INDEXED: u8 = 4;

impl Position {
    /// Returns the position behind everything.
    ///
    /// A page that is full does not know that nothing comes behind it, as in Cassandra, and clients
    /// tell the last page by its having fewer rows than they asked for.
    pub(super) fn behind_all(answered: u64) -> Self {
        Self { unit: u32::MAX, answered, ..Self::default() }
    }

    /// Returns true if nothing is behind it.
    pub(super) fn is_behind_all(&self) -> bool {
        self.unit == u32::MAX
    }

    pub(super) fn encode(&self) -> Bytes {
        let mut out = vec![if self.indexed.is_some() { VERSION_INDEXED } else { VERSION }];
        out.extend_from_slice(&self.unit.to_be_bytes());
        out.extend_from_slice(&self.answered.to_be_bytes());
        out.extend_from_slice(&self.of_partition.to_be_bytes());
        out.extend_from_slice(&self.skip.to_be_bytes());
        if let Some((partition, count)) = &self.indexed {
            out.extend_from_slice(&count.to_be_bytes());
            let length = u32::try_from(partition.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(partition);
        }
        out.extend_from_slice(&self.cursor);
        out.into()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let fail = || CqlError::protocol("Invalid value for the paging state");
        let (version, rest) = bytes.split_first().ok_or_else(fail)?;
        let (is_shared, is_indexed) = match *version {
            VERSION_SHARED => (true, false),
            VERSION_SHARED_INDEXED => (true, true),
            VERSION => (false, false),
            VERSION_INDEXED => (false, true),
            _ => return Err(fail()),
        };
        let (unit, rest) = rest.split_first_chunk::<4>().ok_or_else(fail)?;
        let (answered, rest) = rest.split_first_chunk::<8>().ok_or_else(fail)?;
        let (of_partition, mut rest) = rest.split_first_chunk::<8>().ok_or_else(fail)?;
        let mut skip = [0; 8];
        if !is_shared {
            (skip, rest) =
                rest.split_first_chunk::<8>().map(|(own, rest)| (*own, rest)).ok_or_else(fail)?;
        }
        let mut indexed = None;
        if is_indexed {
            let (count, behind) = rest.split_first_chunk::<8>().ok_or_else(fail)?;
            let (length, behind) = behind.split_first_chunk::<4>().ok_or_else(fail)?;
            let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| fail())?;
            let (partition, behind) = behind.split_at_checked(length).ok_or_else(fail)?;
            indexed = Some((Bytes::copy_from_slice(partition), u64::from_be_bytes(*count)));
            rest = behind;
        }
        Ok(Self {
            indexed,
            unit: u32::from_be_bytes(*unit),
            answered: u64::from_be_bytes(*answered),
            of_partition: u64::from_be_bytes(*of_partition),
            skip: u64::from_be_bytes(skip),
            is_shared,
            cursor: rest.to_vec(),
        })
    }

    /// Returns the cursor in the unit.
    pub(super) fn unit_cursor(&self) -> Result<Option<UnitCursor>> {
        if self.cursor.is_empty() {
            return Ok(None);
        }
        UnitCursor::from_bytes(&self.cursor)
            .map(Some)
            .ok_or_else(|| CqlError::protocol("Invalid value for the paging state"))
    }
}

/// Wraps a row test for the engine.
pub(super) fn engine_filter(
    select: &Arc<Select>,
    filter: crate::statement::filter::RowFilter,
    misfits: &Arc<Misfits>,
) -> CellFilter {
    let select = Arc::clone(select);
    let misfits = Arc::clone(misfits);
    Arc::new(move |entry| {
        if let Some(shared) = &select.shared {
            misfits.note(entry, &shared.looked_at);
        }
        use shelfmark_cql_types::term::RowView as _;
        let row = crate::statement::row::StoredRow {
            table: &select.table,
            entry,
            now: 0,
            aggregates: &[],
        };
        filter.accepts(&|at| row.value(at))
    })
}
