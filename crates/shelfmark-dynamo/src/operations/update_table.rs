//! UpdateTable: billing, throughput, protection, and global indexes one at a time.
//!
//! An index is complete when the answer leaves; meanwhile reads and writes go on. Clients that wait
//! for ACTIVE find it at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use shelfmark_engine::weight::Allowance;
use shelfmark_engine::{ErrorKind, Table};
use shelfmark_model::{IndexSchema, IndexState};

use super::attribute_uses::{self, AttributeUse};
use super::describe_table::Describing;
use super::for_a_while::for_a_while;
use super::table_request::{
    self, Definition, EncryptionRequest, IndexRequest, StreamRequest, StreamWanted,
    ThroughputRequest, WarmFloor,
};
use super::table_schema::{Definitions, check_indexes};
use super::update_parts::{Part, check_together, status_beside};
use super::vector_requests::{self, VectorUpdate};
use crate::errors::{Error, Exception, Result, texts};
use crate::face::{Done, Face};
use crate::json::Reader;
use crate::shape::Shape;
use crate::streams::free_label;
use crate::table::{self, Billing, IndexMeta, Meta, Throughput};

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    definitions: Option<Vec<Definition>>,
    billing: Option<String>,
    throughput: Option<ThroughputRequest>,
    on_demand: Option<ThroughputRequest>,
    warm: Option<ThroughputRequest>,
    indexes: Option<Vec<IndexUpdate>>,
    vectors: Option<Vec<VectorUpdate>>,
    deletion_protection: Option<bool>,
    table_class: Option<String>,
    encryption: Option<EncryptionRequest>,
    /// The first member that is about replicas in other regions.
    of_global_tables: Option<String>,
    stream: Option<StreamRequest>,
    settings_replication: Option<String>,
    /// Regions of replicas.
    replicas: Option<Vec<String>>,
    witnesses: Option<Vec<()>>,
}

/// An element of GlobalSecondaryIndexUpdates.
#[derive(Debug, Default)]
struct IndexUpdate {
    create: Option<IndexRequest>,
    /// Name and throughput.
    update: Option<IndexRequest>,
    /// Only the name.
    delete: Option<IndexRequest>,
}

/// Answers UpdateTable.
pub(super) fn start(face: &Face, body: &[u8], allowance: Allowance, done: Done) {
    match update(face, body) {
        Ok((table, status)) => {
            let shown = ("TableDescription", status);
            Describing::of(face, table, shown).start(face, allowance, done);
        }
        Err(error) => done.answer(Err(error)),
    }
}

/// Returns the table, and the state in which it is shown.
fn update(face: &Face, body: &[u8]) -> Result<(Arc<Table>, &'static str)> {
    let request = parse(body, &face.options.region)?;
    let table = table::find_own(&face.engine, request.table.as_deref().unwrap_or_default())?;
    let status = status_beside(&request.parts());
    Ok((run(face, &table, request)?, status))
}

fn parse(body: &[u8], region: &str) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => request.table = reader.text()?,
            "AttributeDefinitions" => {
                request.definitions = table_request::read_definitions(reader)?;
            }
            "BillingMode" => request.billing = reader.text()?,
            "ProvisionedThroughput" => {
                request.throughput = table_request::read_throughput(reader)?;
            }
            "WarmThroughput" => request.warm = table_request::read_throughput(reader)?,
            "OnDemandThroughput" => request.on_demand = table_request::read_throughput(reader)?,
            "GlobalSecondaryIndexUpdates" => request.indexes = reader.list(parse_update)?,
            "DeletionProtectionEnabled" => request.deletion_protection = reader.boolean()?,
            "TableClass" => request.table_class = reader.text()?,
            "StreamSpecification" => request.stream = table_request::read_stream(reader)?,
            "VectorIndexUpdates" => request.vectors = vector_requests::read_updates(reader)?,
            "ReplicaUpdates" => request.replicas = reader.list(parse_replica)?,
            "GlobalTableWitnessUpdates" => {
                request.witnesses = reader.list(|reader| reader.skip().map(Some))?;
            }
            "GlobalTableSettingsReplicationMode" => {
                request.settings_replication = reader.text()?;
            }
            // Those of global tables.
            "MultiRegionConsistency" | "DisassociationProtectionEnabled" => {
                reader.skip()?;
                request.of_global_tables.get_or_insert_with(|| name.to_owned());
            }
            "SSESpecification" => {
                request.encryption = table_request::read_encryption(reader)?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    shape(&request, region)?;
    Ok(request)
}

