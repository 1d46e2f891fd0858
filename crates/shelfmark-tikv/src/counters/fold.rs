//! Makes one key again of spread counters that nobody has added to for a while, and removes slots that
//! no counter names any more.
//!
//! What it is not: in the way of anybody. A fold that meets an addition is refused and comes again.
//!
//! Invariant: a fold writes the key and every slot of a counter in one transaction, so that a sum is
//! the same before and behind it, and nothing is added to a slot that is gone.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::{ErrorKind, Result};
use tikv_client::BoundRange;

use super::seen::{Found, Seen};
use super::stored::{Stored, Sums, encode_plain};
use crate::commit::{Mutations, begin, commit_mutations};
use crate::keys::Spread;
use crate::retry;
use crate::shared::Shared;
use crate::snapshot::{Moment, reading, stored_many};
use crate::wire::{OP_DELETE, OP_PUT};

/// The time for which nobody has added to a counter before it becomes one key again.
const QUIET: Duration = Duration::from_secs(60);
/// Rows of one request.
const ROWS_ASKED: u32 = 1024;
/// Counters that are looked at in one pass.
const COUNTERS_MAX: usize = 10_000;

/// Looks at every spread counter once, and makes one key of those that have been quiet.
///
/// # Errors
///
/// * Those of [`retry::read`] and of a commit. What was done stays done.
pub(crate) async fn run(shared: &Arc<Shared>) -> Result<()> {
    // What was seen is only a memory: a pass beside this one begins without.
    let mut own = std::mem::take(&mut *shared.seen());
    let done = fold(shared, &mut own).await;
    *shared.seen() = own;
    done
}

async fn fold(shared: &Arc<Shared>, seen: &mut Seen) -> Result<()> {
    let moment = begin(shared).await?;
    let found = sets(shared, &moment).await?;
    let now = shared.clock.monotonic();
    let mut kept = HashMap::new();
    for (spread, (owner, slots)) in found {
        let Some(key) = named(shared, &moment, spread, owner).await? else {
            // Whoever is about to add there read the counter before it was written over.
            remove(shared, spread).await?;
            continue;
        };
        let since = match seen.counters.remove(&spread) {
            Some((before, since)) if before == slots => since,
            _ => now,
        };
        if now.saturating_sub(since) >= QUIET {
            make_one(shared, &key, spread).await?;
            continue;
        }
        kept.insert(spread, (slots, since));
    }
    seen.counters = kept;
    Ok(())
}

/// Returns the sets of slots that there are, with the counter that each was made for.
async fn sets(
    shared: &Arc<Shared>,
    moment: &Moment,
) -> Result<HashMap<Spread, (Option<Bytes>, Found)>> {
    let mut sets: HashMap<Spread, (Option<Bytes>, Found)> = HashMap::new();
    let (mut start, end) = shared.keys.all_slots();
    loop {
        let rows = rows(shared, moment, (&start, &end)).await?;
        let is_last = rows.len() < ROWS_ASKED as usize;
        for (key, value) in rows {
            start = [&key[..], &[0]].concat();
            let Some((spread, slot)) = shared.keys.slot_of(&key) else { continue };
            if sets.len() >= COUNTERS_MAX && !sets.contains_key(&spread) {
                return Ok(sets);
            }
            let set = sets.entry(spread).or_default();
            match slot {
                Some(slot) => set.1.push((slot, value)),
                None => set.0 = Some(value),
            }
        }
        if is_last {
            return Ok(sets);
        }
    }
}

async fn rows(
    shared: &Arc<Shared>,
    moment: &Moment,
    (start, end): (&[u8], &[u8]),
) -> Result<Vec<(Vec<u8>, Bytes)>> {
    retry::read(shared.options.patience, || {
        let mut snapshot = shared.clients.next().snapshot(moment.at.clone(), reading());
        let range = BoundRange::from(start.to_vec()..end.to_vec());
        async move {
            let rows = snapshot.scan(range, ROWS_ASKED).await?;
            Ok(rows.map(|row| (row.0.into(), row.1.into())).collect())
        }
    })
    .await
}

/// Returns the counter that a set was made for, if its key still names the set.
async fn named(
    shared: &Arc<Shared>,
    moment: &Moment,
    spread: Spread,
    owner: Option<Bytes>,
) -> Result<Option<Bytes>> {
    let Some(key) = owner else { return Ok(None) };
    let stored = stored_many(shared, moment, std::slice::from_ref(&key)).await?;
    let is_named = matches!(stored.first(), Some(Some(Stored::Spread(own, _))) if *own == spread);
    Ok(is_named.then_some(key))
}

/// Makes one key of a counter, unless somebody is faster.
async fn make_one(shared: &Arc<Shared>, key: &Bytes, spread: Spread) -> Result<()> {
    let moment = begin(shared).await?;
    let stored = stored_many(shared, &moment, std::slice::from_ref(key)).await?;
    let Some(Some(Stored::Spread(own, base))) = stored.into_iter().next() else {
        return Ok(());
    };
    if own != spread {
        return Ok(());
    }
    let (start, end) = shared.keys.slots(spread);
    let mut sums = Sums::default();
    for (_, slot) in rows(shared, &moment, (&start, &end)).await? {
        sums.extend(&Sums::decode(Some(&slot))?);
    }
    let value = encode_plain(sums.added_to(&base)?);
    let mut mutations = removed(shared, spread);
    mutations.insert(shared.keys.outer(key), (OP_PUT, value));
    unless_met(commit_mutations(shared, moment.version, Duration::ZERO, mutations).await)
}

/// Removes the slots of a counter that does not name them any more.
async fn remove(shared: &Arc<Shared>, spread: Spread) -> Result<()> {
    let moment = begin(shared).await?;
    let mutations = removed(shared, spread);
    unless_met(commit_mutations(shared, moment.version, Duration::ZERO, mutations).await)
}

/// Returns the deletions of a set, those of slots included that nobody has written yet.
fn removed(shared: &Shared, spread: Spread) -> Mutations {
    let keys = shared.keys.all_of(spread, true);
    keys.map(|key| (key, (OP_DELETE, Bytes::new()))).collect()
}

fn unless_met(outcome: Result<u64>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() != ErrorKind::Conflict => Err(error),
        _ => Ok(()),
    }
}
