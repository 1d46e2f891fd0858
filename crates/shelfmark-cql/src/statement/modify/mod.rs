//! `INSERT`, `UPDATE`, `DELETE`: prepared once, turned into the engine's mutations for every
//! execution.
//!
//! * `prepare`: the three statements as one plan.
//! * `operation`: what happens to one column.
//! * `condition`: `IF`.
//! * `indexed`: values that no index can hold.
//! * `applied`: the answers of what has conditions.
//! * `measure`: how much they write.
//! * `role_rows`: writes of the table of roles.
//! * `run`: plans and batches of them executed.

mod applied;
mod condition;
mod elements;
mod indexed;
mod measure;
mod mixed;
mod operation;
mod prepare;
mod role_rows;
mod run;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::{BoundValue, CqlError, Result};
use shelfmark_cql_types::function::Similarity;
use shelfmark_cql_types::term::{EvalContext, Expr};
use shelfmark_cql_types::{CqlType, Json};
use shelfmark_engine::{CellChange, CellOperation, ClusteringValue, Mutation, Span};

use super::keys::{
    check_product, checked_partition, exact_spans, joined_partitions, kept, partitions,
};
use super::relation::Restrictions;
use crate::limits::KEY_SIZE_BYTES_MAX;
use crate::schema::Table;

pub(crate) use condition::Conditions;
use indexed::check_indexed;
pub(crate) use operation::{Lists, Operation, field_path};
pub(crate) use prepare::{check_counters, integer, prepare_delete, prepare_insert, prepare_update};
pub(crate) use role_rows::is_of_roles;
pub(crate) use run::{Entry, now_of, run_batch, run_one};

/// Longest life of a value. Source: Cassandra 5.0, `Attributes.MAX_TTL`: 20 years.
pub(crate) const TTL_SECONDS_MAX: i32 = 630_720_000;

/// The kind of a modification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Insert,
    Update,
    Delete,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// A prepared modification.
#[derive(Debug, Clone)]
pub(crate) struct Modify {
    pub(crate) kind: Kind,
    pub(crate) table: Arc<Table>,
    /// The key that is written.
    pub(crate) restrictions: Restrictions,
    /// The operations on regular columns.
    pub(crate) regular: Vec<Operation>,
    /// The operations on static columns.
    pub(crate) statics: Vec<Operation>,
    /// Only statics are concerned: no row is named.
    pub(crate) only_statics: bool,
    /// The text of an `INSERT JSON`, and whether columns that it leaves out stay.
    pub(crate) json: Option<(Expr, bool)>,
    pub(crate) timestamp: Option<Expr>,
    pub(crate) ttl: Option<Expr>,
    pub(crate) conditions: Conditions,
}

/// The rows of a partition that are modified.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Row(Vec<ClusteringValue>),
    Span(Span),
    Partition,
    Statics,
}

/// The mutations of one execution, before lists are read.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) partition: Bytes,
    pub(crate) place: Place,
}

/// The timestamp and the time to live of a modification.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimestampAndTtl {
    pub(crate) timestamp: i64,
    pub(crate) ttl_seconds: Option<u32>,
}

impl Modify {
    /// Returns true if nothing is written unless something holds.
    pub(crate) fn is_conditional(&self) -> bool {
        self.conditions.is_some()
    }

    /// Evaluates the timestamp and the time to live. `default` is the timestamp of a statement without
    /// one of its own: the client's, the batch's or the server's.
    pub(crate) fn moment(
        &self,
        env: EvalContext<'_>,
        default: impl FnOnce() -> i64,
    ) -> Result<TimestampAndTtl> {
        let timestamp = self.own_timestamp(env)?.unwrap_or_else(default);
        self.moment_at(timestamp, env)
    }

    /// Evaluates the time to live of a modification that is written at `timestamp`.
    pub(crate) fn moment_at(
        &self,
        timestamp: i64,
        env: EvalContext<'_>,
    ) -> Result<TimestampAndTtl> {
        Ok(TimestampAndTtl { timestamp, ttl_seconds: self.ttl(env)? })
    }

