//! Plans batches: their statements one by one, and what they may not have together.
//!
//! What it is not: it knows no values; how large a batch is, is measured where it is run.

use std::collections::HashSet;
use std::sync::Arc;

use shelfmark_cql_protocol::{BatchKind, CqlError, Result};
use shelfmark_cql_syntax::ast::{self, BatchKind as WrittenBatch};
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::term::{BindMarkers, Expr, Receiver, Scope};
use shelfmark_engine::weight::Weight;

use super::modify::{self, Modify};
use super::plan::Action;
use super::{Planned, bind, plan_one, shared};
use crate::schema::{Schema, Table};

/// Plans the statements of a BATCH, in their order.
pub(super) fn plan_batch(
    batch: &ast::Batch,
    keyspace: Option<&str>,
    schema: &Schema,
    markers: &mut BindMarkers,
) -> Result<Planned> {
    if batch.attributes.ttl.is_some() {
        return Err(CqlError::invalid("Global TTL on the BATCH statement is not supported."));
    }
    let kind = match batch.kind {
        WrittenBatch::Logged => BatchKind::Logged,
        WrittenBatch::Unlogged => BatchKind::Unlogged,
        WrittenBatch::Counter => BatchKind::Counter,
    };
    let mut entries = Vec::with_capacity(batch.statements.len());
    for written in &batch.statements {
        entries.push(plan_one(written, keyspace, schema, markers)?);
    }
    let mut scope = Scope { schema, keyspace: keyspace.unwrap_or_default(), table: None, markers };
    let to = Receiver { name: "[timestamp]", ty: &CqlType::Bigint };
    let timestamp = batch.attributes.timestamp.as_ref();
    let timestamp = timestamp.map(|own| modify::integer(own, to, &mut scope)).transpose()?;
    check_batch(kind, &entries.iter().collect::<Vec<_>>(), timestamp.is_some())?;
    let conditional = entries.iter().any(Modify::is_conditional);
    let mut tables: Vec<Arc<Table>> = Vec::new();
    let mut known = HashSet::new();
    for entry in &entries {
        if known.insert(Arc::as_ptr(&entry.table)) {
            tables.push(Arc::clone(&entry.table));
        }
    }
    let pk_indices = match tables.as_slice() {
        // A marker of the batch's own timestamp is of no table, and Cassandra gives up there.
        [table] if !matches!(timestamp, Some(Expr::Marker { .. })) => {
            bind::pk_indices_of_any(table, entries.iter().map(|own| &own.restrictions))
        }
        _ => Vec::new(),
    };
    let listed = entries.iter().map(|own| bind::listed(&own.restrictions));
    let listed = listed.fold(0_usize, usize::saturating_add);
    Ok(Planned {
        action: Action::Batch { kind, entries, timestamp },
        tables,
        pk_indices,
        result: Arc::new([]),
        conditional,
        weight: Weight::of(listed, 0),
    })
}

/// Refuses statements that cannot be in one batch, in the words of Cassandra.
pub(super) fn check_batch(kind: BatchKind, entries: &[&Modify], has_timestamp: bool) -> Result<()> {
    let invalid = |text: &str| Err(CqlError::invalid(text.to_owned()));
    let conditional = entries.iter().any(|own| own.is_conditional());
    if has_timestamp && conditional {
        return invalid("Cannot provide custom timestamp for conditional BATCH");
    }
    if has_timestamp && kind == BatchKind::Counter {
        return invalid("Cannot provide custom timestamp for counter BATCH");
    }
    if has_timestamp && entries.iter().any(|own| own.timestamp.is_some()) {
        return invalid("Timestamp must be set either on BATCH or individual statements");
    }
    let counters = entries.iter().filter(|own| own.table.flags.counter).count();
    if has_timestamp && counters > 0 {
        return invalid("Cannot provide custom timestamp for a BATCH containing counters");
    }
    if kind == BatchKind::Counter && counters < entries.len() {
        return invalid("Cannot include non-counter statement in a counter batch");
    }
    if counters > 0 && counters < entries.len() {
        return invalid("Counter and non-counter mutations cannot exist in the same batch");
    }
    if kind == BatchKind::Logged && counters > 0 {
        return invalid("Cannot include a counter statement in a logged batch");
    }
    entries.iter().try_for_each(|own| modify::check_counters(own))?;
    entries.iter().try_for_each(|own| shared::check_modify(own))?;
    shared::check_batch(entries, has_timestamp)?;
    if conditional {
        let first = entries.first().map(|own| own.table.full_name());
        if entries.iter().any(|own| Some(own.table.full_name()) != first) {
            return invalid("Batch with conditions cannot span multiple tables");
        }
    }
    Ok(())
}
