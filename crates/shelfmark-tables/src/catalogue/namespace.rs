//! Namespaces: names that tables are grouped under, with what a face remembers about each.
//!
//! Faces that have such a thing create namespaces; the first table of a name that nobody created
//! gives the name an owner, and who has no tables left in one that was never created gives it up.
//!
//! Invariant: what a face remembers about a namespace is read by its owner alone.

use bytes::Bytes;
use shelfmark_keycode::{Direction, take_text};
use shelfmark_model::{Item, TableName, TableSchema, Value};
use shelfmark_records::catalogue::keys::{
    catalogue_key, namespace_key, section, table_key, version_key,
};
use shelfmark_records::catalogue::{RECORD_SIZE_BYTES_MAX, TableRecord};
use shelfmark_records::items::Record;
use shelfmark_store::{KeyRange, ScanLimits, Snapshot, Write};

use super::owner::namespace_of;
use super::{Catalogue, Owner, copies};
use crate::error::{Error, ErrorKind, Result};

/// One change of a namespace.
pub(super) enum NamespaceChange {
    Create(Bytes),
    Alter(Bytes),
    Drop,
}

/// A namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// Opaque bytes that a face keeps with it.
    pub attachment: Bytes,
    /// The owner whose tables lie in it.
    pub owner: Owner,
    /// It was created by its name, not with its first table.
    pub is_declared: bool,
}

impl NamespaceChange {
    /// Returns the write that makes the change; the namespace's key is to be validated.
    pub(super) fn plan(
        &self,
        catalogue: &Catalogue,
        snapshot: &dyn Snapshot,
        name: &str,
        who: Owner,
        is_dropped: impl Fn(&TableName) -> bool,
    ) -> Result<Write> {
        let key = namespace_key(name);
        let stored = stored(snapshot, name)?;
        let declared = stored.as_ref().filter(|own| own.is_declared);
        if let Some(own) = declared.filter(|own| !who.may_change(own.owner)) {
            return Err(namespace_of(name, own.owner));
        }
        match self {
            Self::Create(_) if declared.is_some() => Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("there is a namespace {name} already"),
            )),
            Self::Alter(_) | Self::Drop if declared.is_none() => Err(no_namespace(name)),
            Self::Create(attachment) => {
                let owner = catalogue.owner_of_name(snapshot, name, stored.as_ref())?;
                if let Some(owner) = owner.filter(|owner| *owner != who) {
                    return Err(namespace_of(name, owner));
                }
                put(key, who, Some(attachment))
            }
            Self::Alter(attachment) => {
                put(key, declared.map_or(who, |own| own.owner), Some(attachment))
            }
            Self::Drop => {
                let owner = declared.map_or(who, |own| own.owner);
                let tables = catalogue.names_of(owner, Some(name), None, usize::MAX)?;
                if let Some(left) = tables.iter().find(|table| !is_dropped(table)) {
                    return Err(Error::invalid(format!(
                        "namespace {name} still has table {}; drop it first",
                        left.name
                    )));
                }
                Ok(Write::Delete { key })
            }
        }
    }
}

/// Returns the write of a namespace's record; without an attachment it is one that was never created.
///
/// # Errors
///
/// * `Internal`: what would be written could not be read back. Nothing was written.
fn put(key: Bytes, owner: Owner, attachment: Option<&Bytes>) -> Result<Write> {
    let mut item = Item::new().with("owner", owner.word());
    if let Some(attachment) = attachment {
        item = item.with("attachment", Value::Bytes(attachment.clone()));
    }
    let value = Record { item, expires_at: None }.encode_whole();
    let wanted = Namespace {
        name: String::new(),
        attachment: attachment.cloned().unwrap_or_default(),
        owner,
        is_declared: attachment.is_some(),
    };
    if value.len() > RECORD_SIZE_BYTES_MAX {
        return Err(Error::new(ErrorKind::LimitExceeded, "the namespace's record is too large"));
    }
    if decode(String::new(), &value).ok().as_ref() != Some(&wanted) {
        return Err(Error::new(ErrorKind::Internal, "a namespace's record cannot be read back"));
    }
    Ok(Write::Put { key, value })
}

fn no_namespace(name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no namespace {name}"))
}

fn decode(name: String, bytes: &Bytes) -> Result<Namespace> {
    let damaged = || Error::corrupt(format!("the record of namespace {name} is damaged"));
    let item = Record::decode(bytes, &[])?.item;
    let owner = match item.get("owner") {
        Some(word) => word.as_text().and_then(Owner::of_word).ok_or_else(damaged)?,
        // Before owners were kept, only CQL created namespaces.
        None => Owner::Cql,
    };
    let (attachment, is_declared) = match item.get("attachment") {
        Some(Value::Bytes(attachment)) => (attachment.clone(), true),
        None if item.get("owner").is_some() => (Bytes::new(), false),
        _ => return Err(damaged()),
    };
    Ok(Namespace { name, attachment, owner, is_declared })
}

