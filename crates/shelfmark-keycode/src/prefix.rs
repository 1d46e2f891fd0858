//! Computes the end of a range of keys that begin with a prefix.
//!
//! What it is not: it knows no sentinel such as `~`, which would hide longer keys and every
//! non-ASCII one.

use crate::component::put_bytes_prefix;
use crate::direction::Direction;

/// Returns the smallest byte string above every string that begins with `prefix`.
///
/// `None` when there is none (the prefix is empty or all `FF`): the range has no upper end.
///
/// # Examples
///
/// ```
/// use shelfmark_keycode::prefix_successor;
///
/// // All keys below `chat#` and nothing else, also those that begin with `chat#~` or `chat#é`.
/// assert_eq!(prefix_successor(b"chat#").as_deref(), Some(&b"chat$"[..]));
/// assert_eq!(prefix_successor(&[0x61, 0xFF]).as_deref(), Some(&[0x62][..]));
/// assert_eq!(prefix_successor(&[0xFF, 0xFF]), None);
/// ```
#[must_use]
pub fn prefix_successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let kept = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let (head, _) = prefix.split_at_checked(kept)?;
    let last = prefix.get(kept)?.checked_add(1)?;
    let mut successor = Vec::with_capacity(kept + 1);
    successor.extend_from_slice(head);
    successor.push(last);
    Some(successor)
}

/// Returns the range of a bytes component over all values that begin with `prefix`, in either
/// direction.
///
/// Both ends are relative to the bytes before the component: put those in front. The first end is
/// included, the second is not; `None` means that the range ends with the bytes before the
/// component, at their [`prefix_successor`].
#[must_use]
pub fn bytes_prefix_range(direction: Direction, prefix: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
    let mut start = Vec::new();
    put_bytes_prefix(&mut start, direction, prefix);
    let end = prefix_successor(&start);
    (start, end)
}

/// Returns the range of a text component over all values that begin with `prefix`.
///
/// See [`bytes_prefix_range`].
#[must_use]
pub fn text_prefix_range(direction: Direction, prefix: &str) -> (Vec<u8>, Option<Vec<u8>>) {
    bytes_prefix_range(direction, prefix.as_bytes())
}
