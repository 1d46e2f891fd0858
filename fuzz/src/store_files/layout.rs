//! As much of the store's layout as damaging it well needs: where checksums stand, and of what.
//!
//! Written down a second time on purpose, from `docs/format.md`: an oracle that shares the code of
//! what it checks finds nothing.

use std::path::Path;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The id that every base store gets, so that an input means the same in every process.
const STORE_ID: u128 = 0x0123_4567_89AB_CDEF_0F1E_2D3C_4B5A_6978;
/// What group checksums are seeded with: the id's low half.
const SEED: u64 = 0x0F1E_2D3C_4B5A_6978;

const SLOT_BYTES: usize = 4096;
const SLOT_COVERED: usize = 88;
const HEADER_COVERED: usize = 56;
const GROUP_MAGIC: &[u8] = b"SGRP";
const GROUP_HEADER_BYTES: usize = 56;
/// Where the store's id stands, in headers and slots alike.
const ID_AT: usize = 16;

/// Tells whether a path is one of the bought tree's files.
pub(super) fn is_tree(path: &Path) -> bool {
    path.starts_with("tree")
}

fn is_log(path: &Path) -> bool {
    path.starts_with("log")
}

fn is_superblock(path: &Path) -> bool {
    path == Path::new("mark")
}

/// Gives headers and slots the known id.
pub(super) fn rename_store(path: &Path, bytes: &mut [u8]) {
    let places: &[usize] = match () {
        () if is_superblock(path) => &[0, SLOT_BYTES],
        () if is_log(path) => &[0],
        () => &[],
    };
    for start in places {
        put(bytes, start + ID_AT, &STORE_ID.to_be_bytes());
    }
}

/// Makes every checksum of a log or superblock right.
pub(super) fn repair(path: &Path, bytes: &mut [u8]) {
    if is_superblock(path) {
        repair_covered(bytes, 0, SLOT_COVERED);
        repair_covered(bytes, SLOT_BYTES, SLOT_COVERED);
    } else if is_log(path) {
        repair_covered(bytes, 0, HEADER_COVERED);
        for start in group_starts(bytes) {
            let body = group_body(bytes, start).map(|body| xxh3_64_with_seed(body, SEED));
            if let Some(checksum) = body {
                put(bytes, start + 40, &checksum.to_be_bytes());
            }
            let head = bytes.get(start..start + GROUP_HEADER_BYTES - 8);
            if let Some(checksum) = head.map(|head| xxh3_64_with_seed(head, SEED)) {
                put(bytes, start + GROUP_HEADER_BYTES - 8, &checksum.to_be_bytes());
            }
        }
    }
}

/// Returns what of a log or superblock has a checksum that is right.
pub(super) fn whole_pieces<'a>(path: &Path, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut pieces = Vec::new();
    if is_superblock(path) {
        pieces.extend(covered(bytes, 0, SLOT_COVERED));
        pieces.extend(covered(bytes, SLOT_BYTES, SLOT_COVERED));
    } else if is_log(path) {
        pieces.extend(covered(bytes, 0, HEADER_COVERED));
        for start in group_starts(bytes) {
            let Some(body) = group_body(bytes, start) else { continue };
            let head = bytes.get(start..start + GROUP_HEADER_BYTES - 8).unwrap_or_default();
            let is_whole = number(bytes, start + 40) == Some(xxh3_64_with_seed(body, SEED))
                && number(bytes, start + 48) == Some(xxh3_64_with_seed(head, SEED));
            if is_whole {
                pieces.extend(bytes.get(start..start + GROUP_HEADER_BYTES + body.len()));
            }
        }
    }
    pieces.into_iter()
}

/// Returns the number of commits that a superblock says are synced; 0 without a whole slot.
pub(super) fn synced_commit(superblock: Option<&Vec<u8>>) -> usize {
    let bytes = superblock.map_or(&[][..], |superblock| superblock);
    let newest = [0, SLOT_BYTES]
        .into_iter()
        .filter(|start| covered(bytes, *start, SLOT_COVERED).is_some())
        .max_by_key(|start| number(bytes, start + 32));
    let commit = newest.and_then(|start| number(bytes, start + 56)).unwrap_or(0);
    usize::try_from(commit).unwrap_or(usize::MAX)
}

fn group_starts(bytes: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(GROUP_MAGIC.len()).enumerate();
    windows.filter(|(_, window)| *window == GROUP_MAGIC).map(|(start, _)| start).collect()
}

fn group_body(bytes: &[u8], start: usize) -> Option<&[u8]> {
    let length = bytes.get(start + 4..start + 8)?.try_into().ok()?;
    let length = usize::try_from(u32::from_be_bytes(length)).ok()?;
    let body = start + GROUP_HEADER_BYTES;
    bytes.get(body..body.checked_add(length)?)
}

/// Returns `length` bytes from `start` if the checksum behind them is right.
fn covered(bytes: &[u8], start: usize, length: usize) -> Option<&[u8]> {
    let piece = bytes.get(start..start + length)?;
    (number(bytes, start + length)? == xxh3_64(piece)).then_some(piece)
}

fn repair_covered(bytes: &mut [u8], start: usize, length: usize) {
    if let Some(checksum) = bytes.get(start..start + length).map(xxh3_64) {
        put(bytes, start + length, &checksum.to_be_bytes());
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Overwrites bytes, if they are all there.
fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + new.len()) {
        place.copy_from_slice(new);
    }
}
