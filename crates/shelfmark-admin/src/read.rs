//! `get`, `scan` and `query`: items in key order, as plain JSON.
//!
//! A scan answers one page; whoever wants more sends the cursor back. A cursor is a position, not a
//! snapshot: it stays good while others write.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use shelfmark_engine::{Cursor, Query as EngineQuery, ResultPage, Scan as EngineScan, Table};
use shelfmark_model::{SortBound, SortColumn, SortCondition};

use crate::admin::Admin;
use crate::error::{Error, ErrorKind, Result};
use crate::named;
use crate::operation::Operation;
use crate::report::Report;
use crate::values::{json_of, key_value};

/// Most items of a page; it bounds the memory of an answer together with `PAGE_BYTES_MAX`.
pub const PAGE_ITEMS_MAX: usize = 1_000;

/// Bytes of items after which a page ends.
const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// Asks for one item by its key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// The table: `NAME` (a DynamoDB table) or `NAMESPACE.NAME`.
    pub table: String,
    /// Values of the key columns, partition key first, as people type them.
    pub key: Vec<String>,
}

/// One item.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GetAnswer {
    /// The item as plain JSON.
    pub item: Box<RawValue>,
    /// The names of the key columns, partition key first.
    #[serde(default)]
    pub keys: Vec<String>,
    /// The cost: rows and ranges read.
    pub report: Report,
}

impl Operation for Get {
    const NAME: &'static str = "get";
    type Answer = GetAnswer;

    fn run(self, admin: &Admin) -> Result<GetAnswer> {
        let engine = admin.engine();
        let table = named::table(engine, &self.table)?;
        let key = named::key(&table, &self.key)?;
        let got = engine.get(&table, &shelfmark_engine::Get::new(key))?;
        let none = || Error::new(ErrorKind::NotFound, "there is no item with this key");
        let item = json_of(&got.item.ok_or_else(none)?)?;
        Ok(GetAnswer { item, keys: key_names(&table, None)?, report: Report::from(&got.report) })
    }
}

/// Asks for a page of a table or index, or of one partition of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scan {
    /// The table: `NAME` (a DynamoDB table) or `NAMESPACE.NAME`.
    pub table: String,
    /// Values of the partition key's columns; none for the whole table.
    pub partition: Vec<String>,
    /// Only sort keys that begin with this.
    pub prefix: Option<String>,
    /// Only sort keys from this one on.
    pub from: Option<String>,
    /// Only sort keys up to this one.
    pub to: Option<String>,
    /// Read this index instead of the table.
    pub index: Option<String>,
    /// From the last key to the first.
    pub descending: bool,
    /// At most this many items; none, or more than [`PAGE_ITEMS_MAX`], for as many as a page has.
    pub limit: Option<usize>,
    /// The cursor of an earlier page.
    pub cursor: Option<String>,
}

/// Asks for a page of one partition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Query(
    /// The scan, whose partition is given.
    pub Scan,
);

/// A page of items.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScanAnswer {
    /// The items as plain JSON, in key order.
    pub items: Vec<Box<RawValue>>,
    /// The names of the key columns of what was read, partition key first.
    #[serde(default)]
    pub keys: Vec<String>,
    /// The position where the next page begins; none at the end.
    pub cursor: Option<String>,
    /// The key range, in words.
    pub range: String,
    /// The cost: rows and ranges read.
    pub report: Report,
}

impl Operation for Scan {
    const NAME: &'static str = "scan";
    type Answer = ScanAnswer;

    fn run(self, admin: &Admin) -> Result<ScanAnswer> {
        let table = named::table(admin.engine(), &self.table)?;
        let page = self.page(admin, &table)?;
        Ok(ScanAnswer {
            items: page.items.iter().map(json_of).collect::<Result<_>>()?,
            keys: key_names(&table, self.index.as_deref())?,
            cursor: page.cursor.map(|cursor| hex::encode(cursor.to_bytes())),
            range: self.range(&table)?,
            report: Report::from(&page.report),
        })
    }
}

impl Operation for Query {
    const NAME: &'static str = "query";
    type Answer = ScanAnswer;

