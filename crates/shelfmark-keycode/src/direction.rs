//! The direction in which a key component is ordered.
//!
//! Invariant: the descending form of a component is the complement of every byte of its ascending
//! form. Ascending forms are self-ending and prefix-free, so the complement is too, and comparing
//! complements compares the values the other way round.

/// The order of a key component's values.
///
/// This is a property of the *stored* key. Reading a range backwards is something else and is
/// asked for at the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// Smaller values first.
    #[default]
    Ascending,
    /// Larger values first.
    Descending,
}

impl Direction {
    /// Returns the other direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }

    /// Returns the mask to xor onto every byte.
    pub(crate) const fn mask(self) -> u8 {
        match self {
            Self::Ascending => 0x00,
            Self::Descending => 0xFF,
        }
    }
}
