//! Namespaces: names that tables are grouped under, with what a face remembers about each.
//!
//! A table may lie in a namespace that was never created; only faces that have such a thing create
//! namespaces.

use bytes::Bytes;
use shelfmark_keycode::{Direction, put_text, take_text};
use shelfmark_model::{Item, TableName, Value};
use shelfmark_store::{Direction as Way, KeyRange, ScanLimits, Snapshot, Write};

use super::{Catalogue, catalogue_key, section, version_key};
use crate::codec::Record;
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
    /// What a face remembers about it; opaque.
    pub attachment: Bytes,
}

pub(super) fn namespace_key(name: &str) -> Bytes {
    let mut key = catalogue_key(section::NAMESPACES);
    put_text(&mut key, Direction::Ascending, name);
    key.into()
}

impl NamespaceChange {
    /// Returns the write that makes the change; the namespace's key is to be validated.
    pub(super) fn plan(
        &self,
        catalogue: &Catalogue,
        snapshot: &dyn Snapshot,
        name: &str,
        is_dropped: impl Fn(&TableName) -> bool,
    ) -> Result<Write> {
        let key = namespace_key(name);
        let is_there = snapshot.get(&key)?.is_some();
        match self {
            Self::Create(_) if is_there => Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("there is a namespace {name} already"),
            )),
            Self::Alter(_) | Self::Drop if !is_there => Err(no_namespace(name)),
            Self::Create(attachment) | Self::Alter(attachment) => {
                let item = Item::new().with("attachment", Value::Bytes(attachment.clone()));
                let value = Record { item, expires_at: None }.encode_whole();
                Ok(Write::Put { key, value })
            }
            Self::Drop => {
                let tables = catalogue.names(Some(name), None, usize::MAX)?;
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

fn no_namespace(name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no namespace {name}"))
}

fn decode(name: String, bytes: &Bytes) -> Result<Namespace> {
    match Record::decode(bytes, &[])?.item.get("attachment") {
        Some(Value::Bytes(attachment)) => Ok(Namespace { name, attachment: attachment.clone() }),
        _ => Err(Error::corrupt("a namespace's record in the catalogue is damaged")),
    }
}

impl Catalogue {
    /// Returns one namespace.
    pub(crate) fn namespace(&self, name: &str) -> Result<Namespace> {
        let bytes = self.store.snapshot()?.get(&namespace_key(name))?;
        decode(name.to_owned(), &bytes.ok_or_else(|| no_namespace(name))?)
    }

    /// Returns all namespaces that were created, by name.
    pub(crate) fn namespaces(&self) -> Result<Vec<Namespace>> {
        let prefix = catalogue_key(section::NAMESPACES);
        let snapshot = self.store.snapshot()?;
        let mut namespaces = Vec::new();
        let mut rest = Some(KeyRange::prefix(prefix.clone()));
        while let Some(range) = rest.take() {
            let page = Snapshot::scan(&*snapshot, &range, Way::Ascending, ScanLimits::default())?;
            for row in &page.rows {
                let mut name = row.key.get(prefix.len()..).unwrap_or_default();
                let name = take_text(&mut name, Direction::Ascending)
                    .map_err(|_| Error::corrupt("a namespace's name is damaged"))?;
                namespaces.push(decode(name.into_owned(), &row.value)?);
            }
            rest = page.next;
        }
        Ok(namespaces)
    }

    /// Returns a number that rises with every change of what is declared, and only then.
    pub(crate) fn version(&self) -> Result<u64> {
        match self.store.snapshot()?.get(&version_key())? {
            None => Ok(0),
            Some(value) => Ok(Write::counter(&value)?.cast_unsigned()),
        }
    }
}
