//! Envelopes, checksummed frames and compression: the bytes of a connection cut into requests, and
//! answers made into bytes.
//!
//! What it is not: it knows opcodes by number only; what a body means is `message`'s.
//!
//! Invariant: a length is checked against its limit before anything is allocated for it, and memory
//! grows only with bytes that have arrived.
//!
//! # Layout
//!
//! An envelope, in every version, big-endian: version (bit 7: answer), flags, stream (i16), opcode,
//! body length (u32), body.
//!
//! A frame of version 5, after the handshake, little-endian: header, CRC-24 of the header (3 bytes),
//! payload, CRC-32 of the payload (4 bytes). The header is 3 bytes without compression (17 bits
//! length, 1 bit self-contained) and 5 with (17 bits compressed length, 17 bits length, 1 bit
//! self-contained; length 0: not compressed after all).
//!
//! Source: native protocol specifications v3 to v5, read 2026-11.

mod checksum;
mod compression;
mod decoder;
mod encoder;
mod envelope;
mod framed;
mod spooled_answer;

pub use compression::Compression;
pub use decoder::{Decoder, FrameError};
pub use encoder::{Envelopes, Framing};
pub use envelope::{Envelope, Opcode, Version, flag};
pub use spooled_answer::SpooledAnswer;

#[cfg(test)]
mod tests;
