//! gzip bodies, with the decompressed size bounded.

use std::io::{Read as _, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::limits::BODY_SIZE_BYTES_MAX;

/// Why a body could not be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GzipError {
    /// It is no gzip.
    Damaged,
    /// It holds more than a request may.
    TooLarge,
}

/// Decompresses a request's body: one gzip, or several one behind the other.
pub(crate) fn decompress(body: &[u8]) -> Result<Bytes, GzipError> {
    let mut out = Vec::new();
    let limit = BODY_SIZE_BYTES_MAX as u64 + 1;
    MultiGzDecoder::new(body).take(limit).read_to_end(&mut out).map_err(|_| GzipError::Damaged)?;
    if out.len() > BODY_SIZE_BYTES_MAX {
        return Err(GzipError::TooLarge);
    }
    Ok(out.into())
}

/// Compresses an answer's body; `None` if memory cannot be written to, which does not happen.
pub(crate) fn compress(body: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body).ok()?;
    Some(encoder.finish().ok()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_back_and_bombs_do_not() {
        let body = vec![b'x'; 100_000];
        let packed = compress(&body).unwrap();
        assert!(packed.len() < 1_000);
        assert_eq!(decompress(&packed).unwrap(), body);
        let (start, end) = body.split_at(10);
        let twice = [compress(start).unwrap(), compress(end).unwrap()].concat();
        assert_eq!(decompress(&twice).unwrap(), body, "one gzip behind another");
        for damaged in [&b"plain"[..], b"", &packed[..packed.len() - 1]] {
            assert_eq!(decompress(damaged), Err(GzipError::Damaged));
        }
        let followed = [&packed[..], b"junk"].concat();
        assert_eq!(decompress(&followed), Err(GzipError::Damaged));
        let bomb = compress(&vec![0; BODY_SIZE_BYTES_MAX + 1]).unwrap();
        assert!(bomb.len() < 200_000);
        assert_eq!(decompress(&bomb), Err(GzipError::TooLarge));
    }
}
