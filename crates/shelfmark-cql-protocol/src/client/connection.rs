//! The requests of a client, and their order.

use bytes::{BufMut as _, Bytes, BytesMut};

use super::response::{self, Response};
use crate::CQL_VERSION;
use crate::consistency::Consistency;
use crate::frame::{Decoder, Envelopes, Framing, Opcode, Version, flag};
use crate::message::Write as _;

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
            let bits = bits.iter().filter(|(set, _)| *set).fold(0_u8, |all, (_, bit)| all | bit);
            match version {
                Version::V5 => out.put_u32(u32::from(bits)),
                Version::V3 | Version::V4 => out.put_u8(bits),
            }
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
            let Some(response) = response::read(&envelope).map_err(MalformedResponse)? else {
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
