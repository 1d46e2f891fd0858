//! Divides a range into parts of similar size, without knowing its size.
//!
//! One pass over the keys keeps every n-th. When there are as many as there may be parts, every
//! other one goes and n doubles, so the sample stays small and even.

use bytes::Bytes;

use crate::contract::{KeyRange, Result};

/// Limits the number of parts of a range.
const PARTS_MAX: usize = 64;
/// Fewest keys of a part: below, a cut costs more than it brings.
const KEYS_PER_PART_MIN: usize = 128;

/// Returns the boundaries of `range`; `visit` shows some of its keys and returns the rest.
pub(super) fn of(
    range: &KeyRange,
    mut visit: impl FnMut(&KeyRange, &mut dyn FnMut(&Bytes)) -> Result<Option<KeyRange>>,
) -> Result<Vec<Bytes>> {
    let mut sample: Vec<Bytes> = Vec::new();
    let mut stride = KEYS_PER_PART_MIN;
    let mut before = 0_usize;
    let mut rest = Some(range.clone());
    while let Some(part) = rest {
        rest = visit(&part, &mut |key| {
            // Never the first key: nothing of the range is before it.
            if before > 0 && before.is_multiple_of(stride) {
                sample.push(key.clone());
            }
            before += 1;
            if sample.len() >= PARTS_MAX {
                let mut is_kept = true;
                sample.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
                stride *= 2;
            }
        })?;
    }
    Ok(sample)
}
