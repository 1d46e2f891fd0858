//! Requests.

use bytes::Bytes;

use super::reader::{Malformed, Read, Reader};
use crate::bound::{BoundValue, Values};
use crate::consistency::Consistency;
use crate::frame::{Envelope, Opcode, Version, flag};

/// The kind of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchKind {
    /// All or nothing.
    Logged,
    /// Statement by statement; ours are all or nothing too.
    Unlogged,
    /// A batch of counters only.
    Counter,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Begins the connection; the options as they came.
    Startup(Vec<(String, String)>),
    /// Asks what is supported; drivers send it as a heartbeat too.
    Options,
    /// The token of a login; null for none.
    AuthResponse(Option<Bytes>),
    /// Asks for events of these kinds.
    Register(Vec<String>),
    /// A statement as text.
    Query(Query),
    /// A statement to be prepared.
    Prepare(Prepare),
    /// A prepared statement to be run.
    Execute(Execute),
    /// Several statements.
    Batch(Batch),
}

/// Holds the options of a QUERY, an EXECUTE or a BATCH: everything beside the statement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryParameters {
    /// The consistency level.
    pub consistency: Consistency,
    /// The bound values.
    pub values: Values,
    /// True if the client has the result metadata and wants none.
    pub skip_metadata: bool,
    /// The most rows of a page; `None` or a number below 1 asks for all.
    pub page_size: Option<i32>,
    /// The paging state as it came, not verified yet.
    pub paging_state: Option<Bytes>,
    /// The consistency level of a condition.
    pub serial_consistency: Option<Consistency>,
    /// The default timestamp, in microseconds since the epoch.
    pub timestamp: Option<i64>,
    /// The keyspace of names that have none. The specification has it from version 5 on; Cassandra
    /// reads it in all.
    pub keyspace: Option<String>,
    /// The time that expiry is judged by, in seconds since the epoch; version 5 only.
    pub now_in_seconds: Option<i32>,
}

/// A QUERY: a statement as text, to be run once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The statement.
    pub text: String,
    /// The options.
    pub options: QueryParameters,
}

/// A PREPARE: a statement as text, to be planned and kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepare {
    /// The statement.
    pub text: String,
    /// The keyspace of names that have none; version 5 only.
    pub keyspace: Option<String>,
}

/// An EXECUTE: a prepared statement to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execute {
    /// The id of the prepared statement.
    pub id: Bytes,
    /// The id of the result metadata that the client has; version 5 only.
    pub metadata_id: Option<Bytes>,
    /// The options.
    pub options: QueryParameters,
}

/// A statement of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchItem {
    /// A statement as text.
    Text(String),
    /// By the id of a prepared statement.
    Prepared(Bytes),
}

/// A BATCH: several writes in one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// True if it is logged, unlogged or of counters.
    pub kind: BatchKind,
    /// The statements, each with its bound values.
    pub items: Vec<(BatchItem, Vec<BoundValue>)>,
    /// The options; the values are of no use here.
    pub options: QueryParameters,
}

/// Bits of the flags of QUERY, EXECUTE and BATCH.
mod bit {
    pub(super) const VALUES: u32 = 0x01;
    pub(super) const SKIP_METADATA: u32 = 0x02;
    pub(super) const PAGE_SIZE: u32 = 0x04;
    pub(super) const PAGING_STATE: u32 = 0x08;
    pub(super) const SERIAL_CONSISTENCY: u32 = 0x10;
    pub(super) const TIMESTAMP: u32 = 0x20;
    pub(super) const NAMES: u32 = 0x40;
    pub(super) const KEYSPACE: u32 = 0x80;
    pub(super) const NOW_IN_SECONDS: u32 = 0x100;
}

/// The opcode of a login of version 1, which no version has that is spoken here.
const CREDENTIALS: u8 = 0x04;

impl Request {
    /// Decodes a request.
    ///
    /// # Errors
    ///
    /// * The text of a protocol error.
    pub fn read(envelope: &Envelope) -> Result<Self, String> {
        let opcode = Opcode::from_number(envelope.opcode).ok_or_else(|| match envelope.opcode {
            CREDENTIALS => "Unsupported message".to_owned(),
            unknown => format!("Unknown opcode {unknown}"),
        })?;
        let body = || {
            let mut reader = Reader::new(envelope.body.clone());
            if envelope.flags & flag::PAYLOAD != 0 {
                if envelope.version < Version::V4 {
                    return Err(Malformed::new(
                        "Received frame with CUSTOM_PAYLOAD flag for native protocol version < 4",
                    ));
                }
                reader.skip_payload()?;
            }
            Self::body(opcode, envelope.version, reader)
        };
        match body() {
            Ok(Some(request)) => Ok(request),
            Ok(None) => Err(format!(
                "Wrong protocol direction (expected RESPONSE, got REQUEST) for opcode {} ({})",
                envelope.opcode,
                opcode.name()
            )),
            Err(Malformed(what)) => Err(what.into_owned()),
        }
    }

