//! The filling of a dormant table with another one's rows as of one moment, step by step.
//!
//! What it is not: the reason for it. A backup, a restore, and the copy behind a history each begin one and
//! end it in their own way.
//!
//! Invariant: how far it has come is written down behind the work, never before it.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::{TableName, Value};
use shelfmark_store::Snapshot;
use shelfmark_tables::catalogue::{BACKUPS_NAMESPACE, CatalogueChange, Owner, Table};
use shelfmark_tables::items::{ChangePosition, ItemChange};
use shelfmark_tables::rows::patiently;
use shelfmark_tables::{Error, ErrorKind, Result};

use super::copy::{CopiedPage, QueuedPage};
use super::ingest::INGESTED_BYTES_MAX;
use super::keeper::{Allowed, RUNNING};
use super::ledger::Entry;
use super::pace::Pace;
use super::source::Source;
use crate::engine::Engine;

/// Bytes that a rest behind a page counts for, as a multiple of the page's: a turn of some seconds ends with
/// a whole table file.
const REST_COST: u64 = 7;

/// The last change that belongs to a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Until {
    /// Changes of later commits do not belong to it.
    pub(super) commit: u64,
    /// Nor does the first commit whose time is later than this, nor anything behind it; microseconds
    /// since the Unix epoch.
    pub(super) micros: u64,
}

impl Until {
    /// Returns those of some changes that belong to the moment. A commit that was begun ends.
    pub(super) fn among<'c>(
        &self,
        changes: &'c [ItemChange],
        after: Option<ChangePosition>,
    ) -> &'c [ItemChange] {
        let mut begun = after.map(|after| after.commit);
        let end = changes.iter().position(|change| {
            let commit = change.position.commit;
            let goes_on = begun == Some(commit);
            begun = Some(commit);
            commit > self.commit || (!goes_on && change.at_micros > self.micros)
        });
        end.and_then(|end| changes.get(..end)).unwrap_or(changes)
    }
}

/// The progress of filling a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fill {
    /// The table whose rows are copied, and its id.
    pub(super) source: (TableName, u64),
    /// The table that is filled.
    pub(super) target: TableName,
    /// The log whose changes are applied behind the copy. Without one the rows of a source in use are those of
    /// one moment, which is held meanwhile.
    pub(super) log: Option<u64>,
    /// The last change that the target has.
    pub(super) after: Option<ChangePosition>,
    /// The moment; of a copy of what is in use it is the end of copying.
    pub(super) until: Option<Until>,
    /// The place of the last row that was copied.
    pub(super) behind: Option<Bytes>,
    pub(super) is_copied: bool,
    pub(super) items: u64,
    pub(super) bytes: u64,
}

impl Fill {
    pub(super) fn of(source: (TableName, u64), target: TableName) -> Self {
        Self {
            source,
            target,
            log: None,
            after: None,
            until: None,
            behind: None,
            is_copied: false,
            items: 0,
            bytes: 0,
        }
    }

    /// Tells whether the source may be written meanwhile.
    pub(super) fn is_in_use(&self) -> bool {
        self.source.0.namespace != BACKUPS_NAMESPACE
    }

    /// Tells whether a moment of the source is to be held while rows are copied.
    fn holds_moment(&self) -> bool {
        self.is_in_use() && self.log.is_none() && !self.is_copied
    }

    fn has_copied(&mut self, page: CopiedPage) {
        self.items += page.items;
        self.bytes += page.bytes;
        self.is_copied = page.next.is_none();
        self.behind = page.next;
    }

    pub(super) fn put(&self, entry: Entry) -> Entry {
        let name = |entry: Entry, prefix: &str, name: &TableName| {
            let entry = entry.with(&format!("{prefix}_namespace"), name.namespace.as_str());
            entry.with(&format!("{prefix}_table"), name.name.as_str())
        };
        let entry = name(name(entry, "source", &self.source.0), "target", &self.target);
        let entry = entry
            .with_number("source_id", self.source.1)
            .with_some("log", self.log)
            .with_some("after_commit", self.after.map(|after| after.commit))
            .with_some("after_position", self.after.map(|after| u64::from(after.position)))
            .with_some("until_commit", self.until.map(|until| until.commit))
            .with_some("until_micros", self.until.map(|until| until.micros))
            .with("is_copied", self.is_copied)
            .with_number("items", self.items)
            .with_number("bytes", self.bytes);
        match &self.behind {
            Some(behind) => entry.with("behind", Value::Bytes(behind.clone())),
            None => entry,
        }
    }

