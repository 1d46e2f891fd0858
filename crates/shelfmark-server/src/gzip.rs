//! Compresses and decompresses bodies, with the decompressed size bounded.

use std::io::{Read, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};

use crate::coding::Coding;
use crate::limits::BODY_SIZE_BYTES_MAX;

/// The reason why a body could not be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GzipError {
    /// It is not what its coding says, or that is an unknown one.
    Damaged,
    /// It holds more than a request may.
    TooLarge,
}

/// Returns true if a body of this `Content-Encoding` is to be decompressed.
pub(crate) fn is_packed(coding: Option<&str>) -> bool {
    coding.is_some_and(|coding| {
        let coding = coding.trim();
        coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("deflate")
    })
}

/// Decompresses a request's body by its `Content-Encoding`.
pub(crate) fn unpack(coding: Option<&str>, body: Bytes) -> Result<Bytes, GzipError> {
    match coding.map(str::trim) {
        None | Some("") => Ok(body),
        Some(coding) if coding.eq_ignore_ascii_case("identity") => Ok(body),
        Some(coding) if coding.eq_ignore_ascii_case("gzip") => {
            decompress(MultiGzDecoder::new(&body[..]))
        }
        Some(coding) if coding.eq_ignore_ascii_case("deflate") => {
            decompress(ZlibDecoder::new(&body[..]))
        }
        Some(_) => Err(GzipError::Damaged),
    }
}

/// Decompresses a request's body: one gzip, or several one behind the other, or the zlib format.
fn decompress(packed: impl Read) -> Result<Bytes, GzipError> {
    let mut out = Vec::new();
    let limit = BODY_SIZE_BYTES_MAX as u64 + 1;
    packed.take(limit).read_to_end(&mut out).map_err(|_| GzipError::Damaged)?;
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

    fn packed(body: &[u8], coding: Coding) -> Bytes {
        compress(body, coding).unwrap()
    }

    #[test]
    fn bodies_come_back_and_bombs_do_not() {
        let body = vec![b'x'; 100_000];
        for (name, coding) in [("gzip", Coding::Gzip), ("deflate", Coding::Deflate)] {
            let small = packed(&body, coding);
            assert!(small.len() < 1_000);
            assert_eq!(unpack(Some(name), small.clone()).unwrap(), body);
            let short = small.slice(..small.len() - 1);
            for damaged in [Bytes::from_static(b"plain"), Bytes::new(), short] {
                assert_eq!(unpack(Some(name), damaged), Err(GzipError::Damaged), "{name}");
            }
            let bomb = packed(&vec![0; BODY_SIZE_BYTES_MAX + 1], coding);
            assert!(bomb.len() < 200_000);
            assert_eq!(unpack(Some(name), bomb), Err(GzipError::TooLarge), "{name}");
        }
        let (start, end) = body.split_at(10);
        let twice = [packed(start, Coding::Gzip), packed(end, Coding::Gzip)].concat();
        assert_eq!(unpack(Some("gzip"), twice.into()).unwrap(), body, "one gzip behind another");
        let followed = [&packed(&body, Coding::Gzip)[..], b"junk"].concat();
        assert_eq!(unpack(Some("gzip"), followed.into()), Err(GzipError::Damaged));
    }

    #[test]
    fn the_coding_of_a_request_is_one_of_two_or_none() {
        let body = Bytes::from_static(b"{}");
        let small = packed(&body, Coding::Gzip);
        for plain in [None, Some(""), Some("identity")] {
            assert_eq!(unpack(plain, body.clone()).unwrap(), body);
        }
        assert_eq!(unpack(Some("GZIP"), small.clone()).unwrap(), body);
        for other in ["garbage", "deflate", "gzip, gzip"] {
            assert_eq!(unpack(Some(other), small.clone()), Err(GzipError::Damaged));
        }
    }
}
