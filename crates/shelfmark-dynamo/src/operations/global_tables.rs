//! The descriptions of global tables: there are none, and no replicas that would scale.

use super::describe_table;
use crate::errors::{Error, Exception, Result, texts};
use crate::json::{Reader, Writer};
use crate::reply::Answered;
use crate::shape::Shape;

/// Answers DescribeGlobalTable.
pub(super) fn describe(body: &[u8]) -> Result<Answered> {
    let name = parse(body)?;
    let text = format!("Global table not found: {}", texts::no_global_table(&name));
    Err(Error::new(Exception::GlobalTableNotFound, text))
}

/// Answers DescribeGlobalTableSettings.
pub(super) fn describe_settings(body: &[u8]) -> Result<Answered> {
    let name = parse(body)?;
    Err(Error::new(Exception::GlobalTableNotFound, texts::no_global_table(&name)))
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

fn parse(body: &[u8]) -> Result<String> {
    let mut table = None;
    Reader::body(body, |reader, name| {
        match name {
            "GlobalTableName" => table = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.required("GlobalTableName", table.is_some());
    shape.new_name("GlobalTableName", table.as_deref());
    shape.check()?;
    Ok(table.unwrap_or_default())
}
