//! Version 5's frames, one at a time.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

use super::checksum::{crc24, crc32};
use super::compression::{lz4_append, lz4_unpack};
use crate::limits::FRAME_PAYLOAD_SIZE_BYTES_MAX;

const CHECKSUM_24_BYTES: usize = 3;
const CHECKSUM_32_BYTES: usize = 4;
const LENGTH_BITS: u32 = 17;

/// The reason why bytes are no frame, or not yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FrameProblem {
    /// The header's checksum does not fit: nothing behind it can be trusted.
    Header,
    /// The payload's checksum does not fit.
    Payload,
    /// The payload cannot be decompressed.
    Compression,
}

/// A frame's payload.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// True if it holds whole envelopes only.
    pub(super) self_contained: bool,
    /// The payload, decompressed.
    pub(super) payload: Bytes,
}

/// Takes the next frame off `input`; `None` if not all of it is there.
pub(super) fn take(input: &mut BytesMut, compressed: bool) -> Result<Option<Frame>, FrameProblem> {
    let header_size = if compressed { 5 } else { 3 };
    let Some((mut header, mut checksum)) = input
        .get(..header_size + CHECKSUM_24_BYTES)
        .and_then(|head| head.split_at_checked(header_size))
    else {
        return Ok(None);
    };
    let expected = crc24(header);
    let bits = header.get_uint_le(header_size);
    if checksum.get_uint_le(CHECKSUM_24_BYTES) != u64::from(expected) {
        return Err(FrameProblem::Header);
    }
    let mask = (1_u64 << LENGTH_BITS) - 1;
    let stored = usize::try_from(bits & mask).unwrap_or(usize::MAX);
    let (length, flag_bit) = if compressed {
        (usize::try_from((bits >> LENGTH_BITS) & mask).unwrap_or(usize::MAX), 2 * LENGTH_BITS)
    } else {
        (0, LENGTH_BITS)
    };
    let before = header_size + CHECKSUM_24_BYTES;
    let size = before + stored + CHECKSUM_32_BYTES;
    if input.len() < size {
        input.reserve(size - input.len());
        return Ok(None);
    }
    let mut frame = input.split_to(size).freeze();
    frame.advance(before);
    let payload = frame.split_to(stored);
    if frame.get_u32_le() != crc32(&payload) {
        return Err(FrameProblem::Payload);
    }
    let payload = if length == 0 {
        payload
    } else {
        lz4_unpack(&payload, length).map_err(|_| FrameProblem::Compression)?
    };
    Ok(Some(Frame { self_contained: bits >> flag_bit & 1 == 1, payload }))
}

/// Appends a frame around `payload`, which is at most [`FRAME_PAYLOAD_SIZE_BYTES_MAX`] long.
pub(super) fn put(out: &mut BytesMut, payload: &[u8], self_contained: bool, compressed: bool) {
    debug_assert!(payload.len() <= FRAME_PAYLOAD_SIZE_BYTES_MAX, "the encoder splits");
    let mut packed = BytesMut::new();
    if compressed {
        lz4_append(payload, &mut packed);
    }
    let smaller = compressed && packed.len() < payload.len();
    let stored = if smaller { &packed[..] } else { payload };
    let (header, header_size) = if compressed {
        let unpacked = if smaller { length(payload) } else { 0 };
        let flag = u64::from(self_contained) << (2 * LENGTH_BITS);
        (length(stored) | unpacked << LENGTH_BITS | flag, 5)
    } else {
        (length(stored) | u64::from(self_contained) << LENGTH_BITS, 3)
    };
    out.reserve(header_size + CHECKSUM_24_BYTES + stored.len() + CHECKSUM_32_BYTES);
    let start = out.len();
    out.put_uint_le(header, header_size);
    let checksum = crc24(out.get(start..).unwrap_or_default());
    out.put_uint_le(u64::from(checksum), CHECKSUM_24_BYTES);
    out.put_slice(stored);
    out.put_u32_le(crc32(stored));
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
