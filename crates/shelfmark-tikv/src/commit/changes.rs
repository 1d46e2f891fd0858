//! Works out what the writes of a commit make of each key.
//!
//! The cluster takes one change of a key in a transaction, the contract any number that act one
//! after the other. What it is not: a reader. What the store has at counters is read by whoever adds
//! to them (`additions`).
//!
//! Invariant: a key that must be absent stays so marked whatever follows it in the commit.

use std::collections::BTreeMap;

use bytes::{BufMut as _, Bytes, BytesMut};
use shelfmark_store::{AddWithin, Error, Result, Write};

use crate::counters::stored::Sums;

/// The change of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// Puts the value.
    Put(Bytes),
    /// Removes the key.
    Delete,
    /// Puts the value; the key must be absent.
    Insert(Bytes),
    /// Changes nothing; the key must be absent.
    CheckAbsent,
}

/// An addition to a counter, or to counters within a value.
pub(super) enum Added {
    /// To a counter ([`Write::Add`]).
    Counter(Bytes, i64),
    /// To counters within a value.
    Within(AddWithin),
}

impl Added {
    pub(super) fn key(&self) -> &Bytes {
        match self {
            Self::Counter(key, _) => key,
            Self::Within(addition) => &addition.key,
        }
    }

    /// Returns what becomes of the value of a counter that is one key.
    pub(super) fn to(&self, before: Option<&Bytes>) -> Result<Bytes> {
        match self {
            Self::Counter(_, delta) => {
                let count = before.map_or(Ok(0), |value| Write::counter(value))?;
                Ok(Write::counter_value(count.wrapping_add(*delta)))
            }
            Self::Within(addition) => {
                let sum = before.and_then(|before| addition.added_to(before));
                sum.ok_or_else(|| Error::conflict(vec![addition.key.clone()]))
            }
        }
    }

    /// Adds to the sums of a slot, beside a value of which `base` is kept.
    pub(super) fn to_sums(&self, base: &Bytes, sums: &mut Sums) -> Result<()> {
        // It tells whether the base is what was added to.
        self.to(Some(base))?;
        match self {
            Self::Counter(_, delta) => sums.add(0, *delta),
            Self::Within(addition) => {
                let changed = addition.deltas.iter().filter(|(_, delta)| *delta != 0);
                changed.for_each(|(at, delta)| sums.add(*at, *delta));
            }
        }
        Ok(())
    }
}

/// The changes of a commit, by key.
#[derive(Debug, Default)]
pub(super) struct Changes {
    keys: BTreeMap<Bytes, Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    must_be_absent: bool,
    outcome: Outcome,
}

#[derive(Debug, Default)]
enum Outcome {
    /// As the store has it, with a sum to add.
    #[default]
    Untouched,
    Added(i64),
    Value(Bytes),
    Deleted,
    /// Something that is no counter was added to.
    NoCounter(Bytes),
}

impl Changes {
    /// Takes the writes in their order; stamped keys get `stamp`.
    pub(super) fn of(writes: &[Write], stamp: u64) -> Self {
        let mut changes = Self::default();
        for write in writes {
            match write {
                Write::Put { key, value } => {
                    changes.at(key).outcome = Outcome::Value(value.clone())
                }
                Write::Delete { key } => changes.at(key).outcome = Outcome::Deleted,
                Write::PutIfAbsent { key, value } => {
                    let pending = changes.at(key);
                    pending.must_be_absent = true;
                    pending.outcome = Outcome::Value(value.clone());
                }
                Write::PutStamped { prefix, suffix, value } => {
                    let key = stamped(prefix, stamp, suffix);
                    changes.at(&key).outcome = Outcome::Value(value.clone());
                }
                Write::Add { key, delta } => changes.at(key).add(*delta),
            }
        }
        changes
    }

    /// Returns the additions to counters whatever their value is.
    pub(super) fn added(&self) -> impl Iterator<Item = Added> {
        self.keys.iter().filter_map(|(key, own)| match own.outcome {
            Outcome::Added(delta) => Some(Added::Counter(key.clone(), delta)),
            _ => None,
        })
    }

    /// Returns the change of each other key.
    ///
    /// # Errors
    ///
    /// * [`shelfmark_store::ErrorKind::Corrupt`]: something that is no counter is added to.
    pub(super) fn others(self) -> Result<Vec<(Bytes, Change)>> {
        let mut changes = Vec::with_capacity(self.keys.len());
        for (key, Pending { must_be_absent, outcome }) in self.keys {
            let value = match outcome {
                Outcome::Untouched | Outcome::Added(_) => continue,
                Outcome::NoCounter(value) => {
                    Write::counter(&value)?;
                    continue;
                }
                Outcome::Value(value) => Some(value),
                Outcome::Deleted => None,
            };
            let change = match (value, must_be_absent) {
                (Some(value), false) => Change::Put(value),
                (Some(value), true) => Change::Insert(value),
                (None, false) => Change::Delete,
                (None, true) => Change::CheckAbsent,
            };
            changes.push((key, change));
        }
        Ok(changes)
    }

    fn at(&mut self, key: &Bytes) -> &mut Pending {
        self.keys.entry(key.clone()).or_default()
    }
}

impl Pending {
    fn add(&mut self, delta: i64) {
        self.outcome = match std::mem::take(&mut self.outcome) {
            Outcome::Untouched => Outcome::Added(delta),
            // Wrapping, because then the order of the deltas cannot matter.
            Outcome::Added(sum) => Outcome::Added(sum.wrapping_add(delta)),
            Outcome::Deleted => Outcome::Value(Write::counter_value(delta)),
            Outcome::Value(value) => match Write::counter(&value) {
                Ok(count) => Outcome::Value(Write::counter_value(count.wrapping_add(delta))),
                Err(_) => Outcome::NoCounter(value),
            },
            other @ Outcome::NoCounter(_) => other,
        };
    }
}

fn stamped(prefix: &[u8], stamp: u64, suffix: &[u8]) -> Bytes {
    let mut key = BytesMut::with_capacity(prefix.len() + size_of::<u64>() + suffix.len());
    key.put_slice(prefix);
    key.put_u64(stamp);
    key.put_slice(suffix);
    key.freeze()
}