    /// Evaluates `USING TIMESTAMP`.
    fn own_timestamp(&self, env: EvalContext<'_>) -> Result<Option<i64>> {
        let timestamp = match &self.timestamp {
            None => None,
            Some(expr) => match expr.eval(env)? {
                BoundValue::Unset => None,
                BoundValue::Null => {
                    return Err(CqlError::invalid("Invalid null value of timestamp"));
                }
                BoundValue::Bytes(bytes) => Some(
                    bytes
                        .as_ref()
                        .try_into()
                        .map(i64::from_be_bytes)
                        .map_err(|_| CqlError::invalid("Invalid timestamp value"))?,
                ),
            },
        };
        if timestamp == Some(i64::MIN) {
            return Err(CqlError::invalid(format!(
                "Out of bound timestamp, must be in [{}, {}]",
                -i64::MAX,
                i64::MAX
            )));
        }
        Ok(timestamp)
    }

    fn ttl(&self, env: EvalContext<'_>) -> Result<Option<u32>> {
        let seconds = match &self.ttl {
            None => self.table.options.default_time_to_live,
            Some(expr) => match expr.eval(env)? {
                BoundValue::Unset => self.table.options.default_time_to_live,
                // As if there were none, also for the table's default.
                BoundValue::Null => 0,
                BoundValue::Bytes(bytes) if bytes.is_empty() => 0,
                BoundValue::Bytes(bytes) => bytes
                    .as_ref()
                    .try_into()
                    .map(i32::from_be_bytes)
                    .map_err(|_| CqlError::invalid("Invalid TTL value"))?,
            },
        };
        if seconds < 0 {
            return Err(CqlError::invalid(format!(
                "A TTL must be greater or equal to 0, but was {seconds}"
            )));
        }
        if seconds > TTL_SECONDS_MAX {
            return Err(CqlError::invalid(format!(
                "ttl is too large. requested ({seconds}) maximum ({TTL_SECONDS_MAX})"
            )));
        }
        Ok(u32::try_from(seconds).ok().filter(|seconds| *seconds > 0 && self.kind != Kind::Delete))
    }

    /// Evaluates which partitions and rows are concerned.
    pub(crate) fn changes(&self, env: EvalContext<'_>) -> Result<Vec<Change>> {
        let mut out = Vec::new();
        let partitions = partitions(&self.table, &self.restrictions, env)?;
        let partitions = joined_partitions(&self.table, &partitions)?;
        if self.only_statics {
            let changes =
                partitions.into_iter().map(|partition| Change { partition, place: Place::Statics });
            return Ok(changes.collect());
        }
        let spans = exact_spans(&self.table, &self.restrictions, env)?;
        check_product(partitions.len(), spans.spans.len())?;
        let deletes_columns =
            self.kind == Kind::Delete && !(self.regular.is_empty() && self.statics.is_empty());
        if deletes_columns && !spans.are_rows && !spans.spans.is_empty() {
            return Err(CqlError::invalid(
                "Range deletions are not supported for specific columns",
            ));
        }
        for partition in partitions {
            for span in &spans.spans {
                let is_begun =
                    !span.equal.is_empty() && span.lower.is_none() && span.upper.is_none();
                let place = if self.table.flags.compact
                    && self.kind != Kind::Delete
                    && !spans.are_rows
                    && is_begun
                {
                    // What of the key was left out is null.
                    let mut clustering = span.equal.clone();
                    clustering.resize(self.table.clustering_count, None);
                    self.check_row(&clustering)?;
                    Place::Row(clustering)
                } else if spans.are_rows {
                    self.check_row(&span.equal)?;
                    Place::Row(span.equal.clone())
                } else if span.is_all() {
                    Place::Partition
                } else {
                    Place::Span(span.clone())
                };
                out.push(Change { partition: partition.clone(), place });
            }
        }
        Ok(out)
    }

