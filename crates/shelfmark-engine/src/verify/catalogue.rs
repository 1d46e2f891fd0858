//! Checks every record of the catalogue, and of each table everything that belongs to it.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;
use shelfmark_model::TableName;
use shelfmark_records::catalogue::keys::{copy_key, has_copy, original_key};
use shelfmark_records::keys::{Tree, tree_range};
use shelfmark_store::KeyRange;
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::{Owner, StoredKey, stored_key, stored_table};
use shelfmark_tables::rows::{View as _, Walk, damage};

use super::Checker;

const PLACE: &str = "the catalogue";
const COPY: &str = "the second copy of the catalogue";

/// All trees.
const TREES: [Tree; 11] = [
    Tree::Catalogue,
    Tree::Rows,
    Tree::Index,
    Tree::Tombstones,
    Tree::Changes,
    Tree::Due,
    Tree::Tokens,
    Tree::Counts,
    Tree::Shards,
    Tree::CatalogueCopy,
    Tree::Guards,
];

impl Checker {
    /// Checks the catalogue, and each table that it names.
    pub(super) fn catalogue(&mut self) -> Result<()> {
        let mut walk = Walk::over(KeyRange::prefix(vec![Tree::Catalogue as u8]));
        let mut next_id = None;
        while let Some(row) = walk.next(&self.moment)? {
            self.copied(&row.key, &row.value)?;
            match stored_key(&row.key) {
                Ok(StoredKey::NextId) => {
                    next_id = <[u8; 8]>::try_from(&row.value[..]).ok().map(u64::from_be_bytes);
                }
                Ok(StoredKey::Table(name)) => self.named(&row.key, &row.value, &name)?,
                Ok(StoredKey::Dropped(id)) => {
                    self.ids.insert(id);
                }
                Ok(StoredKey::Other) => {}
                Err(_) => self.out.add(PLACE, &row.key, "a key that cannot be read"),
            }
        }
        self.copies()?;
        let largest = self.ids.last().copied();
        if largest.is_some_and(|largest| next_id.is_none_or(|next| next <= largest)) {
            let why = format!("the next id is not above {}, which is in use", largest.unwrap_or(0));
            self.out.add(PLACE, &[Tree::Catalogue as u8], why);
        }
        Ok(())
    }

    /// Checks that the copy of a record is the same.
    fn copied(&mut self, key: &[u8], value: &Bytes) -> Result<()> {
        if !has_copy(key) {
            return Ok(());
        }
        let copy = copy_key(key);
        match self.moment.get(&copy)? {
            Some(own) if own == *value => {}
            Some(_) => self.out.add(COPY, &copy, "a copy that differs from its record"),
            None => self.out.add(COPY, &copy, "the copy of a record is missing"),
        }
        Ok(())
    }

    /// Checks that every copy is of a record that is there.
    fn copies(&mut self) -> Result<()> {
        let mut walk = Walk::over(KeyRange::prefix(vec![Tree::CatalogueCopy as u8]));
        while let Some(row) = walk.next(&self.moment)? {
            if !self.is_there(&original_key(&row.key))? {
                self.out.add(COPY, &row.key, "a copy of a record that is missing");
            }
        }
        Ok(())
    }

    /// Checks one table by its record.
    fn named(&mut self, key: &[u8], record: &Bytes, name: &TableName) -> Result<()> {
        let table = match damage(stored_table(record))? {
            Ok(table) => table,
            Err(why) => {
                self.knows_all_ids = false;
                self.out.add(PLACE, key, format!("the record of table {name}: {why}"));
                return Ok(());
            }
        };
        if table.schema.name != *name {
            let why = format!("table {name} says that it is {}", table.schema.name);
            self.out.add(PLACE, key, why);
        }
        let (place, own) =
            (Owner::of_reserved_name(&name.namespace), Owner::of_table(&table.schema));
        if let Some(place) = place.filter(|place| *place != own) {
            let why = format!("table {name} belongs to {own} and lies in a namespace of {place}");
            self.out.add(PLACE, key, why);
        }
        for id in std::iter::once(table.id).chain(table.index_ids.iter().copied()) {
            if !self.ids.insert(id) {
                self.out.add(PLACE, key, format!("the id {id} of table {name} is used twice"));
            }
        }
        self.out.tables += 1;
        match table.cells {
            Some(_) => self.cells(&Arc::new(table)),
            None => self.items(&table),
        }
    }

    /// Looks for keys that belong to no table, id by id.
    pub(super) fn strangers(&mut self) -> Result<()> {
        // Without a table's record its keys look as if they were nobody's.
        for tree in Tree::OF_IDS.into_iter().filter(|_| self.knows_all_ids) {
            let mut rest = Some(KeyRange::prefix(vec![tree as u8]));
            while let Some(range) = rest.take() {
                let Some(row) = Walk::over(range.clone()).next(&self.moment)? else { break };
                let mut after = row.key.get(1..).unwrap_or_default();
                let Ok(id) = take_ordered_varint(&mut after) else {
                    self.out.add("the store", &row.key, "a key without an id");
                    break;
                };
                if !self.ids.contains(&id) {
                    let why = format!("a key of id {id}, which no table has");
                    self.out.add("the store", &row.key, why);
                }
                let behind = tree_range(tree, id).end;
                rest = behind.map(|start| KeyRange { start, end: range.end });
            }
        }
        self.unknown_trees()
    }

    /// Looks for keys of no tree, one finding for each first byte.
    fn unknown_trees(&mut self) -> Result<()> {
        for byte in 0..=u8::MAX {
            if TREES.iter().any(|tree| *tree as u8 == byte) {
                continue;
            }
            let range = KeyRange::prefix(vec![byte]);
            if let Some(row) = Walk::over(range).next(&self.moment)? {
                self.out.add("the store", &row.key, "a key of no tree");
            }
        }
        Ok(())
    }

    /// Returns true if the store holds the key.
    pub(super) fn is_there(&self, key: &[u8]) -> Result<bool> {
        Ok(self.moment.get(key)?.is_some())
    }
}
