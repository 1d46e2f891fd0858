//! Texts of random models, for tests here and in `shelfmark-confirm`, which includes this folder.
//!
//! Invariant: a text is a function of its seed.

mod limited;
mod plain;
mod rich;
mod wild;

// Whoever includes the folder says which random generator; both take the evaluator's.
use super::Random;

/// Keys put together at random, without named plans.
pub(crate) fn plain(seed: u64) -> String {
    plain::text(&mut Random::new(seed))
}

/// Loops, follow-up reads, filters, sorts, counts, unions, copies, indexes and named plans: a schema
/// that is right, and two mutations of it.
pub(crate) fn rich(seed: u64) -> String {
    rich::text(&mut Random::new(seed ^ 0x51C4))
}

/// The first seed of wild texts whose writes have conditions.
pub(crate) const CONDITIONAL: u64 = 1 << 20;

/// The first seed of wild texts with binary values, attributes that come together, and counts and sums
/// of some tuples.
pub(crate) const KEEPING: u64 = 1 << 21;

/// The first seed of wild texts that also have records, references to one of several and to keys of
/// several attributes, reads of row types that call an attribute otherwise, rows that follow later,
/// local indexes, and writes that move what is counted.
pub(crate) const NEWEST: u64 = 1 << 22;

/// The first seed of wild texts whose indexes mostly have conditions of their own; a third of them has
/// what the newest have, another third what the plainest have.
pub(crate) const SPARSE: u64 = 1 << 23;

/// The first seed of texts whose read has row types with limits of their own.
pub(crate) const LIMITED: u64 = 1 << 24;

/// Relations, patterns, row families and plans put together at random; a few of them do not fit each
/// other, and are no model. From [`CONDITIONAL`] on writes have conditions, from [`KEEPING`] on
/// relations hold more, from [`NEWEST`] on there is everything that the language has;
/// from [`LIMITED`] on a text is of a parent and its children.
pub(crate) fn wild(seed: u64) -> String {
    if seed >= LIMITED {
        return limited::text(&mut Random::new(seed ^ 0x11D5));
    }
    let sparse = seed >= SPARSE;
    let taste = wild::Taste {
        conditional: seed >= CONDITIONAL && (!sparse || !seed.is_multiple_of(3)),
        keeping: seed >= KEEPING && (!sparse || seed % 3 == 2),
        newest: seed >= NEWEST && (!sparse || seed % 3 == 2),
        sparse,
    };
    wild::text(&mut Random::new(seed ^ 0xBEEF), taste)
}
