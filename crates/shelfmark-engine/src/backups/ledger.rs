//! The ledger: an ordinary table of items that says which backups there are and what is being worked on.
//!
//! An entry has a kind, an id within it, and whatever its kind wants to remember. Faces keep their own
//! kinds beside the engine's.
//!
//! Invariant: entries that belong together change in one commit.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_keycode::KeyType;
use shelfmark_model::{Item, Key, KeyColumn, SortCondition, TableName, TableSchema, Value};
use shelfmark_tables::catalogue::{BACKUPS_NAMESPACE, Owner, Table};
use shelfmark_tables::items::{Get, Query, Write};
use shelfmark_tables::rows::patiently;
use shelfmark_tables::{Error, ErrorKind, Result};

use crate::engine::Engine;

/// The table's name in its namespace; no copy and no log begins like it.
const NAME: &str = "ledger";

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its kind: entries of one kind are listed together.
    pub kind: String,
    /// Its id among those of its kind, which are listed in this order.
    pub id: String,
    /// Its content.
    pub item: Item,
}

/// A change of the ledger.
pub(super) enum Edit {
    Put(Entry),
    Delete(String, String),
}

impl Entry {
    /// Creates an entry that says nothing yet.
    #[must_use]
    pub fn new(kind: impl Into<String>, id: impl Into<String>) -> Self {
        Self { kind: kind.into(), id: id.into(), item: Item::new() }
    }

    /// Adds what it says under a name.
    #[must_use]
    pub fn with(self, name: &str, value: impl Into<Value>) -> Self {
        Self { item: self.item.with(name, value), ..self }
    }

    /// Adds a number.
    #[must_use]
    pub fn with_number(self, name: &str, number: u64) -> Self {
        self.with(name, Value::Int(number.cast_signed()))
    }

    /// Adds a number, if there is one.
    #[must_use]
    pub fn with_some(self, name: &str, number: Option<u64>) -> Self {
        match number {
            Some(number) => self.with_number(name, number),
            None => self,
        }
    }

    /// Returns a text, empty if there is none.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.item.get(name).and_then(Value::as_text).unwrap_or_default()
    }

    /// Returns a number, if there is one.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.item.get(name) {
            Some(Value::Int(number)) => Some(number.cast_unsigned()),
            _ => None,
        }
    }

    /// Returns bytes, if there are any.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<Bytes> {
        match self.item.get(name) {
            Some(Value::Bytes(bytes)) => Some(Bytes::copy_from_slice(bytes)),
            _ => None,
        }
    }

    /// Returns true if a flag is set.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.item.get(name) == Some(&Value::Bool(true))
    }

    fn into_item(self) -> Item {
        self.item.with("kind", self.kind).with("id", self.id)
    }

    fn of_item(item: Item) -> Self {
        let text = |name| item.get(name).and_then(Value::as_text).unwrap_or_default().to_owned();
        Self { kind: text("kind"), id: text("id"), item }
    }
}

impl Engine {
    /// Returns an entry of the ledger of backups, if it is there.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn ledger_entry(&self, kind: &str, id: &str) -> Result<Option<Entry>> {
        let Some(ledger) = self.ledger_if_there()? else { return Ok(None) };
        let get = Get::new(key(kind, id));
        Ok(self.quiet().get(&ledger, &get)?.item.map(Entry::of_item))
    }

    /// Returns entries of a kind whose id begins with `prefix`, in the order of their ids: up to `limit`
    /// behind the id `after`.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn ledger_entries(
        &self,
        kind: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entry>> {
        let Some(ledger) = self.ledger_if_there()? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let mut query = Query::partition(vec![Value::text(kind)]);
        if !prefix.is_empty() {
            let prefix = Value::text(prefix);
            query = query.sort(SortCondition::BeginsWith { equal: Vec::new(), prefix });
        }
        if let Some(after) = after {
            let place = Item::new().with("kind", kind).with("id", after);
            query.start = Some(ledger.cursor_behind(None, &place)?);
        }
        while found.len() < limit {
            let page = self.quiet().query(&ledger, &query.clone().limit(limit - found.len()))?;
            found.extend(page.items.into_iter().map(Entry::of_item));
            match page.cursor {
                Some(cursor) => query.start = Some(cursor),
                None => break,
            }
        }
        Ok(found)
    }

    /// Puts an entry into the ledger, in the place of one of its kind and id.
    ///
    /// Durability: it is there after a crash once this returns.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn put_ledger_entry(&self, entry: Entry) -> Result<()> {
        self.edit_ledger(vec![Edit::Put(entry)])
    }

    /// Puts an entry into the ledger, and puts or removes one beside it, in one commit.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn put_ledger_entry_with(&self, entry: Entry, beside: Entry, is_put: bool) -> Result<()> {
        let beside = match is_put {
            true => Edit::Put(beside),
            false => Edit::Delete(beside.kind, beside.id),
        };
        self.edit_ledger(vec![Edit::Put(entry), beside])
    }

    /// Removes an entry from the ledger.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn delete_ledger_entry(&self, kind: &str, id: &str) -> Result<()> {
        self.edit_ledger(vec![Edit::Delete(kind.to_owned(), id.to_owned())])
    }

    /// Makes changes of the ledger, all or none.
    pub(super) fn edit_ledger(&self, edits: Vec<Edit>) -> Result<()> {
        let ledger = self.ledger()?;
        let writes: Vec<Write> = edits
            .into_iter()
            .map(|edit| match edit {
                Edit::Put(entry) => Write::put(&ledger, entry.into_item()),
                Edit::Delete(kind, id) => Write::delete(&ledger, key(&kind, &id)),
            })
            .collect();
        patiently(|| self.quiet().write_all(writes.clone())).map(drop)
    }

    /// Returns this engine without its observer: nobody asked for what the ledger reads.
    fn quiet(&self) -> Self {
        Self { observer: None, ..self.clone() }
    }

    fn ledger_if_there(&self) -> Result<Option<Arc<Table>>> {
        match self.inner.catalogue.table(&TableName::new(BACKUPS_NAMESPACE, NAME)) {
            Ok(ledger) => Ok(Some(ledger)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn ledger(&self) -> Result<Arc<Table>> {
        if let Some(ledger) = self.ledger_if_there()? {
            return Ok(ledger);
        }
        let name = TableName::new(BACKUPS_NAMESPACE, NAME);
        let schema = TableSchema::new(name, KeyColumn::new("kind", KeyType::Text));
        let schema = schema.with_sort("id", KeyType::Text);
        match patiently(|| self.inner.catalogue.create(schema.clone(), Owner::Engine)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let missing = || Error::new(ErrorKind::Conflict, "the ledger went away; retry");
                self.ledger_if_there()?.ok_or_else(missing)
            }
            created => created,
        }
    }
}

fn key(kind: &str, id: &str) -> Key {
    Key { partition: vec![Value::text(kind)], sort: vec![Value::text(id)] }
}
