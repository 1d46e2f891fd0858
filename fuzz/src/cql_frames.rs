//! The CQL face's bytes: frames, envelopes and the bodies of requests.
//!
//! What it is not: CQL text, which has a target of its own.
//!
//! Promises: nothing panics; whatever came in, what goes out is whole envelopes (in version 5 whole
//! frames, with right checksums by a second implementation); and bytes that come one by one are
//! answered like bytes that come at once.

use std::sync::Arc;

use bytes::BytesMut;
use shelfmark_cql::{Connection, Face, FaceOptions, Inline, Progress};
use shelfmark_engine::Engine;

use crate::bed;

const STARTUP: u8 = 1;

/// How an input is read.
#[derive(Debug, Clone, Copy)]
struct Mode {
    version: u8,
    compression: &'static str,
    /// Put the input into envelopes, and in version 5 into frames, of our making.
    wrapped: bool,
}

impl Mode {
    fn of(byte: u8) -> Self {
        let version = 3 + byte % 3;
        let compression = match (byte / 3) % 3 {
            1 => "lz4",
            2 if version < 5 => "snappy",
            _ => "",
        };
        Self { version, compression, wrapped: (byte / 9).is_multiple_of(2) }
    }
}

/// Runs an input.
///
/// # Panics
///
/// When a promise is broken.
pub fn run(input: &[u8]) {
    let Some((mode, rest)) = input.split_first() else { return };
    let mode = Mode::of(*mode);
    let bytes = if mode.wrapped { wrap(mode, rest) } else { rest.to_vec() };
    let at_once = answers(mode, &bytes, usize::MAX);
    check(mode, &at_once);
    if bytes.len() < 4_096 {
        let one_by_one = answers(mode, &bytes, 1);
        assert_eq!(plain(mode, &at_once), plain(mode, &one_by_one), "pieces change the answers");
    }
}

fn face() -> Arc<Face> {
    let clock = bed::clock();
    let environment = bed::environment(&clock);
    let engine = Engine::open(bed::store(&clock), environment.clone()).expect("it is new");
    let options = FaceOptions::default();
    let face = Face::open(engine, environment, options, None, Arc::new(Inline));
    Arc::new(face.expect("an empty store can be read"))
}

/// Feeds a connection after its handshake and returns what it sends.
fn answers(mode: Mode, bytes: &[u8], step: usize) -> Vec<u8> {
    let client = "127.0.0.1:9".parse().expect("an address");
    let mut connection = Connection::new(face(), client, Box::new(|| ()));
    let mut options = vec![("CQL_VERSION", "3.0.0")];
    if !mode.compression.is_empty() {
        options.push(("COMPRESSION", mode.compression));
    }
    let mut body = u16::try_from(options.len()).unwrap_or(0).to_be_bytes().to_vec();
    for text in options.iter().flat_map(|(name, value)| [name, value]) {
        body.extend(u16::try_from(text.len()).unwrap_or(0).to_be_bytes());
        body.extend(text.as_bytes());
    }
    let mut startup = BytesMut::from(&envelope(mode.version, 0, STARTUP, &body)[..]);
    assert_eq!(connection.feed(&mut startup), Progress::Hungry);
    assert_eq!(connection.take_output().unwrap_or_default()[4], 2, "READY");
    let (mut pending, mut out) = (BytesMut::new(), Vec::new());
    for piece in bytes.chunks(step.min(bytes.len().max(1))) {
        pending.extend_from_slice(piece);
        let mut progress = connection.feed(&mut pending);
        while progress == Progress::Paused {
            progress = connection.feed(&mut pending);
        }
        out.extend_from_slice(&connection.take_output().unwrap_or_default());
        if progress == Progress::Ended {
            break;
        }
    }
    out
}

fn envelope(version: u8, flags: u8, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![version, flags, 0, 1, opcode];
    out.extend(u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend(body);
    out
}

/// Reads the input as requests (opcode, flags, length of the body, body) and puts them into
/// envelopes and frames.
fn wrap(mode: Mode, mut input: &[u8]) -> Vec<u8> {
    let mut envelopes = Vec::new();
    while let [opcode, flags, length, rest @ ..] = input {
        let length = usize::from(*length).min(rest.len());
        let (body, after) = rest.split_at(length);
        // Bodies are not compressed here; that flag is the business of the other mode.
        envelopes.extend(envelope(mode.version, flags & !1, opcode % 0x11, body));
        input = after;
    }
    if mode.version < 5 {
        return envelopes;
    }
    let compressed = mode.compression == "lz4";
    let length = u64::try_from(envelopes.len().min(131_071)).unwrap_or(0);
    envelopes.truncate(131_071);
    let (head, size) = if compressed { (length | 1 << 34, 5) } else { (length | 1 << 17, 3) };
    let mut out = head.to_le_bytes()[..size].to_vec();
    out.extend(&crc24(&out).to_le_bytes()[..3]);
    out.extend(&envelopes);
    out.extend(crc32(&envelopes).to_le_bytes());
    out
}

/// The header's checksum, bit by bit.
fn crc24(bytes: &[u8]) -> u32 {
    let mut crc = 0x0087_5060_u32;
    for bit in bytes.iter().flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1)) {
        let top = crc >> 23 & 1;
        crc = crc << 1 & 0x00FF_FFFF;
        if top != u32::from(bit) {
            crc ^= 0x0097_4F0B;
        }
    }
    crc
}

/// The payload's checksum, bit by bit, after the bytes that it begins with.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in [0xFA, 0x2D, 0x55, 0xCA].iter().chain(bytes) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

/// Takes the frames off what was sent.
fn plain(mode: Mode, bytes: &[u8]) -> Vec<u8> {
    if mode.version < 5 {
        return bytes.to_vec();
    }
    let size = if mode.compression == "lz4" { 5 } else { 3 };
    let (mut rest, mut out) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (head, after) = rest.split_at(size);
        let (sum, after) = after.split_at(3);
        assert_eq!(&crc24(head).to_le_bytes()[..3], sum, "a frame's header");
        let mut bits = [0; 8];
        bits[..size].copy_from_slice(head);
        let bits = u64::from_le_bytes(bits);
        let stored = usize::try_from(bits & 0x1_FFFF).expect("17 bits");
        let (payload, after) = after.split_at(stored);
        let (sum, after) = after.split_at(4);
        assert_eq!(crc32(payload).to_le_bytes(), sum, "a frame's payload");
        let unpacked = usize::try_from(bits >> 17 & 0x1_FFFF).expect("17 bits");
        if size == 5 && unpacked > 0 {
            let block = lz4_flex::block::decompress(payload, unpacked);
            out.extend(block.expect("what is sent can be decompressed"));
        } else {
            out.extend(payload);
        }
        rest = after;
    }
    out
}

/// Checks that whole answers were sent.
fn check(mode: Mode, bytes: &[u8]) {
    let plain = plain(mode, bytes);
    let mut rest = &plain[..];
    while !rest.is_empty() {
        assert!(rest.len() >= 9, "half a head");
        assert_eq!(rest[0] & 0x80, 0x80, "an answer");
        let length = u32::from_be_bytes([rest[5], rest[6], rest[7], rest[8]]);
        let end = 9 + usize::try_from(length).expect("it fits");
        assert!(end <= rest.len(), "half a body");
        rest = &rest[end..];
    }
}
