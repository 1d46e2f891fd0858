//! Reads the members that change a table as it is restored, and makes the schema of the new table.

use std::collections::BTreeMap;

use shelfmark_model::{IndexSchema, Projected, TableOptions, TableSchema};

use crate::errors::{Error, Result, texts};
use crate::face::Face;
use crate::json::Reader;
use crate::operations::create_table::uuid;
use crate::operations::table_request::{self, EncryptionRequest, IndexRequest, ThroughputRequest};
use crate::shape::Shape;
use crate::table::{Billing, IndexMeta, Meta, Restored, Throughput};

/// The members that change what is restored.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    billing: Option<String>,
    global: Option<Vec<IndexRequest>>,
    local: Option<Vec<IndexRequest>>,
    throughput: Option<ThroughputRequest>,
    on_demand: Option<ThroughputRequest>,
    encryption: Option<EncryptionRequest>,
    /// Counts the vector indexes that were asked for; `None` asks for those of the source.
    vector_indexes: Option<usize>,
}

impl Overrides {
    /// Reads a member, if it is one of them.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<bool> {
        match name {
            "BillingModeOverride" => self.billing = reader.text()?,
            "GlobalSecondaryIndexOverride" => self.global = table_request::read_indexes(reader)?,
            "LocalSecondaryIndexOverride" => self.local = table_request::read_indexes(reader)?,
            "ProvisionedThroughputOverride" => {
                self.throughput = table_request::read_throughput(reader)?;
            }
            "OnDemandThroughputOverride" => {
                self.on_demand = table_request::read_throughput(reader)?;
            }
            "SSESpecificationOverride" => {
                self.encryption = table_request::read_encryption(reader)?;
            }
            "VectorIndexOverride" => {
                let indexes = reader.list(|reader| reader.skip().map(Some))?;
                self.vector_indexes = indexes.map(|indexes| indexes.len());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn shape(&self, shape: &mut Shape) {
        let modes = &["PROVISIONED", "PAY_PER_REQUEST"];
        shape.one_of("BillingModeOverride", self.billing.as_deref(), modes);
        for (member, indexes, local) in [
            ("GlobalSecondaryIndexOverride", &self.global, false),
            ("LocalSecondaryIndexOverride", &self.local, true),
        ] {
            for (position, index) in indexes.iter().flatten().enumerate() {
                let path = format!("{member}.{}.member", position + 1);
                table_request::shape_index(index, &path, local, shape);
            }
        }
        if let Some(throughput) = self.throughput {
            table_request::shape_throughput(throughput, "ProvisionedThroughputOverride", shape);
        }
        let encryption = self.encryption.as_ref();
        table_request::shape_encryption("SSESpecificationOverride", encryption, shape);
    }

    pub(super) fn check(&self) -> Result<()> {
        table_request::check_encryption(self.encryption.as_ref())?;
        match self.vector_indexes {
            Some(1..) => Err(Error::validation(texts::not_supported("VectorIndexOverride"))),
            Some(0) | None => Ok(()),
        }
    }
}

/// Returns the schema of a table that is restored from one with the schema `source`. It has none of the
/// source's tags, streams, time to live, policies and continuous backups.
pub(crate) fn restored_schema(
    face: &Face,
    source: &TableSchema,
    target: &str,
    overrides: &Overrides,
    restored: Restored,
) -> Result<TableSchema> {
    let had = Meta::read(&source.options.face);
    let (billing, throughput) = billing(&had, overrides)?;
    let mut metas = BTreeMap::new();
    let mut indexes = Vec::new();
    for index in &source.indexes {
        let own = had.indexes.get(&index.name).cloned().unwrap_or_default();
        let chosen = if own.local { &overrides.local } else { &overrides.global };
        let mut index = index.clone();
        let mut kept = own.throughput;
        if let Some(chosen) = chosen {
            let Some(request) = asked_for(&index, source, chosen) else { continue };
            kept = index_throughput(&index.name, &own, (billing, request))?;
            index.name = request.name.clone().unwrap_or_default();
        }
        let throughput = match billing {
            Billing::PayPerRequest => Throughput::default(),
            Billing::Provisioned if own.local => Throughput::default(),
            Billing::Provisioned if kept == Throughput::default() => throughput,
            Billing::Provisioned => kept,
        };
        let on_demand = if own.local { Throughput::default() } else { own.on_demand };
        let meta = IndexMeta { throughput, on_demand, warm: Throughput::default(), ..own };
        if metas.insert(index.name.clone(), meta).is_none() {
            indexes.push(index);
        }
    }
    for (chosen, local) in [(&overrides.local, true), (&overrides.global, false)] {
        for request in chosen.iter().flatten() {
            let name = request.name.as_deref().unwrap_or_default();
            if metas.get(name).is_none_or(|own| own.local != local) {
                return Err(Error::validation(texts::index_not_in_source(name)));
            }
        }
    }
    let vectors = if overrides.vector_indexes.is_none() { had.vectors } else { BTreeMap::new() };
    if billing == Billing::Provisioned && !vectors.is_empty() {
        return Err(Error::validation(texts::VECTORS_NEED_ON_DEMAND));
    }
    let created_ms = face.now_ms();
    let meta = Meta {
        id: uuid(face),
        created_ms,
        billing,
        per_request_ms: if billing == Billing::PayPerRequest { created_ms } else { 0 },
        throughput,
        on_demand: on_demand(billing, had.on_demand, overrides.on_demand)?,
        indexes: metas,
        encryption_key: match &overrides.encryption {
            Some(own) => own.key_arn(&face.options),
            None => had.encryption_key,
        },
        vectors,
        restored: Some(restored),
        ..Meta::default()
    };
    Ok(TableSchema {
        name: face.engine.table_name(target),
        indexes,
        options: TableOptions {
            strict_index_keys: source.options.strict_index_keys,
            item_size_bytes_max: source.options.item_size_bytes_max,
            value_depth_max: source.options.value_depth_max,
            face: meta.to_face(),
            ..TableOptions::default()
        },
        ..source.clone()
    })
}

fn billing(had: &Meta, overrides: &Overrides) -> Result<(Billing, Throughput)> {
    let billing = match overrides.billing.as_deref() {
        Some("PAY_PER_REQUEST") => Billing::PayPerRequest,
        Some(_) => Billing::Provisioned,
        None => had.billing,
    };
    match (billing, overrides.throughput) {
        (Billing::PayPerRequest, Some(_)) => Err(Error::validation(match overrides.billing {
            Some(_) => texts::RESTORE_UNITS_FORBIDDEN,
            None => texts::RESTORE_UNITS_WITHOUT_MODE,
        })),
        (Billing::PayPerRequest, None) => Ok((billing, Throughput::default())),
        (Billing::Provisioned, Some(throughput)) => Ok((billing, throughput.units()?)),
        (Billing::Provisioned, None) if had.throughput == Throughput::default() => {
            Err(Error::validation(texts::RESTORE_UNITS_REQUIRED))
        }
        (Billing::Provisioned, None) => Ok((billing, had.throughput)),
    }
}

/// Returns the maximum throughput of the new table. One that is provisioned has none.
fn on_demand(
    billing: Billing,
    had: Throughput,
    asked: Option<ThroughputRequest>,
) -> Result<Throughput> {
    match (billing, asked.and_then(ThroughputRequest::first_cap)) {
        (Billing::Provisioned, Some(member)) => {
            Err(Error::validation(texts::restored_on_demand_forbidden(member)))
        }
        (Billing::Provisioned, None) => Ok(Throughput::default()),
        (Billing::PayPerRequest, _) => ThroughputRequest::caps(asked, Some(had), "table")
            .map_err(|_| Error::validation(texts::RESTORE_ON_DEMAND_OUT_OF_RANGE)),
    }
}

/// Finds the request that asks for an index: one with its name, else one with its key and projection that
/// gives it a name of its own.
fn asked_for<'r>(
    index: &IndexSchema,
    source: &TableSchema,
    chosen: &'r [IndexRequest],
) -> Option<&'r IndexRequest> {
    let same = || chosen.iter().filter(|request| is_same(index, request));
    let is_new = |request: &&IndexRequest| {
        let name = request.name.as_deref().unwrap_or_default();
        source.indexes.iter().all(|index| index.name != name)
    };
    let named = same().find(|request| request.name.as_deref() == Some(&index.name));
    named.or_else(|| same().find(is_new))
}

