//! From a connection's bytes to envelopes.

use bytes::{Buf as _, Bytes, BytesMut};

use super::compression::Compression;
use super::envelope::{Envelope, HEADER_SIZE_BYTES, Header, Opcode, Version, flag};
use super::framed::{self, FrameProblem};
use crate::limits::ENVELOPE_SIZE_BYTES_MAX;

/// The reason why a request cannot be read. Most of them end the connection: see
/// [`FrameError::is_behind`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The version is not spoken here. The first byte is all that can be trusted.
    #[error(
        "Invalid or unsupported protocol version ({version}); supported versions are \
         (3/v3, 4/v4, 5/v5)"
    )]
    UnknownVersion {
        /// The version asked for.
        version: u8,
        /// The stream, where the layout is known to have one.
        stream: i16,
    },
    /// The version is another than that of the handshake.
    #[error(
        "Invalid message version. Got {got}/v{got} but previous messages on this connection had \
         version {expected}/v{expected}"
    )]
    OtherVersion {
        /// The version of this envelope.
        got: u8,
        /// The version of the handshake.
        expected: u8,
        /// The stream.
        stream: i16,
    },
    /// An answer came where a request belongs, or the other way about.
    #[error(
        "Wrong protocol direction (expected REQUEST, got RESPONSE) for opcode {opcode} ({})",
        Opcode::from_number(*opcode).map_or("UNKNOWN", Opcode::name)
    )]
    Direction {
        /// The opcode.
        opcode: u8,
        /// The stream.
        stream: i16,
    },
    /// The body is longer than allowed.
    #[error("Request is too big: length {length} exceeds maximum allowed length {max}")]
    TooLarge {
        /// The length.
        length: usize,
        /// The limit.
        max: usize,
        /// The stream.
        stream: i16,
    },
    /// The body cannot be decompressed.
    #[error("The body of the request cannot be decompressed")]
    Compression {
        /// The stream.
        stream: i16,
    },
    /// There is no room for the body once it is decompressed.
    #[error("there is no room for the decompressed body")]
    NoRoom {
        /// The stream.
        stream: i16,
    },
    /// A frame's header is damaged.
    #[error("unrecoverable CRC mismatch detected in frame header")]
    HeaderChecksum,
    /// A frame's payload is damaged.
    #[error("unrecoverable CRC mismatch detected in frame body")]
    PayloadChecksum,
    /// A frame's payload is damaged behind an intact checksum.
    #[error("the payload of a frame cannot be decompressed")]
    PayloadCompression,
    /// A self-contained frame ends inside an envelope, or a large envelope is followed by bytes
    /// that do not belong to it.
    #[error("a frame does not end where its envelope ends")]
    Unaligned,
}

impl FrameError {
    /// Returns true if the envelope was taken off the bytes: the next one can be read.
    pub fn is_behind(&self) -> bool {
        matches!(self, Self::OtherVersion { .. } | Self::Compression { .. })
    }

    /// Returns the stream that the refusal goes to.
    pub fn stream(&self) -> i16 {
        match self {
            Self::UnknownVersion { stream, .. }
            | Self::OtherVersion { stream, .. }
            | Self::TooLarge { stream, .. }
            | Self::Direction { stream, .. }
            | Self::Compression { stream }
            | Self::NoRoom { stream } => (*stream).max(0),
            Self::HeaderChecksum
            | Self::PayloadChecksum
            | Self::PayloadCompression
            | Self::Unaligned => 0,
        }
    }
}

/// Cuts a connection's bytes into envelopes.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The version of the handshake, once there was one.
    version: Option<Version>,
    /// The compression that STARTUP asked for.
    compression: Option<Compression>,
    /// True if frames have begun.
    framed: bool,
    /// Whole envelopes of the last self-contained frame.
    payload: Bytes,
    /// The beginning of an envelope that is cut over frames.
    partial: BytesMut,
    /// True if this is the client's end, which reads answers.
    answers: bool,
}

impl Decoder {
    /// Creates the decoder of a client, which reads answers.
    pub fn of_answers() -> Self {
        Self { answers: true, ..Self::default() }
    }

    /// Fixes the version and compression that STARTUP asked for; version 5 goes on in frames.
    pub fn agree(&mut self, version: Version, compression: Option<Compression>) {
        self.version = Some(version);
        self.compression = compression;
        self.framed = version >= Version::V5;
    }

    /// Tells whether the beginning of an envelope was taken in and its end is still to come.
    pub fn is_midway(&self) -> bool {
        !self.partial.is_empty()
    }

    /// Returns how many bytes were taken in of a request whose end is still to come.
    pub fn held(&self) -> usize {
        self.partial.len() + self.payload.len()
    }

    /// Tells whether more requests wait, as far as can be seen without reading them.
    pub fn has_more(&self, input: &[u8]) -> bool {
        !input.is_empty() || !self.payload.is_empty()
    }

    /// Returns how long the body will be whose beginning was taken in or lies in `input`; 0 if that
    /// is not known yet.
    pub fn announced(&self, input: &[u8]) -> usize {
        let begun = if self.framed { &self.partial } else { input };
        Header::read(begun).map_or(0, |header| header.length)
    }

    /// Takes the next envelope off `input`; returns `None` until all of it is there.
    ///
    /// # Errors
    ///
    /// * What breaks the protocol, with the stream to answer on if it is known. Go on if
    ///   [`FrameError::is_behind`], or else close the connection.
    pub fn take(&mut self, input: &mut BytesMut) -> Result<Option<Envelope>, FrameError> {
        self.take_within(input, &mut |_| true)
    }

