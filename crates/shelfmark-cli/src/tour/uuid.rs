//! Generates identifiers of the data.

use std::fmt;

use shelfmark_store::random::SplitMix;

/// A random UUID (version 4). Its order is that of CQL's `uuid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Uuid(u128);

impl Uuid {
    /// Returns the next one.
    pub(crate) fn random(random: &mut SplitMix) -> Self {
        let bits = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
        let version = 0xF << 76;
        let variant = 0x3 << 62;
        Self(bits & !version & !variant | 0x4 << 76 | 0x2 << 62)
    }

    /// Returns its beginning, for people.
    pub(crate) fn short(self) -> String {
        format!("{:08x}…", self.0 >> 96)
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |from: u32, bits: u32| self.0 >> from & ((1 << bits) - 1);
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            part(96, 32),
            part(80, 16),
            part(64, 16),
            part(48, 16),
            part(0, 48)
        )
    }
}
