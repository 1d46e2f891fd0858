//! Says how far along a range of keys a key lies, and which key lies so far along.
//!
//! Keys are bytes, but digits are written with ten of 256 of them, so a plain difference of bytes says
//! little. The ruler looks at sampled keys and gives each position behind their common beginning the
//! alphabet that it is written in: the digits, the hexadecimal digits, or all bytes between the least
//! and the greatest seen. A key is then a number with a base of its own at each position.
//!
//! Invariant: of two keys the greater lies no less far along.

use super::figures::{float, whole};

/// Positions behind the common beginning that count; beyond, differences are too small to be seen.
const POSITIONS_MAX: usize = 24;

/// Positions of keys between two ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ruler {
    /// The bytes that all sampled keys begin with.
    common: Vec<u8>,
    /// The symbols of each position behind them, ascending.
    alphabets: Vec<Vec<u8>>,
}

impl Ruler {
    /// Creates a ruler for keys like these.
    pub(super) fn of<'k>(keys: impl Iterator<Item = &'k [u8]> + Clone) -> Self {
        let mut ends = keys.clone();
        let first = ends.next().unwrap_or_default();
        let length = keys.clone().fold(first.len(), |length, key| {
            first.iter().zip(key).take(length).take_while(|(a, b)| a == b).count()
        });
        let alphabets = (0..POSITIONS_MAX)
            .map_while(|at| {
                let mut seen: Vec<u8> =
                    keys.clone().filter_map(|key| key.get(length + at).copied()).collect();
                seen.sort_unstable();
                seen.dedup();
                (!seen.is_empty()).then(|| alphabet(&seen))
            })
            .collect();
        Self { common: first.get(..length).unwrap_or_default().to_vec(), alphabets }
    }

    /// Returns how far along a key lies, from 0 to 1.
    pub(super) fn place(&self, key: &[u8]) -> f64 {
        let head = key.get(..self.common.len()).unwrap_or(key);
        match head.cmp(self.common.as_slice()) {
            std::cmp::Ordering::Less => return 0.0,
            std::cmp::Ordering::Greater => return 1.0,
            std::cmp::Ordering::Equal => {}
        }
        let rest = key.get(self.common.len()..).unwrap_or_default();
        let (mut place, mut unit) = (0.0, 1.0);
        for (symbol, alphabet) in rest.iter().zip(&self.alphabets) {
            unit /= float(alphabet.len() as u64);
            let rank = alphabet.partition_point(|own| own < symbol);
            if alphabet.get(rank) != Some(symbol) {
                // Between two symbols, or behind the last: what follows says no more.
                return (place + unit * float(rank as u64)).min(1.0);
            }
            place += unit * float(rank as u64);
        }
        place
    }

    /// Returns a key that lies so far along.
    pub(super) fn key_at(&self, place: f64) -> Vec<u8> {
        let mut key = self.common.clone();
        let mut left = place.clamp(0.0, 1.0);
        for alphabet in &self.alphabets {
            let scaled = left * float(alphabet.len() as u64);
            let last = alphabet.len().saturating_sub(1);
            let rank = usize::try_from(whole(scaled.floor())).unwrap_or(last);
            let rank = rank.min(last);
            key.extend(alphabet.get(rank));
            left = (scaled - float(rank as u64)).clamp(0.0, 1.0);
        }
        key
    }
}

/// Returns the symbols that a position is written with, from those that were seen there.
fn alphabet(seen: &[u8]) -> Vec<u8> {
    let (Some(least), Some(greatest)) = (seen.first(), seen.last()) else { return Vec::new() };
    let is_hexadecimal = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if seen.len() > 1 && seen.iter().all(is_hexadecimal) && *greatest > b'9' {
        return (b'0'..=b'9').chain(b'a'..=b'f').collect();
    }
    (*least..=*greatest).collect()
}
