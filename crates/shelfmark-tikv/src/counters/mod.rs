//! Counters that several processes add to at once without meeting.
//!
//! A counter, or a value with counters in it, is one key until two commits meet there. Then it is *spread*: its key names a set of
//! slots, each commit adds to a slot of its own choice, and a reader adds up what the key and the slots
//! hold at its timestamp. One that nobody has added to for a minute becomes one key again.
//!
//! What it is not: a property of the contract, which knows one key. Nothing outside this driver meets a
//! slot.
//!
//! Invariant: a spread counter's key is there, and whoever writes that key, or read it and rests on
//! what was read, locks every slot, too. So each write of a counter meets each addition beside it,
//! while additions in different slots do not meet.

pub(crate) mod fold;
pub(crate) mod seen;
pub(crate) mod slots;
pub(crate) mod stored;
pub(crate) mod sums;
