//! The requests of a client, and their order.

use bytes::{BufMut as _, Bytes, BytesMut};

use super::response::{self, PreparedStatement, Response};
use crate::CQL_VERSION;
use crate::bound::BoundValue;
use crate::consistency::Consistency;
use crate::frame::{Decoder, Envelopes, Framing, Opcode, Version, flag};
use crate::message::{BatchKind, Write as _};

/// The version of the protocol that a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolVersion {
    /// Version 5, with checksums; what Cassandra 4.0 and later and this server speak.
    V5,
    /// Version 4, which older servers speak too.
    V4,
}

/// A statement and how it is to be run.
#[derive(Debug, Clone, Default)]
pub struct Query<'a> {
    /// The statement.
    pub text: &'a str,
    /// The level.
    pub consistency: Consistency,
    /// The level of a condition; the server's own when there is none.
    pub serial_consistency: Option<Consistency>,
    /// Most rows of the answer's page; all of them when there is none.
    pub page_size: Option<i32>,
    /// The paging state that the page before ended with.
    pub paging: Option<Bytes>,
    /// True if a trace is wanted.
    pub tracing: bool,
}

/// A prepared statement and how it is to be run.
#[derive(Debug, Clone)]
pub struct Execute<'a> {
    /// The statement.
    pub statement: &'a PreparedStatement,
    /// The values of its markers, in order.
    pub values: &'a [BoundValue],
    /// The level.
    pub consistency: Consistency,
    /// Most rows of the answer's page; all of them when there is none.
    pub page_size: Option<i32>,
    /// The paging state that the page before ended with.
    pub paging: Option<Bytes>,
}

/// Writes that are run together.
#[derive(Debug, Clone)]
pub struct Batch<'a> {
    /// True if it is logged, unlogged or of counters.
    pub kind: BatchKind,
    /// The statements, each with the values of its markers.
    pub statements: &'a [(&'a PreparedStatement, Vec<BoundValue>)],
    /// The level.
    pub consistency: Consistency,
}

