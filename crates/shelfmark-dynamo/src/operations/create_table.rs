//! CreateTable.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_engine::{ErrorKind, Table};
use shelfmark_model::{ChangeImages, IndexSchema, Placement, RowKind, TableOptions, TableSchema};

use super::table_request::{
    self, Definition, EncryptionRequest, IndexRequest, KeyElement, StreamRequest, StreamWanted,
    Tag, ThroughputRequest, WarmFloor,
};
use super::table_schema::{Definitions, KeyColumns, check_indexes};
use super::vector_requests::{self, VectorRequest};
use super::{resource_policy, tags};
use crate::describe;
use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::{ITEM_SIZE_BYTES_MAX, VALUE_DEPTH_MAX};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::sizes::Sizes;
use crate::streams::free_label;
use crate::table::{Billing, IndexMeta, Meta, Throughput, ToolSettings};

/// The members that a table is created from; an import has them as `TableCreationParameters`.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) table: Option<String>,
    definitions: Option<Vec<Definition>>,
    keys: Option<Vec<KeyElement>>,
    local: Option<Vec<IndexRequest>>,
    global: Option<Vec<IndexRequest>>,
    billing: Option<String>,
    throughput: Option<ThroughputRequest>,
    on_demand: Option<ThroughputRequest>,
    warm: Option<ThroughputRequest>,
    tags: Option<Vec<Tag>>,
    deletion_protection: bool,
    table_class: Option<String>,
    encryption: Option<EncryptionRequest>,
    stream: Option<StreamRequest>,
    policy: Option<String>,
    settings_replication: Option<String>,
    vectors: Option<Vec<VectorRequest>>,
    /// A member that asks for something that this server does not do.
    unsupported: Option<&'static str>,
}

/// Answers CreateTable.
pub(super) fn answer(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let name = request.table.clone().unwrap_or_default();
    let texts = (texts::CREATED_STREAM_NEEDS_VIEW, texts::CREATED_STREAM_HAS_NO_VIEW);
    let stream = request.stream.as_ref().map(|stream| stream.wanted(texts)).transpose()?;
    let schema = schema(face, request)?;
    // A new table must not hide another face's that clients use by this name.
    if crate::table::find_named(&face.engine, &name).is_ok_and(|table| table.is_shared()) {
        return Err(Error::new(Exception::ResourceInUse, texts::table_exists(&name)));
    }
    let created = match stream {
        Some(StreamWanted::On(images)) => create_with_stream(face, schema, images),
        Some(StreamWanted::Off) | None => face.engine.create_table(schema),
    };
    let table = created.map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            return Error::new(Exception::ResourceInUse, texts::table_exists(&name));
        }
        error.into()
    })?;
    Ok(Writer::answer(|out| {
        out.name("TableDescription");
        describe::put(out, &face.options, &table, "CREATING", &Sizes::default());
    }))
}

fn create_with_stream(
    face: &Face,
    mut schema: TableSchema,
    images: ChangeImages,
) -> shelfmark_engine::Result<Arc<Table>> {
    let label = free_label(&face.engine, &schema.name, face.now_ms())?;
    let mut meta = Meta::read(&schema.options.face);
    meta.latest_stream = Some(label.clone());
    meta.put(&mut schema.options.face);
    face.engine.create_table_with_stream(schema, &label, images)
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| request.read(reader, name))?;
    shape(&request)?;
    Ok(request)
}

impl Request {
    /// Reads one member.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<()> {
        let request = self;
        match name {
            "TableName" => request.table = reader.text()?,
            "AttributeDefinitions" => {
                request.definitions = table_request::read_definitions(reader)?;
            }
            "KeySchema" => request.keys = table_request::read_keys(reader)?,
            "LocalSecondaryIndexes" => request.local = table_request::read_indexes(reader)?,
            "GlobalSecondaryIndexes" => request.global = table_request::read_indexes(reader)?,
            "BillingMode" => request.billing = reader.text()?,
            "ProvisionedThroughput" => {
                request.throughput = table_request::read_throughput(reader)?;
            }
            "WarmThroughput" => request.warm = table_request::read_throughput(reader)?,
            "OnDemandThroughput" => request.on_demand = table_request::read_throughput(reader)?,
            "Tags" => request.tags = table_request::read_tags(reader)?,
            "DeletionProtectionEnabled" => {
                request.deletion_protection = reader.boolean()? == Some(true);
            }
            "TableClass" => request.table_class = reader.text()?,
            "SSESpecification" => request.encryption = table_request::read_encryption(reader)?,
            "StreamSpecification" => {
                request.stream = table_request::read_stream(reader)?;
            }
            "VectorIndexes" => {
                request.vectors = vector_requests::read(reader)?;
            }
            "ResourcePolicy" => request.policy = reader.text()?,
            "GlobalTableSettingsReplicationMode" => {
                request.settings_replication = reader.text()?;
            }
            "GlobalTableSourceArn" if reader.text()?.is_some() => {
                request.unsupported = Some("GlobalTableSourceArn");
            }
            "GlobalTableSourceArn" => {}
            _ => reader.skip()?,
        }
        Ok(())
    }
}