    fn run(self, admin: &Admin) -> Result<ScanAnswer> {
        if self.0.partition.is_empty() {
            let table = named::table(admin.engine(), &self.0.table)?;
            let (columns, _) = named::key_columns(&table, self.0.index.as_deref())?;
            named::partition(columns, &[])?;
        }
        self.0.run(admin)
    }
}

impl Scan {
    fn page(&self, admin: &Admin, table: &Table) -> Result<ResultPage> {
        let start = self.cursor.as_deref().map(cursor).transpose()?;
        let limit = self.limit.unwrap_or(PAGE_ITEMS_MAX).min(PAGE_ITEMS_MAX);
        if self.partition.is_empty() {
            if self.prefix.is_some() || self.from.is_some() || self.to.is_some() {
                let why = "a condition on sort keys needs the partition that it is for";
                return Err(Error::invalid(why));
            }
            let request = EngineScan {
                index: self.index.clone(),
                descending: self.descending,
                limit: Some(limit),
                bytes_max: Some(PAGE_BYTES_MAX),
                start,
                ..EngineScan::default()
            };
            return Ok(admin.engine().scan(table, &request)?);
        }
        let (partition, sort) = named::key_columns(table, self.index.as_deref())?;
        let values = named::partition(partition, &self.partition)?;
        let mut query = EngineQuery::partition(values).sort(self.condition(sort)?).limit(limit);
        query.index.clone_from(&self.index);
        query.descending = self.descending;
        query.bytes_max = Some(PAGE_BYTES_MAX);
        query.start = start;
        Ok(admin.engine().query(table, &query)?)
    }

    /// Formats the key range that is read.
    fn range(&self, table: &Table) -> Result<String> {
        let mut text = table.schema.name.name.clone();
        if let Some(index) = &self.index {
            text = format!("{text}.{index}");
        }
        if self.partition.is_empty() {
            return Ok(format!("all of {text}"));
        }
        let (_, sort) = named::key_columns(table, self.index.as_deref())?;
        let values: Vec<String> = self.partition.iter().map(|value| format!("{value:?}")).collect();
        text = format!("{text} ({})", values.join(", "));
        if let Some(column) = sort.first() {
            let name = &column.name;
            text += &match (&self.prefix, &self.from, &self.to) {
                (Some(prefix), _, _) => format!(", {name} begins with {prefix:?}"),
                (None, Some(from), Some(to)) => format!(", {name} from {from:?} through {to:?}"),
                (None, Some(from), None) => format!(", {name} from {from:?}"),
                (None, None, Some(to)) => format!(", {name} through {to:?}"),
                (None, None, None) => String::new(),
            };
        }
        Ok(if self.descending { format!("{text}, from the last") } else { text })
    }

    fn condition(&self, sort: &[SortColumn]) -> Result<SortCondition> {
        if self.prefix.is_none() && self.from.is_none() && self.to.is_none() {
            return Ok(SortCondition::all());
        }
        let Some(column) = sort.first() else {
            return Err(Error::invalid("the table has no sort key"));
        };
        if let Some(prefix) = &self.prefix {
            return Ok(SortCondition::begins_with(key_value(&column.key_type, prefix)?));
        }
        let bound = |text: &Option<String>| match text {
            None => Ok(SortBound::Unbounded),
            Some(text) => key_value(&column.key_type, text).map(SortBound::Included),
        };
        let (lower, upper) = (bound(&self.from)?, bound(&self.to)?);
        Ok(SortCondition::Range { equal: Vec::new(), lower, upper })
    }
}

/// Returns the names of the key columns of a table, or of one of its indexes.
fn key_names(table: &Table, index: Option<&str>) -> Result<Vec<String>> {
    let (partition, sort) = named::key_columns(table, index)?;
    let partition = partition.iter().map(|column| column.name.clone());
    Ok(partition.chain(sort.iter().map(|column| column.name.clone())).collect())
}

fn cursor(text: &str) -> Result<Cursor> {
    let bytes = hex::decode(text);
    let bytes = bytes.map_err(|_| Error::invalid("the cursor is none that an answer gave back"))?;
    Ok(Cursor::from_bytes(&bytes)?)
}
