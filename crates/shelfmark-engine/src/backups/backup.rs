//! Backups: copies of a table as of one moment, which outlive it.
//!
//! The copy of a backup is a dormant table with the schema of its source. That of the engine's own backup
//! of a dropped table is the dropped table itself, under another name.

use shelfmark_model::{ChangeImages, IndexState, TableName, TableSchema, TtlSource, Value};
use shelfmark_tables::catalogue::{BACKUPS_NAMESPACE, CatalogueChange, Owner};
use shelfmark_tables::rows::patiently;
use shelfmark_tables::{Error, ErrorKind, Result};

use super::fill::Fill;
use super::history::check_has_copies;
use super::keeper::RUNNING;
use super::ledger::{Edit, Entry};
use crate::engine::Engine;

/// Returns the kind of entries about backups of the tables of a namespace.
pub(super) fn backups_of(namespace: &str) -> String {
    format!("backup/{namespace}")
}

/// The kind of notes about backups that go away by themselves, in the order in which they do.
pub(super) const EXPIRING: &str = "expiring";

/// Bytes of a dropped table that are counted while the request waits.
const COUNTED_AT_ONCE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The member of a copy's settings that remembers by which attribute its source's items expire.
const EXPIRES_BY: &str = "/ttl";

/// The member of a copy's settings that remembers which images its source's stream kept.
const STREAMED: &str = "/stream";

/// Milliseconds for which the engine's own backup of a dropped table is kept. Source: DynamoDB Developer
/// Guide, "Point-in-time recovery", read 2026-11: 35 days.
const SYSTEM_BACKUP_MS: u64 = 35 * 24 * 3_600 * 1_000;

/// A backup of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Backup {
    /// The table, which may be gone.
    pub table: TableName,
    /// Tells it from all other backups of tables of this name; later ones have greater ids.
    pub id: String,
    /// The name that it was given.
    pub name: String,
    /// The engine made it when the table was dropped.
    pub is_of_dropped: bool,
    /// Milliseconds since the Unix epoch when it was asked for.
    pub created_ms: u64,
    /// Milliseconds since the Unix epoch when it goes away by itself.
    pub expires_ms: Option<u64>,
    /// The copy is whole.
    pub is_complete: bool,
    /// Items in it: those that were copied.
    pub items: u64,
    /// Bytes of their keys and values as they are stored.
    pub bytes: u64,
}

impl Backup {
    fn entry_id(&self) -> String {
        format!("{}/{}", self.table.name, self.id)
    }

    /// Returns the name of the table that is the copy.
    pub(super) fn copy_name(&self) -> TableName {
        let TableName { namespace, name } = &self.table;
        TableName::new(BACKUPS_NAMESPACE, format!("copy/{namespace}/{name}/{}", self.id))
    }

    pub(super) fn entry(&self) -> Entry {
        Entry::new(backups_of(&self.table.namespace), self.entry_id())
            .with("namespace", self.table.namespace.as_str())
            .with("table", self.table.name.as_str())
            .with("backup", self.id.as_str())
            .with("name", self.name.as_str())
            .with("is_of_dropped", self.is_of_dropped)
            .with_number("created_ms", self.created_ms)
            .with_some("expires_ms", self.expires_ms)
            .with("is_complete", self.is_complete)
            .with_number("items", self.items)
            .with_number("bytes", self.bytes)
    }

    /// Returns the note that the backup goes away by itself.
    pub(super) fn expiring(&self) -> Entry {
        let TableName { namespace, name } = &self.table;
        let expires_ms = self.expires_ms.unwrap_or_default();
        Entry::new(EXPIRING, format!("{expires_ms:020}/{namespace}/{name}/{}", self.id))
            .with("namespace", namespace.as_str())
            .with("table", name.as_str())
            .with("backup", self.id.as_str())
    }

    pub(super) fn of_entry(entry: &Entry) -> Self {
        Self {
            table: TableName::new(entry.text("namespace"), entry.text("table")),
            id: entry.text("backup").to_owned(),
            name: entry.text("name").to_owned(),
            is_of_dropped: entry.flag("is_of_dropped"),
            created_ms: entry.number("created_ms").unwrap_or_default(),
            expires_ms: entry.number("expires_ms"),
            is_complete: entry.flag("is_complete"),
            items: entry.number("items").unwrap_or_default(),
            bytes: entry.number("bytes").unwrap_or_default(),
        }
    }
}

