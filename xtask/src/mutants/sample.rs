//! Samples mutants by a seed, and deals them out to several machines.

use std::str::FromStr;

use anyhow::{Context as _, ensure};

/// The part that one of several machines takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    own: usize,
    all: usize,
}

impl Shard {
    /// The only machine takes everything.
    pub(crate) const WHOLE: Self = Self { own: 0, all: 1 };
}

impl FromStr for Shard {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let form = "--shard takes K/N, where K counts from 0 to N - 1";
        let (own, all) = text.split_once('/').context(form)?;
        let shard = Self { own: own.parse().context(form)?, all: all.parse().context(form)? };
        ensure!(shard.own < shard.all, form);
        Ok(shard)
    }
}

/// The way in which mutants are sampled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) seed: u64,
    /// Over all shards.
    pub(crate) count: usize,
    pub(crate) shard: Shard,
}

impl Sample {
    /// Draws from these names: the same for the same seed, whatever their order.
    pub(crate) fn of(&self, names: impl Iterator<Item = String>) -> Vec<String> {
        let mut drawn: Vec<(u64, String)> =
            names.map(|name| (mixed(self.seed, &name), name)).collect();
        drawn.sort();
        drawn.truncate(self.count);
        let places = drawn.into_iter().enumerate();
        let own = places.filter(|(place, _)| place % self.shard.all == self.shard.own);
        own.map(|(_, (_, name))| name).collect()
    }
}

/// Returns a number for a name under a seed (FNV-1a, then the finalizer of SplitMix64).
fn mixed(seed: u64, name: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hashed = name
        .bytes()
        .fold(start, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let first = (hashed ^ (hashed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    second ^ (second >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> impl DoubleEndedIterator<Item = String> {
        (0..100).map(|number| format!("mutant {number}"))
    }

    #[test]
    fn a_seed_draws_the_same_and_another_one_others() {
        let draw = |seed| Sample { seed, count: 10, shard: Shard::WHOLE }.of(names());
        assert_eq!(draw(1).len(), 10);
        assert_eq!(draw(1), Sample { seed: 1, count: 10, shard: Shard::WHOLE }.of(names().rev()));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn shards_together_are_the_whole() {
        let part =
            |text: &str| Sample { seed: 7, count: 11, shard: text.parse().unwrap() }.of(names());
        let mut parts = [part("0/3"), part("1/3"), part("2/3")].concat();
        parts.sort();
        let mut whole = part("0/1");
        whole.sort();
        assert_eq!(parts, whole);
        for wrong in ["3/3", "0/0", "1", "a/b"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