    pub(super) fn read(entry: &Entry) -> Result<Self> {
        let name = |prefix: &str| {
            TableName::new(
                entry.text(&format!("{prefix}_namespace")),
                entry.text(&format!("{prefix}_table")),
            )
        };
        let damaged = || Error::corrupt("an entry of the ledger of backups is damaged");
        let after = match (entry.number("after_commit"), entry.number("after_position")) {
            (Some(commit), Some(position)) => {
                let position = u32::try_from(position).map_err(|_| damaged())?;
                Some(ChangePosition { commit, position })
            }
            _ => None,
        };
        let until = match (entry.number("until_commit"), entry.number("until_micros")) {
            (Some(commit), Some(micros)) => Some(Until { commit, micros }),
            _ => None,
        };
        Ok(Self {
            source: (name("source"), entry.number("source_id").ok_or_else(damaged)?),
            target: name("target"),
            log: entry.number("log"),
            after,
            until,
            behind: entry.bytes("behind"),
            is_copied: entry.flag("is_copied"),
            items: entry.number("items").unwrap_or_default(),
            bytes: entry.number("bytes").unwrap_or_default(),
        })
    }
}

impl Engine {
    /// Goes on with a filling, of the running work of this id, as far as is allowed. Tells whether the target
    /// is whole.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: the source or the target is gone; there is nothing to go on with.
    pub(super) fn fill(
        &self,
        work: &str,
        fill: &mut Fill,
        allowed: &mut Allowed<'_>,
    ) -> Result<bool> {
        let inner = &self.inner;
        let target = fill.target.clone();
        let current = || inner.catalogue.table(&target);
        let held = match fill.holds_moment() {
            true => Some(self.moment_for(work, fill)?),
            false => None,
        };
        let source = Source::new(fill.source.1, held);
        let copied = self
            .ingest(work, fill, &source, allowed, &current)
            .and_then(|()| self.copy(fill, &source, allowed, &current));
        match copied {
            // Of a history or a backup the copy and its log belong together: nothing is begun again there.
            Err(error) if source.is_held() && error.kind() == ErrorKind::TooOld => {
                self.begin_again(work, fill)?;
                return Ok(false);
            }
            copied => copied?,
        }
        if !fill.is_copied {
            return Ok(false);
        }
        let Some(log) = fill.log else { return Ok(true) };
        let until = match fill.until {
            Some(until) => until,
            None => Until { commit: inner.store.snapshot()?.id().commit, micros: u64::MAX },
        };
        fill.until = Some(until);
        loop {
            let replayed = inner.replay_page(log, fill.after, until, false, current)?;
            fill.after = replayed.last.or(fill.after);
            allowed.used(replayed.bytes);
            if replayed.is_done {
                self.check_source(fill)?;
                return Ok(true);
            }
            if !replayed.has_more || allowed.is_over() {
                return Ok(false);
            }
        }
    }

    /// Returns the moment whose rows are copied. If there is none yet, it takes one; what was copied of another
    /// one, before a restart, goes.
    fn moment_for(&self, work: &str, fill: &mut Fill) -> Result<Arc<dyn Snapshot>> {
        if let Some(held) = self.inner.backups.moment(work) {
            return Ok(held);
        }
        // Rows may be there that nobody wrote down, too.
        let target = self.inner.catalogue.table(&fill.target)?;
        if fill.behind.is_some() || !self.inner.can_ingest(&target, None)? {
            self.begin_again(work, fill)?;
        }
        let moment = self.inner.store.snapshot_for_copy()?;
        self.inner.backups.hold_moment(work, Arc::clone(&moment));
        Ok(moment)
    }

