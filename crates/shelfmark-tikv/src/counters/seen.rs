//! The memory of which counters nobody has added to.
//!
//! What it is not: needed for a sum to be right. Without it counters stay spread for longer.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;

use crate::keys::Spread;

/// The slots of a counter as they were found, by number.
pub(super) type Found = Vec<(u8, Bytes)>;

/// The slots of each counter as the last pass found them, and since when they have been so.
#[derive(Default)]
pub(crate) struct Seen {
    pub(super) counters: HashMap<Spread, (Found, Duration)>,
}
