//! The two compressions that clients may ask for.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

use crate::limits::ENVELOPE_SIZE_BYTES_MAX;

/// Most bytes that one byte of an lz4 block can stand for: a length byte of 255.
const LZ4_GROWTH_MAX: usize = 255;

/// Most bytes that one byte of snappy can stand for: a copy of 64 bytes takes 3.
const SNAPPY_GROWTH_MAX: usize = 64;

/// A compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// lz4 blocks.
    Lz4,
    /// Raw snappy; not in version 5.
    Snappy,
}

/// A body cannot be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

impl Compression {
    /// Returns the compression of this name, as STARTUP has it.
    pub fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("lz4") {
            Some(Self::Lz4)
        } else if name.eq_ignore_ascii_case("snappy") {
            Some(Self::Snappy)
        } else {
            None
        }
    }

    /// Compresses the body of an envelope of version 3 or 4.
    pub fn pack_body(self, body: &[u8], out: &mut BytesMut) {
        match self {
            Self::Lz4 => {
                out.put_u32(u32::try_from(body.len()).unwrap_or(u32::MAX));
                lz4_append(body, out);
            }
            Self::Snappy => {
                let start = out.len();
                out.resize(start + snap::raw::max_compress_len(body.len()), 0);
                let space = out.get_mut(start..).unwrap_or_default();
                // The space is what the library asked for, so it suffices.
                let written = snap::raw::Encoder::new().compress(body, space).unwrap_or(0);
                out.truncate(start + written);
            }
        }
    }

    /// Returns how long the body of an envelope of version 3 or 4 says that it is once it is
    /// decompressed; 0 if it cannot be read.
    pub(super) fn unpacked_size_bytes(self, body: &[u8]) -> usize {
        let said = match self {
            Self::Lz4 => {
                body.first_chunk().and_then(|own| u32::from_be_bytes(*own).try_into().ok())
            }
            Self::Snappy => snap::raw::decompress_len(body).ok(),
        };
        let growth = match self {
            Self::Lz4 => LZ4_GROWTH_MAX,
            Self::Snappy => SNAPPY_GROWTH_MAX,
        };
        // What claims to be more is refused without being looked at.
        said.unwrap_or(0).min(ENVELOPE_SIZE_BYTES_MAX).min(body.len().saturating_mul(growth))
    }

    /// Decompresses the body of an envelope of version 3 or 4.
    pub(super) fn unpack_body(self, mut body: Bytes) -> Result<Bytes, Damaged> {
        // An empty body says nothing, compressed or not.
        if body.is_empty() {
            return Ok(body);
        }
        match self {
            Self::Lz4 => {
                let length = body.try_get_u32().map_err(|_| Damaged)?;
                let length = usize::try_from(length).map_err(|_| Damaged)?;
                if length > ENVELOPE_SIZE_BYTES_MAX {
                    return Err(Damaged);
                }
                lz4_unpack(&body, length)
            }
            Self::Snappy => {
                let length = snap::raw::decompress_len(&body).map_err(|_| Damaged)?;
                if length > ENVELOPE_SIZE_BYTES_MAX
                    || length > body.len().saturating_mul(SNAPPY_GROWTH_MAX)
                {
                    return Err(Damaged);
                }
                let mut out = vec![0; length];
                let written =
                    snap::raw::Decoder::new().decompress(&body, &mut out).map_err(|_| Damaged)?;
                if written == length { Ok(out.into()) } else { Err(Damaged) }
            }
        }
    }
}

/// Appends the lz4 block of `bytes`.
pub(super) fn lz4_append(bytes: &[u8], out: &mut BytesMut) {
    let start = out.len();
    out.resize(start + lz4_flex::block::get_maximum_output_size(bytes.len()), 0);
    let space = out.get_mut(start..).unwrap_or_default();
    // The space is what the library asked for, so it suffices.
    let written = lz4_flex::block::compress_into(bytes, space).unwrap_or(0);
    out.truncate(start + written);
}

/// Returns the `length` bytes that an lz4 block stands for.
pub(super) fn lz4_unpack(block: &[u8], length: usize) -> Result<Bytes, Damaged> {
    if length > block.len().saturating_mul(LZ4_GROWTH_MAX) {
        return Err(Damaged);
    }
    let mut out = vec![0; length];
    let written = lz4_flex::block::decompress_into(block, &mut out).map_err(|_| Damaged)?;
    if written == length { Ok(out.into()) } else { Err(Damaged) }
}