impl Engine {
    /// Begins a backup of a table. It is made in the background ([`Engine::keep_backups`]) and shows the
    /// table at one moment between this call and its completion.
    ///
    /// Durability: it is completed, also after a crash, once this returns.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such table.
    /// * [`ErrorKind::Invalid`]: its rows or placement are none that backups are for.
    pub fn begin_backup(&self, name: &TableName, backup_name: &str) -> Result<Backup> {
        let table = self.table(name)?;
        table.check_items()?;
        check_has_copies(&table)?;
        let backup = self.new_backup(name, backup_name);
        let _held = self.inner.backups.hold();
        let mut fill = Fill::of((name.clone(), table.id), backup.copy_name());
        if !self.inner.store.caps().holds_copies {
            let (logged, _) = self.start_history(name, None)?;
            fill.source.1 = logged.id;
            fill.log = logged.schema.options.history.as_ref().map(|own| own.log);
            fill.after = Some(self.inner.settled()?);
        }
        let copy = copy_schema(&table.schema, backup.copy_name());
        patiently(|| self.inner.catalogue.create(copy.clone(), Owner::Engine))?;
        let id = format!("{}/{}", backups_of(&name.namespace), backup.entry_id());
        let running = Edit::Put(fill.put(Entry::new(RUNNING, id)));
        self.edit_ledger(vec![Edit::Put(backup.entry()), running])?;
        Ok(backup)
    }

    fn new_backup(&self, table: &TableName, name: &str) -> Backup {
        let created_ms = self.inner.environment.clock.now_millis();
        let random = self.inner.environment.random.number() >> 32;
        Backup {
            table: table.clone(),
            id: format!("{created_ms:014}-{random:08x}"),
            name: name.to_owned(),
            is_of_dropped: false,
            created_ms,
            expires_ms: None,
            is_complete: false,
            items: 0,
            bytes: 0,
        }
    }

    /// Drops a table and keeps its rows as a backup of the engine's own, for 35 days.
    ///
    /// # Errors
    ///
    /// * As [`Engine::drop_table`].
    pub fn drop_table_keeping_backup(&self, name: &TableName, backup_name: &str) -> Result<Backup> {
        let table = self.table(name)?;
        table.check_items()?;
        let mut backup = self.new_backup(name, backup_name);
        backup.is_of_dropped = true;
        backup.is_complete = true;
        backup.expires_ms = Some(backup.created_ms + SYSTEM_BACKUP_MS);
        // What is large is counted in the background.
        let size = self.inner.rows_size(table.id, |bytes| bytes > COUNTED_AT_ONCE_BYTES_MAX)?;
        (backup.items, backup.bytes) = size.unwrap_or_default();
        // One whose copy is not there is no backup, so the entry may come first.
        self.put_ledger_entry_with(backup.entry(), backup.expiring(), true)?;
        let stream = table.schema.options.stream.as_ref();
        let copy = copy_schema(&table.schema, backup.copy_name());
        patiently(|| {
            let mut changes = stream.map(|own| self.closings(name, own)).unwrap_or_default();
            changes.push(CatalogueChange::SetAside(name.clone(), copy.clone()));
            self.inner.catalogue.apply(changes, Owner::Engine)
        })?;
        Ok(backup)
    }