pub(super) fn shape(request: &Request) -> Result<()> {
    if request.table.is_none() {
        return Err(Error::validation(texts::TABLE_NAME_REQUIRED));
    }
    let mut shape = Shape::default();
    shape.new_name("TableName", request.table.as_deref());
    shape.required("AttributeDefinitions", request.definitions.is_some());
    table_request::shape_definitions(
        request.definitions.as_deref().unwrap_or_default(),
        &mut shape,
    );
    shape.required("KeySchema", request.keys.is_some());
    if let Some(keys) = &request.keys {
        table_request::shape_keys(keys, "KeySchema", 2, &mut shape);
    }
    for (member, indexes, local) in [
        ("GlobalSecondaryIndexes", &request.global, false),
        ("LocalSecondaryIndexes", &request.local, true),
    ] {
        for (position, index) in indexes.iter().flatten().enumerate() {
            let path = format!("{member}.{}.member", position + 1);
            table_request::shape_index(index, &path, local, &mut shape);
        }
    }
    let vectors = request.vectors.as_deref().unwrap_or_default();
    vector_requests::shape(vectors, "VectorIndexes", &mut shape);
    shape.one_of("BillingMode", request.billing.as_deref(), &["PROVISIONED", "PAY_PER_REQUEST"]);
    if let Some(throughput) = request.throughput {
        table_request::shape_throughput(throughput, "ProvisionedThroughput", &mut shape);
    }
    table_request::shape_stream(request.stream.as_ref(), &mut shape);
    table_request::shape_encryption("SSESpecification", request.encryption.as_ref(), &mut shape);
    shape.check()?;
    table_request::check_encryption(request.encryption.as_ref())?;
    table_request::check_table_class(request.table_class.as_deref())?;
    table_request::check_replication(request.settings_replication.as_deref())?;
    match request.unsupported {
        Some(member) => Err(Error::validation(texts::not_supported(member))),
        None => Ok(()),
    }
}

pub(super) fn schema(face: &Face, request: Request) -> Result<TableSchema> {
    let (billing, throughput) = billing(request.billing.as_deref(), request.throughput)?;
    let definitions = Definitions::of(request.definitions.unwrap_or_default())?;
    let key = definitions.table_key(&request.keys.unwrap_or_default())?;
    let mut metas = BTreeMap::new();
    // The service looks at the global ones first.
    let global = global_indexes(&definitions, billing, request.global, &mut metas)?;
    let local = local_indexes(&definitions, &key, request.local, &mut metas)?;
    check_indexes(&local, &global)?;
    let indexes: Vec<IndexSchema> = local.into_iter().chain(global).collect();
    let vectors = vector_requests::of_new_table(request.vectors, &definitions, billing, &indexes)?;
    let searched = vectors.values().flat_map(|index| &index.schema);
    definitions.check_all_used(&key, &indexes, searched.map(|own| own.name.as_str()))?;
    let warm = match request.warm {
        Some(warm) => {
            warm.warm(billing.least_warm(throughput), WarmFloor::of_new(billing), "table")?
        }
        None => Throughput::default(),
    };
    let on_demand = on_demand(billing, request.on_demand)?;
    let created_ms = face.now_ms();
    let meta = Meta {
        id: uuid(face),
        created_ms,
        billing,
        per_request_ms: if billing == Billing::PayPerRequest { created_ms } else { 0 },
        throughput,
        on_demand,
        warm,
        indexes: metas,
        tags: tags::collect(request.tags.unwrap_or_default())?,
        deletion_protection: request.deletion_protection,
        table_class: request.table_class,
        table_class_ms: 0,
        encryption_key: request.encryption.and_then(|own| own.key_arn(&face.options)),
        latest_stream: None,
        settings_replication: request.settings_replication,
        tools: tools(face, request.policy)?,
        vectors,
        restored: None,
    };
    Ok(TableSchema {
        name: face.engine.table_name(&request.table.unwrap_or_default()),
        partition: key.partition,
        sort: key.sort,
        placement: Placement::Hashed,
        rows: RowKind::Items,
        columns: Vec::new(),
        indexes,
        options: TableOptions {
            strict_index_keys: true,
            item_size_bytes_max: Some(ITEM_SIZE_BYTES_MAX as u64),
            value_depth_max: Some(VALUE_DEPTH_MAX as u64),
            face: meta.to_face(),
            ..TableOptions::default()
        },
        cells: None,
    })
}

