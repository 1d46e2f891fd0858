//! Tells which column of a table is which attribute, for whoever reads answers.
//!
//! What it is not: a request. Columns of keys that are put together from several attributes, and marks of
//! indexes, stand for no attribute and are not told.

use serde_json::{Map, Value as Json, json};

use super::Calls;
use super::columns::carried;
use shelfmark_design_language::model::schema::{Family, FamilyId, Stored};

impl Calls<'_> {
    /// Returns each row type of each table: an object with `table`, `row`, and `columns`, the attribute by
    /// its column; where rows of several types share a table, `told_by` has the column that tells them
    /// apart and this type's value in it.
    #[must_use]
    pub fn rows(&self) -> Vec<Json> {
        let tables = self.schema.tables.iter().enumerate().filter(|(_, table)| !table.is_index);
        let of_table = |(id, _)| self.schema.of_table(id);
        tables.flat_map(of_table).map(|(id, family)| self.row(id, family)).collect()
    }

    fn row(&self, id: FamilyId, family: &Family) -> Json {
        let mut columns = Map::new();
        for path in carried(self.model, self.schema, id, family) {
            if let Some(column) = self.columns.attribute(family.table, family.source, &path) {
                let attribute = self.model.path_text(family.source, &path);
                columns.insert(column.to_owned(), attribute.into());
            }
        }
        for kept in &family.stored {
            if let Stored::Collect { name, .. } | Stored::Tally { name, .. } = kept {
                columns.insert(name.clone(), name.clone().into());
            }
        }
        let table = self.schema.tables.get(family.table).map_or("", |own| &own.name.text);
        let mut row = json!({ "table": table, "row": family.name.text, "columns": columns });
        if let (Some(told), Some(row)) = (self.columns.row_type(family.table), row.as_object_mut())
        {
            row.insert("told_by".to_owned(), json!({ told: family.name.text }));
        }
        row
    }
}
