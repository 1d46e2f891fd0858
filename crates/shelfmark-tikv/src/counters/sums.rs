//! Reads values, and adds up those of spread counters.
//!
//! Invariant: a sum is of one timestamp, that of the value which named the slots.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_store::{Error, ErrorKind, Result};
use tikv_client::BoundRange;
use tokio::task::JoinSet;

use super::stored::{Stored, Sums};
use crate::keys::Spread;
use crate::retry;
use crate::shared::Shared;
use crate::snapshot::{Moment, reading};

/// Counters that are added up at once.
const AT_ONCE: usize = 16;
/// Rows asked for with the slots of a counter: more than there are.
const SLOTS_ASKED: u32 = 256;

/// Values of the contract, and which of them are sums.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// In the order in which they were asked for.
    pub(crate) values: Vec<Option<Bytes>>,
    /// The slots of those that are sums, by the place in that order.
    pub(crate) spread: Vec<(usize, Spread)>,
}

/// Returns the values of the contract for `stored`, which was read at `moment`.
///
/// Cost: nothing where no counter is spread; otherwise a request for each that is, side by side.
///
/// # Errors
///
/// * Those of [`retry::read`].
/// * [`ErrorKind::Corrupt`]: a slot does not fit the value.
pub(crate) async fn values(
    shared: &Arc<Shared>,
    moment: &Moment,
    stored: Vec<Option<Stored>>,
) -> Result<Values> {
    let mut found = Values::default();
    let mut bases = HashMap::new();
    for (place, stored) in stored.into_iter().enumerate() {
        found.values.push(match stored {
            Some(Stored::Plain(value)) => Some(value),
            Some(Stored::Spread(spread, base)) => {
                found.spread.push((place, spread));
                bases.insert(place, base);
                None
            }
            None => None,
        });
    }
    for some in found.spread.chunks(AT_ONCE) {
        let mut asked = JoinSet::new();
        for (place, spread) in some.iter().copied() {
            let (shared, moment) = (Arc::clone(shared), moment.clone());
            asked.spawn(async move { (place, sums(&shared, &moment, spread).await) });
        }
        while let Some(done) = asked.join_next().await {
            let (place, sums) = done.map_err(|error| {
                let message = "a read of the cluster failed";
                Error::new(ErrorKind::Unavailable, message).with_source(error)
            })?;
            let base = bases.remove(&place).unwrap_or_default();
            if let Some(value) = found.values.get_mut(place) {
                *value = Some(sums?.added_to(&base)?);
            }
        }
    }
    Ok(found)
}

/// Returns the sums of all slots of a set.
async fn sums(shared: &Arc<Shared>, moment: &Moment, spread: Spread) -> Result<Sums> {
    let (start, end) = shared.keys.slots(spread);
    let rows = retry::read(shared.options.patience, || {
        let mut snapshot = shared.clients.next().snapshot(moment.at.clone(), reading());
        let range = BoundRange::from(start.clone()..end.clone());
        async move { Ok(snapshot.scan(range, SLOTS_ASKED).await?.collect::<Vec<_>>()) }
    })
    .await?;
    let mut sums = Sums::default();
    for row in rows {
        sums.extend(&Sums::decode(Some(&row.1.into()))?);
    }
    Ok(sums)
}
