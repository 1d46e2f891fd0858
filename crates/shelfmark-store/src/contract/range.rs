//! Key ranges, limits of a scan, and the pages that a scan returns.

use bytes::Bytes;

/// The order in which a range is read; the range itself stays `start <= key < end` in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// Reads from the smallest key up.
    #[default]
    Ascending,
    /// Reads from the largest key down.
    Descending,
}

/// A range of keys: `start <= key < end`; no `end` means to the end of the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// First key that belongs to the range.
    pub start: Bytes,
    /// First key after the range.
    pub end: Option<Bytes>,
}

impl KeyRange {
    /// Creates the range `start <= key < end`.
    #[must_use]
    pub fn new(start: impl Into<Bytes>, end: impl Into<Bytes>) -> Self {
        Self { start: start.into(), end: Some(end.into()) }
    }

    /// Creates the range of every key from `start`.
    #[must_use]
    pub fn from(start: impl Into<Bytes>) -> Self {
        Self { start: start.into(), end: None }
    }

    /// Creates the range of every key.
    #[must_use]
    pub fn all() -> Self {
        Self { start: Bytes::new(), end: None }
    }

    /// Creates the range of every key that begins with `prefix`.
    #[must_use]
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start = prefix.into();
        let end = successor(&start).map(Bytes::from);
        Self { start, end }
    }

    /// Returns true if `key` lies in the range.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.start.as_ref() && self.end.as_ref().is_none_or(|end| key < end.as_ref())
    }

    /// Returns true if no key can lie in the range.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end <= &self.start)
    }

    /// Returns true if a key may be in both ranges.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let begins_before =
            |one: &Self, other: &Self| other.end.as_ref().is_none_or(|end| one.start < *end);
        begins_before(self, other) && begins_before(other, self)
    }

    /// Returns the rest of the range after `last` was read in `direction`.
    #[must_use]
    pub fn after(&self, last: &[u8], direction: Direction) -> Self {
        match direction {
            Direction::Ascending => {
                let mut start = Vec::with_capacity(last.len() + 1);
                start.extend_from_slice(last);
                start.push(0);
                Self { start: start.into(), end: self.end.clone() }
            }
            Direction::Descending => {
                Self { start: self.start.clone(), end: Some(Bytes::copy_from_slice(last)) }
            }
        }
    }
}

/// Returns the smallest key above every key that begins with `prefix`, if there is one.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let keep = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let (head, _) = prefix.split_at(keep + 1);
    let mut next = head.to_vec();
    if let Some(last) = next.last_mut() {
        *last += 1;
    }
    Some(next)
}

/// Limits of a scan. A page ends with the row that reaches a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanLimits {
    /// Most rows of a page; at least one.
    pub rows_max: usize,
    /// A page ends with the row at which keys and values together reach this many bytes.
    pub bytes_max: usize,
    /// Leaves the values out (they come back empty).
    pub keys_only: bool,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self { rows_max: 1024, bytes_max: 1024 * 1024, keys_only: false }
    }
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The key.
    pub key: Bytes,
    /// The value; empty when only keys were asked for. A stored value is never empty.
    pub value: Bytes,
}

/// A page of rows in scan order, and the rest of the range.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The rows.
    pub rows: Vec<Row>,
    /// The rest of the range; `None` when it is done.
    pub next: Option<KeyRange>,
}