    /// Checks the clustering key of a row that is written.
    fn check_row(&self, clustering: &[ClusteringValue]) -> Result<()> {
        if self.table.flags.compact
            && let ([column], [value]) = (self.table.clustering_columns(), clustering)
            && value.as_ref().is_none_or(Bytes::is_empty)
        {
            return Err(CqlError::invalid(format!(
                "Invalid empty or null value for column {}",
                column.name
            )));
        }
        check_clustering(clustering)?;
        let is_insert = self.kind == Kind::Insert && self.table.flags.compact;
        if is_insert
            && self.json.is_none()
            && self.regular.is_empty()
            && let Some(column) = self.table.other_columns().first()
        {
            // Such a row is kept by its value, so there has to be one.
            return Err(CqlError::invalid(format!(
                "Column {} is mandatory for this COMPACT STORAGE table",
                column.name
            )));
        }
        Ok(())
    }

    /// Evaluates the change of an `INSERT JSON`: its key and what happens to columns.
    pub(crate) fn json_change(
        &self,
        text: &Expr,
        keep: bool,
        env: EvalContext<'_>,
    ) -> Result<(Change, Vec<Operation>, Vec<Operation>)> {
        let table = &self.table;
        let values = json_values(table, text, keep, env)?;
        let mut parts = Vec::new();
        for (at, column) in table.partition_columns().iter().enumerate() {
            parts.push(json_key(values.get(at).and_then(Option::as_ref), &column.name)?);
        }
        let partition = checked_partition(table, &parts)?;
        let mut clustering = Vec::new();
        let mut missing = Vec::new();
        for (at, column) in table.clustering_columns().iter().enumerate() {
            match values.get(table.partition_count + at).and_then(Option::as_ref) {
                Some(BoundValue::Bytes(bytes)) => clustering.push(Some(kept(table, column, bytes))),
                Some(BoundValue::Unset) => {
                    return Err(CqlError::invalid(format!(
                        "Invalid unset value for column {}",
                        column.name
                    )));
                }
                _ => missing.push(&*column.name),
            }
        }
        let (mut regular, mut statics) = (Vec::new(), Vec::new());
        for (column, value) in table.columns.iter().zip(values) {
            let Some(value) = value.filter(|_| !column.role.is_key()) else { continue };
            let value = match value {
                BoundValue::Bytes(bytes) => Some(bytes),
                _ => None,
            };
            let operation = Operation::assign(column, Expr::Constant(value));
            match column.role {
                crate::schema::ColumnKind::Static => statics.push(operation),
                _ => regular.push(operation),
            }
        }
        if !missing.is_empty() {
            return Err(CqlError::invalid(format!(
                "Invalid null value in condition for column {}",
                missing.first().copied().unwrap_or_default()
            )));
        }
        self.check_row(&clustering)?;
        Ok((Change { partition, place: Place::Row(clustering) }, regular, statics))
    }

    /// Turns one change into mutations.
    #[expect(clippy::too_many_arguments, reason = "all of it is evaluated once and used here")]
    pub(crate) fn mutations(
        &self,
        change: &Change,
        regular: &[Operation],
        statics: &[Operation],
        moment: TimestampAndTtl,
        env: EvalContext<'_>,
        lists: &mut Lists<'_>,
        out: &mut Vec<Mutation>,
    ) -> Result<()> {
        let Some(table) = &self.table.stored else {
            return Err(CqlError::invalid(format!("{} cannot be written", self.table.full_name())));
        };
        let mut put = |change_of: CellChange| {
            out.push(Mutation {
                table: Arc::clone(table),
                partition: change.partition.clone(),
                change: change_of,
                timestamp: moment.timestamp,
                ttl_seconds: moment.ttl_seconds,
            });
        };
        if !statics.is_empty() {
            let operations = operation::evaluate(statics, env, lists, None)?;
            check_vectors(&self.table, &operations)?;
            check_indexed(&self.table, &operations)?;
            if !operations.is_empty() {
                put(CellChange::Statics(operations));
            }
        }
        let is_delete = self.kind == Kind::Delete && regular.is_empty() && statics.is_empty();
        match &change.place {
            Place::Statics => {}
            Place::Row(clustering) if is_delete => put(CellChange::DeleteRow(clustering.clone())),
            Place::Row(clustering) => {
                let operations = operation::evaluate(regular, env, lists, Some(clustering))?;
                check_vectors(&self.table, &operations)?;
                check_indexed(&self.table, &operations)?;
                let is_insert = self.kind == Kind::Insert && !self.table.flags.compact;
                if is_insert || !operations.is_empty() {
                    put(CellChange::Row { clustering: clustering.clone(), is_insert, operations });
                }
            }
            Place::Span(span) => put(CellChange::DeleteSpan(span.clone())),
            Place::Partition => put(CellChange::DeletePartition),
        }
        Ok(())
    }
}

