//! The additions of a commit to counters: which keys of the cluster they change, and to what.
//!
//! A counter is one key until commits of this process met others there; the next addition spreads it,
//! and later ones go to slots ([`crate::counters`]). Whoever meets another at a counter begins anew, on
//! another slot.
//!
//! Invariant: an addition changes the counter's key, or a slot of the set that the key names at the
//! transaction's timestamp, by its delta.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_store::{Error, Result};

use super::changes::Added;
use super::two_phase::{MetAt, Mutations};
use crate::counters::slots::Held;
use crate::counters::stored::{Stored, Sums, encode_plain};
use crate::keys::Spread;
use crate::shared::Shared;
use crate::snapshot::{Moment, TikvSnapshot, raw_many};
use crate::wire::OP_PUT;

/// The additions of one commit, until it has ended.
#[derive(Default)]
pub(super) struct Additions {
    /// Those to keys of counters: the cluster's key, the counter, and the slots that it gets.
    ones: Vec<(Vec<u8>, Bytes, Option<Spread>)>,
    /// Those to slots, by the cluster's key.
    slots: Vec<(Vec<u8>, Held)>,
}

/// An addition, while its keys are looked for.
struct Addition<'a> {
    added: &'a Added,
    outer: Vec<u8>,
    /// The set of slots by which it is believed to be spread, and the slot that is taken.
    slot: Option<(Spread, Held)>,
}

impl Additions {
    /// Adds the changes that `added` makes to `mutations`, of a transaction at `moment`. Returns `None`
    /// if all slots of a counter are in use, so that a later moment has to be drawn.
    ///
    /// Cost: one round trip, and another the first time that this process meets a spread counter; none
    /// for values that `base`, a snapshot of the same moment, was asked to preload.
    ///
    /// # Errors
    ///
    /// * [`shelfmark_store::ErrorKind::Corrupt`]: something that is no counter is added to.
    /// * Those of [`crate::retry::read`].
    pub(super) async fn plan(
        shared: &Arc<Shared>,
        (moment, base): (&Moment, Option<&TikvSnapshot>),
        added: &[Added],
        mutations: &mut Mutations,
    ) -> Result<Option<Self>> {
        let mut own = Self::default();
        if added.is_empty() {
            return Ok(Some(own));
        }
        let mut known = HashMap::new();
        let mut additions = Vec::with_capacity(added.len());
        let mut asked = Vec::with_capacity(added.len());
        for added in added {
            let (key, outer) = (added.key(), shared.keys.outer(added.key()));
            match base.and_then(|base| base.preloaded_plain(key)) {
                Some(value) => drop(known.insert(outer.clone(), encode_plain(value))),
                None => asked.push(outer.clone()),
            }
            let mut slot = None;
            if let Some(spread) = shared.slots.believed(key) {
                let Some(held) = take(shared, moment, key) else { return Ok(None) };
                asked.push(shared.keys.slot(spread, held.slot));
                slot = Some((spread, held));
            }
            additions.push(Addition { added, outer, slot });
        }
        let mut found = raw_many(shared, moment, asked).await?;
        found.extend(known);
        for (number, addition) in (0..).zip(additions) {
            let stored = found.get(&addition.outer).cloned().map(Stored::decode).transpose()?;
            let before = match stored {
                Some(Stored::Spread(spread, base)) => {
                    let to = (addition, spread, base);
                    if !own.add_to_slot(shared, moment, to, &found, mutations).await? {
                        return Ok(None);
                    }
                    continue;
                }
                Some(Stored::Plain(value)) => Some(value),
                None => None,
            };
            shared.slots.saw(addition.added.key(), shared.id, None);
            let sum = addition.added.to(before.as_ref())?;
            let spread = Spread { at: moment.version, number };
            own.add_to_key(shared, &addition, sum, spread, mutations);
        }
        Ok(Some(own))
    }

    /// Adds to a slot of a spread counter; false if all are in use.
    async fn add_to_slot(
        &mut self,
        shared: &Arc<Shared>,
        moment: &Moment,
        (addition, spread, base): (Addition<'_>, Spread, Bytes),
        found: &HashMap<Vec<u8>, Bytes>,
        mutations: &mut Mutations,
    ) -> Result<bool> {
        let Addition { added, slot, .. } = addition;
        let (at, held, mut sums) = match slot {
            Some((believed, held)) if believed == spread => {
                let at = shared.keys.slot(spread, held.slot);
                let sums = Sums::decode(found.get(&at))?;
                (at, held, sums)
            }
            other => {
                drop(other);
                shared.slots.saw(added.key(), shared.id, Some(spread));
                let Some(held) = take(shared, moment, added.key()) else { return Ok(false) };
                let at = shared.keys.slot(spread, held.slot);
                let found = raw_many(shared, moment, vec![at.clone()]).await?;
                let sums = Sums::decode(found.get(&at))?;
                (at, held, sums)
            }
        };
        added.to_sums(&base, &mut sums)?;
        mutations.insert(at.clone(), (OP_PUT, sums.encode()));
        self.slots.push((at, held));
        Ok(true)
    }

    /// Adds to a counter that is one key; spreads it if commits met there.
    fn add_to_key(
        &mut self,
        shared: &Shared,
        addition: &Addition<'_>,
        sum: Bytes,
        spread: Spread,
        mutations: &mut Mutations,
    ) {
        let key = addition.added.key();
        let is_contended = shared.slots.is_contended(key);
        let value = if is_contended {
            mutations.insert(shared.keys.owner(spread), (OP_PUT, key.clone()));
            Stored::encode_spread(spread, &sum)
        } else {
            encode_plain(sum)
        };
        mutations.insert(addition.outer.clone(), (OP_PUT, value));
        self.ones.push((addition.outer.clone(), key.clone(), is_contended.then_some(spread)));
    }

    /// Notes that the commit happened at `at`.
    pub(super) fn committed(self, shared: &Shared, at: u64) {
        for (_, key, spread) in self.ones {
            if spread.is_some() {
                shared.slots.saw(&key, shared.id, spread);
            }
        }
        self.slots.iter().for_each(|(_, held)| held.committed(at));
    }

    /// Returns true if the commit was refused because it met another at a counter, and notes where.
    pub(super) fn met(self, shared: &Shared, error: &Error) -> bool {
        let Some(met) = MetAt::of(error) else { return false };
        if let Some((_, key, _)) = self.ones.iter().find(|(outer, ..)| outer == met) {
            shared.slots.met(key, shared.id);
            return true;
        }
        let slot = self.slots.iter().find(|(at, _)| at == met);
        if let Some((_, held)) = slot {
            held.met();
        }
        slot.is_some()
    }
}

fn take(shared: &Shared, moment: &Moment, key: &Bytes) -> Option<Held> {
    shared.slots.take(key, shared.id, moment.version)
}
