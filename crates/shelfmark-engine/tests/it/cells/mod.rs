//! Tables of rows of cells, on every driver.

mod basics;
mod blind;
mod catalogue;
mod deletions;
mod derived;
mod estimates;
mod format;
mod large;
mod model;
mod purging;
mod reports;
mod together;
pub(crate) mod verify;

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::{
    CatalogueChange, CellChange, CellGet, CellOperation, CellQuery, ClusteringValue, LiveRow,
    Mutation, Result, Span, SpanBound, Table,
};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    Column, ColumnType, Direction, KeyColumn, SortColumn, TableName, TableSchema,
};

use crate::drivers::{Bed, patiently};

/// Numbers of the columns of the table that most tests use.
pub(crate) const A: u32 = 1;
pub(crate) const B: u32 = 2;
pub(crate) const STATIC: u32 = 3;
pub(crate) const MAP: u32 = 4;
pub(crate) const LIST: u32 = 5;
pub(crate) const COUNTER: u32 = 6;

pub(crate) const GRACE_SECONDS: u32 = 1000;

/// A partition key of text; two clustering columns, an int and a descending text; cells of each kind.
pub(crate) fn schema(name: &str) -> TableSchema {
    let column = |name: &str, id: u32, column_type: ColumnType, is_static: bool| Column {
        name: name.to_owned(),
        id,
        column_type,
        is_static,
    };
    let text = || ColumnType::Value(KeyType::Text);
    let partition = vec![KeyColumn::new("pk", KeyType::Text)];
    let mut schema = TableSchema::of_cells(TableName::new("ks", name), partition);
    schema.sort = vec![
        SortColumn::clustering("c", KeyType::I32, Direction::Ascending),
        SortColumn::clustering("d", KeyType::Text, Direction::Descending),
    ];
    schema.columns = vec![
        column("a", A, text(), false),
        column("b", B, text(), false),
        column("s", STATIC, text(), true),
        column("m", MAP, ColumnType::Map(KeyType::Text, KeyType::Text), false),
        column("l", LIST, ColumnType::List(KeyType::Text), false),
        column("n", COUNTER, ColumnType::Counter, false),
    ];
    schema.options.gc_grace_seconds = GRACE_SECONDS;
    schema
}

pub(crate) fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

pub(crate) fn int(n: i32) -> ClusteringValue {
    Some(Bytes::copy_from_slice(&n.to_be_bytes()))
}

pub(crate) fn text(text: &str) -> ClusteringValue {
    Some(bytes(text))
}

pub(crate) fn key(c: i32, d: &str) -> Vec<ClusteringValue> {
    vec![int(c), text(d)]
}

pub(crate) fn set(column: u32, value: &str) -> CellOperation {
    CellOperation::Set { column, value: bytes(value) }
}

pub(crate) fn mutation(table: &Arc<Table>, pk: &str, at: i64, change: CellChange) -> Mutation {
    Mutation {
        table: Arc::clone(table),
        partition: bytes(pk),
        change,
        timestamp: at,
        ttl_seconds: None,
    }
}

pub(crate) fn update(
    table: &Arc<Table>,
    pk: &str,
    clustering: Vec<ClusteringValue>,
    at: i64,
    operations: Vec<CellOperation>,
) -> Mutation {
    mutation(table, pk, at, CellChange::Row { clustering, is_insert: false, operations })
}

pub(crate) fn insert(
    table: &Arc<Table>,
    pk: &str,
    clustering: Vec<ClusteringValue>,
    at: i64,
    operations: Vec<CellOperation>,
) -> Mutation {
    mutation(table, pk, at, CellChange::Row { clustering, is_insert: true, operations })
}

pub(crate) fn from(c: i32) -> Span {
    let lower = Some(SpanBound { values: vec![int(c)], included: true });
    Span { lower, ..Span::default() }
}

impl Bed {
    pub(crate) fn change_catalogue(&self, changes: impl Fn() -> Vec<CatalogueChange<'static>>) {
        self.try_change_catalogue(changes).unwrap();
    }

    pub(crate) fn try_change_catalogue(
        &self,
        changes: impl Fn() -> Vec<CatalogueChange<'static>>,
    ) -> Result<()> {
        patiently(|| self.engine.change_catalogue(changes()))
    }

    pub(crate) fn cells(&self, mutations: Vec<Mutation>) {
        self.try_cells(mutations).unwrap();
    }

    pub(crate) fn try_cells(&self, mutations: Vec<Mutation>) -> Result<()> {
        patiently(|| self.engine.write_cells(mutations.clone()))
    }

    pub(crate) fn row(
        &self,
        table: &Table,
        pk: &str,
        clustering: Vec<ClusteringValue>,
    ) -> Option<LiveRow> {
        let get = CellGet { partition: bytes(pk), clustering, ..CellGet::default() };
        patiently(|| self.engine.get_cells(table, &get)).unwrap().row
    }

    /// Checks that all records belong together.
    pub(crate) fn check_sound(&self) {
        assert_eq!(patiently(|| self.engine.verify()).unwrap().findings, []);
    }

    /// The value of a plain column, as text.
    pub(crate) fn value(
        &self,
        table: &Table,
        pk: &str,
        clustering: Vec<ClusteringValue>,
        column: u32,
    ) -> Option<String> {
        let row = self.row(table, pk, clustering)?;
        Some(as_text(&row.cell(column)?.value))
    }

    /// The clustering keys of a partition as `c/d`, in order.
    pub(crate) fn keys(&self, table: &Table, pk: &str, span: Span, reversed: bool) -> Vec<String> {
        let query = CellQuery { partition: bytes(pk), span, reversed, ..CellQuery::default() };
        let page = patiently(|| self.engine.query_cells(table, &query)).unwrap();
        assert!(page.cursor.is_none());
        page.rows.iter().map(|entry| name_of(entry.clustering.as_deref())).collect()
    }
}

pub(crate) fn as_text(value: &[u8]) -> String {
    String::from_utf8(value.to_vec()).unwrap()
}

pub(crate) fn name_of(clustering: Option<&[ClusteringValue]>) -> String {
    let Some([c, d]) = clustering else { return "-".to_owned() };
    let c = match c {
        None => "null".to_owned(),
        Some(c) if c.is_empty() => "empty".to_owned(),
        Some(c) => i32::from_be_bytes(c.as_ref().try_into().unwrap()).to_string(),
    };
    format!("{c}/{}", as_text(d.as_ref().unwrap()))
}
