//! Computes the token of a partition key: Cassandra's Murmur3, bit by bit.
//!
//! The first half of MurmurHash3 x64 128 with seed zero, but the bytes behind the last whole block
//! of 16 are *sign-extended* before they are shifted, as Java's bytes are: keys whose tail holds
//! bytes above 7F hash differently from the published function. [`i64::MIN`] is the token of
//! the empty key alone; where it is the hash of another it becomes [`i64::MAX`].
//!
//! What it is not: which bytes of a key are hashed is the caller's business.
//!
//! Invariant: [`token_bytes`] orders as the tokens do.
//!
//! Source: Apache Cassandra 5.0, `Murmur3Partitioner`; Austin Appleby's MurmurHash3 (public
//! domain) for the constants; read 2026-11.

const C1: u64 = 0x87C3_7B91_1142_53D5;
const C2: u64 = 0x4CF5_AD43_2745_937F;

/// Returns the token of the given partition key bytes.
///
/// Of no bytes at all it is [`i64::MIN`], which no other key has: views have such partitions.
#[must_use]
pub fn token(key: &[u8]) -> i64 {
    if key.is_empty() {
        return i64::MIN;
    }
    match hash(key) {
        i64::MIN => i64::MAX,
        token => token,
    }
}

/// Encodes a token as the eight bytes that lead a stored key: sign flipped, big-endian.
#[must_use]
pub const fn token_bytes(token: i64) -> [u8; 8] {
    (token ^ i64::MIN).to_be_bytes()
}

/// Decodes the output of [`token_bytes`].
#[must_use]
pub const fn token_from_bytes(bytes: [u8; 8]) -> i64 {
    i64::from_be_bytes(bytes) ^ i64::MIN
}

fn hash(key: &[u8]) -> i64 {
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let (blocks, tail) = key.as_chunks::<16>();
    for block in blocks {
        // Words are read with the lowest byte first: swap the halves of a 128-bit big-endian read.
        let word = u128::from_be_bytes(*block).swap_bytes();
        let [k1, k2] = split(word);
        h1 = (h1 ^ mix1(k1)).rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52DC_E729);
        h2 = (h2 ^ mix2(k2)).rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5AB5);
    }
    let (low, high) = tail.split_at_checked(8).unwrap_or((tail, &[]));
    // An empty half mixes to zero, so the order and absence of the steps do not matter.
    h2 ^= mix2(tail_word(high));
    h1 ^= mix1(tail_word(low));

    h1 ^= key.len() as u64;
    h2 ^= key.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1.wrapping_add(h2).cast_signed()
}

/// Returns the low and the high half.
#[expect(clippy::cast_possible_truncation, reason = "each half is taken on purpose")]
const fn split(word: u128) -> [u64; 2] {
    [word as u64, (word >> 64) as u64]
}

/// Returns up to eight bytes as a word, lowest first, each sign-extended before it is shifted.
fn tail_word(bytes: &[u8]) -> u64 {
    bytes.iter().zip(0_u32..).fold(0, |word, (byte, at)| {
        let extended = i64::from(byte.cast_signed()).cast_unsigned();
        word ^ extended << (8 * at)
    })
}

const fn mix1(k1: u64) -> u64 {
    k1.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

const fn mix2(k2: u64) -> u64 {
    k2.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

const fn finish(mut k: u64) -> u64 {
    k ^= k >> 33;
    k = k.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    k ^= k >> 33;
    k = k.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    k ^ k >> 33
}