/// Returns the writes that move what CQL remembers about a namespace, if it does, to another name.
pub(super) fn moved_namespace(snapshot: &dyn Snapshot, from: &str, to: &str) -> Result<Vec<Write>> {
    match stored(snapshot, from)? {
        Some(own) if own.owner == Owner::Cql && own.is_declared => {
            let delete = Write::Delete { key: namespace_key(from) };
            Ok(vec![put(namespace_key(to), Owner::Cql, Some(&own.attachment))?, delete])
        }
        _ => Ok(vec![put(namespace_key(to), Owner::Cql, None)?]),
    }
}

/// Tells whether a record can be read.
pub(super) fn is_whole(bytes: &Bytes) -> bool {
    decode(String::new(), bytes).is_ok()
}

fn stored(snapshot: &dyn Snapshot, name: &str) -> Result<Option<Namespace>> {
    copies::get(snapshot, &namespace_key(name), |bytes| decode(name.to_owned(), bytes))
}

impl Catalogue {
    /// Returns whose a name is; `None` if anybody may take it.
    fn owner_of_name(
        &self,
        snapshot: &dyn Snapshot,
        name: &str,
        stored: Option<&Namespace>,
    ) -> Result<Option<Owner>> {
        if let Some(owner) = Owner::of_reserved_name(name) {
            return Ok(Some(owner));
        }
        if let Some(stored) = stored.filter(|own| own.is_declared) {
            return Ok(Some(stored.owner));
        }
        let Some(first) = self.names(Some(name), None, 1)?.into_iter().next() else {
            return Ok(None);
        };
        if let Some(stored) = stored {
            return Ok(Some(stored.owner));
        }
        let record = copies::get(snapshot, &table_key(&first), TableRecord::decode);
        let owner = record.ok().flatten().map(|record| Owner::of_table(&record.schema));
        // What cannot be read is nobody's who could ask for it.
        Ok(Some(owner.unwrap_or(Owner::Engine)))
    }

    /// Checks that a new table may lie in its namespace. Returns what writes the namespace's record, if
    /// it has none yet.
    pub(super) fn place(
        &self,
        snapshot: &dyn Snapshot,
        schema: &TableSchema,
        who: Owner,
    ) -> Result<Option<Write>> {
        let name = &schema.name.namespace;
        let stored = stored(snapshot, name)?;
        let owner = match &stored {
            // As with most tables; whether others are there makes no difference then.
            Some(own) if own.owner == who && Owner::of_reserved_name(name).is_none() => who,
            stored => self.owner_of_name(snapshot, name, stored.as_ref())?.unwrap_or(who),
        };
        who.check_place(owner, schema)?;
        match stored {
            Some(stored) if stored.is_declared || stored.owner == owner => Ok(None),
            _ => put(namespace_key(name), owner, None).map(Some),
        }
    }

    /// Returns one namespace that was created.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is none of this name.
    pub fn namespace(&self, name: &str) -> Result<Namespace> {
        let found = stored(&*self.store.snapshot()?, name)?;
        found.filter(|own| own.is_declared).ok_or_else(|| no_namespace(name))
    }

    /// Returns all namespaces of `who` that were created, by name; all that have an owner if it is the
    /// engine itself. One whose record cannot be read is left out: what lies in it says so.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn namespaces(&self, who: Owner) -> Result<Vec<Namespace>> {
        let prefix = catalogue_key(section::NAMESPACES);
        let snapshot = self.store.snapshot()?;
        let mut namespaces = Vec::new();
        let mut rest = Some(KeyRange::prefix(prefix.clone()));
        while let Some(range) = rest.take() {
            let page = copies::scan(&*snapshot, &range, ScanLimits::default())?;
            for row in &page.rows {
                let mut name = row.key.get(prefix.len()..).unwrap_or_default();
                let Ok(name) = take_text(&mut name, Direction::Ascending) else { continue };
                let Ok(Some(own)) = stored(&*snapshot, &name) else { continue };
                if who == Owner::Engine || own.is_declared && own.owner == who {
                    namespaces.push(own);
                }
            }
            rest = page.next;
        }
        Ok(namespaces)
    }

    /// Returns a number that rises with every change of what is declared, and only then.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn version(&self) -> Result<u64> {
        match self.store.snapshot()?.get(&version_key())? {
            None => Ok(0),
            Some(value) => Ok(Write::counter(&value)?.cast_unsigned()),
        }
    }
}
