//! From a word to its keyword, whatever its case.
//!
//! A table of all keywords by a hash of their lower-case letters, made by the compiler, so that a
//! look-up is one hash and mostly one comparison.

use super::kind::{Kind, WORDS};

/// The longest keyword, `columnfamilies`, has 14 letters.
const WORD_BYTES_MAX: usize = 14;
/// Slots; a power of two, about three per keyword, so that runs stay short.
const SLOTS: usize = 512;

static TABLE: [u8; SLOTS] = table();

const fn hash(state: u32, byte: u8) -> u32 {
    (state ^ byte as u32).wrapping_mul(0x0100_0193)
}

const HASH_START: u32 = 0x811c_9dc5;

const fn slot(hash: u32) -> usize {
    ((hash ^ (hash >> 15)) as usize) & (SLOTS - 1)
}

#[expect(
    clippy::indexing_slicing,
    reason = "runs in the compiler, which reports what is out of bounds"
)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 255 keywords; the compiler checks"
)]
const fn table() -> [u8; SLOTS] {
    assert!(WORDS.len() < 255);
    let mut table = [0; SLOTS];
    let mut word = 0;
    while word < WORDS.len() {
        let bytes = WORDS[word].0.as_bytes();
        assert!(bytes.len() <= WORD_BYTES_MAX);
        let mut state = HASH_START;
        let mut at = 0;
        while at < bytes.len() {
            state = hash(state, bytes[at]);
            at += 1;
        }
        let mut place = slot(state);
        while table[place] != 0 {
            place = (place + 1) & (SLOTS - 1);
        }
        table[place] = word as u8 + 1;
        word += 1;
    }
    table
}

/// Returns the keyword that a word is.
#[inline]
pub(crate) fn keyword(word: &[u8]) -> Option<Kind> {
    if word.len() > WORD_BYTES_MAX {
        return None;
    }
    let state = word.iter().fold(HASH_START, |state, byte| hash(state, byte.to_ascii_lowercase()));
    let mut place = slot(state);
    loop {
        let entry = usize::from(*TABLE.get(place)?);
        let (text, kind) = WORDS.get(entry.checked_sub(1)?)?;
        if text.as_bytes().eq_ignore_ascii_case(word) {
            return Some(*kind);
        }
        place = (place + 1) & (SLOTS - 1);
    }
}
