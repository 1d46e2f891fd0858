//! The changes of a table between two moments, gathered by item: what an incremental export shows.
//!
//! They are read from the table's history and put into a dormant table, one row for each item that
//! changed: the item before its first change, the item after its last, and when that was. So memory is
//! bounded whatever the span, and the work goes on after a stop. A history has no old images: what an
//! item was comes from its last change before the span, or from the copy of the table that the history
//! begins with, so the changes before the span are gathered too, and not shown.
//!
//! What it is not: a copy of the table; items that did not change in the span are not there.
//!
//! Invariant: spans that meet have each change in exactly one of them, as the order of the commits
//! decides where a span begins and ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::{Item, TableName, TableSchema, Value};
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{CommitNumber, Snapshot};
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::items::{ChangePosition, ItemChange, LogPage, LogStart, encode, read_log};
use shelfmark_tables::rows::{commit_chunk, put_stored, read_row};
use shelfmark_tables::{Error, ErrorKind, Result};

use super::fill::Until;
use super::filling::copy_name;
use super::history::{HISTORIES, dormant_schema, history_name};
use super::ledger::Entry;
use crate::engine::Engine;
use crate::inner::Inner;

/// Changes that are gathered by one commit, and their bytes.
const PAGE_CHANGES_MAX: usize = 512;
const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// A span of the history of a table, and how far its changes were gathered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryWindow {
    table: TableName,
    log: u64,
    /// Microseconds since the Unix epoch: the first that belongs to it, and the first that does not.
    from_micros: u64,
    to_micros: u64,
    /// Changes of later commits do not belong to it.
    commit: CommitNumber,
    after: Option<ChangePosition>,
    /// A change that belongs to it was reached.
    is_inside: bool,
}

/// An item that changed in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowChange {
    /// The attributes of its key.
    pub keys: Item,
    /// Microseconds since the Unix epoch of its last change.
    pub at_micros: u64,
    /// The item before the window; `None` if there was none.
    pub old: Option<Item>,
    /// The item at the window's end; `None` if there was none.
    pub new: Option<Item>,
}

/// Items that changed, in the order of their keys.
#[derive(Debug, Clone)]
pub struct WindowPage {
    /// The items.
    pub changes: Vec<WindowChange>,
    /// The place behind which the next page begins; `None` at the end.
    pub next: Option<Bytes>,
}

impl HistoryWindow {
    /// Writes it down in an entry.
    #[must_use]
    pub fn put(&self, entry: Entry) -> Entry {
        entry
            .with("window_namespace", self.table.namespace.as_str())
            .with("window_table", self.table.name.as_str())
            .with_number("window_log", self.log)
            .with_number("window_from", self.from_micros)
            .with_number("window_to", self.to_micros)
            .with_number("window_commit", self.commit)
            .with("window_is_inside", self.is_inside)
            .with_some("window_after_commit", self.after.map(|after| after.commit))
            .with_some("window_after_position", self.after.map(|after| u64::from(after.position)))
    }

    /// Reads what [`HistoryWindow::put`] wrote down; `None` if there is none.
    #[must_use]
    pub fn read(entry: &Entry) -> Option<Self> {
        let after = match entry.number("window_after_commit") {
            Some(commit) => {
                let position = entry.number("window_after_position")?;
                Some(ChangePosition { commit, position: u32::try_from(position).ok()? })
            }
            None => None,
        };
        Some(Self {
            table: TableName::new(entry.text("window_namespace"), entry.text("window_table")),
            log: entry.number("window_log")?,
            from_micros: entry.number("window_from")?,
            to_micros: entry.number("window_to")?,
            commit: entry.number("window_commit")?,
            after,
            is_inside: entry.flag("window_is_inside"),
        })
    }

    /// Returns those of some changes that come before the window, those that belong to it, and whether it
    /// ends among them.
    fn among<'c>(
        &mut self,
        changes: &'c [ItemChange],
    ) -> (&'c [ItemChange], &'c [ItemChange], bool) {
        let mut earlier: &[ItemChange] = &[];
        let mut rest = changes;
        let mut after = self.after;
        if !self.is_inside {
            let before = Until { commit: u64::MAX, micros: self.from_micros.saturating_sub(1) };
            earlier = before.among(changes, after);
            rest = changes.get(earlier.len()..).unwrap_or_default();
            self.is_inside = !rest.is_empty();
            after = earlier.last().map(|change| change.position).or(after);
        }
        let end = Until { commit: self.commit, micros: self.to_micros.saturating_sub(1) };
        let wanted = end.among(rest, after);
        (earlier, wanted, wanted.len() < rest.len())
    }
}