/// Returns what tools put on a table with its creation.
fn tools(face: &Face, policy: Option<String>) -> Result<ToolSettings> {
    let policy =
        policy.map(|document| resource_policy::of_new_table(face, document)).transpose()?;
    let policies = policy.map(|policy| (String::new(), policy)).into_iter().collect();
    Ok(ToolSettings { policies, ..ToolSettings::default() })
}

fn billing(
    mode: Option<&str>,
    throughput: Option<ThroughputRequest>,
) -> Result<(Billing, Throughput)> {
    if mode == Some("PAY_PER_REQUEST") {
        if throughput.is_some() {
            return Err(Error::validation(texts::UNITS_FORBIDDEN));
        }
        return Ok((Billing::PayPerRequest, Throughput::default()));
    }
    let throughput = throughput.ok_or_else(|| Error::validation(texts::UNITS_REQUIRED))?;
    Ok((Billing::Provisioned, throughput.units()?))
}

fn on_demand(billing: Billing, asked: Option<ThroughputRequest>) -> Result<Throughput> {
    let first = asked.and_then(ThroughputRequest::first_cap);
    if let (Billing::Provisioned, Some(member)) = (billing, first) {
        return Err(Error::validation(texts::created_on_demand_forbidden(member)));
    }
    ThroughputRequest::caps(asked, None, "table")
}

fn local_indexes(
    definitions: &Definitions,
    key: &KeyColumns,
    requests: Option<Vec<IndexRequest>>,
    metas: &mut BTreeMap<String, IndexMeta>,
) -> Result<Vec<IndexSchema>> {
    let Some(requests) = requests else { return Ok(Vec::new()) };
    if requests.is_empty() {
        return Err(Error::validation(texts::LOCAL_INDEXES_EMPTY));
    }
    if key.sort.is_empty() {
        return Err(Error::validation(texts::LOCAL_INDEX_NEEDS_RANGE));
    }
    let mut indexes = Vec::with_capacity(requests.len());
    for request in requests {
        let index = definitions.local_index(request, key)?;
        let meta = IndexMeta { local: true, ..IndexMeta::default() };
        metas.insert(index.name.clone(), meta);
        indexes.push(index);
    }
    Ok(indexes)
}

fn global_indexes(
    definitions: &Definitions,
    billing: Billing,
    requests: Option<Vec<IndexRequest>>,
    metas: &mut BTreeMap<String, IndexMeta>,
) -> Result<Vec<IndexSchema>> {
    let Some(requests) = requests else { return Ok(Vec::new()) };
    if requests.is_empty() {
        return Err(Error::validation(texts::GLOBAL_INDEXES_EMPTY));
    }
    let mut indexes = Vec::with_capacity(requests.len());
    for request in requests {
        let (index, meta) = definitions.global_index(request, billing)?;
        metas.insert(index.name.clone(), meta);
        indexes.push(index);
    }
    Ok(indexes)
}

/// Returns a random UUID, version 4.
pub(super) fn uuid(face: &Face) -> String {
    let mut bytes = [0; 16];
    face.environment.random.fill(&mut bytes);
    let number = u128::from_be_bytes(bytes);
    let number = (number & !(0xF << 76) & !(0b11 << 62)) | (4 << 76) | (0b10 << 62);
    let digits = format!("{number:032x}");
    let part = |start, end| digits.get(start..end).unwrap_or_default().to_owned();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}
