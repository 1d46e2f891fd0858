//! The structures that CreateTable and UpdateTable share: attribute definitions, key schemas,
//! indexes, throughput.
//!
//! Read and checked for shape here; what they mean together is in [`super::table_schema`].

use shelfmark_model::ChangeImages;

use crate::errors::{Error, Result, texts};
use crate::json::Reader;
use crate::limits::{
    INDEX_KEY_COLUMNS_MAX, KEY_NAME_BYTES_MAX, NON_KEY_ATTRIBUTES_MAX, THROUGHPUT_MAX,
};
use crate::options::FaceOptions;
use crate::shape::Shape;
use crate::streams::{VIEW_TYPES, images_of};
use crate::table::{Billing, Throughput, encryption_key_arn};

/// An element of AttributeDefinitions: name and letter.
#[derive(Debug, Default, Clone)]
pub(super) struct Definition {
    pub(super) name: Option<String>,
    pub(super) letter: Option<String>,
}

/// An element of a KeySchema.
#[derive(Debug, Default, Clone)]
pub(super) struct KeyElement {
    pub(super) name: Option<String>,
    pub(super) key_type: Option<String>,
}

/// An index that is to be created.
#[derive(Debug, Default)]
pub(super) struct IndexRequest {
    pub(super) name: Option<String>,
    pub(super) keys: Option<Vec<KeyElement>>,
    pub(super) projection: Option<ProjectionRequest>,
    pub(super) throughput: Option<ThroughputRequest>,
    pub(super) on_demand: Option<ThroughputRequest>,
    pub(super) warm: Option<ThroughputRequest>,
}

/// The projection of an index.
#[derive(Debug, Default)]
pub(super) struct ProjectionRequest {
    pub(super) projection_type: Option<String>,
    pub(super) non_key_attributes: Option<Vec<String>>,
}

/// ProvisionedThroughput, or OnDemandThroughput and WarmThroughput with their own names.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ThroughputRequest {
    pub(super) read: Option<i64>,
    pub(super) write: Option<i64>,
}

/// The members of OnDemandThroughput.
const ON_DEMAND_MEMBERS: [&str; 2] = ["MaxReadRequestUnits", "MaxWriteRequestUnits"];

/// The stream that a table is to have.
#[derive(Debug, Default, Clone)]
pub(super) struct StreamRequest {
    pub(super) enabled: Option<bool>,
    pub(super) view_type: Option<String>,
}

/// The encryption that a table is to have.
#[derive(Debug, Default, Clone)]
pub(super) struct EncryptionRequest {
    enabled: Option<bool>,
    kind: Option<String>,
    key: Option<String>,
}

impl EncryptionRequest {
    /// Returns the ARN of the key, if a key of the account is wanted at all.
    pub(super) fn key_arn(&self, options: &FaceOptions) -> Option<String> {
        let is_wanted = self.enabled == Some(true);
        is_wanted.then(|| encryption_key_arn(options, self.key.as_deref()))
    }
}

/// A tag: key and value.
#[derive(Debug, Default, Clone)]
pub(super) struct Tag {
    pub(super) key: Option<String>,
    pub(super) value: Option<String>,
}

