//! Remembers the sizes that were counted, and decides whether they are counted anew.
//!
//! In memory only: after a start the first question counts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfmark_engine::{Engine, SnapshotId, Table};

use super::{Counting, Sizes};
use crate::errors::Result;
use crate::limits::{
    SIZES_FIRST_WAIT_MS_MAX, SIZES_KNOWN_MAX, SIZES_REST_FACTOR, SIZES_WAIT_MS_MAX,
};

/// The sizes of the tables that were asked for.
#[derive(Default)]
pub(crate) struct KnownSizes {
    tables: Mutex<HashMap<u64, Known>>,
}

/// The figures of one table, and whether they are counted now.
#[derive(Default)]
struct Known {
    last: Option<Last>,
    /// Somebody counts on although nobody waits.
    is_counted: bool,
}

/// The last whole count of a table.
struct Last {
    /// The form of the table that was counted.
    version: u64,
    /// The state of the store when the count began.
    state: SnapshotId,
    sizes: Arc<Sizes>,
    /// Milliseconds that the count took, and when it ended.
    took_ms: u64,
    ended_ms: u64,
}

/// The answer to a question for the sizes of a table.
pub(crate) enum Asked {
    /// These are shown; a count may go on beside it.
    Known(Arc<Sizes>, Option<Started>),
    /// They are counted first.
    Count(Started),
}

/// A count with the state of the store at its beginning.
pub(crate) struct Started {
    pub(crate) counting: Counting,
    state: SnapshotId,
    began_ms: u64,
    /// Milliseconds that a client waits for it.
    wait_ms: u64,
}

impl Started {
    fn of(engine: &Engine, table: &Arc<Table>, state: SnapshotId) -> Self {
        let began_ms = engine.environment().clock.now_millis();
        let counting = Counting::of(engine, table);
        Self { counting, state, began_ms, wait_ms: SIZES_WAIT_MS_MAX }
    }

    /// Begins the count of a table of which nothing is known yet: a part of it says little.
    fn first(engine: &Engine, table: &Arc<Table>, state: SnapshotId) -> Self {
        Self { wait_ms: SIZES_FIRST_WAIT_MS_MAX, ..Self::of(engine, table, state) }
    }

    /// Returns true once a client has waited as long as it is to.
    pub(crate) fn is_long(&self) -> bool {
        self.counting.now_ms().saturating_sub(self.began_ms) >= self.wait_ms
    }
}

impl KnownSizes {
    /// Returns what is known of a table, or the count that has to be made.
    pub(crate) fn ask(&self, engine: &Engine, table: &Arc<Table>) -> Result<Asked> {
        let state = engine.state()?;
        let now_ms = engine.environment().clock.now_millis();
        let mut tables = self.lock();
        let Some(known) = tables.get_mut(&table.id) else {
            return Ok(Asked::Count(Started::first(engine, table, state)));
        };
        let Some(last) = known.last.as_ref() else {
            return Ok(Asked::Count(Started::first(engine, table, state)));
        };
        let is_same_form = last.version == table.version;
        if is_same_form && last.state == state {
            return Ok(Asked::Known(Arc::clone(&last.sizes), None));
        }
        if last.took_ms < SIZES_WAIT_MS_MAX {
            return Ok(Asked::Count(Started::of(engine, table, state)));
        }
        // Whoever changed the form of a table, such as by an index, wants to see what became of it.
        let rests =
            is_same_form && now_ms.saturating_sub(last.ended_ms) < last.took_ms * SIZES_REST_FACTOR;
        let sizes = Arc::clone(&last.sizes);
        let begins = !rests && !std::mem::replace(&mut known.is_counted, true);
        let started = begins.then(|| Started::of(engine, table, state));
        Ok(Asked::Known(sizes, started))
    }

    /// Returns the last figures of a table, whatever was written since.
    pub(crate) fn last(&self, table: &Table) -> Option<Arc<Sizes>> {
        let tables = self.lock();
        Some(Arc::clone(&tables.get(&table.id)?.last.as_ref()?.sizes))
    }

    /// Claims the count of a table that nobody waits for; false if another goes on already.
    pub(crate) fn claim(&self, table: &Table) -> bool {
        let mut tables = self.lock();
        make_room(&mut tables);
        !std::mem::replace(&mut tables.entry(table.id).or_default().is_counted, true)
    }

    /// Ends a claim without a count.
    pub(crate) fn give_up(&self, table: &Table) {
        if let Some(known) = self.lock().get_mut(&table.id) {
            known.is_counted = false;
        }
    }

    /// Takes over a count that is whole. `was_claimed` says that nobody waited for its end.
    pub(crate) fn counted(&self, started: Started, was_claimed: bool) -> Arc<Sizes> {
        let Started { counting, state, began_ms, .. } = started;
        let table = counting.table();
        let ended_ms = counting.now_ms();
        let sizes = Arc::new(counting.sizes().clone());
        let last = Last {
            version: table.version,
            state,
            sizes: Arc::clone(&sizes),
            took_ms: ended_ms.saturating_sub(began_ms),
            ended_ms,
        };
        let mut tables = self.lock();
        make_room(&mut tables);
        let known = tables.entry(table.id).or_default();
        known.is_counted &= !was_claimed;
        // Of two counts the one that began later knows more.
        if known.last.as_ref().is_none_or(|old| old.state <= last.state) {
            known.last = Some(last);
        }
        sizes
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Known>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets a table that nobody counts where too many are known.
fn make_room(tables: &mut HashMap<u64, Known>) {
    if tables.len() < SIZES_KNOWN_MAX {
        return;
    }
    let idle = tables.iter().find(|(_, known)| !known.is_counted).map(|(id, _)| *id);
    if let Some(id) = idle {
        tables.remove(&id);
    }
}
