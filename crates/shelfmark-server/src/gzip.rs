//! Compresses and decompresses bodies, with the decompressed size bounded.

use std::io::{Read as _, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::{GzEncoder, ZlibEncoder};

use crate::coding::Coding;
use crate::limits::BODY_SIZE_BYTES_MAX;

/// The reason why a body could not be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GzipError {
    /// It is not valid gzip, or its coding is another one.
    Damaged,
    /// It holds more than a request may.
    TooLarge,
}

/// Returns true if a body of this `Content-Encoding` is to be decompressed.
pub(crate) fn is_packed(coding: Option<&str>) -> bool {
    coding.is_some_and(|coding| coding.trim().eq_ignore_ascii_case("gzip"))
}

/// Decompresses a request's body by its `Content-Encoding`: the service knows gzip alone.
pub(crate) fn unpack(coding: Option<&str>, body: Bytes) -> Result<Bytes, GzipError> {
    match coding.map(str::trim) {
        None | Some("") => Ok(body),
        Some(coding) if coding.eq_ignore_ascii_case("identity") => Ok(body),
        Some(coding) if coding.eq_ignore_ascii_case("gzip") => decompress(&body),
        Some(_) => Err(GzipError::Damaged),
    }
}

/// Decompresses a request's body: one gzip, or several one behind the other.
fn decompress(body: &[u8]) -> Result<Bytes, GzipError> {
    let mut out = Vec::new();
    let limit = BODY_SIZE_BYTES_MAX as u64 + 1;
    MultiGzDecoder::new(body).take(limit).read_to_end(&mut out).map_err(|_| GzipError::Damaged)?;
    if out.len() > BODY_SIZE_BYTES_MAX {
        return Err(GzipError::TooLarge);
    }
    Ok(out.into())
}

/// Compresses an answer's body; `None` if memory cannot be written to, which does not happen.
///
/// Deflate is the zlib format, as HTTP has it.
pub(crate) fn compress(body: &[u8], coding: Coding) -> Option<Bytes> {
    let out = Vec::with_capacity(body.len() / 4);
    let packed = match coding {
        Coding::Gzip => {
            let mut encoder = GzEncoder::new(out, Compression::fast());
            encoder.write_all(body).and_then(|()| encoder.finish())
        }
        Coding::Deflate => {
            let mut encoder = ZlibEncoder::new(out, Compression::fast());
            encoder.write_all(body).and_then(|()| encoder.finish())
        }
    };
    packed.ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_back_and_bombs_do_not() {
        let body = vec![b'x'; 100_000];
        let packed = compress(&body, Coding::Gzip).unwrap();
        assert!(packed.len() < 1_000);
        assert_eq!(decompress(&packed).unwrap(), body);
        let zlib = compress(&body, Coding::Deflate).unwrap();
        let mut back = Vec::new();
        flate2::read::ZlibDecoder::new(&zlib[..]).read_to_end(&mut back).unwrap();
        assert_eq!(back, body);
        let (start, end) = body.split_at(10);
        let twice =
            [compress(start, Coding::Gzip).unwrap(), compress(end, Coding::Gzip).unwrap()].concat();
        assert_eq!(decompress(&twice).unwrap(), body, "one gzip behind another");
        let short = packed.slice(..packed.len() - 1);
        for damaged in [&b"plain"[..], b"", &short] {
            assert_eq!(decompress(damaged), Err(GzipError::Damaged));
        }
        let followed = [&packed[..], b"junk"].concat();
        assert_eq!(decompress(&followed), Err(GzipError::Damaged));
        let bomb = compress(&vec![0; BODY_SIZE_BYTES_MAX + 1], Coding::Gzip).unwrap();
        assert!(bomb.len() < 200_000);
        assert_eq!(decompress(&bomb), Err(GzipError::TooLarge));
    }

    #[test]
    fn the_coding_of_a_request_is_gzip_or_none() {
        let body = Bytes::from_static(b"{}");
        let packed = compress(&body, Coding::Gzip).unwrap();
        for plain in [None, Some(""), Some("identity")] {
            assert_eq!(unpack(plain, body.clone()).unwrap(), body);
        }
        assert_eq!(unpack(Some("GZIP"), packed.clone()).unwrap(), body);
        for unknown in ["garbage", "deflate", "gzip, gzip"] {
            assert_eq!(unpack(Some(unknown), packed.clone()), Err(GzipError::Damaged));
        }
    }
}