    /// Empties the target, and forgets how far its filling had come and of which moment.
    fn begin_again(&self, work: &str, fill: &mut Fill) -> Result<()> {
        self.inner.backups.let_moment_go(work);
        patiently(|| {
            let emptied = CatalogueChange::TruncateTable(fill.target.clone());
            self.inner.catalogue.apply(vec![emptied], Owner::Engine)
        })?;
        *fill = Fill::of(fill.source.clone(), fill.target.clone());
        self.put_ledger_entry(fill.put(Entry::new(RUNNING, work)))
    }

    /// Copies rows as far as is allowed. The next page is read while the one before it is committed.
    fn copy(
        &self,
        fill: &mut Fill,
        source: &Source,
        allowed: &mut Allowed<'_>,
        current: &impl Fn() -> Result<Arc<Table>>,
    ) -> Result<()> {
        let (store, clock) = (&*self.inner.store, &*self.inner.environment.clock);
        let mut pace = Pace::new(store, clock);
        let mut queued: Option<QueuedPage> = None;
        while !fill.is_copied {
            let behind = match &queued {
                Some(before) => before.page.next.as_ref(),
                None => fill.behind.as_ref(),
            };
            // Of a first page nothing is behind yet.
            let is_last = queued.is_some() && behind.is_none();
            let next = match is_last || allowed.is_over() {
                true => None,
                false => {
                    let most = allowed.bytes_left();
                    Some(self.inner.queue_page(source, behind, most, current)?)
                }
            };
            let Some(before) = std::mem::replace(&mut queued, next) else {
                if queued.is_some() {
                    continue;
                }
                return Ok(());
            };
            // What was queued behind a page that failed is copied again, too.
            let Some(page) = before.wait()? else {
                queued = None;
                continue;
            };
            let bytes = page.bytes;
            self.check_source(fill)?;
            fill.has_copied(page);
            self.has_moved(bytes, fill.is_in_use(), &mut pace, allowed);
        }
        Ok(())
    }

    /// Counts bytes that were copied, and rests behind them where others write to a source in use.
    fn has_moved(&self, bytes: u64, is_in_use: bool, pace: &mut Pace, allowed: &mut Allowed<'_>) {
        allowed.used(bytes);
        if is_in_use && pace.rest(&*self.inner.store, &*self.inner.environment.clock) {
            // The other work of the thread has its turn all the same.
            allowed.used(bytes * REST_COST);
        }
    }

    /// Copies rows past the log as far as is allowed and possible. How far that was is committed after
    /// each step, which shows the rows to everybody who reads afterwards.
    fn ingest(
        &self,
        work: &str,
        fill: &mut Fill,
        source: &Source,
        allowed: &mut Allowed<'_>,
        current: &impl Fn() -> Result<Arc<Table>>,
    ) -> Result<()> {
        let (store, clock) = (&*self.inner.store, &*self.inner.environment.clock);
        let mut pace = Pace::new(store, clock);
        let is_in_use = fill.is_in_use();
        while !fill.is_copied
            && !allowed.is_over()
            && self.inner.can_ingest(&*current()?, fill.behind.as_ref())?
        {
            let bytes_max = allowed.bytes_left().min(INGESTED_BYTES_MAX);
            let mut goes_on = |bytes: u64| {
                self.has_moved(bytes, is_in_use, &mut pace, allowed);
                !allowed.is_over()
            };
            let behind = fill.behind.as_ref();
            let page = self.inner.ingest_rows(source, behind, bytes_max, current, &mut goes_on)?;
            self.check_source(fill)?;
            fill.has_copied(page);
            self.put_ledger_entry(fill.put(Entry::new(RUNNING, work)))?;
        }
        Ok(())
    }

    /// Checks that the rows that are copied are still those of their table, and that its changes went to
    /// the log all the time, if there is one: what was dropped is on its way out.
    fn check_source(&self, fill: &Fill) -> Result<()> {
        let (name, id) = &fill.source;
        let table = self.inner.catalogue.table(name)?;
        let history = table.schema.options.history.as_ref().map(|own| own.log);
        let is_logged = !fill.is_in_use() || fill.log.is_none() || history == fill.log;
        if table.id == *id && is_logged {
            return Ok(());
        }
        let why = format!("table {name} was emptied, or its history ended");
        Err(Error::new(ErrorKind::NotFound, why))
    }
}