pub(super) fn read_definitions(reader: &mut Reader<'_>) -> Result<Option<Vec<Definition>>> {
    reader.list(|reader| {
        let mut definition = Definition::default();
        let present = reader.structure(|reader, name| {
            match name {
                "AttributeName" => definition.name = reader.text()?,
                "AttributeType" => definition.letter = reader.text()?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(present.then_some(definition))
    })
}

pub(super) fn read_keys(reader: &mut Reader<'_>) -> Result<Option<Vec<KeyElement>>> {
    reader.list(|reader| {
        let mut element = KeyElement::default();
        let present = reader.structure(|reader, name| {
            match name {
                "AttributeName" => element.name = reader.text()?,
                "KeyType" => element.key_type = reader.text()?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(present.then_some(element))
    })
}

pub(super) fn read_indexes(reader: &mut Reader<'_>) -> Result<Option<Vec<IndexRequest>>> {
    reader.list(read_index)
}

pub(super) fn read_index(reader: &mut Reader<'_>) -> Result<Option<IndexRequest>> {
    let mut index = IndexRequest::default();
    let present = reader.structure(|reader, name| {
        match name {
            "IndexName" => index.name = reader.text()?,
            "KeySchema" => index.keys = read_keys(reader)?,
            "Projection" => index.projection = read_projection(reader)?,
            "ProvisionedThroughput" => index.throughput = read_throughput(reader)?,
            "OnDemandThroughput" => index.on_demand = read_throughput(reader)?,
            "WarmThroughput" => index.warm = read_throughput(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(index))
}

pub(super) fn read_projection(reader: &mut Reader<'_>) -> Result<Option<ProjectionRequest>> {
    let mut projection = ProjectionRequest::default();
    let present = reader.structure(|reader, name| {
        match name {
            "ProjectionType" => projection.projection_type = reader.text()?,
            "NonKeyAttributes" => projection.non_key_attributes = reader.texts()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(projection))
}

pub(super) fn read_throughput(reader: &mut Reader<'_>) -> Result<Option<ThroughputRequest>> {
    let mut throughput = ThroughputRequest::default();
    let present = reader.structure(|reader, name| {
        match name {
            "ReadCapacityUnits" | "MaxReadRequestUnits" | "ReadUnitsPerSecond" => {
                throughput.read = reader.integer()?;
            }
            "WriteCapacityUnits" | "MaxWriteRequestUnits" | "WriteUnitsPerSecond" => {
                throughput.write = reader.integer()?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(throughput))
}

pub(super) fn read_tags(reader: &mut Reader<'_>) -> Result<Option<Vec<Tag>>> {
    reader.list(|reader| {
        let mut tag = Tag::default();
        let present = reader.structure(|reader, name| {
            match name {
                "Key" => tag.key = reader.text()?,
                "Value" => tag.value = reader.text()?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(present.then_some(tag))
    })
}

/// Reads `StreamSpecification`, if it is there.
pub(super) fn read_stream(reader: &mut Reader<'_>) -> Result<Option<StreamRequest>> {
    let mut stream = StreamRequest::default();
    let present = reader.structure(|reader, name| {
        match name {
            "StreamEnabled" => stream.enabled = reader.boolean()?,
            "StreamViewType" => stream.view_type = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(stream))
}

/// Reads `SSESpecification`, if it is there.
pub(super) fn read_encryption(reader: &mut Reader<'_>) -> Result<Option<EncryptionRequest>> {
    let mut encryption = EncryptionRequest::default();
    let present = reader.structure(|reader, name| {
        match name {
            "Enabled" => encryption.enabled = reader.boolean()?,
            "SSEType" => encryption.kind = reader.text()?,
            "KMSMasterKeyId" => encryption.key = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(encryption))
}

pub(super) fn shape_encryption(
    member: &str,
    encryption: Option<&EncryptionRequest>,
    shape: &mut Shape,
) {
    let kind = encryption.and_then(|encryption| encryption.kind.as_deref());
    shape.one_of(&format!("{member}.SSEType"), kind, &["AES256", "KMS"]);
}

/// Refuses encryption that the service does not offer.
pub(super) fn check_encryption(encryption: Option<&EncryptionRequest>) -> Result<()> {
    let Some(encryption) = encryption else { return Ok(()) };
    let refuse = |text: &str| Err(Error::validation(text));
    let is_off = encryption.enabled == Some(false);
    match (encryption.kind.as_deref(), &encryption.key) {
        (Some(_), _) if is_off => refuse(texts::ENCRYPTION_OFF_WITH_KIND),
        (None, Some(_)) if is_off => refuse(texts::ENCRYPTION_OFF_WITH_KEY),
        (Some("AES256"), _) => refuse(texts::ENCRYPTION_AES256),
        (None, Some(_)) => refuse(texts::ENCRYPTION_KEY_WITHOUT_KIND),
        _ => Ok(()),
    }
}

pub(super) fn shape_stream(stream: Option<&StreamRequest>, shape: &mut Shape) {
    if let Some(stream) = stream {
        shape.required("StreamSpecification.StreamEnabled", stream.enabled.is_some());
        let view_type = stream.view_type.as_deref();
        shape.one_of("StreamSpecification.StreamViewType", view_type, VIEW_TYPES);
    }
}

/// Refuses a table class that does not exist.
pub(super) fn check_table_class(class: Option<&str>) -> Result<()> {
    match class {
        None | Some("STANDARD" | "STANDARD_INFREQUENT_ACCESS") => Ok(()),
        Some(_) => Err(Error::validation(texts::TABLE_CLASS_INVALID)),
    }
}

/// Refuses a mode of replicating settings that a table without replicas cannot have.
pub(super) fn check_replication(mode: Option<&str>) -> Result<()> {
    match mode {
        None | Some("ENABLED" | "DISABLED") => Ok(()),
        Some(mode) => Err(Error::validation(texts::settings_replication(mode))),
    }
}

/// The state in which a request wants the stream of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamWanted {
    On(ChangeImages),
    Off,
}

impl StreamRequest {
    /// Returns what is wanted. The texts are those for a stream that is on without a view, and for one
    /// that is off with a view.
    pub(super) fn wanted(&self, texts: (&'static str, &'static str)) -> Result<StreamWanted> {
        let images = self.view_type.as_deref().and_then(images_of);
        match (self.enabled == Some(true), images) {
            (true, Some(images)) => Ok(StreamWanted::On(images)),
            (true, None) => Err(Error::validation(texts.0)),
            (false, Some(_)) => Err(Error::validation(texts.1)),
            (false, None) => Ok(StreamWanted::Off),
        }
    }
}

pub(super) fn shape_definitions(definitions: &[Definition], shape: &mut Shape) {
    for (position, definition) in definitions.iter().enumerate() {
        let path = format!("AttributeDefinitions.{}.member", position + 1);
        shape.required(&format!("{path}.AttributeName"), definition.name.is_some());
        let name = definition.name.as_deref().unwrap_or("-");
        shape.text(&format!("{path}.AttributeName"), name, 1, 255);
        shape.required(&format!("{path}.AttributeType"), definition.letter.is_some());
        let letter = definition.letter.as_deref();
        shape.one_of(&format!("{path}.AttributeType"), letter, &["B", "N", "S"]);
    }
}

pub(super) fn shape_keys(keys: &[KeyElement], path: &str, most: usize, shape: &mut Shape) {
    if keys.len() > most {
        shape.shown(path, &shown_keys(keys), most);
    } else {
        shape.length(path, keys.len(), 1, most);
    }
    for (position, element) in keys.iter().enumerate() {
        let path = format!("{path}.{}.member", position + 1);
        shape.required(&format!("{path}.AttributeName"), element.name.is_some());
        let name = element.name.as_deref().unwrap_or("-");
        shape.text(&format!("{path}.AttributeName"), name, 1, 255);
        shape.required(&format!("{path}.KeyType"), element.key_type.is_some());
        shape.one_of(&format!("{path}.KeyType"), element.key_type.as_deref(), &["HASH", "RANGE"]);
    }
}

/// Shows a key schema as the service's messages do.
fn shown_keys(keys: &[KeyElement]) -> String {
    let text = |text: &Option<String>| text.as_deref().unwrap_or("null").to_owned();
    let element = |key: &KeyElement| {
        let (name, key_type) = (text(&key.name), text(&key.key_type));
        format!("KeySchemaElement(attributeName={name}, keyType={key_type})")
    };
    format!("[{}]", keys.iter().map(element).collect::<Vec<String>>().join(", "))
}

pub(super) fn shape_index(index: &IndexRequest, path: &str, local: bool, shape: &mut Shape) {
    shape.required(&format!("{path}.IndexName"), index.name.is_some());
    shape.new_name(&format!("{path}.IndexName"), index.name.as_deref());
    shape.required(&format!("{path}.KeySchema"), index.keys.is_some());
    if let Some(keys) = &index.keys {
        let most = if local { 2 } else { 2 * INDEX_KEY_COLUMNS_MAX };
        shape_keys(keys, &format!("{path}.KeySchema"), most, shape);
    }
    shape.required(&format!("{path}.Projection"), index.projection.is_some());
    if let Some(projection) = &index.projection {
        shape_projection(projection, path, shape);
    }
    if let Some(throughput) = index.throughput {
        shape_throughput(throughput, &format!("{path}.ProvisionedThroughput"), shape);
    }
}

/// Checks the shape of the projection of an index.
pub(super) fn shape_projection(projection: &ProjectionRequest, path: &str, shape: &mut Shape) {
    let path = format!("{path}.Projection");
    let projection_type = projection.projection_type.as_deref();
    let types = &["ALL", "INCLUDE", "KEYS_ONLY"];
    shape.one_of(&format!("{path}.ProjectionType"), projection_type, types);
    if let Some(names) = &projection.non_key_attributes {
        let path = format!("{path}.NonKeyAttributes");
        shape.length(&path, names.len(), 1, NON_KEY_ATTRIBUTES_MAX);
        for (position, name) in names.iter().enumerate() {
            let path = format!("{path}.{}.member", position + 1);
            shape.text(&path, name, 1, KEY_NAME_BYTES_MAX);
        }
    }
}

pub(super) fn shape_throughput(throughput: ThroughputRequest, path: &str, shape: &mut Shape) {
    for (name, value) in
        [("ReadCapacityUnits", throughput.read), ("WriteCapacityUnits", throughput.write)]
    {
        let path = format!("{path}.{name}");
        shape.required(&path, value.is_some());
        shape.range(&path, value, 1, None);
    }
}

/// Names the throughput that a warm throughput must not be below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WarmFloor {
    /// The one that a new table that is paid per request begins with.
    Initial,
    /// The units of what is new and provisioned.
    Units,
    /// The one that it is warm for already.
    Current,
}

impl WarmFloor {
    /// Returns what it is for a table or index that is made.
    pub(super) const fn of_new(billing: Billing) -> Self {
        match billing {
            Billing::PayPerRequest => Self::Initial,
            Billing::Provisioned => Self::Units,
        }
    }
}

impl ThroughputRequest {
    /// Returns the units, if both are there and within bounds.
    pub(super) fn units(self) -> Result<Throughput> {
        let (Some(read), Some(write)) = (self.read, self.write) else {
            return Err(Error::validation(texts::UNITS_REQUIRED));
        };
        for (value, name) in [(read, "ReadCapacityUnits"), (write, "WriteCapacityUnits")] {
            if value > THROUGHPUT_MAX {
                return Err(Error::validation(texts::units_out_of_bounds(value, name)));
            }
        }
        Ok(Throughput { read, write })
    }

    /// Returns the warm throughput that a `table` or an `index NAME` is to have: no less than it must have.
    pub(super) fn warm(self, least: Throughput, floor: WarmFloor, of: &str) -> Result<Throughput> {
        let checked = |asked: Option<i64>, least: i64, which: &str| match asked {
            Some(asked) if asked < least => Err(Error::validation(match floor {
                WarmFloor::Initial => texts::warm_below_initial(which, of),
                WarmFloor::Units => texts::warm_below_units(which, of),
                WarmFloor::Current => texts::warm_below_current(which, of),
            })),
            Some(asked) if asked > THROUGHPUT_MAX => {
                let name = format!("{which}UnitsPerSecond");
                Err(Error::validation(texts::units_out_of_bounds(asked, &name)))
            }
            asked => Ok(asked.unwrap_or(least)),
        };
        Ok(Throughput {
            read: checked(self.read, least.read, "Read")?,
            write: checked(self.write, least.write, "Write")?,
        })
    }

    /// Returns the maximum throughput of what is paid per request, a `table` or an `index NAME`: each that is
    /// asked for, else that of before. No limit is 0. Of what is new, without `before`, -1 is refused: there
    /// is no limit to take away.
    pub(super) fn caps(
        asked: Option<Self>,
        before: Option<Throughput>,
        of: &str,
    ) -> Result<Throughput> {
        let kept = before.unwrap_or_default();
        let Some(asked) = asked else { return Ok(kept) };
        let cap = |value: Option<i64>, kept: i64, name: &str| match value {
            None => Ok(kept),
            Some(-1) if before.is_some() => Ok(0),
            Some(value) if value >= 1 => Ok(value),
            Some(_) => Err(Error::validation(texts::on_demand_out_of_range(name, of))),
        };
        Ok(Throughput {
            read: cap(asked.read, kept.read, ON_DEMAND_MEMBERS[0])?,
            write: cap(asked.write, kept.write, ON_DEMAND_MEMBERS[1])?,
        })
    }

    /// Returns the first member of a maximum throughput that is there.
    pub(super) fn first_cap(self) -> Option<&'static str> {
        let has = [self.read.is_some(), self.write.is_some()];
        ON_DEMAND_MEMBERS.into_iter().zip(has).find(|(_, has)| *has).map(|(name, _)| name)
    }
}