    fn body(opcode: Opcode, version: Version, mut reader: Reader) -> Read<Option<Self>> {
        Ok(Some(match opcode {
            Opcode::Startup => Self::Startup(reader.string_map()?),
            Opcode::Options => Self::Options,
            Opcode::AuthResponse => Self::AuthResponse(reader.bytes()?),
            Opcode::Register => Self::Register(reader.strings()?),
            Opcode::Query => Self::Query(Query {
                text: reader.long_string()?,
                options: QueryParameters::read(&mut reader, version)?,
            }),
            Opcode::Prepare => {
                let text = reader.long_string()?;
                let flags = if version >= Version::V5 { reader.int()? } else { 0 };
                let keyspace = if flags & 1 != 0 { Some(reader.string()?) } else { None };
                Self::Prepare(Prepare { text, keyspace })
            }
            Opcode::Execute => Self::Execute(Execute {
                id: reader.short_bytes()?,
                metadata_id: match version {
                    Version::V5 => Some(reader.short_bytes()?),
                    Version::V3 | Version::V4 => None,
                },
                options: QueryParameters::read(&mut reader, version)?,
            }),
            Opcode::Batch => Self::Batch(Batch::read(&mut reader, version)?),
            Opcode::Error
            | Opcode::Ready
            | Opcode::Authenticate
            | Opcode::Supported
            | Opcode::Result
            | Opcode::Event
            | Opcode::AuthChallenge
            | Opcode::AuthSuccess => return Ok(None),
        }))
    }
}

fn consistency(reader: &mut Reader) -> Read<Consistency> {
    let number = reader.short()?;
    Consistency::from_number(number)
        .ok_or_else(|| Malformed::new(format!("Unknown code {number} for a consistency level")))
}

fn flags(reader: &mut Reader, version: Version) -> Read<u32> {
    if version >= Version::V5 {
        Ok(reader.int()?.cast_unsigned())
    } else {
        Ok(u32::from(reader.byte()?))
    }
}

impl QueryParameters {
    fn read(reader: &mut Reader, version: Version) -> Read<Self> {
        let consistency = consistency(reader)?;
        let flags = flags(reader, version)?;
        let mut options = Self { consistency, ..Self::default() };
        options.skip_metadata = flags & bit::SKIP_METADATA != 0;
        if flags & bit::VALUES != 0 {
            let count = reader.short()?;
            options.values = if flags & bit::NAMES != 0 {
                let named = (0..count).map(|_| Ok((reader.string()?, reader.value(version)?)));
                Values::Named(named.collect::<Read<_>>()?)
            } else {
                Values::Positional((0..count).map(|_| reader.value(version)).collect::<Read<_>>()?)
            };
        }
        if flags & bit::PAGE_SIZE != 0 {
            options.page_size = Some(reader.int()?);
        }
        if flags & bit::PAGING_STATE != 0 {
            options.paging_state = reader.bytes()?;
        }
        options.tail(flags, reader)?;
        Ok(options)
    }

    /// Reads what QUERY, EXECUTE and BATCH have in common at their ends.
    fn tail(&mut self, flags: u32, reader: &mut Reader) -> Read<()> {
        if flags & bit::SERIAL_CONSISTENCY != 0 {
            self.serial_consistency = Some(consistency(reader)?);
        }
        if flags & bit::TIMESTAMP != 0 {
            self.timestamp = Some(reader.long()?);
        }
        if flags & bit::KEYSPACE != 0 {
            self.keyspace = Some(reader.string()?);
        }
        if flags & bit::NOW_IN_SECONDS != 0 {
            self.now_in_seconds = Some(reader.int()?);
        }
        Ok(())
    }
}

impl Batch {
    fn read(reader: &mut Reader, version: Version) -> Read<Self> {
        let kind = match reader.byte()? {
            0 => BatchKind::Logged,
            1 => BatchKind::Unlogged,
            2 => BatchKind::Counter,
            other => return Err(Malformed::new(format!("Invalid BATCH message type {other}"))),
        };
        let count = reader.short()?;
        let mut items = Vec::new();
        for _ in 0..count {
            let item = match reader.byte()? {
                0 => BatchItem::Text(reader.long_string()?),
                1 => BatchItem::Prepared(reader.short_bytes()?),
                other => {
                    return Err(Malformed::new(format!(
                        "Invalid query kind in BATCH messages. Must be 0 or 1 but got {}",
                        other.cast_signed()
                    )));
                }
            };
            let values = reader.short()?;
            items.push((item, (0..values).map(|_| reader.value(version)).collect::<Read<_>>()?));
        }
        let mut options =
            QueryParameters { consistency: consistency(reader)?, ..QueryParameters::default() };
        // Names of values would stand before this flag; the specification calls that broken, and
        // no client sends them.
        let flags = flags(reader, version)?;
        options.tail(flags, reader)?;
        Ok(Self { kind, items, options })
    }
}
