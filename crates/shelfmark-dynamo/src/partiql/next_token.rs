//! The token of the next page: a place among the reads of a statement, as opaque text.
//!
//! Base64 of, all big-endian: version (1), hash of the statement and its parameters (8), number of
//! the read (4), the cursor in it (any length, none if the read has not begun), CRC-32 of all before
//! it (4). Nothing of it is stored, so every server of a store takes it, also after a restart.
//!
//! What it is not: a secret, or a snapshot. The next page sees what was written meanwhile.
//!
//! Invariant: the hash stays as it is over versions of this build; a change of it needs another
//! [`VERSION`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use shelfmark_engine::Cursor;
use shelfmark_model::Value;
use xxhash_rust::xxh3::Xxh3;

use crate::errors::{Error, Result, texts};
use crate::json::{Writer, put_value};

const VERSION: u8 = 1;

/// Bytes before the cursor.
const HEAD_BYTES: usize = 13;

/// A place among the reads of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NextToken {
    /// The hash of the statement and its parameters.
    pub(crate) request: u64,
    /// The read to go on with.
    pub(crate) read: usize,
    /// The place in it.
    pub(crate) cursor: Option<Cursor>,
}

/// Hashes a statement and its parameters, by which a token knows whose it is.
pub(crate) fn request_hash(statement: &str, parameters: &[Value]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&[VERSION]);
    hash.update(statement.as_bytes());
    let values = Writer::body(|out| {
        out.name("Parameters").list(|out| {
            for value in parameters {
                put_value(out, value);
            }
        });
    });
    hash.update(&values);
    hash.digest()
}

impl NextToken {
    /// Formats the token.
    pub(crate) fn text(&self) -> String {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.request.to_be_bytes());
        bytes.extend_from_slice(&u32::try_from(self.read).unwrap_or(u32::MAX).to_be_bytes());
        if let Some(cursor) = &self.cursor {
            bytes.extend_from_slice(&cursor.to_bytes());
        }
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_be_bytes());
        STANDARD.encode(bytes)
    }

    /// Reads the token of a statement with this hash.
    ///
    /// # Errors
    ///
    /// * ValidationException: it is no token, or another statement's.
    pub(crate) fn read(text: &str, request: u64) -> Result<Self> {
        let token =
            Self::parse(text).ok_or_else(|| Error::validation(texts::NEXT_TOKEN_INVALID))?;
        if token.request != request {
            return Err(Error::validation(texts::NEXT_TOKEN_OF_ANOTHER));
        }
        Ok(token)
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text).ok()?;
        let (body, checksum) = bytes.split_last_chunk::<4>()?;
        if crc32fast::hash(body).to_be_bytes() != *checksum {
            return None;
        }
        let (head, cursor) = body.split_at_checked(HEAD_BYTES)?;
        let (version, head) = head.split_first()?;
        let (request, read) = head.split_first_chunk::<8>()?;
        let cursor = match cursor {
            [] => None,
            cursor => Some(Cursor::from_bytes(cursor).ok()?),
        };
        let read = u32::from_be_bytes(*read.first_chunk::<4>()?);
        (*version == VERSION).then_some(Self {
            request: u64::from_be_bytes(*request),
            read: usize::try_from(read).ok()?,
            cursor,
        })
    }
}
