//! The size of a mutation, counted as Cassandra counts it.
//!
//! What it is not: what it takes in the store, where rows are merged and encoded.
//!
//! Source: Cassandra 5.0, `PartitionUpdate.dataSize`, `BTreeRow.dataSize`, `AbstractCell.dataSize` and
//! `BatchStatement.verifyBatchSize`, read 2026-11. Rows that several statements of a batch write are
//! merged there and counted for each here.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use shelfmark_cql_protocol::{BatchKind, CqlError};
use shelfmark_engine::budget::{Client, Share};
use shelfmark_engine::{CellChange, CellOperation, ClusteringValue, Mutation, SpanBound};

use super::run::Ready;
use crate::limits::{
    BATCH_SIZE_BYTES_MAX, BATCH_SIZE_BYTES_WARNED, MUTATION_SIZE_BYTES_MAX,
    UNLOGGED_BATCH_PARTITIONS_WARNED,
};
use crate::outcome::RequestOptions;

/// Bytes of a row beside its key and cells: the time of its marker and its deletion.
const ROW_BYTES: u64 = 8 + 13;
/// Bytes of a cell beside its path and value: its time, expiry and time of deletion.
const CELL_BYTES: u64 = 8 + 4 + 8;
/// Bytes of a partition beside its rows: its deletion, and that of its statics.
const PARTITION_BYTES: u64 = 12 + ROW_BYTES;
/// The memory that a mutation takes beside its data while it is planned: its row before and after,
/// and its place in the commit.
const MUTATION_BYTES: u64 = 512;
/// The number of copies of its data in memory beside the request: as a row, and in the commit.
const COPIES: u64 = 2;

fn length(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}

fn of_key(values: &[ClusteringValue]) -> u64 {
    values.iter().flatten().map(|value| length(value)).sum()
}

fn of_operation(operation: &CellOperation) -> u64 {
    match operation {
        CellOperation::Set { value, .. } => CELL_BYTES + length(value),
        CellOperation::SetElement { path, value, .. } => CELL_BYTES + length(path) + length(value),
        CellOperation::DeleteElement { path, .. } => CELL_BYTES + length(path),
        CellOperation::Delete { .. } => CELL_BYTES,
        CellOperation::Clear { .. } => 12,
        CellOperation::Overwrite { elements, .. } => {
            let size = |own: &(Bytes, Bytes)| CELL_BYTES + length(&own.0) + length(&own.1);
            12 + elements.iter().map(size).sum::<u64>()
        }
        // The place of an element is a UUID.
        CellOperation::OverwriteList { values, .. }
        | CellOperation::Append { values, .. }
        | CellOperation::Prepend { values, .. } => {
            12 + values.iter().map(|value| CELL_BYTES + 16 + length(value)).sum::<u64>()
        }
        CellOperation::Add { .. } => CELL_BYTES + 8,
    }
}

fn of_bound(bound: Option<&SpanBound>) -> u64 {
    bound.map_or(0, |bound| of_key(&bound.values))
}

/// Returns how much a mutation writes, in bytes, without what its partition costs.
fn size_of(mutation: &Mutation) -> u64 {
    match &mutation.change {
        CellChange::Row { clustering, operations, .. } => {
            ROW_BYTES + of_key(clustering) + operations.iter().map(of_operation).sum::<u64>()
        }
        CellChange::Statics(operations) => operations.iter().map(of_operation).sum(),
        CellChange::DeleteRow(clustering) => ROW_BYTES + of_key(clustering),
        CellChange::DeleteSpan(span) => {
            let bounds = of_bound(span.lower.as_ref()) + of_bound(span.upper.as_ref());
            12 + 2 * of_key(&span.equal) + bounds
        }
        CellChange::DeletePartition => 0,
    }
}

/// The size of a request's mutations, added up while they are made.
pub(super) struct WriteSize<'o> {
    options: &'o RequestOptions,
    /// The data, and what it takes in memory beside.
    data: u64,
    beside: u64,
    share: Option<Share>,
}

