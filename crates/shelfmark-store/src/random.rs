//! A small generator of repeatable random numbers: SplitMix64.
//!
//! What it is not: a source of secrets, nor of the seed itself. Whoever starts a process or a test
//! hands the seed in.
//!
//! Invariant: the same seed and the same calls give the same numbers, on every machine and in
//! every version. A seed that a failing test printed must go on replaying it.
//!
//! Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

/// A repeatable stream of random numbers.
///
/// # Examples
///
/// ```
/// use shelfmark_store::random::SplitMix;
///
/// let (mut one, mut other) = (SplitMix::new(7), SplitMix::new(7));
/// assert_eq!(one.next_u64(), other.next_u64());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix {
    state: u64,
}

impl SplitMix {
    /// Creates the stream of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, or 0 when `bound` is 0.
    ///
    /// The bias is below `bound / 2^64`, which no test and no back-off can notice.
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// Returns an index below `length`, or 0 when `length` is 0.
    pub fn index(&mut self, length: usize) -> usize {
        let bound = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(bound)).unwrap_or(0)
    }

    /// Returns true in `per_mille` of 1,000 cases.
    ///
    /// Takes one number whatever the answer, so that changing a probability does not shift what
    /// comes after it.
    pub fn chance(&mut self, per_mille: u16) -> bool {
        self.below(1000) < u64::from(per_mille)
    }

    /// Returns a generator of its own stream, for a part that must not disturb this one.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self::new(self.next_u64())
    }
}
