//! Starts and stops change streams, each by one commit of the catalogue.

use std::sync::Arc;

use shelfmark_model::{
    ChangeImages, ChangeStream, OpenShard, Placement, RowKind, StreamShard, TableName,
    TableOptions, TableSchema,
};
use shelfmark_tables::catalogue::{CatalogueChange, Owner, SchemaChange, Table};
use shelfmark_tables::streams::log_name;
use shelfmark_tables::{Error, ErrorKind, Result};

use crate::engine::Engine;

/// Attempts to stop a stream whose shards change meanwhile.
const STOP_ATTEMPTS_MAX: usize = 16;

impl Engine {
    /// Creates a table whose changes go to a stream from its first one on.
    ///
    /// Durability: table and stream are there after a crash once this returns.
    ///
    /// # Errors
    ///
    /// * As [`Engine::create_table`] and [`Engine::start_stream`].
    pub fn create_table_with_stream(
        &self,
        mut schema: TableSchema,
        label: &str,
        images: ChangeImages,
    ) -> Result<Arc<Table>> {
        self.owner.check_new(&schema)?;
        let name = schema.name.clone();
        let log = self.start(&mut schema, label, images)?;
        let changes = vec![CatalogueChange::CreateTable(schema), CatalogueChange::CreateTable(log)];
        self.apply_to(&name, changes)
    }

    /// Has the changes of a table go to a new stream, from now on. `label` tells it from the other
    /// streams of the table, those of the past included.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the table has a stream, or rows or a placement that streams are not
    ///   for.
    /// * [`ErrorKind::AlreadyExists`]: there was a stream of this label. Choose another one.
    /// * [`ErrorKind::NotFound`]: there is no such table.
    pub fn start_stream(
        &self,
        name: &TableName,
        label: &str,
        images: ChangeImages,
    ) -> Result<Arc<Table>> {
        let table = self.table(name)?;
        let mut schema = table.schema.clone();
        let log = self.start(&mut schema, label, images)?;
        let stream = schema.options.stream;
        let alter: SchemaChange<'_> = Box::new(move |schema| {
            check_none(schema)?;
            schema.options.stream.clone_from(&stream);
            Ok(())
        });
        let changes = vec![
            CatalogueChange::AlterTable(name.clone(), alter),
            CatalogueChange::CreateTable(log),
        ];
        self.apply_to(name, changes)
    }

    /// Ends the stream of a table. What it holds can be read until it is too old.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the table has no stream.
    /// * [`ErrorKind::Conflict`]: its shards changed every time. Retry.
    /// * [`ErrorKind::NotFound`]: there is no such table.
    pub fn stop_stream(&self, name: &TableName) -> Result<Arc<Table>> {
        for _ in 0..STOP_ATTEMPTS_MAX {
            match self.stop_stream_once(name) {
                // A shard was followed by another one just now.
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                outcome => return outcome,
            }
        }
        self.stop_stream_once(name)
    }

    fn stop_stream_once(&self, name: &TableName) -> Result<Arc<Table>> {
        let table = self.table(name)?;
        let Some(stream) = table.schema.options.stream.clone() else {
            return Err(Error::invalid(format!("table {name} has no stream; start one first")));
        };
        let mut changes = self.closings(name, &stream);
        changes.push(CatalogueChange::AlterTable(
            name.clone(),
            Box::new(move |schema| {
                check_same(schema, &stream)?;
                schema.options.stream = None;
                Ok(())
            }),
        ));
        self.apply_to(name, changes)
    }

    /// Returns the changes that close all open shards of a stream.
    pub(crate) fn closings(
        &self,
        table: &TableName,
        stream: &ChangeStream,
    ) -> Vec<CatalogueChange<'static>> {
        let now = self.inner.environment.clock.now_micros();
        let logs = stream.shards.iter().map(|shard| log_name(table, &stream.label, shard.number));
        // A salvage may have lost some.
        let is_there = |log: &TableName| self.inner.catalogue.table(log).is_ok();
        logs.filter(is_there).map(|log| closing(log, now)).collect()
    }

    /// Writes a stream with one shard into a schema, and returns the schema of the shard's log.
    fn start(
        &self,
        schema: &mut TableSchema,
        label: &str,
        images: ChangeImages,
    ) -> Result<TableSchema> {
        check_none(schema)?;
        if schema.rows != RowKind::Items || schema.placement != Placement::Hashed {
            return Err(Error::invalid(format!(
                "table {} cannot have a change stream: only hashed tables of items have one; use \
                 the option `change_log`",
                schema.name
            )));
        }
        let now = self.inner.environment.clock.now_micros();
        let shard = StreamShard {
            namespace: schema.name.namespace.clone(),
            table: schema.name.name.clone(),
            label: label.to_owned(),
            images,
            started_at_micros: now,
            number: 1,
            parent: None,
            first_token: 0,
            opened_at_micros: now,
            closed_at_micros: None,
        };
        let shards = vec![open(&shard)];
        schema.options.stream =
            Some(Box::new(ChangeStream { label: label.to_owned(), images, shards }));
        Ok(log_schema(schema, shard))
    }

    /// Makes changes of a table's stream and returns the table. Logs are nobody's but the engine's.
    pub(super) fn apply_to(
        &self,
        name: &TableName,
        changes: Vec<CatalogueChange<'_>>,
    ) -> Result<Arc<Table>> {
        let mut forms = self.inner.catalogue.apply(changes, Owner::Engine)?;
        forms
            .remove(name)
            .ok_or_else(|| Error::new(ErrorKind::NotFound, format!("there is no table {name}")))
    }
}

/// Returns the entry of a new shard in the list of its table.
pub(super) fn open(shard: &StreamShard) -> OpenShard {
    OpenShard { first_token: shard.first_token, number: shard.number, log: 0 }
}

/// Returns the schema of the table that holds a shard's log: it has the key of the shard's table, so
/// that the key of a change is told when that table is gone.
pub(super) fn log_schema(table: &TableSchema, shard: StreamShard) -> TableSchema {
    let options = TableOptions {
        change_log: true,
        stream_shard: Some(Box::new(shard.clone())),
        ..TableOptions::default()
    };
    TableSchema {
        name: log_name(&table.name, &shard.label, shard.number),
        partition: table.partition.clone(),
        sort: table.sort.clone(),
        placement: Placement::Hashed,
        rows: RowKind::Items,
        columns: Vec::new(),
        indexes: Vec::new(),
        options,
        cells: None,
    }
}

/// Returns the change that closes a shard, if it is open.
pub(super) fn closing(log: TableName, now_micros: u64) -> CatalogueChange<'static> {
    CatalogueChange::AlterTable(
        log,
        Box::new(move |schema| {
            if let Some(shard) = &mut schema.options.stream_shard {
                shard.closed_at_micros.get_or_insert(now_micros);
            }
            Ok(())
        }),
    )
}

fn check_none(schema: &TableSchema) -> Result<()> {
    match schema.options.stream {
        None => Ok(()),
        Some(_) => Err(Error::invalid(format!(
            "table {} has a stream; stop it before starting another",
            schema.name
        ))),
    }
}

/// Refuses a change that was planned with other shards than the table has now.
pub(super) fn check_same(schema: &TableSchema, stream: &ChangeStream) -> Result<()> {
    if schema.options.stream.as_deref() == Some(stream) {
        return Ok(());
    }
    let name = &schema.name;
    Err(Error::new(ErrorKind::Conflict, format!("the stream of table {name} changed; retry")))
}
