//! Gives the tables of a keyspace another namespace.
//!
//! What it is not: a rename that a face offers. It is for stores in which two faces share a name.
//!
//! Invariant: ids stay, so every key of a row, an index or a tombstone stays where it is.

use std::collections::BTreeMap;

use bytes::Bytes;
use shelfmark_model::TableName;
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::catalogue::keys::{namespace_key, table_key, version_key};
use shelfmark_store::Write;

use super::namespace::moved_namespace;
use super::{Catalogue, copies};
use crate::error::Result;

impl Catalogue {
    /// Moves tables of the namespace `from`, and what CQL remembers about it, to `to`.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn move_keyspace(
        &self,
        from: &str,
        tables: &BTreeMap<u64, TableName>,
        to: &str,
    ) -> Result<()> {
        let _change = self.change();
        let moved = |name: &TableName| TableName::new(to, &*name.name);
        let is_moved = |name: &TableName| tables.values().any(|own| own == name);
        self.commit_planned(|snapshot| {
            let (mut keys, mut writes) = (Vec::new(), Vec::new());
            for name in tables.values() {
                let key = Bytes::from(table_key(name));
                let Some(mut record) = copies::get(snapshot, &key, TableRecord::decode)? else {
                    continue;
                };
                record.version += 1;
                record.schema.name = moved(name);
                if let Some(cells) = &mut record.schema.cells {
                    for view in cells.views.iter_mut().filter(|view| is_moved(view)) {
                        *view = moved(view);
                    }
                    if let Some(view) = &mut cells.view_of
                        && is_moved(&view.base)
                    {
                        view.base = moved(&view.base);
                    }
                }
                let value = record.encode_checked()?;
                writes.push(Write::Put { key: table_key(&record.schema.name).into(), value });
                writes.push(Write::Delete { key: key.clone() });
                keys.push(key);
            }
            keys.push(namespace_key(from));
            writes.extend(moved_namespace(snapshot, from, to)?);
            writes.push(Write::Add { key: version_key(), delta: 1 });
            Ok((keys, writes, ()))
        })?;
        self.forget_all();
        Ok(())
    }
}
