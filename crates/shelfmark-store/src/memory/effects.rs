//! Turns the writes of a commit into new values of its keys.
//!
//! Invariant: everything that can be wrong with a write is found here, before anything changed.
//!
//! The writes of one commit act one after the other: a later write of a key replaces an earlier
//! one, and an `Add` counts on from whatever the key would hold by then. Only `PutIfAbsent` asks
//! the store and not the commit: its key must be absent before the commit.

use std::collections::{BTreeMap, HashMap};

use bytes::{BufMut as _, Bytes, BytesMut};

use super::versions::{Effect, Versions};
use crate::contract::NUMBER_BYTES;
use crate::contract::{AddWithin, CommitNumber, Error, Result, Write};

/// Copies keys and values: a stored slice must not keep a whole request buffer alive.
pub(super) fn detach(writes: Vec<Write>) -> Vec<Write> {
    writes
        .into_iter()
        .map(|write| match write {
            Write::Put { key, value } => Write::Put { key: copy(&key), value: copy(&value) },
            Write::Delete { key } => Write::Delete { key: copy(&key) },
            Write::PutIfAbsent { key, value } => {
                Write::PutIfAbsent { key: copy(&key), value: copy(&value) }
            }
            Write::PutStamped { prefix, suffix, value } => {
                Write::PutStamped { prefix, suffix, value: copy(&value) }
            }
            Write::Add { key, delta } => Write::Add { key: copy(&key), delta },
        })
        .collect()
}

fn copy(bytes: &Bytes) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

/// Returns the keys of commit `number` and their new values, in the order they were written.
///
/// # Errors
///
/// * [`crate::ErrorKind::Exists`]: a key that had to be absent is there.
/// * [`crate::ErrorKind::Corrupt`]: something else than a counter is where one should be.
pub(super) fn resolve(
    versions: &Versions,
    number: CommitNumber,
    writes: Vec<Write>,
) -> Result<Vec<Effect>> {
    let counts = writes.iter().any(|write| matches!(write, Write::Add { .. }));
    // What this commit made of its keys so far; kept only where an `Add` may need it.
    let mut so_far: HashMap<Bytes, Option<Bytes>> = HashMap::new();
    let mut effects = Vec::with_capacity(writes.len());
    for write in writes {
        let (key, value) = match write {
            Write::Put { key, value } => (key, Some(value)),
            Write::Delete { key } => (key, None),
            Write::PutIfAbsent { key, value } => {
                if versions.newest(&key).is_some() {
                    return Err(Error::exists(key));
                }
                (key, Some(value))
            }
            Write::PutStamped { prefix, suffix, value } => {
                (stamped_key(&prefix, number, &suffix), Some(value))
            }
            Write::Add { key, delta } => {
                let before = match so_far.get(&key) {
                    Some(value) => value.as_ref(),
                    None => versions.newest(&key),
                };
                let count = before.map_or(Ok(0), |value| Write::counter(value))?;
                // Wrapping, because then the order of the deltas cannot matter.
                (key, Some(Write::counter_value(count.wrapping_add(delta))))
            }
        };
        if counts {
            so_far.insert(key.clone(), value.clone());
        }
        effects.push((key, value));
    }
    Ok(effects)
}

/// Returns the keys of additions within values, and their new values.
///
/// # Errors
///
/// * [`crate::ErrorKind::Conflict`]: a value is not as it was seen, but for its numbers.
pub(super) fn added(versions: &Versions, additions: Vec<AddWithin>) -> Result<Vec<Effect>> {
    let mut sums: BTreeMap<Bytes, Bytes> = BTreeMap::new();
    for addition in additions {
        let before = sums.get(&addition.key).or_else(|| versions.newest(&addition.key));
        let sum = before.and_then(|before| addition.added_to(before));
        let Some(sum) = sum else { return Err(Error::conflict(vec![addition.key])) };
        sums.insert(copy(&addition.key), sum);
    }
    Ok(sums.into_iter().map(|(key, value)| (key, Some(value))).collect())
}

fn stamped_key(prefix: &[u8], number: CommitNumber, suffix: &[u8]) -> Bytes {
    let mut key = BytesMut::with_capacity(prefix.len() + NUMBER_BYTES + suffix.len());
    key.put_slice(prefix);
    key.put_u64(number);
    key.put_slice(suffix);
    key.freeze()
}