impl Engine {
    /// Begins to gather the changes of a table from one moment up to another one, which does not belong
    /// to them; microseconds since the Unix epoch. `label` names them for [`Engine::read_window`].
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the table has no continuous backups.
    /// * [`ErrorKind::TooOld`]: nothing is kept of a part of that time, or it lies in the future.
    /// * [`ErrorKind::AlreadyExists`]: the label is in use.
    pub fn begin_window(
        &self,
        table: &Table,
        (from_micros, to_micros): (u64, u64),
        label: &str,
    ) -> Result<HistoryWindow> {
        let _held = self.inner.backups.hold();
        let base = self.inner.catalogue.table(&table.schema.name)?;
        let own = base.schema.options.history.as_deref().filter(|own| own.days.is_some());
        let off = || Error::invalid("the table has no continuous backups; switch them on first");
        let log = own.ok_or_else(off)?.log;
        let moments = self.continuous_backups(&base)?.ok_or_else(off)?;
        let is_kept = moments.earliest_micros.is_some_and(|earliest| earliest <= from_micros);
        if !is_kept || from_micros > to_micros || to_micros > moments.latest_micros + 1 {
            return Err(Error::new(ErrorKind::TooOld, "nothing is kept of that time"));
        }
        let commit = self.inner.store.snapshot()?.id().commit;
        self.create_dormant(dormant_schema(&base.schema, copy_name(label)))?;
        let table = base.schema.name.clone();
        let (after, is_inside) = (None, false);
        Ok(HistoryWindow { table, log, from_micros, to_micros, commit, after, is_inside })
    }

    /// Goes on gathering, until `should_stop`. Tells whether everything is gathered; if it is not, what
    /// `window` says has to be written down before this is called again.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: the table or its history is gone, or the label is.
    /// * [`ErrorKind::TooOld`]: a part of the window is not kept any more.
    pub fn gather_window(
        &self,
        label: &str,
        window: &mut HistoryWindow,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<bool> {
        let current = || self.inner.catalogue.table(&copy_name(label));
        loop {
            let gathered = match self.inner.gather_page(window, &current) {
                Err(error) if error.kind() == ErrorKind::TooOld => continue,
                gathered => gathered?,
            };
            // A change that had left the history by now may be missing in what was read.
            self.check_is_kept(window)?;
            match gathered {
                None => {}
                Some(Gathered::All) => return Ok(true),
                Some(Gathered::Waits) => return Ok(false),
                Some(Gathered::Some) if should_stop() => return Ok(false),
                Some(Gathered::Some) => {}
            }
        }
    }

    /// Checks that the history of a table still has all of a window.
    fn check_is_kept(&self, window: &HistoryWindow) -> Result<()> {
        let table = self.inner.catalogue.table(&window.table)?;
        let own = table.schema.options.history.as_deref().filter(|own| own.log == window.log);
        let gone = || Error::new(ErrorKind::NotFound, "the history of the table ended");
        let name = history_name(&window.table, &own.ok_or_else(gone)?.label);
        let entry = self.ledger_entry(HISTORIES, &name.name)?;
        match Self::check_is_whole(entry.as_ref())? <= window.from_micros {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::TooOld, "a part of the time is not kept any more")),
        }
    }

    /// Returns the next items that changed, up to about `bytes_max` bytes. An item that came and went
    /// within the window is not among them.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such label.
    pub fn read_window(
        &self,
        label: &str,
        behind: Option<&Bytes>,
        bytes_max: usize,
    ) -> Result<WindowPage> {
        let page = self.read_copy(label, behind, bytes_max)?;
        let table = self.inner.catalogue.table(&copy_name(label))?;
        let names = Names::of(&table.schema);
        let changes = page.items.into_iter().map(|item| names.unpack(item));
        let is_shown = |change: &WindowChange| {
            change.at_micros > 0 && (change.old.is_some() || change.new.is_some())
        };
        Ok(WindowPage { changes: changes.filter(is_shown).collect(), next: page.next })
    }
}

/// The outcome of gathering some changes.
enum Gathered {
    /// There are more.
    Some,
    /// Others of the window may still appear.
    Waits,
    All,
}

impl Inner {
    /// Gathers the next changes of a window in the table that `current` returns; `None` if the commit has
    /// to be tried again.
    fn gather_page(
        &self,
        window: &mut HistoryWindow,
        current: &impl Fn() -> Result<Arc<Table>>,
    ) -> Result<Option<Gathered>> {
        let target = current()?;
        let snapshot = self.store.snapshot()?;
        let view: &dyn Snapshot = &*snapshot;
        let through = view.stamped_through()?;
        let start = window.after.map_or(LogStart::Front, LogStart::After);
        let bytes_max = (self.store.caps().commit_size_bytes_max / 8).min(PAGE_BYTES_MAX);
        let page = read_log(view, window.log, start, PAGE_CHANGES_MAX, bytes_max)?;
        let LogPage { changes, is_end } = page;
        let mut next = window.clone();
        let (earlier, wanted, is_cut) = next.among(&changes);
        let gathered = match is_cut || is_end {
            true if is_cut || through >= window.commit => Gathered::All,
            true => Gathered::Waits,
            false => Gathered::Some,
        };
        if !earlier.is_empty() || !wanted.is_empty() {
            let copied = self.copied_of(window)?;
            let mut buffer = Buffer::new(Arc::clone(&snapshot));
            self.put_gathered(&mut buffer, view, (&copied, &target), (earlier, wanted))?;
            if !commit_chunk(self, buffer.into_commit(), current)? {
                return Ok(None);
            }
        }
        next.after = changes.last().map(|change| change.position).or(next.after);
        *window = next;
        Ok(Some(gathered))
    }

