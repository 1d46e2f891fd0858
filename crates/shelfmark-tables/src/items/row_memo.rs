//! Decodes rows one after another: what a row shares with the one before it is not looked at anew.
//!
//! Rows of a range mostly have the attributes of the row before them, so an item is filled in the
//! order of its names without comparing or checking them, as far as they are the same.
//!
//! Invariant: the answer is that of decoding the row by itself.

use bytes::Bytes;
use shelfmark_model::{Item, Text};
use shelfmark_records::items::Head;
use shelfmark_records::keys::{KeyMemo, KeySpec};

use crate::error::Result;
use crate::rows::RawRow;

/// Items with more attributes than this are decoded by themselves.
const SHAPE_ATTRIBUTES_MAX: usize = 64;

/// Room for the attributes of an item that follows none.
const ATTRIBUTES_GUESS: usize = 8;

/// A memo of the row decoded last.
#[derive(Default)]
pub(crate) struct RowMemo {
    key: KeyMemo,
    /// Its attributes by name; empty where the next one is decoded by itself.
    shape: Vec<(Text, Source)>,
}

/// The place that an attribute came from.
#[derive(Clone, Copy)]
enum Source {
    Record,
    /// The key's column of this place.
    Key(usize),
}

impl RowMemo {
    /// Decodes a row whose head was parsed.
    pub(super) fn decode(
        &mut self,
        key: &KeySpec,
        mut head: Head<'_>,
        row: &RawRow,
    ) -> Result<Item> {
        key.read(&row.key, &mut self.key)?;
        let mut item = Item::with_capacity(match self.shape.len() {
            0 => ATTRIBUTES_GUESS,
            known => known,
        });
        if head.chunks == 0 && self.follow(&mut head, &row.head, &mut item)? {
            return Ok(item);
        }
        let followed = item.len();
        head.decode_into(&row.head, &row.chunks, &mut item)?;
        let is_set = |place: usize| {
            self.shape
                .iter()
                .take(followed)
                .any(|(_, from)| matches!(from, Source::Key(own) if *own == place))
        };
        for (place, column) in self.key.columns.iter().enumerate() {
            if !is_set(place) {
                column.set_unless_spelled(&mut item);
            }
        }
        self.learn(&item);
        Ok(item)
    }

    /// Fills an item as far as the row has the attributes of the one before; tells whether these
    /// were all.
    fn follow(&self, head: &mut Head<'_>, bytes: &Bytes, item: &mut Item) -> Result<bool> {
        for (name, source) in &self.shape {
            let value = match source {
                Source::Record => head.take_named(bytes, name)?,
                Source::Key(place) => {
                    self.key.columns.get(*place).map(|column| column.value.clone())
                }
            };
            let Some(value) = value else { return Ok(false) };
            item.push_greater(name.clone(), value);
        }
        Ok(!self.shape.is_empty() && head.is_done())
    }

    /// Remembers the attributes of an item for the next row.
    fn learn(&mut self, item: &Item) {
        self.shape.clear();
        if item.len() > SHAPE_ATTRIBUTES_MAX {
            return;
        }
        let columns = &self.key.columns;
        let source = |name: &Text| {
            // Of columns with one name, the last is what the item has.
            columns
                .iter()
                .rposition(|column| column.name == *name)
                .map_or(Source::Record, Source::Key)
        };
        self.shape.extend(item.iter().map(|(name, _)| (name.clone(), source(name))));
    }
}

#[cfg(test)]
mod tests {
    use shelfmark_keycode::KeyType;
    use shelfmark_model::{KeyColumn, TableName, TableSchema};
    use shelfmark_records::items::encode_record;
    use shelfmark_records::keys::{RowKey, chunk_key};

    use super::*;

    /// Decodes a row of so many attributes, and tells whether the next one would follow it.
    fn is_followed(attributes: usize) -> bool {
        let schema =
            TableSchema::new(TableName::new("test", "t"), KeyColumn::new("a", KeyType::Text));
        let keys = KeySpec::of_table(1, &schema);
        let names = (1..attributes).map(|n| format!("b{n:02}"));
        let item = names.fold(Item::new().with("a", "p"), |item, name| item.with(name, "x"));
        let row_key = keys.row_key_of(&item).unwrap();
        let of_record = item.iter().filter(|(name, _)| *name != "a");
        let head = encode_record(of_record.map(|(name, value)| (name.as_str(), value)), None).head;
        let key = RowKey::of_head(chunk_key(&row_key, 0).into()).unwrap();
        let row = RawRow { key, head, chunks: Vec::new() };
        let mut memo = RowMemo::default();
        assert_eq!(memo.decode(&keys, Head::parse(&row.head).unwrap(), &row).unwrap(), item);
        let mut again = Item::new();
        let is_followed = memo.follow(&mut Head::parse(&row.head).unwrap(), &row.head, &mut again);
        let is_followed = is_followed.unwrap();
        assert!(again.len() == if is_followed { item.len() } else { 0 });
        is_followed
    }

    #[test]
    fn rows_follow_one_of_their_shape_unless_it_has_too_many_attributes() {
        assert!(is_followed(1));
        assert!(is_followed(SHAPE_ATTRIBUTES_MAX));
        assert!(!is_followed(SHAPE_ATTRIBUTES_MAX + 1));
    }
}
