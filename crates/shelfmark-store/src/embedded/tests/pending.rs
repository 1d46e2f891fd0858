//! Checks what a layer makes of additions and other writes of one key.

use bytes::Bytes;

use crate::contract::Write;
use crate::embedded::pending::{Last, Writes};

fn key() -> Bytes {
    Bytes::from_static(b"count")
}

fn value(writes: &Writes) -> Option<i64> {
    let values = writes.values.get(&key())?;
    values.newest.1.as_deref().map(|value| Write::counter(value).unwrap())
}

#[test]
fn additions_sum_up_until_the_key_is_written() {
    let mut writes = Writes::default();
    writes.add(1, key(), 5);
    writes.add(1, key(), -2);
    writes.add(2, key(), 10);
    assert_eq!((writes.sums.get(&key()), value(&writes)), (Some(&(2, 13)), None));
    assert_eq!(writes.last(&key()), Some((2, Last::Added)));
    // What is put counts from there on: what was added before is not added to it.
    writes.set(3, key(), Some(Write::counter_value(100)));
    assert_eq!((writes.sums.len(), value(&writes)), (0, Some(100)));
    writes.add(3, key(), 1);
    writes.add(4, key(), 1);
    assert_eq!((writes.sums.len(), value(&writes)), (0, Some(102)));
    // Who began between two commits sees what he saw.
    assert_eq!(writes.values.get(&key()).unwrap().newest.0, 4);
}

#[test]
fn additions_to_what_was_deleted_begin_at_zero() {
    let mut writes = Writes::default();
    writes.add(1, key(), 5);
    writes.set(2, key(), None);
    assert_eq!((writes.sums.len(), writes.last(&key())), (0, Some((2, Last::Deleted))));
    writes.add(3, key(), 7);
    assert_eq!((writes.sums.len(), value(&writes)), (0, Some(7)));
}