/// A request of a client, once it is known.
#[derive(Debug, Clone)]
pub enum Request<'a> {
    /// A statement as text.
    Query(Query<'a>),
    /// A statement to be prepared.
    Prepare(&'a str),
    /// A prepared statement.
    Execute(Execute<'a>),
    /// Several writes.
    Batch(Batch<'a>),
}

/// The bytes of a server that are no answer. The connection is of no use any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer cannot be read: {0}")]
pub struct MalformedResponse(pub(super) String);

/// The client's end of one connection.
///
/// Each request is returned as the bytes to send; [`ClientConnection::receive`] takes what came.
pub struct ClientConnection {
    version: Version,
    framing: Framing,
    decoder: Decoder,
    envelopes: Envelopes,
    input: BytesMut,
}

impl ClientConnection {
    /// Creates the end of a connection that has said nothing yet.
    #[must_use]
    pub fn new(version: ProtocolVersion) -> Self {
        Self {
            version: match version {
                ProtocolVersion::V5 => Version::V5,
                ProtocolVersion::V4 => Version::V4,
            },
            framing: Framing::Plain,
            decoder: Decoder::of_answers(),
            envelopes: Envelopes::of_requests(),
            input: BytesMut::new(),
        }
    }

    /// Begins the connection. The server says [`Response::Ready`] or asks for a login.
    pub fn startup(&mut self, driver: &str) -> Bytes {
        self.say(Opcode::Startup, 0, |out| {
            let options = [("CQL_VERSION", CQL_VERSION), ("DRIVER_NAME", driver)];
            out.short_count(options.len());
            for (name, value) in options {
                out.string(name);
                out.string(value);
            }
        })
    }

    /// Says who is there. The server says [`Response::Authenticated`] or refuses.
    pub fn login(&mut self, name: &str, password: &str) -> Bytes {
        let token = ["", name, password].join("\0");
        self.say(Opcode::AuthResponse, 0, |out| out.bytes(Some(token.as_bytes())))
    }

    /// Asks a statement to be run.
    pub fn query(&mut self, query: &Query<'_>) -> Bytes {
        let flags = if query.tracing { flag::TRACING } else { 0 };
        let version = self.version;
        self.say(Opcode::Query, flags, |out| {
            out.bytes(Some(query.text.as_bytes()));
            out.put_u16(query.consistency as u16);
            let bits = [
                (query.page_size.is_some(), 0x04),
                (query.paging.is_some(), 0x08),
                (query.serial_consistency.is_some(), 0x10),
            ];
            put_flags(version, &bits, out);
            if let Some(size) = query.page_size {
                out.put_i32(size);
            }
            if let Some(state) = &query.paging {
                out.bytes(Some(state));
            }
            if let Some(level) = query.serial_consistency {
                out.put_u16(level as u16);
            }
        })
    }

    /// Asks what a request says.
    pub fn request(&mut self, request: &Request<'_>) -> Bytes {
        match request {
            Request::Query(query) => self.query(query),
            Request::Prepare(text) => self.prepare(text),
            Request::Execute(execute) => self.execute(execute),
            Request::Batch(batch) => self.batch(batch),
        }
    }

    /// Asks a statement to be prepared. The server says [`Response::Result`] with the statement.
    pub fn prepare(&mut self, text: &str) -> Bytes {
        let version = self.version;
        self.say(Opcode::Prepare, 0, |out| {
            out.bytes(Some(text.as_bytes()));
            if version >= Version::V5 {
                out.put_u32(0);
            }
        })
    }

    /// Asks a prepared statement to be run.
    pub fn execute(&mut self, execute: &Execute<'_>) -> Bytes {
        let version = self.version;
        self.say(Opcode::Execute, 0, |out| {
            out.short_bytes(&execute.statement.id);
            if version >= Version::V5 {
                out.short_bytes(&execute.statement.metadata_id);
            }
            out.put_u16(execute.consistency as u16);
            let bits = [
                (!execute.values.is_empty(), 0x01),
                (execute.page_size.is_some(), 0x04),
                (execute.paging.is_some(), 0x08),
            ];
            put_flags(version, &bits, out);
            if !execute.values.is_empty() {
                put_values(execute.values, out);
            }
            if let Some(size) = execute.page_size {
                out.put_i32(size);
            }
            if let Some(state) = &execute.paging {
                out.bytes(Some(state));
            }
        })
    }

    /// Asks writes to be run together.
    pub fn batch(&mut self, batch: &Batch<'_>) -> Bytes {
        let version = self.version;
        self.say(Opcode::Batch, 0, |out| {
            out.put_u8(match batch.kind {
                BatchKind::Logged => 0,
                BatchKind::Unlogged => 1,
                BatchKind::Counter => 2,
            });
            out.short_count(batch.statements.len());
            for (statement, values) in batch.statements {
                out.put_u8(1);
                out.short_bytes(&statement.id);
                put_values(values, out);
            }
            out.put_u16(batch.consistency as u16);
            put_flags(version, &[], out);
        })
    }

    fn say(&mut self, opcode: Opcode, flags: u8, body: impl FnOnce(&mut BytesMut)) -> Bytes {
        // One query at a time, so every one is on the same stream.
        self.envelopes.push(self.version, flags, 0, opcode, self.framing, body);
        self.envelopes.take(self.framing)
    }

    /// Takes in what came, and returns what the server said once all of it is there; events are
    /// passed over. Call it with nothing to read what is left of the last bytes.
    ///
    /// # Errors
    ///
    /// * [`MalformedResponse`]: that was no answer. Close the connection.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Option<Response>, MalformedResponse> {
        self.input.extend_from_slice(bytes);
        loop {
            let taken = self.decoder.take(&mut self.input);
            let Some(envelope) = taken.map_err(|error| MalformedResponse(error.to_string()))?
            else {
                return Ok(None);
            };
            let Some(response) =
                response::read(&envelope, self.version).map_err(MalformedResponse)?
            else {
                continue;
            };
            let handshake_done =
                matches!(response, Response::Ready | Response::AuthenticationRequired(_));
            if handshake_done && self.framing == Framing::Plain {
                self.decoder.agree(self.version, None);
                if self.version >= Version::V5 {
                    self.framing = Framing::Framed { compressed: false };
                }
            }
            return Ok(Some(response));
        }
    }
}

/// Appends those of the bits that are set.
fn put_flags(version: Version, bits: &[(bool, u8)], out: &mut BytesMut) {
    let bits = bits.iter().filter(|(set, _)| *set).fold(0_u8, |all, (_, bit)| all | bit);
    match version {
        Version::V5 => out.put_u32(u32::from(bits)),
        Version::V3 | Version::V4 => out.put_u8(bits),
    }
}

/// Appends bound values with their number.
fn put_values(values: &[BoundValue], out: &mut BytesMut) {
    out.short_count(values.len());
    for value in values {
        match value {
            BoundValue::Bytes(bytes) => out.bytes(Some(bytes)),
            BoundValue::Null => out.bytes(None),
            // Source: the protocol's specification, version 4, section 3, "[value]".
            BoundValue::Unset => out.put_i32(-2),
        }
    }
}