/// Refuses vectors that their index could compare with nothing.
fn check_vectors(table: &Table, operations: &[CellOperation]) -> Result<()> {
    for index in table.indexes.iter().filter(|index| index.is_sai()) {
        let found = table.column(&index.column);
        let found = found.filter(|column| matches!(column.kind, CqlType::Vector { .. }));
        let Some(indexed) = found else { continue };
        for operation in operations {
            if let CellOperation::Set { column, value } = operation
                && *column == indexed.id
            {
                Similarity::of_options(&index.options).check(value)?;
            }
        }
    }
    Ok(())
}

fn check_clustering(values: &[ClusteringValue]) -> Result<()> {
    let size: usize = values.iter().flatten().map(Bytes::len).sum();
    if size > KEY_SIZE_BYTES_MAX {
        return Err(CqlError::invalid(format!(
            "Key length of {size} is longer than maximum of {}",
            KEY_SIZE_BYTES_MAX
        )));
    }
    Ok(())
}

fn json_key(value: Option<&BoundValue>, name: &str) -> Result<Bytes> {
    match value {
        Some(BoundValue::Bytes(bytes)) => Ok(bytes.clone()),
        Some(BoundValue::Unset) => {
            Err(CqlError::invalid(format!("Invalid unset value for column {name}")))
        }
        _ => Err(CqlError::invalid(format!("Invalid null value in condition for column {name}"))),
    }
}

/// Returns what a JSON text says of each column of a table; `None` leaves it alone.
fn json_values(
    table: &Table,
    text: &Expr,
    keep: bool,
    env: EvalContext<'_>,
) -> Result<Vec<Option<BoundValue>>> {
    let text = text.value(env, " for JSON")?;
    let text = text.ok_or_else(|| CqlError::invalid("Got null for INSERT JSON values"))?;
    let shown = String::from_utf8_lossy(&text);
    let undecoded = |why: &str| {
        CqlError::invalid(format!(
            "Could not decode JSON string as a map: {why}. (String was: {shown})"
        ))
    };
    let json = shelfmark_cql_types::parse_json(&shown).map_err(|_| undecoded("it is not JSON"))?;
    let pairs = match &json {
        Json::Object(pairs) => pairs,
        Json::Null => return Err(CqlError::invalid("Got null for INSERT JSON values")),
        _ => return Err(undecoded("it is not an object")),
    };
    let mut by_name: HashMap<String, &Json> = HashMap::with_capacity(pairs.len());
    for (name, value) in pairs {
        // Of the spellings of a name one that had to be changed counts, and the last of these.
        let column = shelfmark_cql_types::json_column_name(name);
        if column == **name {
            by_name.entry(column).or_insert(value);
        } else {
            by_name.insert(column, value);
        }
    }
    let mut known = 0;
    let mut out = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let found = by_name.get(&*column.name).copied();
        known += usize::from(found.is_some());
        out.push(match found {
            None if keep && column.role.is_key() => Some(BoundValue::Unset),
            None if keep => None,
            None => Some(BoundValue::Null),
            Some(value) => {
                let bytes =
                    shelfmark_cql_types::from_json(&column.kind, value).map_err(|error| {
                        if error.0.ends_with("to a duration") {
                            return CqlError::invalid(error.0);
                        }
                        CqlError::invalid(format!(
                            "Error decoding JSON value for {}: {error}",
                            column.name
                        ))
                    })?;
                Some(bytes.map_or(BoundValue::Null, |bytes| BoundValue::Bytes(bytes.into())))
            }
        });
    }
    if known < by_name.len() {
        let unknown = pairs
            .iter()
            .map(|(name, _)| shelfmark_cql_types::json_column_name(name))
            .find(|name| table.column(name).is_none());
        return Err(CqlError::invalid(format!(
            "JSON values map contains unrecognized column: {}",
            unknown.unwrap_or_default()
        )));
    }
    Ok(out)
}
