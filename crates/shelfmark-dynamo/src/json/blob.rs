//! Base64 of binaries: padded, canonical, without line breaks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::errors::{Error, Result, texts};

/// Decodes base64.
pub(super) fn read(text: &str) -> Result<Bytes> {
    let refused = |problem: String| Error::serialization(texts::no_blob(&problem));
    if !text.len().is_multiple_of(4) {
        return Err(refused(texts::blob_length(text.len())));
    }
    STANDARD.decode(text).map(Bytes::from).map_err(|_| {
        let stranger = text
            .trim_end_matches('=')
            .chars()
            .find(|letter| !letter.is_ascii_alphanumeric() && !matches!(letter, '+' | '/'));
        refused(match stranger {
            Some(letter) => texts::blob_character(letter),
            None => texts::BLOB_LAST_CHARACTER.to_owned(),
        })
    })
}

/// Appends base64 to a JSON string.
pub(crate) fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    let size = base64::encoded_len(bytes.len(), true).unwrap_or(0);
    out.resize(start + size, 0);
    if let Some(place) = out.get_mut(start..) {
        // The place has exactly the size that the encoder asked for.
        let _ = STANDARD.encode_slice(bytes, place);
    }
}
