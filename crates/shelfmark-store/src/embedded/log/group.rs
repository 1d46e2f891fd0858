//! One group: a header of 56 bytes and a body of writes in ascending key order.
//!
//! Invariant: a group that parses was written whole. Header and body have their own checksums, both
//! seeded with the store's id, so that the length in the header can be trusted before the body is
//! looked at, and bytes of another store never pass.

use std::ops::Range;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::bytes::{be_u16, be_u32, be_u64, wide};

/// Size of a group's header in bytes.
pub(in super::super) const GROUP_HEADER_BYTES: usize = 56;
/// The first bytes of a group.
pub(in super::super) const GROUP_MAGIC: [u8; 4] = *b"SGRP";
/// Largest body that is accepted: a group holds at most one commit beyond its own bound.
pub(in super::super) const BODY_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Largest number that is accepted: no store gets there, and sums with it stay in range.
pub(in super::super) const NUMBER_MAX: u64 = 1 << 62;

const KIND_PUT: u8 = 1;
const KIND_DELETE: u8 = 2;

/// The header of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct GroupHeader {
    /// Its number, consecutive over all files; the first group of a store is 1.
    pub(in super::super) number: u64,
    /// Number of its first commit.
    pub(in super::super) first_commit: u64,
    /// Number of commits that it holds.
    pub(in super::super) commits: u32,
    /// Number of writes that its body holds.
    pub(in super::super) writes: u32,
    /// The tree's sequence number at which its writes are inserted.
    pub(in super::super) seqno: u64,
    /// Length of its body in bytes.
    pub(in super::super) body_bytes: u32,
}

impl GroupHeader {
    /// Returns the number of its last commit.
    pub(in super::super) fn last_commit(&self) -> u64 {
        self.first_commit.saturating_add(u64::from(self.commits)).saturating_sub(1)
    }
}

/// Returns the seed of a store's group checksums: the last 64 bits of its id.
pub(in super::super) fn seed_of(store_id: u128) -> u64 {
    u64::try_from(store_id & u128::from(u64::MAX)).unwrap_or(0)
}

/// Encodes groups, one after the other, in a buffer that is reused.
#[derive(Default)]
pub(in super::super) struct GroupWriter {
    out: Vec<u8>,
    writes: u32,
}

/// Frees the buffer after a group has made it larger than this.
const BUFFER_BYTES_MAX: usize = 8 * 1024 * 1024;

impl GroupWriter {
    /// Begins a group.
    pub(in super::super) fn begin(&mut self) {
        self.out.clear();
        self.out.shrink_to(BUFFER_BYTES_MAX);
        self.out.resize(GROUP_HEADER_BYTES, 0);
        self.writes = 0;
    }

    /// Returns an upper bound of the bytes that a write adds to a body beyond its key and value.
    pub(in super::super) const fn overhead() -> usize {
        7
    }

    /// Adds a put whose lengths were checked when the commit was queued.
    pub(in super::super) fn put(&mut self, key: &[u8], value: &[u8]) {
        self.out.push(KIND_PUT);
        self.out.extend_from_slice(&u16::try_from(key.len()).unwrap_or(u16::MAX).to_be_bytes());
        self.out.extend_from_slice(&u32::try_from(value.len()).unwrap_or(u32::MAX).to_be_bytes());
        self.out.extend_from_slice(key);
        self.out.extend_from_slice(value);
        self.writes += 1;
    }

    /// Adds a deletion.
    pub(in super::super) fn delete(&mut self, key: &[u8]) {
        self.out.push(KIND_DELETE);
        self.out.extend_from_slice(&u16::try_from(key.len()).unwrap_or(u16::MAX).to_be_bytes());
        self.out.extend_from_slice(key);
        self.writes += 1;
    }

    /// Ends the group: fills in the header and returns header and body as one slice.
    ///
    /// `header.writes` and `header.body_bytes` are computed here.
    pub(in super::super) fn finish(&mut self, mut header: GroupHeader, seed: u64) -> &[u8] {
        let body = self.out.get(GROUP_HEADER_BYTES..).unwrap_or_default();
        header.writes = self.writes;
        header.body_bytes = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let body_checksum = xxh3_64_with_seed(body, seed);
        let mut head = Vec::with_capacity(GROUP_HEADER_BYTES);
        head.extend_from_slice(&GROUP_MAGIC);
        head.extend_from_slice(&header.body_bytes.to_be_bytes());
        head.extend_from_slice(&header.number.to_be_bytes());
        head.extend_from_slice(&header.first_commit.to_be_bytes());
        head.extend_from_slice(&header.commits.to_be_bytes());
        head.extend_from_slice(&header.writes.to_be_bytes());
        head.extend_from_slice(&header.seqno.to_be_bytes());
        head.extend_from_slice(&body_checksum.to_be_bytes());
        let head_checksum = xxh3_64_with_seed(&head, seed);
        head.extend_from_slice(&head_checksum.to_be_bytes());
        if let Some(place) = self.out.get_mut(..GROUP_HEADER_BYTES) {
            place.copy_from_slice(&head);
        }
        &self.out
    }

    /// Returns the body of the group.
    pub(in super::super) fn body(&self) -> &[u8] {
        self.out.get(GROUP_HEADER_BYTES..).unwrap_or_default()
    }
}