fn parse_update(reader: &mut Reader<'_>) -> Result<Option<IndexUpdate>> {
    let mut update = IndexUpdate::default();
    let present = reader.structure(|reader, name| {
        match name {
            "Create" => update.create = table_request::read_index(reader)?,
            "Update" => update.update = table_request::read_index(reader)?,
            "Delete" => update.delete = table_request::read_index(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(update))
}

/// Reads the region of a replica that is created, changed or deleted.
fn parse_replica(reader: &mut Reader<'_>) -> Result<Option<String>> {
    let mut region = None;
    let present = reader.structure(|reader, _| {
        let _is_there = reader.structure(|reader, name| {
            match name {
                "RegionName" => region = reader.text()?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(present.then(|| region.unwrap_or_default()))
}

fn shape(request: &Request, region: &str) -> Result<()> {
    let mut shape = Shape::default();
    shape.table("TableName", request.table.as_deref());
    table_request::shape_definitions(
        request.definitions.as_deref().unwrap_or_default(),
        &mut shape,
    );
    shape.one_of("BillingMode", request.billing.as_deref(), &["PROVISIONED", "PAY_PER_REQUEST"]);
    if let Some(throughput) = request.throughput {
        table_request::shape_throughput(throughput, "ProvisionedThroughput", &mut shape);
    }
    for (position, update) in request.indexes.iter().flatten().enumerate() {
        let path = format!("GlobalSecondaryIndexUpdates.{}.member", position + 1);
        if let Some(index) = &update.create {
            table_request::shape_index(index, &format!("{path}.Create"), false, &mut shape);
        }
        for (action, index) in [("Update", &update.update), ("Delete", &update.delete)] {
            if let Some(index) = index {
                let path = format!("{path}.{action}.IndexName");
                shape.required(&path, index.name.is_some());
                shape.new_name(&path, index.name.as_deref());
            }
        }
    }
    let vectors = request.vectors.as_deref().unwrap_or_default();
    vector_requests::shape_updates(vectors, &mut shape);
    table_request::shape_stream(request.stream.as_ref(), &mut shape);
    table_request::shape_encryption("SSESpecification", request.encryption.as_ref(), &mut shape);
    shape.check()?;
    table_request::check_encryption(request.encryption.as_ref())?;
    table_request::check_table_class(request.table_class.as_deref())?;
    table_request::check_replication(request.settings_replication.as_deref())?;
    check_replicas(request, region)?;
    if let Some(member) = &request.of_global_tables {
        return Err(Error::validation(texts::not_supported(member)));
    }
    check_together(&request.parts())?;
    if request.indexes.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::validation(texts::INDEX_UPDATES_EMPTY));
    }
    check_indexes_once(request.indexes.as_deref().unwrap_or_default())
}

/// Refuses changes of replicas: a table has none, and its own region is not one of them.
fn check_replicas(request: &Request, region: &str) -> Result<()> {
    let replicas = request.replicas.as_deref().unwrap_or_default();
    if replicas.iter().any(|own| own == region) {
        return Err(Error::validation(texts::REPLICA_IN_THE_LOCAL_REGION));
    }
    let has_witnesses = request.witnesses.as_ref().is_some_and(|witnesses| !witnesses.is_empty());
    if !replicas.is_empty() || has_witnesses {
        return Err(Error::validation(texts::not_supported("Changing replicas")));
    }
    Ok(())
}

impl Request {
    /// Returns what is to be changed.
    fn parts(&self) -> Vec<Part> {
        let indexes = self.indexes.as_deref().unwrap_or_default();
        let any = |is_one: fn(&IndexUpdate) -> bool| indexes.iter().any(is_one);
        let on_demand = self.on_demand.and_then(ThroughputRequest::first_cap);
        let parts = [
            (Part::Encryption, self.encryption.is_some()),
            (Part::Class, self.table_class.is_some()),
            (Part::Protection, self.deletion_protection.is_some()),
            (Part::Warm, self.warm.is_some()),
            (Part::OnDemand, on_demand.is_some()),
            (Part::Billing, self.billing.is_some()),
            (Part::Throughput, self.throughput.is_some()),
            (Part::Stream, self.stream.is_some()),
            (Part::IndexCreate, any(|own| own.create.is_some())),
            (Part::IndexDelete, any(|own| own.delete.is_some())),
            (Part::IndexUpdate, any(|own| own.create.is_none() && own.delete.is_none())),
            (Part::Vectors, self.vectors.as_ref().is_some_and(|vectors| !vectors.is_empty())),
            (Part::SettingsReplication, self.settings_replication.is_some()),
        ];
        parts.into_iter().filter_map(|(part, is_asked)| is_asked.then_some(part)).collect()
    }
}

/// Refuses several changes of one index.
fn check_indexes_once(updates: &[IndexUpdate]) -> Result<()> {
    let mut names = BTreeSet::new();
    for IndexUpdate { create, update, delete } in updates {
        let changed = create.as_ref().or(update.as_ref()).or(delete.as_ref());
        let name = changed.and_then(|index| index.name.as_deref()).unwrap_or_default();
        if !names.insert(name) {
            return Err(Error::validation(texts::index_changed_twice(name)));
        }
    }
    Ok(())
}

/// A change of an index that was checked.
enum IndexChange {
    Create(IndexSchema, IndexMeta),
    Update(String, IndexMeta),
    Delete(String),
}

impl IndexChange {
    /// Returns true if it makes or drops an index.
    const fn is_online(&self) -> bool {
        !matches!(self, Self::Update(..))
    }
}

fn run(face: &Face, table: &Arc<Table>, request: Request) -> Result<Arc<Table>> {
    let meta = Meta::of(table);
    check_encryption_changes(face, &meta, request.encryption.as_ref())?;
    let billing = match request.billing.as_deref() {
        Some("PAY_PER_REQUEST") => Billing::PayPerRequest,
        Some(_) => Billing::Provisioned,
        None => meta.billing,
    };
    let is_kept = request.billing.is_none();
    let throughput = throughput(&meta, (billing, is_kept), request.throughput)?;
    let least = meta.warm_now().max(billing.least_warm(throughput));
    let warm = request.warm.map(|warm| warm.warm(least, WarmFloor::Current, "table"));
    let warm = warm.transpose()?.unwrap_or(meta.warm);
    let on_demand = on_demand(billing, request.on_demand, meta.on_demand)?;
    let definitions = Definitions::of(request.definitions.unwrap_or_default())?;
    let updates = request.indexes.unwrap_or_default();
    let vectors = request.vectors.unwrap_or_default();
    check_definitions(table, &definitions, (&updates, &vectors))?;
    check_one_change(&updates)?;
    // Everything is checked before anything is changed.
    let changes = updates
        .into_iter()
        .map(|update| plan_index(table, &definitions, billing, update))
        .collect::<Result<Vec<_>>>()?;
    check_one_online(&table.schema.indexes, &changes)?;
    let before = (table.schema.indexes.as_slice(), meta.vectors.clone());
    let name = &table.schema.name.name;
    let vector = vector_requests::change(vectors, &definitions, billing, (name, before))?;
    if vector.is_some() && changes.iter().any(IndexChange::is_online) {
        return one_index_change();
    }
    if billing == Billing::Provisioned && vector.is_none() && !meta.vectors.is_empty() {
        return Err(Error::validation(texts::VECTORS_NEED_ON_DEMAND));
    }
    let stream = stream_wanted(table, request.stream.as_ref())?;
    if stream.is_some() && request.throughput.is_some() {
        return Err(Error::validation(texts::STREAM_BESIDE_UNITS));
    }
    if billing == Billing::Provisioned && meta.billing == Billing::PayPerRequest {
        check_all_provisioned(&meta, &changes)?;
    }
    let now_ms = face.now_ms();
    let mut current = face.engine.alter_options(&table.schema.name, |options| {
        let mut meta = Meta::read(&options.face);
        meta.set_billing(billing, now_ms);
        // What was provisioned once stays warm.
        meta.warm = meta.warm_now().max(warm);
        meta.throughput = throughput;
        meta.on_demand = on_demand;
        if let Some(protected) = request.deletion_protection {
            meta.deletion_protection = protected;
        }
        if let Some(class) = request.table_class {
            meta.set_class(class, now_ms);
        }
        if let Some(encryption) = &request.encryption {
            meta.encryption_key = encryption.key_arn(&face.options);
        }
        meta.settings_replication =
            request.settings_replication.or(meta.settings_replication.take());
        if let Some(change) = vector {
            change.apply(&mut meta.vectors);
        }
        meta.put(&mut options.face);
    })?;
    for change in changes {
        current = change_index(face, table, change)?;
    }
    match stream {
        Some(wanted) => change_stream(face, table, wanted),
        None => Ok(current),
    }
}

/// Checks the attributes that new indexes read against the table; other definitions are not looked at.
fn check_definitions(
    table: &Table,
    definitions: &Definitions,
    (updates, vectors): (&[IndexUpdate], &[VectorUpdate]),
) -> Result<()> {
    let keys = updates.iter().filter_map(|update| update.create.as_ref()?.keys.as_ref()).flatten();
    let keys = keys.filter_map(|key| {
        let letter = definitions.letter(key.name())?;
        Some(AttributeUse::key(key.name(), letter, key.is_hash()))
    });
    let vectors = vectors.iter().flat_map(|update| update.uses(definitions));
    attribute_uses::check_agree(&table.schema, keys.chain(vectors))
}

/// Refuses to make or drop several indexes at once.
fn check_one_change(updates: &[IndexUpdate]) -> Result<()> {
    match updates.iter().filter(|update| update.update.is_none()).count() {
        0 | 1 => Ok(()),
        _ => one_index_change(),
    }
}

fn one_index_change<T>() -> Result<T> {
    Err(Error::new(Exception::LimitExceeded, texts::ONE_INDEX_CHANGE))
}

/// Refuses to make or drop an index while another one is made. The very one that is made may be dropped.
fn check_one_online(indexes: &[IndexSchema], changes: &[IndexChange]) -> Result<()> {
    let is_made = |index: &&IndexSchema| index.state == IndexState::Building;
    let made: Vec<&str> = indexes.iter().filter(is_made).map(|index| index.name.as_str()).collect();
    let is_of_another = |change: &IndexChange| match change {
        IndexChange::Create(..) => !made.is_empty(),
        IndexChange::Delete(name) => made.iter().any(|own| own != name),
        IndexChange::Update(..) => false,
    };
    match changes.iter().any(is_of_another) {
        true => one_index_change(),
        false => Ok(()),
    }
}

/// Refuses a key with which the table is encrypted already.
fn check_encryption_changes(
    face: &Face,
    meta: &Meta,
    request: Option<&EncryptionRequest>,
) -> Result<()> {
    let Some(request) = request else { return Ok(()) };
    match request.key_arn(&face.options) {
        wanted if wanted != meta.encryption_key => Ok(()),
        Some(_) => Err(Error::validation(texts::ENCRYPTION_UNCHANGED)),
        None => Err(Error::validation(texts::ENCRYPTION_IS_DEFAULT)),
    }
}

/// Returns what is to become of the stream of a table.
fn stream_wanted(table: &Table, request: Option<&StreamRequest>) -> Result<Option<StreamWanted>> {
    let Some(request) = request else { return Ok(None) };
    let wanted = request.wanted((texts::STREAM_NEEDS_VIEW, texts::STREAM_HAS_NO_VIEW))?;
    let name = &table.schema.name.name;
    match (wanted, &table.schema.options.stream) {
        (StreamWanted::On(_), Some(_)) => Err(Error::validation(texts::stream_is_on(name))),
        (StreamWanted::Off, None) => Err(Error::validation(texts::stream_is_off(name))),
        (StreamWanted::On(_), None) | (StreamWanted::Off, Some(_)) => Ok(Some(wanted)),
    }
}

fn change_stream(face: &Face, table: &Table, wanted: StreamWanted) -> Result<Arc<Table>> {
    let name = &table.schema.name;
    let StreamWanted::On(images) = wanted else { return Ok(face.engine.stop_stream(name)?) };
    let label = free_label(&face.engine, name, face.now_ms())?;
    // The label comes first: it is only shown, and the stream must not be one that nobody can find.
    face.engine.alter_options(name, |options| {
        let mut meta = Meta::read(&options.face);
        meta.latest_stream = Some(label.clone());
        meta.put(&mut options.face);
    })?;
    Ok(face.engine.start_stream(name, &label, images)?)
}

fn throughput(
    meta: &Meta,
    (billing, is_kept): (Billing, bool),
    request: Option<ThroughputRequest>,
) -> Result<Throughput> {
    match (billing, request) {
        (Billing::PayPerRequest, Some(_)) => Err(Error::validation(texts::UNITS_FORBIDDEN)),
        (Billing::PayPerRequest, None) => Ok(Throughput::default()),
        (Billing::Provisioned, Some(request)) => {
            let units = request.units()?;
            if meta.billing == billing && units == meta.throughput {
                return Err(Error::validation(texts::units_unchanged("the table", units)));
            }
            Ok(units)
        }
        (Billing::Provisioned, None) if is_kept => Ok(meta.throughput),
        (Billing::Provisioned, None) => Err(Error::validation(texts::UNITS_REQUIRED_NOW)),
    }
}

/// Returns the maximum throughput that a table is to have. One that is provisioned has none.
fn on_demand(
    billing: Billing,
    asked: Option<ThroughputRequest>,
    before: Throughput,
) -> Result<Throughput> {
    match (billing, asked.and_then(ThroughputRequest::first_cap)) {
        (Billing::Provisioned, Some(member)) => {
            Err(Error::validation(texts::on_demand_forbidden(member)))
        }
        (Billing::Provisioned, None) => Ok(Throughput::default()),
        (Billing::PayPerRequest, _) => ThroughputRequest::caps(asked, Some(before), "table"),
    }
}

fn plan_index(
    table: &Table,
    definitions: &Definitions,
    billing: Billing,
    update: IndexUpdate,
) -> Result<IndexChange> {
    match update {
        IndexUpdate { create: Some(index), update: None, delete: None } => {
            plan_create(table, definitions, billing, index)
        }
        IndexUpdate { create: None, update: Some(index), delete: None } => {
            plan_update(table, billing, index)
        }
        IndexUpdate { create: None, update: None, delete: Some(index) } => {
            Ok(IndexChange::Delete(existing(table, index.name, "delete")?))
        }
        IndexUpdate { create: None, update: None, delete: None } => {
            Err(Error::validation(texts::NO_INDEX_ACTION))
        }
        IndexUpdate { .. } => Err(Error::validation(texts::ONE_INDEX_ACTION)),
    }
}

fn plan_update(table: &Table, billing: Billing, index: IndexRequest) -> Result<IndexChange> {
    let name = existing(table, index.name, "update")?;
    let meta = Meta::of(table);
    let known = meta.indexes.get(&name).cloned().unwrap_or_default();
    let has_other = index.on_demand.is_some() || index.warm.is_some();
    let throughput = match (billing, index.throughput) {
        (Billing::PayPerRequest, None) if has_other => known.throughput,
        (Billing::PayPerRequest, _) => {
            return Err(Error::validation(texts::index_update_empty(&name)));
        }
        (Billing::Provisioned, None) if has_other && meta.billing == billing => known.throughput,
        (Billing::Provisioned, None) => {
            return Err(Error::validation(texts::index_needs_both_units(&name)));
        }
        (Billing::Provisioned, Some(asked)) => {
            let units = asked.units()?;
            if meta.billing == billing && known.throughput == units {
                let text = texts::units_unchanged(&format!("the index {name}"), units);
                return Err(Error::validation(text));
            }
            units
        }
    };
    let of = format!("index : {name}");
    let on_demand = ThroughputRequest::caps(index.on_demand, Some(known.on_demand), &of)?;
    let of = format!("index {name}");
    let reached = known.warm_now(meta.billing);
    let warm = match index.warm {
        Some(warm) => {
            let least = reached.max(billing.least_warm(throughput));
            warm.warm(least, WarmFloor::Current, &of)?
        }
        None => reached,
    };
    Ok(IndexChange::Update(name, IndexMeta { local: false, throughput, on_demand, warm }))
}

/// Checks that a table that was paid per request gets the units of each of its global indexes.
fn check_all_provisioned(meta: &Meta, changes: &[IndexChange]) -> Result<()> {
    let global = meta.indexes.iter().filter(|(_, index)| !index.local);
    for (name, _) in global {
        let is_told = changes.iter().any(|change| match change {
            IndexChange::Update(told, _) | IndexChange::Delete(told) => told == name,
            IndexChange::Create(..) => false,
        });
        if !is_told {
            return Err(Error::validation(texts::index_units_required(name)));
        }
    }
    Ok(())
}

/// Finds a global index; `what` is what is to be done with it.
fn existing(table: &Table, name: Option<String>, what: &str) -> Result<String> {
    let name = name.unwrap_or_default();
    if table.schema.index(&name).is_none() {
        let text = texts::index_missing_in_table(&name, &table.schema.name.name);
        return Err(Error::new(Exception::ResourceNotFound, text));
    }
    if Meta::is_local_in(table, &name) {
        return Err(Error::validation(texts::index_is_local(what, &name)));
    }
    Ok(name)
}

fn plan_create(
    table: &Table,
    definitions: &Definitions,
    billing: Billing,
    request: IndexRequest,
) -> Result<IndexChange> {
    let name = request.name.clone().unwrap_or_default();
    match (billing, request.throughput) {
        (Billing::PayPerRequest, Some(_)) => {
            return Err(Error::validation(texts::created_index_units_forbidden(&name)));
        }
        (Billing::Provisioned, None) => {
            return Err(Error::validation(texts::index_needs_both_units(&name)));
        }
        _ => {}
    }
    if definitions.is_empty() {
        return Err(Error::validation(texts::definitions_missing(&name)));
    }
    let (index, meta) = definitions.global_index(request, billing)?;
    if table.schema.index(&name).is_some() || Meta::of(table).vectors.contains_key(&name) {
        return Err(Error::validation(texts::INDEX_EXISTS));
    }
    let (local, mut global): (Vec<IndexSchema>, Vec<IndexSchema>) = table
        .schema
        .indexes
        .iter()
        .cloned()
        .partition(|index| Meta::is_local_in(table, &index.name));
    global.push(index.clone());
    // Definitions that no key uses are refused by CreateTable alone.
    check_indexes(&local, &global)?;
    Ok(IndexChange::Create(index, meta))
}

fn change_index(face: &Face, table: &Table, change: IndexChange) -> Result<Arc<Table>> {
    let table_name = &table.schema.name;
    match change {
        IndexChange::Update(name, meta) => remember_index(face, table, &name, Some(meta)),
        IndexChange::Delete(name) => {
            face.engine.drop_index(table_name, &name)?;
            remember_index(face, table, &name, None)
        }
        IndexChange::Create(index, meta) => {
            let name = index.name.clone();
            remember_index(face, table, &name, Some(meta))?;
            let (engine, owner) = (face.engine.clone(), table_name.clone());
            match for_a_while(move || engine.add_index(&owner, index))? {
                Some(Err(error)) if error.kind() == ErrorKind::AlreadyExists => {
                    Err(Error::validation(texts::INDEX_EXISTS))
                }
                Some(Ok(changed)) => Ok(changed),
                Some(Err(error)) => {
                    let now = face.engine.table(table_name)?;
                    // It is declared, and the background builds it once that can be done.
                    if now.schema.index(&name).is_some() { Ok(now) } else { Err(error.into()) }
                }
                None => Ok(face.engine.table(table_name)?),
            }
        }
    }
}

fn remember_index(
    face: &Face,
    table: &Table,
    name: &str,
    index: Option<IndexMeta>,
) -> Result<Arc<Table>> {
    let changed = face.engine.alter_options(&table.schema.name, |options| {
        let mut meta = Meta::read(&options.face);
        match index {
            Some(index) => meta.indexes.insert(name.to_owned(), index),
            None => meta.indexes.remove(name),
        };
        meta.put(&mut options.face);
    })?;
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use shelfmark_model::{IndexKind, Projected};

    use super::*;

    fn index(name: &str, state: IndexState) -> IndexSchema {
        IndexSchema {
            name: name.to_owned(),
            kind: IndexKind::Secondary,
            partition: Vec::new(),
            sort: Vec::new(),
            projected: Projected::All,
            state,
        }
    }

    #[test]
    fn one_index_is_made_or_dropped_at_a_time() {
        let there = [index("ready", IndexState::Public), index("slow", IndexState::Building)];
        let create = IndexChange::Create(index("new", IndexState::Public), IndexMeta::default());
        let drop = |name: &str| IndexChange::Delete(name.to_owned());
        let update = IndexChange::Update("ready".to_owned(), IndexMeta::default());
        for (change, is_taken) in
            [(create, false), (drop("ready"), false), (drop("slow"), true), (update, true)]
        {
            let changes = [change];
            assert!(check_one_online(&there[..1], &changes).is_ok());
            let refused = check_one_online(&there, &changes).err();
            assert_eq!(refused.is_none(), is_taken);
            assert!(refused.is_none_or(|own| own.message == texts::ONE_INDEX_CHANGE));
        }
    }
}
