//! Checks the limits and the form of a commit before the store is read.
//!
//! What it is not: validation. Whether keys were written since the base is decided by the driver,
//! under its own lock.
//!
//! Invariant: the answer depends on the commit and the limits only, so a commit that is refused
//! here is refused always.

use super::{Caps, Commit, Error, ErrorKind, Result, Write};

/// Bytes of the number in a stamped key, and of a counter.
pub(crate) const NUMBER_BYTES: usize = 8;

/// Checks `commit` against `caps` and returns its size: keys and values, in bytes.
///
/// For drivers, which call it first of all.
///
/// # Errors
///
/// * [`ErrorKind::LimitExceeded`]: a key, a value, the number of writes or their sum is too large.
/// * [`ErrorKind::Invalid`]: an empty key or value, keys or ranges to validate without a base,
///   ranges where the driver validates none, or additions where it makes none.
pub fn admit(caps: &Caps, commit: &Commit) -> Result<usize> {
    let has_reads = !commit.validate.is_empty() || !commit.validate_ranges.is_empty();
    if commit.base.is_none() && has_reads {
        return Err(Error::new(ErrorKind::Invalid, "keys to validate need a base snapshot"));
    }
    if !caps.validates_ranges && !commit.validate_ranges.is_empty() {
        return Err(Error::new(ErrorKind::Invalid, "this driver does not validate ranges"));
    }
    if !caps.adds_within && !commit.additions.is_empty() {
        return Err(Error::new(ErrorKind::Invalid, "this driver does not add within values"));
    }
    let writes = commit.writes.len() + commit.additions.len();
    if writes > caps.commit_writes_max {
        return Err(too_large("writes in the commit", writes, caps.commit_writes_max));
    }
    for key in &commit.validate {
        check_key(caps, key.len())?;
    }
    let mut size = 0;
    for write in &commit.writes {
        let (key_bytes, value_bytes) = match write {
            Write::Put { key, value } | Write::PutIfAbsent { key, value } => {
                (key.len(), Some(value.len()))
            }
            Write::Delete { key } => (key.len(), None),
            Write::PutStamped { prefix, suffix, value } => {
                (prefix.len() + NUMBER_BYTES + suffix.len(), Some(value.len()))
            }
            Write::Add { key, .. } => (key.len(), Some(NUMBER_BYTES)),
        };
        check_key(caps, key_bytes)?;
        if let Some(value_bytes) = value_bytes {
            check_value(caps, value_bytes)?;
        }
        size += key_bytes + value_bytes.unwrap_or(0);
    }
    for addition in &commit.additions {
        check_key(caps, addition.key.len())?;
        check_value(caps, addition.seen.len())?;
        size += addition.key.len() + addition.seen.len();
    }
    if size > caps.commit_size_bytes_max {
        return Err(too_large("bytes in the commit", size, caps.commit_size_bytes_max));
    }
    Ok(size)
}

fn check_key(caps: &Caps, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Err(Error::new(ErrorKind::Invalid, "a key is empty"));
    }
    if bytes > caps.key_size_bytes_max {
        return Err(too_large("bytes in a key", bytes, caps.key_size_bytes_max));
    }
    Ok(())
}

fn check_value(caps: &Caps, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Err(Error::new(ErrorKind::Invalid, "a value is empty"));
    }
    if bytes > caps.value_size_bytes_max {
        return Err(too_large("bytes in a value", bytes, caps.value_size_bytes_max));
    }
    Ok(())
}

fn too_large(what: &str, is: usize, max: usize) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("{is} {what}, at most {max} are allowed"))
}