/// Decodes the group that begins at `offset` of a file, if it is intact.
pub(in super::super) fn parse(
    file: &Bytes,
    offset: usize,
    seed: u64,
) -> Result<(GroupHeader, Bytes), &'static str> {
    let (header, body_checksum) = parse_header(file, offset, seed)?;
    let start = offset + GROUP_HEADER_BYTES;
    let length = usize::try_from(header.body_bytes).unwrap_or(usize::MAX);
    let end = start.checked_add(length).ok_or("a group's length is impossible")?;
    let body = file.get(start..end).ok_or("a group ends beyond the end of the file")?;
    if xxh3_64_with_seed(body, seed) != body_checksum {
        return Err("a group's body does not match its checksum");
    }
    Ok((header, file.slice(start..end)))
}

fn parse_header(file: &[u8], offset: usize, seed: u64) -> Result<(GroupHeader, u64), &'static str> {
    let short = "a group's header is cut off";
    let end = offset.checked_add(GROUP_HEADER_BYTES).ok_or(short)?;
    let head = file.get(offset..end).ok_or(short)?;
    if !head.starts_with(&GROUP_MAGIC) {
        return Err("no group begins here");
    }
    let covered = head.get(..GROUP_HEADER_BYTES - 8).ok_or(short)?;
    if be_u64(head, GROUP_HEADER_BYTES - 8) != Some(xxh3_64_with_seed(covered, seed)) {
        return Err("a group's header does not match its checksum");
    }
    let header = GroupHeader {
        body_bytes: be_u32(head, 4).ok_or(short)?,
        number: be_u64(head, 8).ok_or(short)?,
        first_commit: be_u64(head, 16).ok_or(short)?,
        commits: be_u32(head, 24).ok_or(short)?,
        writes: be_u32(head, 28).ok_or(short)?,
        seqno: be_u64(head, 32).ok_or(short)?,
    };
    let numbers = [header.number, header.first_commit, header.seqno];
    if numbers.iter().any(|number| *number > NUMBER_MAX) {
        return Err("a group's number is impossible");
    }
    if wide(BODY_BYTES_MAX) < u64::from(header.body_bytes) {
        return Err("a group's length is impossible");
    }
    Ok((header, be_u64(head, 40).ok_or(short)?))
}

/// One write of a group's body; no value means a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Entry {
    /// The key.
    pub(in super::super) key: Bytes,
    /// The value, or `None`.
    pub(in super::super) value: Option<Bytes>,
}

/// Limits the bytes that entries share, unless one is larger: who keeps a value keeps that much
/// memory.
const SHARED_BYTES_MAX: usize = 64 * 1024;

/// Decodes the writes of a body in order, as copies that share memory with their neighbours. A body
/// whose checksum holds yields no error, unless we wrote nonsense.
pub(in super::super) struct Entries<'a> {
    body: &'a [u8],
    at: usize,
    /// A copy of the body from `piece_at` on, up to the end of a write.
    piece: Bytes,
    piece_at: usize,
}

/// The positions of a write's key and value in a body.
struct Parts {
    key: Range<usize>,
    value: Option<Range<usize>>,
    end: usize,
}

/// Finds the positions of the write at `at`.
fn parts(body: &[u8], at: usize) -> Option<Parts> {
    let key_bytes = usize::from(be_u16(body, at.checked_add(1)?)?);
    let (head, value_bytes) = match *body.get(at)? {
        KIND_PUT => (7, Some(usize::try_from(be_u32(body, at.checked_add(3)?)?).ok()?)),
        KIND_DELETE => (3, None),
        _ => return None,
    };
    let key_at = at.checked_add(head)?;
    let value_at = key_at.checked_add(key_bytes)?;
    let end = value_at.checked_add(value_bytes.unwrap_or(0))?;
    if end > body.len() || key_bytes == 0 || value_bytes == Some(0) {
        return None;
    }
    Some(Parts { key: key_at..value_at, value: value_bytes.map(|_| value_at..end), end })
}

impl<'a> Entries<'a> {
    /// Starts at the first write of `body`.
    pub(in super::super) fn new(body: &'a [u8]) -> Self {
        Self { body, at: 0, piece: Bytes::new(), piece_at: 0 }
    }

    fn step(&mut self) -> Option<Entry> {
        let parts = parts(self.body, self.at)?;
        if parts.end > self.piece_at + self.piece.len() {
            self.piece_at = self.at;
            self.piece = self.copy_piece(parts.end)?;
        }
        self.at = parts.end;
        let share = |part: Range<usize>| {
            self.piece.slice(part.start - self.piece_at..part.end - self.piece_at)
        };
        Some(Entry { key: share(parts.key), value: parts.value.map(share) })
    }

    /// Copies whole writes from `at` on: the first, which ends at `end`, and what fits beside it.
    fn copy_piece(&self, mut end: usize) -> Option<Bytes> {
        while let Some(next) = parts(self.body, end) {
            if next.end - self.at > SHARED_BYTES_MAX {
                break;
            }
            end = next.end;
        }
        self.body.get(self.at..end).map(Bytes::copy_from_slice)
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.body.len() {
            return None;
        }
        match self.step() {
            Some(entry) => Some(Ok(entry)),
            None => {
                self.at = self.body.len();
                Some(Err("a group's body is not a list of writes"))
            }
        }
    }
}
