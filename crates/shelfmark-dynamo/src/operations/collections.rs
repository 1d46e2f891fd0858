//! Computes the optional parts of a write's answer: its capacity, and
//! `ReturnItemCollectionMetrics`, the sizes of the written partitions of tables with local indexes.
//!
//! A partition's own size is not kept, and reading it to answer would cost more than the write. The
//! range that is answered has the whole store as its upper end: true, cheap, and precise enough for
//! what clients do with it, which is to warn below the service's limit of 10 GB. Here there is no
//! such limit.

use std::collections::BTreeMap;

use shelfmark_engine::{Change, Write};
use shelfmark_model::Item;

use crate::capacity::Detail;
use crate::errors::Result;
use crate::face::Face;
use crate::json::{Reader, Writer, put_item};
use crate::shape::{CAPACITIES, Shape};
use crate::table::Meta;

/// The optional parts of the answer that a writing request asks for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    capacity: Option<String>,
    metrics: Option<String>,
}

impl Wanted {
    /// Reads a member, if it is one of these; returns `false` to leave it to the caller.
    pub(super) fn member(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<bool> {
        match name {
            "ReturnConsumedCapacity" => self.capacity = reader.text()?,
            "ReturnItemCollectionMetrics" => self.metrics = reader.text()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Checks the shape.
    pub(super) fn shape(&self, shape: &mut Shape) {
        self.shape_with(None, shape);
    }

    pub(super) fn capacity_shape(&self, shape: &mut Shape) {
        shape.one_of("ReturnConsumedCapacity", self.capacity.as_deref(), CAPACITIES);
    }

    pub(super) fn metrics_shape(&self, shape: &mut Shape) {
        shape.one_of("ReturnItemCollectionMetrics", self.metrics.as_deref(), &["SIZE", "NONE"]);
    }

    /// Works as [`Wanted::shape`], with `ReturnValues` where the service reports them.
    pub(super) fn shape_with(&self, return_values: Option<&str>, shape: &mut Shape) {
        self.capacity_shape(shape);
        shape.return_values(return_values);
        self.metrics_shape(shape);
    }

    /// Returns the wanted detail of the capacity.
    pub(super) fn detail(&self) -> Detail {
        Detail::of(self.capacity.as_deref())
    }

    /// Collects the partitions of `writes`, if they are wanted.
    pub(super) fn collections(&self, face: &Face, writes: &[Write]) -> Result<Collections> {
        match self.metrics.as_deref() {
            Some("SIZE") => Collections::of(face, writes),
            _ => Ok(Collections::default()),
        }
    }
}

/// The unit of the sizes in the answer, in bytes.
const GIGABYTE: u64 = 1_000_000_000;

/// The written partition keys by table, each once.
#[derive(Debug, Default)]
pub(super) struct Collections {
    upper_gigabytes: u32,
    found: BTreeMap<String, Vec<Item>>,
}

impl Collections {
    fn of(face: &Face, writes: &[Write]) -> Result<Self> {
        let stats = face.engine.store().stats();
        let bytes =
            stats.tree_bytes_on_disk.saturating_add(stats.memory_table_bytes).saturating_add(1);
        let mut collections = Self {
            upper_gigabytes: u32::try_from(bytes.div_ceil(GIGABYTE)).unwrap_or(u32::MAX),
            found: BTreeMap::new(),
        };
        writes.iter().try_for_each(|write| collections.note(write))?;
        Ok(collections)
    }

    fn note(&mut self, write: &Write) -> Result<()> {
        let table = &write.table;
        let mut indexes = table.schema.indexes.iter();
        if !indexes.any(|index| Meta::is_local_in(table, &index.name)) {
            return Ok(());
        }
        let key = match &write.change {
            Change::Put(item) => table.key_of(item)?,
            Change::Patch { key, .. } | Change::Delete(key) => key.clone(),
            Change::Check(_) => return Ok(()),
        };
        let names = table.schema.partition.iter().map(|column| column.name.clone());
        let collection: Item = names.zip(key.partition).collect();
        let own = self.found.entry(table.schema.name.name.clone()).or_default();
        if !own.contains(&collection) {
            own.push(collection);
        }
        Ok(())
    }

    /// Writes the member of an answer about one item.
    pub(super) fn put_one(&self, out: &mut Writer) {
        if let Some(collection) = self.found.values().flatten().next() {
            out.name("ItemCollectionMetrics");
            self.put(out, collection);
        }
    }

    /// Writes the member of an answer about several items: lists by table.
    pub(super) fn put_all(&self, out: &mut Writer) {
        if self.found.is_empty() {
            return;
        }
        out.name("ItemCollectionMetrics").object(|out| {
            for (table, collections) in &self.found {
                out.name(table).list(|out| {
                    collections.iter().for_each(|collection| self.put(out, collection));
                });
            }
        });
    }

    fn put(&self, out: &mut Writer, collection: &Item) {
        out.object(|out| {
            out.name("ItemCollectionKey");
            put_item(out, collection);
            out.name("SizeEstimateRangeGB").list(|out| {
                out.fraction(0.0);
                out.fraction(f64::from(self.upper_gigabytes));
            });
        });
    }
}
