//! Remembers where regions end, so that a scan asks one region at a time.
//!
//! The client asks every region of a range at once, each for all rows that are wanted: a page of
//! ten over a hundred regions would read a thousand rows. The way to a region's leader is remembered,
//! too, for the one request that this driver sends itself (`newest`).
//!
//! Invariant: what is remembered may be old and is a hint only; a scan of a stretch that is two
//! regions by now is right and costs one request more, and a store refuses what is not its own.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use shelfmark_store::Direction;
use tokio::time::Instant;

use crate::placement::{Placement, Region, Route};

/// The time for which a bound is believed.
const BELIEVED: Duration = Duration::from_secs(30);
/// Regions that are asked for at once.
const ASKED: i32 = 64;
/// Bounds that are remembered at most; then all are forgotten.
const REMEMBERED_MAX: usize = 100_000;

/// The regions that are known, by their first key.
#[derive(Default)]
pub(crate) struct Regions {
    known: Mutex<BTreeMap<Vec<u8>, Known>>,
}

struct Known {
    end: Vec<u8>,
    route: Option<Route>,
    since: Instant,
}

impl Regions {
    /// Returns the end of the first stretch of `start..end` that lies in one region, going up, or
    /// its beginning, going down; the other end of the range where nothing is known.
    pub(crate) async fn bound(
        &self,
        placement: &Placement,
        (start, end): (&[u8], &[u8]),
        direction: Direction,
    ) -> Vec<u8> {
        if let Some(bound) = self.known_bound((start, end), direction) {
            return bound;
        }
        let from = match direction {
            Direction::Ascending => start,
            // The region that holds the last key: asked for by the end itself, it would be the next.
            Direction::Descending => &before(end),
        };
        match placement.regions(from, end, ASKED).await {
            Ok(regions) => self.remember(regions),
            // Without bounds a scan is right and costs more.
            Err(error) => tracing::debug!(%error, "the regions of a range are not known"),
        }
        self.known_bound((start, end), direction).unwrap_or_else(|| match direction {
            Direction::Ascending => end.to_vec(),
            Direction::Descending => start.to_vec(),
        })
    }

    /// Returns the way to the leader of the region that holds `key`, if one is known, and where the
    /// region ends (empty: nowhere).
    pub(crate) async fn route(
        &self,
        placement: &Placement,
        key: &[u8],
    ) -> Option<(Route, Vec<u8>)> {
        if let Some(route) = self.known_route(key) {
            return Some(route);
        }
        match placement.regions(key, &[], 1).await {
            Ok(regions) => self.remember(regions),
            Err(error) => tracing::debug!(%error, "the region of a key is not known"),
        }
        self.known_route(key)
    }

    /// Forgets the region that holds `key`, for when what is known of it turned out to be old.
    pub(crate) fn forget(&self, key: &[u8]) {
        let mut known = self.known();
        let first = known.range(..=key.to_vec()).next_back().map(|(first, _)| first.clone());
        if let Some(first) = first {
            known.remove(&first);
        }
    }

    fn known_route(&self, key: &[u8]) -> Option<(Route, Vec<u8>)> {
        let known = self.known();
        let (_, region) =
            known.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back()?;
        let holds = region.end.is_empty() || region.end.as_slice() > key;
        let is_fresh = region.since.elapsed() < BELIEVED;
        let route = region.route.clone().filter(|_| holds && is_fresh)?;
        Some((route, region.end.clone()))
    }

    fn known_bound(&self, (start, end): (&[u8], &[u8]), direction: Direction) -> Option<Vec<u8>> {
        let known = self.known();
        let fresh = |(first, region): (&Vec<u8>, &Known)| {
            (region.since.elapsed() < BELIEVED).then(|| (first.clone(), region.end.clone()))
        };
        match direction {
            Direction::Ascending => {
                let (_, last) = fresh(known.range(..=start.to_vec()).next_back()?)?;
                let reaches = last.is_empty() || last.as_slice() > start;
                reaches.then(|| {
                    if last.is_empty() || last.as_slice() > end { end.to_vec() } else { last }
                })
            }
            Direction::Descending => {
                let (first, last) = fresh(known.range(..end.to_vec()).next_back()?)?;
                let reaches = last.is_empty() || last.as_slice() >= end;
                reaches.then(|| first.max(start.to_vec()))
            }
        }
    }

    fn remember(&self, regions: Vec<Region>) {
        let since = Instant::now();
        let mut known = self.known();
        if known.len() + regions.len() > REMEMBERED_MAX {
            known.clear();
        }
        for Region { start, end, route } in regions {
            // What lay here before was split or merged.
            let stale: Vec<Vec<u8>> = known
                .range(start.clone()..)
                .take_while(|(first, _)| end.is_empty() || **first < end)
                .map(|(first, _)| first.clone())
                .collect();
            for first in stale {
                known.remove(&first);
            }
            known.insert(start, Known { end, route, since });
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Known>> {
        // A hint: whole or not, it is right to use.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a key just before `end`, for asking which region holds the keys before it.
fn before(end: &[u8]) -> Vec<u8> {
    let mut key = end.to_vec();
    match key.last_mut() {
        Some(0) | None => {
            key.pop();
        }
        Some(last) => {
            *last -= 1;
            key.push(0xFF);
        }
    }
    key
}
