//! Paging states: the executor's positions, sealed so that garbage is told from what we gave out.
//!
//! What it is not: a secret. Whoever may send statements may read the rows that a position could
//! reach.
//!
//! # Layout
//!
//! Version (1 byte, 1), checksum of the position (8 bytes, big-endian), position.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use shelfmark_cql_protocol::CqlError;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const VERSION: u8 = 1;
/// Tells our checksums from others of the same function.
const SEED: u64 = 0x0073_6865_6c66_6371;

/// Returns the state that a client gets for a position.
pub(super) fn encode(position: &[u8]) -> Bytes {
    let mut state = BytesMut::with_capacity(9 + position.len());
    state.put_u8(VERSION);
    state.put_u64(xxh3_64_with_seed(position, SEED));
    state.put_slice(position);
    state.freeze()
}

/// Returns the position of a state.
///
/// # Errors
///
/// * `Protocol`: it is none of ours.
pub(super) fn decode(mut state: Bytes) -> Result<Bytes, CqlError> {
    let refused = || CqlError::protocol("Invalid value for the paging state");
    let version = state.try_get_u8().map_err(|_| refused())?;
    let sum = state.try_get_u64().map_err(|_| refused())?;
    if version != VERSION || sum != xxh3_64_with_seed(&state, SEED) {
        return Err(refused());
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_is_refused() {
        let state = encode(b"position");
        assert_eq!(decode(state.clone()).unwrap(), b"position"[..]);
        for place in 0..state.len() {
            let mut damaged = state.to_vec();
            damaged[place] ^= 1;
            assert!(decode(damaged.into()).is_err(), "byte {place}");
            assert!(decode(state.slice(..place)).is_err(), "length {place}");
        }
    }
}