    /// Returns the copy of a window's table that its history begins with.
    fn copied_of(&self, window: &HistoryWindow) -> Result<Arc<Table>> {
        let table = self.catalogue.table(&window.table)?;
        let own = table.schema.options.history.as_deref().filter(|own| own.log == window.log);
        let gone = || Error::new(ErrorKind::NotFound, "the history of the table ended");
        self.catalogue.table(&history_name(&window.table, &own.ok_or_else(gone)?.label))
    }

    /// Puts what some changes say of their items beside what is known of these already: those before the
    /// window, and those of it.
    fn put_gathered(
        &self,
        buffer: &mut Buffer,
        view: &dyn Snapshot,
        (copied, target): (&Arc<Table>, &Arc<Table>),
        (earlier, wanted): (&[ItemChange], &[ItemChange]),
    ) -> Result<()> {
        let names = Names::of(&target.schema);
        let mut gathered: BTreeMap<Vec<u8>, (WindowChange, Vec<Bytes>)> = BTreeMap::new();
        let all = earlier.iter().map(|change| (change, false));
        for (change, is_inside) in all.chain(wanted.iter().map(|change| (change, true))) {
            let of_key = change.new.as_ref().or(change.old.as_ref());
            let damaged = || Error::corrupt("a change in a history is of no item");
            let of_key = of_key.ok_or_else(damaged)?;
            let row_key = target.key.row_key_of(of_key)?;
            if !gathered.contains_key(&row_key) {
                let known = match read_row(&view, &row_key)? {
                    Some(row) => (names.unpack(target.decode_whole(&row)?), row.chunks),
                    None => {
                        let before = read_row(&view, &copied.key.row_key_of(of_key)?)?;
                        let old = before.map(|row| copied.decode_whole(&row)).transpose()?;
                        let keys = target.item_of_key(&target.key_of(of_key)?);
                        (WindowChange { keys, at_micros: 0, old, new: None }, Vec::new())
                    }
                };
                gathered.insert(row_key.clone(), known);
            }
            let Some((known, _)) = gathered.get_mut(&row_key) else { continue };
            if is_inside {
                known.new.clone_from(&change.new);
                known.at_micros = change.at_micros;
            } else {
                known.old.clone_from(&change.new);
            }
        }
        for (row_key, (change, chunks)) in gathered {
            let stored = encode(target, &names.pack(change), None);
            if !stored.chunks.is_empty() {
                self.catalogue.set_chunked(target)?;
            }
            put_stored(buffer, &row_key, &chunks, Some(stored), true);
        }
        Ok(())
    }
}

/// The names under which a row of a dormant table has a change, beside the attributes of its key.
struct Names {
    at: String,
    old: String,
    new: String,
}

impl Names {
    fn of(schema: &TableSchema) -> Self {
        let free = |name: &str| {
            let mut name = name.to_owned();
            while schema.is_key(&name) {
                name.push('\'');
            }
            name
        };
        Self { at: free("at"), old: free("old"), new: free("new") }
    }

    fn pack(&self, change: WindowChange) -> Item {
        let map = |item: Item| Value::Map(pairs(item).collect());
        let mut item = change.keys;
        item.set(self.at.as_str(), Value::Int(change.at_micros.cast_signed()));
        if let Some(old) = change.old {
            item.set(self.old.as_str(), map(old));
        }
        if let Some(new) = change.new {
            item.set(self.new.as_str(), map(new));
        }
        item
    }

    fn unpack(&self, mut item: Item) -> WindowChange {
        let mut image = |name: &str| match item.remove(name) {
            Some(Value::Map(map)) => Some(map.into_iter().collect::<Item>()),
            _ => None,
        };
        let (old, new) = (image(&self.old), image(&self.new));
        let at_micros = match item.remove(&self.at) {
            Some(Value::Int(at)) => at.cast_unsigned(),
            _ => 0,
        };
        WindowChange { keys: item, at_micros, old, new }
    }
}

fn pairs(item: Item) -> impl Iterator<Item = (String, Value)> {
    item.into_iter().map(|(name, value)| (name.to_string(), value))
}