impl<'o> WriteSize<'o> {
    pub(super) fn new(options: &'o RequestOptions) -> Self {
        Self { options, data: 0, beside: 0, share: options.client.as_ref().map(Client::share) }
    }

    /// Accounts for further mutations.
    ///
    /// # Errors
    ///
    /// * `Invalid`: it is too much for one commit, or ever for the memory budget; `Overloaded`: for the
    ///   budget now.
    pub(super) fn add(&mut self, mutations: &[Mutation]) -> Result<(), CqlError> {
        self.data += mutations.iter().map(|own| size_of(own) + length(&own.partition)).sum::<u64>();
        self.beside += mutations.len() as u64 * MUTATION_BYTES;
        if self.data > MUTATION_SIZE_BYTES_MAX {
            let keyspace = mutations.first().map_or("", |own| &*own.table.schema.name.namespace);
            return Err(CqlError::invalid(format!(
                "Encountered an oversized mutation ({}/{MUTATION_SIZE_BYTES_MAX}) for keyspace: {keyspace}",
                self.data
            )));
        }
        let held = usize::try_from(self.data * COPIES + self.beside).unwrap_or(usize::MAX);
        if self.share.as_mut().is_none_or(|share| share.cover(held)) {
            return Ok(());
        }
        Err(self.options.no_room("this write", held))
    }

    /// Returns what the mutations hold of the budget, to be kept until they are durable.
    pub(super) fn into_share(self) -> Option<Share> {
        self.share
    }
}

/// Measures a batch without conditions, and returns what its client is warned of. Batches that
/// write one partition are not measured, as in Cassandra since 3.6.
///
/// # Errors
///
/// * `Invalid`: it is too large.
pub(super) fn check_batch_size(
    kind: BatchKind,
    ready: &[Ready<'_>],
    mutations: &[Mutation],
) -> Result<Vec<String>, CqlError> {
    let Some(first) = mutations.first() else { return Ok(Vec::new()) };
    let is_same = |own: &Mutation| {
        own.partition == first.partition
            && own.table.schema.name.namespace == first.table.schema.name.namespace
    };
    if mutations.iter().all(is_same) {
        return Ok(Vec::new());
    }
    let partitions: HashSet<_> =
        mutations.iter().map(|own| (own.table.id, &own.partition)).collect();
    let size =
        mutations.iter().map(size_of).sum::<u64>() + PARTITION_BYTES * partitions.len() as u64;
    if size > BATCH_SIZE_BYTES_MAX {
        return Err(CqlError::invalid("Batch too large"));
    }
    let keys: HashSet<_> = mutations.iter().map(|own| &own.partition).collect();
    let warns_of_keys = kind != BatchKind::Logged && keys.len() > UNLOGGED_BATCH_PARTITIONS_WARNED;
    if size <= BATCH_SIZE_BYTES_WARNED && !warns_of_keys {
        return Ok(Vec::new());
    }
    let tables: BTreeSet<String> =
        ready.iter().map(|own| own.entry.modify.table.full_name()).collect();
    let plural = if tables.len() == 1 { "" } else { "s" };
    let tables = tables.into_iter().collect::<Vec<_>>().join(", ");
    let mut warnings = Vec::new();
    if size > BATCH_SIZE_BYTES_WARNED {
        warnings.push(format!(
            "Batch for [{tables}] is of size {size}, exceeding specified threshold of {BATCH_SIZE_BYTES_WARNED} by {}.",
            size - BATCH_SIZE_BYTES_WARNED
        ));
    }
    if warns_of_keys {
        warnings.push(format!(
            "Unlogged batch covering {} partitions detected against table{plural} [{tables}]. You should use a logged batch for atomicity, or asynchronous writes for performance.",
            keys.len()
        ));
    }
    Ok(warnings)
}
