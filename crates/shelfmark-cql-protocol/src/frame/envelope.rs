//! The envelope: what every request and every answer travels in.

use bytes::{BufMut as _, Bytes, BytesMut};

/// Bytes of an envelope before its body, since version 3.
pub(crate) const HEADER_SIZE_BYTES: usize = 9;

/// Bits of an envelope's flags.
pub mod flag {
    /// The body is compressed; versions 3 and 4 only.
    pub const COMPRESSED: u8 = 0x01;
    /// The client wants a trace; the answer begins with its id.
    pub const TRACING: u8 = 0x02;
    /// The body has a map of bytes in front.
    pub const PAYLOAD: u8 = 0x04;
    /// The answer has warnings in front.
    pub const WARNING: u8 = 0x08;
}

/// A version of the protocol that is spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Version 3, of Cassandra 2.1.
    V3,
    /// Version 4, of Cassandra 2.2.
    V4,
    /// Version 5, of Cassandra 4.0: with checksummed frames.
    V5,
}

impl Version {
    /// The highest.
    pub const HIGHEST: Self = Self::V5;

    /// The versions that are spoken, as drivers read them in SUPPORTED and in refusals.
    pub const SPOKEN: [&'static str; 3] = ["3/v3", "4/v4", "5/v5"];

    /// Returns the version of this number.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            3 => Some(Self::V3),
            4 => Some(Self::V4),
            5 => Some(Self::V5),
            _ => None,
        }
    }

    /// Returns its number.
    pub const fn number(self) -> u8 {
        match self {
            Self::V3 => 3,
            Self::V4 => 4,
            Self::V5 => 5,
        }
    }
}

/// The kind of a message.
#[allow(missing_docs, reason = "the names of the protocol")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    Error,
    Startup,
    Ready,
    Authenticate,
    Options,
    Supported,
    Query,
    Result,
    Prepare,
    Execute,
    Register,
    Event,
    Batch,
    AuthChallenge,
    AuthResponse,
    AuthSuccess,
}

impl Opcode {
    /// Returns the opcode of this number.
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0x00 => Self::Error,
            0x01 => Self::Startup,
            0x02 => Self::Ready,
            0x03 => Self::Authenticate,
            0x05 => Self::Options,
            0x06 => Self::Supported,
            0x07 => Self::Query,
            0x08 => Self::Result,
            0x09 => Self::Prepare,
            0x0A => Self::Execute,
            0x0B => Self::Register,
            0x0C => Self::Event,
            0x0D => Self::Batch,
            0x0E => Self::AuthChallenge,
            0x0F => Self::AuthResponse,
            0x10 => Self::AuthSuccess,
            _ => return None,
        })
    }

    /// Returns its name, as the specification writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Startup => "STARTUP",
            Self::Ready => "READY",
            Self::Authenticate => "AUTHENTICATE",
            Self::Options => "OPTIONS",
            Self::Supported => "SUPPORTED",
            Self::Query => "QUERY",
            Self::Result => "RESULT",
            Self::Prepare => "PREPARE",
            Self::Execute => "EXECUTE",
            Self::Register => "REGISTER",
            Self::Event => "EVENT",
            Self::Batch => "BATCH",
            Self::AuthChallenge => "AUTH_CHALLENGE",
            Self::AuthResponse => "AUTH_RESPONSE",
            Self::AuthSuccess => "AUTH_SUCCESS",
        }
    }

    /// Returns its number.
    pub const fn number(self) -> u8 {
        match self {
            Self::Error => 0x00,
            Self::Startup => 0x01,
            Self::Ready => 0x02,
            Self::Authenticate => 0x03,
            Self::Options => 0x05,
            Self::Supported => 0x06,
            Self::Query => 0x07,
            Self::Result => 0x08,
            Self::Prepare => 0x09,
            Self::Execute => 0x0A,
            Self::Register => 0x0B,
            Self::Event => 0x0C,
            Self::Batch => 0x0D,
            Self::AuthChallenge => 0x0E,
            Self::AuthResponse => 0x0F,
            Self::AuthSuccess => 0x10,
        }
    }
}

/// A request as it came, its body decompressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The version.
    pub version: Version,
    /// The flags; see [`flag`].
    pub flags: u8,
    /// The stream id of the request; not negative.
    pub stream: i16,
    /// The number of its opcode: an unknown one is answered, not cut off.
    pub opcode: u8,
    /// The body.
    pub body: Bytes,
}

/// The head of an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The first byte: version and direction.
    pub(crate) version: u8,
    pub(crate) flags: u8,
    pub(crate) stream: i16,
    pub(crate) opcode: u8,
    pub(crate) length: usize,
}

impl Header {
    /// Reads the head; `None` if not all of it is there.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let &[version, flags, s1, s0, opcode, l3, l2, l1, l0, ..] = bytes else { return None };
        Some(Self {
            version,
            flags,
            stream: i16::from_be_bytes([s1, s0]),
            opcode,
            length: usize::try_from(u32::from_be_bytes([l3, l2, l1, l0])).unwrap_or(usize::MAX),
        })
    }

    /// Appends the head.
    pub(crate) fn write(&self, out: &mut BytesMut) {
        out.put_u8(self.version);
        out.put_u8(self.flags);
        out.put_i16(self.stream);
        out.put_u8(self.opcode);
        out.put_u32(u32::try_from(self.length).unwrap_or(u32::MAX));
    }
}
