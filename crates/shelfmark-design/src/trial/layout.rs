//! The tables that a schema needs in a store.

use shelfmark_design_language::model::schema::{ColumnKind, Schema};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::target::Target;

/// The form of a key column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Texts, in the order of their UTF-8 bytes.
    Text,
    /// 128 bits, in the order of their bytes: UUIDs and ULIDs.
    Id,
    /// `false` before `true`.
    Bool,
    /// Whole numbers of 64 bits.
    Int,
    /// Milliseconds since 1970.
    Timestamp,
    /// Days since 1970.
    Date,
    /// Binary values, held as hexadecimal digits.
    Bytes,
}

/// One column of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnForm {
    /// Its form.
    pub form: Form,
    /// True if its values descend.
    pub desc: bool,
}

/// A table or an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableForm {
    /// Its name in the schema.
    pub name: String,
    /// Of an index: the table whose rows it holds.
    pub base: Option<usize>,
    /// Number of columns in the partition key; 0 where the whole table is one run of keys.
    pub partition: usize,
    /// All columns of the key. Those of an index end with the key of its row.
    pub columns: Vec<ColumnForm>,
}

/// The tables of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Tables and indexes; [`crate::trial::Ask`] and [`crate::trial::Image`] name them by index.
    pub tables: Vec<TableForm>,
    /// True if partitions lie in the order of their keys.
    pub ordered: bool,
}

pub(super) fn layout(schema: &Schema, target: &Target) -> Result<Layout, String> {
    let mut tables = Vec::new();
    for (id, table) in schema.tables.iter().enumerate() {
        let mut base = None;
        for (_, family) in schema.of_table(id) {
            let of = family.base.and_then(|base| schema.families.get(base)).map(|base| base.table);
            if base.is_some() && of != base {
                return Err(format!("{} is an index over several tables", table.name.text));
            }
            base = of;
        }
        let columns = table.kinds.iter().zip(&table.desc).map(|(kind, desc)| {
            let form = match kind {
                ColumnKind::Text => Form::Text,
                ColumnKind::Typed(Type::Uuid | Type::Ulid) => Form::Id,
                ColumnKind::Typed(Type::Bool) => Form::Bool,
                ColumnKind::Typed(Type::Int(_) | Type::Decimal(_)) => Form::Int,
                ColumnKind::Typed(Type::Timestamp) => Form::Timestamp,
                ColumnKind::Typed(Type::Date) => Form::Date,
                ColumnKind::Typed(Type::Bytes(_)) => Form::Bytes,
                ColumnKind::Typed(_) => Form::Text,
            };
            ColumnForm { form, desc: *desc }
        });
        tables.push(TableForm {
            name: table.name.text.clone(),
            base,
            partition: table.partition,
            columns: columns.collect(),
        });
    }
    Ok(Layout { tables, ordered: target.ordered })
}
