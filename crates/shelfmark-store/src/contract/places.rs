//! Names the places of keys: the table files of a folder, or the regions of a cluster.
//!
//! What it is not: a way to them. A place is told to people who run a store; nothing is read by it, and it
//! may be another one a moment later.

use super::KeyRange;

/// The kind of a [`StoredPlace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// A table file. Files of different levels cover the same keys.
    TableFile,
    /// A region of a cluster. Each key lies in one.
    Region,
}

/// A part of a store that holds keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPlace {
    /// Its kind.
    pub kind: PlaceKind,
    /// Its name in the words of the driver, such as `file 17` or `region 4 on store 1`.
    pub name: String,
    /// The keys that may lie in it, as far as they are keys of this store.
    pub range: KeyRange,
}