/// Returns the throughput of an index that was asked for.
fn index_throughput(
    name: &str,
    own: &IndexMeta,
    (billing, request): (Billing, &IndexRequest),
) -> Result<Throughput> {
    match (billing, request.throughput) {
        (Billing::PayPerRequest, Some(_)) => {
            Err(Error::validation(texts::restored_index_units_forbidden(name)))
        }
        (Billing::Provisioned, Some(throughput)) => throughput.units(),
        (Billing::Provisioned, None) if !own.local => {
            Err(Error::validation(texts::restored_index_units_required(name)))
        }
        (_, None) => Ok(own.throughput),
    }
}

/// Tells whether a request means the index as it is.
fn is_same(index: &IndexSchema, request: &IndexRequest) -> bool {
    let hash = index.partition.iter().map(|column| (column.name.as_str(), "HASH"));
    let range = index.sort.iter().map(|column| (column.name.as_str(), "RANGE"));
    let keys = request.keys.iter().flatten().map(|key| {
        (key.name.as_deref().unwrap_or_default(), key.key_type.as_deref().unwrap_or_default())
    });
    let projection = request.projection.as_ref();
    let asked = projection.and_then(|own| own.projection_type.as_deref()).unwrap_or_default();
    let names = projection.and_then(|own| own.non_key_attributes.as_deref());
    let is_projected = match &index.projected {
        Projected::All => asked == "ALL",
        Projected::KeysOnly => asked == "KEYS_ONLY",
        Projected::Include(own) => asked == "INCLUDE" && names == Some(own),
    };
    is_projected && hash.chain(range).eq(keys)
}