    /// Works as [`Decoder::take`]. Before a body is decompressed, `has_room` is asked for the bytes
    /// of both forms of it.
    ///
    /// # Errors
    ///
    /// * Those of [`Decoder::take`], and a body for which there is no room.
    pub fn take_within(
        &mut self,
        input: &mut BytesMut,
        has_room: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Option<Envelope>, FrameError> {
        if !self.framed {
            let Some(header) = self.header(input)? else { return Ok(None) };
            let size = HEADER_SIZE_BYTES + header.length;
            if input.len() < size {
                return Ok(None);
            }
            let mut envelope = input.split_to(size).freeze();
            envelope.advance(HEADER_SIZE_BYTES);
            return self.open(header, envelope, has_room).map(Some);
        }
        loop {
            if !self.payload.is_empty() {
                return self.take_whole().map(Some);
            }
            let compressed = self.compression.is_some();
            let frame = match framed::take(input, compressed) {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(None),
                Err(FrameProblem::Header) => return Err(FrameError::HeaderChecksum),
                Err(FrameProblem::Payload) => return Err(FrameError::PayloadChecksum),
                Err(FrameProblem::Compression) => return Err(FrameError::PayloadCompression),
            };
            if frame.self_contained {
                if !self.partial.is_empty() {
                    return Err(FrameError::Unaligned);
                }
                self.payload = frame.payload;
            } else if let Some(envelope) = self.take_partial(&frame.payload)? {
                return Ok(Some(envelope));
            }
        }
    }

    /// Takes the next envelope of a self-contained frame, which must be whole.
    fn take_whole(&mut self) -> Result<Envelope, FrameError> {
        let header = self.header(&self.payload)?.ok_or(FrameError::Unaligned)?;
        let size = HEADER_SIZE_BYTES + header.length;
        if self.payload.len() < size {
            return Err(FrameError::Unaligned);
        }
        let mut envelope = self.payload.split_to(size);
        envelope.advance(HEADER_SIZE_BYTES);
        self.open_framed(header, envelope)
    }

    /// Adds a piece of a large envelope and returns it if that was the last.
    fn take_partial(&mut self, piece: &[u8]) -> Result<Option<Envelope>, FrameError> {
        self.partial.extend_from_slice(piece);
        let Some(header) = self.header(&self.partial)? else { return Ok(None) };
        let size = HEADER_SIZE_BYTES + header.length;
        if self.partial.len() < size {
            return Ok(None);
        }
        if self.partial.len() > size {
            return Err(FrameError::Unaligned);
        }
        let mut envelope = std::mem::take(&mut self.partial).freeze();
        envelope.advance(HEADER_SIZE_BYTES);
        self.open_framed(header, envelope).map(Some)
    }

    /// Reads and checks the head of the next envelope.
    fn header(&self, bytes: &[u8]) -> Result<Option<Header>, FrameError> {
        // Until the version is known, only the first byte means anything.
        let Some(&first) = bytes.first() else { return Ok(None) };
        let number = first & 0x7F;
        if Version::from_number(number).is_none() {
            // The refusal names the stream, so it waits for it: how bytes are cut into pieces on
            // their way changes no answer. The heads of versions 1 and 2 are a byte shorter, their
            // stream is one byte.
            let Some(&[_, _, high, low]) = bytes.get(..4) else { return Ok(None) };
            let stream = if number > 2 { i16::from_be_bytes([high, low]) } else { i16::from(high) };
            return Err(FrameError::UnknownVersion { version: number, stream });
        }
        let Some(header) = Header::read(bytes) else { return Ok(None) };
        if (first & 0x80 != 0) != self.answers {
            return Err(FrameError::Direction { opcode: header.opcode, stream: header.stream });
        }
        if header.length > ENVELOPE_SIZE_BYTES_MAX {
            return Err(FrameError::TooLarge {
                length: header.length,
                max: ENVELOPE_SIZE_BYTES_MAX,
                stream: header.stream,
            });
        }
        Ok(Some(header))
    }

    fn open(
        &self,
        header: Header,
        mut body: Bytes,
        has_room: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Envelope, FrameError> {
        // Where no compression was agreed on the flag means nothing, as for Cassandra.
        if let Some(compression) = self.compression
            && header.flags & flag::COMPRESSED != 0
        {
            let stream = header.stream;
            if !has_room(body.len() + compression.unpacked_size_bytes(&body)) {
                return Err(FrameError::NoRoom { stream });
            }
            let damaged = FrameError::Compression { stream };
            body = compression.unpack_body(body).map_err(|_| damaged)?;
        }
        self.open_framed(header, body)
    }

    /// Opens an envelope whose body is not compressed by itself: in frames, frames are.
    fn open_framed(&self, header: Header, body: Bytes) -> Result<Envelope, FrameError> {
        let number = header.version & 0x7F;
        let version = Version::from_number(number).unwrap_or(Version::HIGHEST);
        if let Some(expected) = self.version.filter(|expected| *expected != version) {
            return Err(FrameError::OtherVersion {
                got: number,
                expected: expected.number(),
                stream: header.stream,
            });
        }
        Ok(Envelope {
            version,
            flags: header.flags,
            stream: header.stream,
            opcode: header.opcode,
            body,
        })
    }
}
