//! Indexes the row types of a table by the beginnings of their keys.
//!
//! A table may hold thousands of row types; those whose keys begin with other texts share nothing,
//! and are not looked at one by one.
//!
//! Invariant: what is left out cannot have a key column that begins as asked.

use std::collections::BTreeMap;

use super::schema::{Family, FamilyId, Part};

/// One column of the keys of a table.
#[derive(Debug, Clone, Default)]
struct Column {
    /// Row types whose column begins with a fixed text, by that text.
    told: BTreeMap<String, Vec<FamilyId>>,
    /// Row types whose column begins with a value.
    open: Vec<FamilyId>,
}

/// The row types of a table, in the order of the schema and by how each column begins.
#[derive(Debug, Clone, Default)]
pub(super) struct RowTypes {
    all: Vec<FamilyId>,
    columns: Vec<Column>,
}

impl RowTypes {
    pub(super) fn add(&mut self, id: FamilyId, family: &Family) {
        self.all.push(id);
        for (at, column) in family.key.iter().enumerate() {
            if self.columns.len() <= at {
                self.columns.push(Column::default());
            }
            let Some(found) = self.columns.get_mut(at) else { continue };
            match column.parts.first() {
                Some(Part::Literal(text)) => found.told.entry(text.clone()).or_default().push(id),
                _ => found.open.push(id),
            }
        }
    }

    pub(super) fn all(&self) -> &[FamilyId] {
        &self.all
    }

    /// Returns an upper bound of the row types whose keys may match.
    pub(super) fn count_like<'a>(&self, asked: impl Iterator<Item = &'a [Part]>) -> usize {
        let narrowed = self.narrowed(asked).map(|(count, _)| count);
        narrowed.min().unwrap_or(self.all.len())
    }

    /// Returns the row types whose keys may match, column by column, in the order of the schema.
    ///
    /// Cost: that of the one column which leaves the fewest.
    pub(super) fn like<'a>(&self, asked: impl Iterator<Item = &'a [Part]>) -> Vec<FamilyId> {
        let Some((_, groups)) = self.narrowed(asked).min_by_key(|(count, _)| *count) else {
            return self.all.clone();
        };
        let mut found: Vec<FamilyId> = groups.into_iter().flatten().copied().collect();
        found.sort_unstable();
        found
    }

    /// Returns for each column with a given text how many row types it leaves, and which.
    fn narrowed<'s, 'a: 's>(
        &'s self,
        asked: impl Iterator<Item = &'a [Part]> + 's,
    ) -> impl Iterator<Item = (usize, Vec<&'s [FamilyId]>)> {
        let texts = asked.map(|parts| match parts.first() {
            Some(Part::Literal(text)) => Some(text.as_str()),
            _ => None,
        });
        self.columns.iter().zip(texts).filter_map(|(column, text)| {
            let groups = column.like(text?);
            Some((groups.iter().map(|group| group.len()).sum::<usize>(), groups))
        })
    }
}

impl Column {
    /// Returns the row types whose column may match a text: of two texts one begins the other, or
    /// the column begins with a value.
    fn like(&self, text: &str) -> Vec<&[FamilyId]> {
        let shorter = text.char_indices().map(|(at, _)| at);
        let shorter = shorter.filter_map(|at| self.told.get(text.get(..at)?));
        let longer = self.told.range(text.to_owned()..);
        let longer = longer.take_while(|(other, _)| other.starts_with(text));
        let longer = longer.map(|(_, ids)| ids);
        shorter.chain(longer).chain([&self.open]).map(Vec::as_slice).collect()
    }
}
