//! Global tables: there are none, and no replicas that would scale.

use super::describe_table;
use crate::errors::{Error, Exception, Result, texts};
use crate::json::{Reader, Writer};
use crate::reply::Answered;
use crate::shape::Shape;

/// Answers CreateGlobalTable as the service does since it has another version of them.
///
/// Source: a public suite that runs against the service, read 2026-11.
pub(super) fn create(body: &[u8]) -> Result<Answered> {
    parse_with(body, Some("ReplicationGroup"))?;
    Err(Error::validation(texts::GLOBAL_TABLES_OF_2017))
}

/// Answers UpdateGlobalTable.
pub(super) fn update(body: &[u8]) -> Result<Answered> {
    not_found(&parse_with(body, Some("ReplicaUpdates"))?)
}

/// Answers UpdateGlobalTableSettings.
pub(super) fn update_settings(body: &[u8]) -> Result<Answered> {
    not_found(&parse(body)?)
}

/// Answers DescribeGlobalTable.
pub(super) fn describe(body: &[u8]) -> Result<Answered> {
    let name = parse(body)?;
    let text = format!("Global table not found: {}", texts::no_global_table(&name));
    Err(Error::new(Exception::GlobalTableNotFound, text))
}

/// Answers DescribeGlobalTableSettings.
pub(super) fn describe_settings(body: &[u8]) -> Result<Answered> {
    not_found(&parse(body)?)
}

/// Answers ListGlobalTables.
pub(super) fn list(body: &[u8]) -> Result<Answered> {
    let mut limit = None;
    Reader::body(body, |reader, name| {
        match name {
            "Limit" => limit = reader.integer()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.range("Limit", limit, 1, None);
    shape.check()?;
    Ok(Writer::answer(|out| out.name("GlobalTables").list(|_| {})))
}

/// Answers DescribeTableReplicaAutoScaling: a table without replicas is none that it is about.
pub(super) fn describe_scaling(body: &[u8]) -> Result<Answered> {
    let name = describe_table::parse(body)?;
    Err(Error::new(Exception::ResourceNotFound, texts::no_global_table(&name)))
}

fn not_found(name: &str) -> Result<Answered> {
    Err(Error::new(Exception::GlobalTableNotFound, texts::no_global_table(name)))
}

fn parse(body: &[u8]) -> Result<String> {
    parse_with(body, None)
}

/// Reads the name of a global table from a request that must have the member `needed`, too.
fn parse_with(body: &[u8], needed: Option<&'static str>) -> Result<String> {
    let (mut table, mut is_there) = (None, false);
    Reader::body(body, |reader, name| {
        match name {
            "GlobalTableName" => table = reader.text()?,
            _ if Some(name) == needed => {
                is_there = reader.list(|reader| reader.skip().map(Some))?.is_some();
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("GlobalTableName", table.is_some());
    shape.new_name("GlobalTableName", table.as_deref());
    if let Some(needed) = needed {
        shape.required(needed, is_there);
    }
    shape.check()?;
    Ok(table.unwrap_or_default())
}
