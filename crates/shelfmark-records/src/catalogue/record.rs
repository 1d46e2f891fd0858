//! One table's record in the catalogue.
//!
//! A record is an item in the row codec, so that the catalogue has no format of its own.

use bytes::Bytes;
use shelfmark_model::{TableSchema, Value};

use super::limits::RECORD_SIZE_BYTES_MAX;
use super::schema_codec::{schema_from_item, schema_to_item};
use crate::error::{Error, ErrorKind, Result};
use crate::items::Record;

/// The stored record of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRecord {
    /// Its id: what the keys of its rows begin with.
    pub id: u64,
    /// The id that it was created with; another one once it was truncated.
    pub origin: u64,
    /// Rises with every change of the schema.
    pub version: u64,
    /// Ids of the indexes, in the order of the schema.
    pub index_ids: Vec<u64>,
    /// A row of more than one chunk may be there.
    pub chunked: bool,
    /// Ranges of rows may have been deleted while several servers shared the store.
    pub ranged: bool,
    /// As it was declared.
    pub schema: TableSchema,
}

impl TableRecord {
    /// Encodes the record as one head, however large.
    pub fn encode(&self) -> Bytes {
        let ids = self.index_ids.iter().map(|id| number(*id)).collect();
        let item = schema_to_item(&self.schema)
            .with("id", number(self.id))
            .with("version", number(self.version))
            .with("index_ids", Value::List(ids))
            .with("chunked", self.chunked);
        // Left out where it does not hold, as in records of before.
        let item = if self.ranged { item.with("ranged", true) } else { item };
        let item = match self.origin == self.id {
            true => item,
            false => item.with("origin", number(self.origin)),
        };
        Record { item, expires_at: None }.encode_whole()
    }

    /// Encodes the record, and decodes it again as a start would: what cannot be read back is never
    /// committed.
    ///
    /// # Errors
    ///
    /// * `LimitExceeded`: it is larger or nested deeper than a reader takes.
    pub fn encode_checked(&self) -> Result<Bytes> {
        let name = &self.schema.name;
        let refuse = |why: String| {
            let why = format!("the definition of table {name} cannot be stored: {why}");
            Err(Error::new(ErrorKind::LimitExceeded, why))
        };
        let bytes = self.encode();
        if bytes.len() > RECORD_SIZE_BYTES_MAX {
            return refuse(format!(
                "it has {} bytes, and {RECORD_SIZE_BYTES_MAX} are the most",
                bytes.len()
            ));
        }
        match Self::decode(&bytes) {
            Ok(read) if read == *self => Ok(bytes),
            Ok(_) => refuse("it would be read back as another one".to_owned()),
            Err(error) => refuse(error.to_string()),
        }
    }

    /// Decodes a record.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    pub fn decode(bytes: &Bytes) -> Result<Self> {
        let item = Record::decode(bytes, &[])?.item;
        let Some(Value::List(ids)) = item.get("index_ids") else { return Err(damaged()) };
        let id = unsigned(item.get("id"))?;
        Ok(Self {
            id,
            origin: item.get("origin").map_or(Ok(id), |origin| unsigned(Some(origin)))?,
            version: unsigned(item.get("version"))?,
            index_ids: ids.iter().map(|id| unsigned(Some(id))).collect::<Result<_>>()?,
            chunked: item.get("chunked") == Some(&Value::Bool(true)),
            ranged: item.get("ranged") == Some(&Value::Bool(true)),
            schema: schema_from_item(&item)?,
        })
    }
}

pub(crate) fn number(n: u64) -> Value {
    Value::Int(n.cast_signed())
}

pub(crate) fn unsigned(value: Option<&Value>) -> Result<u64> {
    match value {
        Some(Value::Int(n)) => Ok(n.cast_unsigned()),
        _ => Err(damaged()),
    }
}

pub(crate) fn damaged() -> Error {
    Error::corrupt("a table's record in the catalogue is damaged")
}
