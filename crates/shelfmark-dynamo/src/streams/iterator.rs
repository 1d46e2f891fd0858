//! Shard iterators: places in a shard as text that a client hands back within a quarter of an hour.
//!
//! `<ARN of the stream>|1|<base64>`, where the base64 is of, all big-endian: number of the shard (8),
//! kind (1), commit (8), position in it (4), milliseconds of issue (8), CRC-32 of all before it and
//! of the ARN (4). Nothing of an iterator is stored, so it outlives a restart.
//!
//! What it is not: a secret. Who may read a stream may read every place of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use shelfmark_engine::{ChangePosition, StreamRange};

use super::StreamName;
use crate::limits::{ITERATOR_AGE_MS_MAX, ITERATOR_CHARS_MAX};

const VERSION: &str = "|1|";
const BYTES: usize = 29;

/// A place in a shard, and when it was handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Iterator {
    /// The ARN of the stream as the client knows it.
    pub(crate) arn: String,
    pub(crate) name: StreamName,
    pub(crate) shard: u64,
    pub(crate) range: StreamRange,
}

/// The reason why a text is no iterator to go on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IteratorFault {
    /// It was handed out too long ago.
    Expired,
    /// It is none that this server handed out.
    Invalid,
}

impl Iterator {
    /// Formats the iterator, handed out at this moment in milliseconds since the Unix epoch.
    pub(crate) fn text(&self, now_ms: i64) -> String {
        let (kind, position) = match self.range {
            StreamRange::Oldest => (0, ChangePosition::default()),
            StreamRange::At(at) => (1, at),
            StreamRange::After(after) => (2, after),
        };
        let mut bytes = Vec::with_capacity(BYTES + 4);
        bytes.extend_from_slice(&self.shard.to_be_bytes());
        bytes.push(kind);
        bytes.extend_from_slice(&position.commit.to_be_bytes());
        bytes.extend_from_slice(&position.position.to_be_bytes());
        bytes.extend_from_slice(&now_ms.to_be_bytes());
        let checksum = checksum(&bytes, &self.arn);
        bytes.extend_from_slice(&checksum.to_be_bytes());
        format!("{}{VERSION}{}", self.arn, STANDARD.encode(bytes))
    }

    /// Reads an iterator.
    pub(crate) fn read(text: &str, now_ms: i64) -> Result<Self, IteratorFault> {
        let (iterator, issued_ms) = Self::parse(text).ok_or(IteratorFault::Invalid)?;
        // One of the future was handed out by a clock that was set back since.
        if now_ms.saturating_sub(issued_ms) > ITERATOR_AGE_MS_MAX {
            return Err(IteratorFault::Expired);
        }
        Ok(iterator)
    }

    fn parse(text: &str) -> Option<(Self, i64)> {
        if text.len() > ITERATOR_CHARS_MAX {
            return None;
        }
        let (arn, encoded) = text.split_once(VERSION)?;
        let bytes = STANDARD.decode(encoded).ok()?;
        let (body, sum) = bytes.split_at_checked(BYTES)?;
        if sum != checksum(body, arn).to_be_bytes() {
            return None;
        }
        let (shard, rest) = body.split_first_chunk::<8>()?;
        let (kind, rest) = rest.split_first()?;
        let (commit, rest) = rest.split_first_chunk::<8>()?;
        let (position, rest) = rest.split_first_chunk::<4>()?;
        let issued = rest.first_chunk::<8>()?;
        let position = ChangePosition {
            commit: u64::from_be_bytes(*commit),
            position: u32::from_be_bytes(*position),
        };
        let range = match kind {
            0 => StreamRange::Oldest,
            1 => StreamRange::At(position),
            2 => StreamRange::After(position),
            _ => return None,
        };
        let name = StreamName::of_arn(arn)?;
        let shard = u64::from_be_bytes(*shard);
        Some((Self { arn: arn.to_owned(), name, shard, range }, i64::from_be_bytes(*issued)))
    }
}

fn checksum(bytes: &[u8], arn: &str) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytes);
    hasher.update(arn.as_bytes());
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iterator(range: StreamRange) -> Iterator {
        let arn = "arn:aws:dynamodb:local:000000000000:table/Music/stream/2026-11-23T17:01:53.120";
        let name = StreamName::of_arn(arn).unwrap();
        Iterator { arn: arn.to_owned(), name, shard: 7, range }
    }

    #[test]
    fn iterators_read_back_until_they_expire() {
        let position = ChangePosition { commit: 12, position: 3 };
        let ranges = [StreamRange::Oldest, StreamRange::At(position), StreamRange::After(position)];
        for range in ranges {
            let iterator = iterator(range);
            let text = iterator.text(1_000);
            assert!(text.len() <= ITERATOR_CHARS_MAX);
            assert_eq!(Iterator::read(&text, 901_000), Ok(iterator));
            assert_eq!(Iterator::read(&text, 901_001), Err(IteratorFault::Expired));
        }
    }

    #[test]
    fn no_changed_iterator_is_read() {
        let text = iterator(StreamRange::Oldest).text(1_000);
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(Iterator::read(&changed, 1_000), Err(IteratorFault::Invalid), "{changed}");
            assert_eq!(Iterator::read(&text[..at], 1_000), Err(IteratorFault::Invalid));
        }
    }
}