    /// Returns a backup, if it is there.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn backup(&self, table: &TableName, id: &str) -> Result<Option<Backup>> {
        let entry_id = format!("{}/{id}", table.name);
        let found = self.ledger_entry(&backups_of(&table.namespace), &entry_id)?;
        let found = found.map(|entry| Backup::of_entry(&entry));
        Ok(found.filter(|own| self.inner.catalogue.table(&own.copy_name()).is_ok()))
    }

    /// Returns backups of the tables of a namespace, or of one table, in the order of tables and ids: up
    /// to `limit` behind the one with this table and id.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn backups(
        &self,
        namespace: &str,
        table: Option<&str>,
        after: Option<(&str, &str)>,
        limit: usize,
    ) -> Result<Vec<Backup>> {
        let prefix = table.map(|table| format!("{table}/")).unwrap_or_default();
        let after = after.map(|(table, id)| format!("{table}/{id}"));
        let entries =
            self.ledger_entries(&backups_of(namespace), &prefix, after.as_deref(), limit)?;
        Ok(entries.iter().map(Backup::of_entry).collect())
    }

    /// Returns the table of a backup as it was.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: the backup is gone.
    pub fn backup_schema(&self, backup: &Backup) -> Result<SavedTable> {
        let mut schema = self.inner.catalogue.table(&backup.copy_name())?.schema.clone();
        schema.name.clone_from(&backup.table);
        schema.options.dormant = false;
        for index in &mut schema.indexes {
            index.state = IndexState::Public;
        }
        let mut saved = |member: &str| {
            let value = schema.options.face.remove(member)?;
            value.as_text().map(str::to_owned)
        };
        let (expires_by, images) = (saved(EXPIRES_BY), saved(STREAMED));
        let streamed = images.as_deref().and_then(ChangeImages::of_word);
        Ok(SavedTable { schema, expires_by, streamed })
    }

    /// Tells whether a backup of a table is being made.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn is_backed_up_now(&self, table: &TableName) -> Result<bool> {
        let prefix = format!("{}/{}/", backups_of(&table.namespace), table.name);
        Ok(!self.ledger_entries(RUNNING, &prefix, None, 1)?.is_empty())
    }

    /// Deletes a backup; its space comes back in the background.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: it is gone.
    /// * [`ErrorKind::Conflict`]: it is being made, or restored. Wait for that.
    pub fn delete_backup(&self, backup: &Backup) -> Result<()> {
        let _held = self.inner.backups.hold();
        let busy =
            |why: &str| Err(Error::new(ErrorKind::Conflict, format!("the backup is being {why}")));
        let current = self.backup(&backup.table, &backup.id)?;
        let gone = || Error::new(ErrorKind::NotFound, "there is no such backup");
        if !current.ok_or_else(gone)?.is_complete {
            return busy("made");
        }
        let copy = backup.copy_name();
        for entry in self.ledger_entries(RUNNING, "", None, usize::MAX)? {
            if Fill::read(&entry).is_ok_and(|fill| fill.source.0 == copy) {
                return busy("restored");
            }
        }
        self.drop_backup(backup)
    }

    /// Drops a backup that nothing is made of.
    pub(super) fn drop_backup(&self, backup: &Backup) -> Result<()> {
        self.drop_if_there(&backup.copy_name())?;
        let (entry, note) = (backup.entry(), backup.expiring());
        let delete = |entry: Entry| Edit::Delete(entry.kind, entry.id);
        self.edit_ledger(vec![delete(entry), delete(note)])
    }

    /// Completes the entry of a backup whose copy is whole.
    pub(super) fn complete_backup(&self, running: &Entry, fill: &Fill) -> Result<()> {
        let end = Edit::Delete(RUNNING.to_owned(), running.id.clone());
        let (kind, id) = split_running(&running.id);
        let mut edits = vec![end];
        if let Some(entry) = self.ledger_entry(&kind, &id)? {
            let done = Backup {
                is_complete: true,
                items: fill.items,
                bytes: fill.bytes,
                ..Backup::of_entry(&entry)
            };
            edits.push(Edit::Put(done.entry()));
        }
        self.edit_ledger(edits)?;
        // Without a log it had none of the table's changes kept.
        fill.log.map_or(Ok(()), |_| self.end_of_work_on(&fill.source.0))
    }

    /// Gives a backup up whose table went away before the copy was whole.
    pub(super) fn abandon_backup(&self, running: &Entry, fill: &Fill) -> Result<()> {
        self.drop_if_there(&fill.target)?;
        let (kind, id) = split_running(&running.id);
        self.edit_ledger(vec![
            Edit::Delete(kind, id),
            Edit::Delete(RUNNING.to_owned(), running.id.clone()),
        ])
    }
}

/// A table as it was when a backup was made.
#[derive(Debug, Clone)]
pub struct SavedTable {
    /// Its schema, without what acted on its rows: expiry and stream.
    pub schema: TableSchema,
    /// The attribute by which its items expired.
    pub expires_by: Option<String>,
    /// The images that its stream kept.
    pub streamed: Option<ChangeImages>,
}

/// Returns kind and id of the backup that an entry of running work is about.
fn split_running(id: &str) -> (String, String) {
    let at = id.match_indices('/').nth(1).map_or(id.len(), |(at, _)| at);
    let (kind, rest) = id.split_at(at);
    (kind.to_owned(), rest.get(1..).unwrap_or_default().to_owned())
}

/// Returns the schema of a copy: that of its source, with indexes that are not kept, and without what
/// would act on its rows.
fn copy_schema(source: &TableSchema, name: TableName) -> TableSchema {
    let mut copy = TableSchema { name, ..source.clone() };
    for index in &mut copy.indexes {
        index.state = IndexState::Dropping;
    }
    if let Some(TtlSource::Attribute(attribute)) = copy.options.ttl.take() {
        copy.options.face.insert(EXPIRES_BY.to_owned(), Value::text(&attribute));
    }
    copy.options.ttl_pass = None;
    if let Some(stream) = copy.options.stream.take() {
        copy.options.face.insert(STREAMED.to_owned(), Value::text(stream.images.word()));
    }
    copy.options.history = None;
    copy.options.exact_counts = false;
    copy.options.change_log = false;
    copy.options.dormant = true;
    copy
}
