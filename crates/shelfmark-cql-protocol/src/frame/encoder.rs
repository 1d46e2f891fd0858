//! From answers to a connection's bytes; at a client's end from requests.

use bytes::{BufMut as _, Bytes, BytesMut};

use super::compression::Compression;
use super::envelope::{HEADER_SIZE_BYTES, Header, Opcode, Version, flag};
use super::framed;
use crate::limits::FRAME_PAYLOAD_SIZE_BYTES_MAX;

/// Bodies below this are sent as they are: compressing them costs more than it saves.
///
/// Source: ours.
const COMPRESSED_SIZE_BYTES_MIN: usize = 512;

/// The form in which the bytes of a connection are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Framing {
    /// Envelope after envelope, bodies compressed where that was agreed.
    #[default]
    Plain,
    /// The same, with compressed bodies.
    PlainCompressed(Compression),
    /// Version 5's frames; with lz4 or without.
    Framed {
        /// True if payloads are lz4.
        compressed: bool,
    },
}

/// Answers that wait to be sent, in order.
///
/// Invariant: `ends` rises and its last is the length of `bytes`.
#[derive(Debug, Default)]
pub struct Envelopes {
    bytes: BytesMut,
    ends: Vec<usize>,
    /// The answers before this place were made before frames began.
    plain: usize,
    /// True if these are requests, at a client's end.
    requests: bool,
}

impl Envelopes {
    /// Creates the envelopes of a client, which sends requests.
    pub fn of_requests() -> Self {
        Self { requests: true, ..Self::default() }
    }

    /// Appends an answer; `body` writes its body.
    pub fn push(
        &mut self,
        version: Version,
        flags: u8,
        stream: i16,
        opcode: Opcode,
        framing: Framing,
        body: impl FnOnce(&mut BytesMut),
    ) {
        let start = self.bytes.len();
        let head = Header {
            version: version.number() | if self.requests { 0 } else { 0x80 },
            flags,
            stream,
            opcode: opcode.number(),
            length: 0,
        };
        head.write(&mut self.bytes);
        body(&mut self.bytes);
        let body_start = start + HEADER_SIZE_BYTES;
        if let Framing::PlainCompressed(compression) = framing
            && self.bytes.len() - body_start >= COMPRESSED_SIZE_BYTES_MIN
        {
            let body = self.bytes.split_off(body_start);
            compression.pack_body(&body, &mut self.bytes);
            if let Some(flags) = self.bytes.get_mut(start + 1) {
                *flags |= flag::COMPRESSED;
            }
        }
        let length = u32::try_from(self.bytes.len() - body_start).unwrap_or(u32::MAX);
        if let Some(mut place) = self.bytes.get_mut(start + 5..body_start) {
            place.put_u32(length);
        }
        self.ends.push(self.bytes.len());
        if !matches!(framing, Framing::Framed { .. }) {
            self.plain = self.ends.len();
        }
    }

    /// Returns true if nothing waits to be sent.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns how many bytes wait.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes everything that waits, as it goes over the wire.
    pub fn take(&mut self, framing: Framing) -> Bytes {
        let bytes = self.bytes.split();
        let ends = std::mem::take(&mut self.ends);
        let plain = std::mem::take(&mut self.plain);
        let Framing::Framed { compressed } = framing else { return bytes.freeze() };
        let plain_end = plain.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or(0);
        let frames = bytes.len() / FRAME_PAYLOAD_SIZE_BYTES_MAX + 2;
        let mut out = BytesMut::with_capacity(bytes.len() + frames * 16);
        out.put_slice(bytes.get(..plain_end).unwrap_or_default());
        let (mut start, mut end) = (plain_end, plain_end);
        for next in ends.into_iter().skip(plain) {
            if next - start > FRAME_PAYLOAD_SIZE_BYTES_MAX && end > start {
                framed::put(&mut out, bytes.get(start..end).unwrap_or_default(), true, compressed);
                start = end;
            }
            end = next;
            if end - start > FRAME_PAYLOAD_SIZE_BYTES_MAX {
                let envelope = bytes.get(start..end).unwrap_or_default();
                for piece in envelope.chunks(FRAME_PAYLOAD_SIZE_BYTES_MAX) {
                    framed::put(&mut out, piece, false, compressed);
                }
                start = end;
            }
        }
        if end > start {
            framed::put(&mut out, bytes.get(start..end).unwrap_or_default(), true, compressed);
        }
        out.freeze()
    }
}
