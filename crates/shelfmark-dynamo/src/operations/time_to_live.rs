//! UpdateTimeToLive and DescribeTimeToLive.

use shelfmark_model::TtlSource;

use super::describe_table;
use super::for_a_while::for_a_while;
use crate::errors::{Error, Result, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::KEY_NAME_BYTES_MAX;
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table;

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    specified: bool,
    enabled: Option<bool>,
    attribute: Option<String>,
}

/// Answers UpdateTimeToLive once every existing item has its due time, or is on its way to one.
pub(super) fn update(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let table = table::find_own(&face.engine, &request.table.unwrap_or_default())?;
    let attribute = request.attribute.unwrap_or_default();
    let enabled = request.enabled == Some(true);
    match (&table.schema.options.ttl, enabled) {
        (Some(TtlSource::Attribute(current)), _) if *current != attribute => {
            return Err(Error::validation(texts::ttl_attribute(current)));
        }
        (Some(TtlSource::Attribute(_)), true) => return Err(Error::validation(texts::TTL_ENABLED)),
        (None | Some(TtlSource::PerItem), false) => {
            return Err(Error::validation(texts::TTL_DISABLED));
        }
        (Some(TtlSource::Attribute(_)), false) | (None | Some(TtlSource::PerItem), true) => {}
    }
    let source = enabled.then(|| TtlSource::Attribute(attribute.clone()));
    let (engine, name) = (face.engine.clone(), table.schema.name.clone());
    let set = move || engine.alter_options(&name, |options| options.ttl = source);
    for_a_while(set)?.transpose()?;
    Ok(Writer::answer(|out| {
        out.name("TimeToLiveSpecification").object(|out| {
            out.name("AttributeName").text(&attribute);
            out.name("Enabled").boolean(enabled);
        });
    }))
}

/// Answers DescribeTimeToLive.
pub(super) fn describe(face: &Face, body: &[u8]) -> Result<Answered> {
    let name = describe_table::parse(body)?;
    let table = table::find_named(&face.engine, &name)?;
    Ok(Writer::answer(|out| {
        out.name("TimeToLiveDescription").object(|out| match &table.schema.options.ttl {
            Some(TtlSource::Attribute(attribute)) => {
                out.name("AttributeName").text(attribute);
                let has_all = table.schema.options.ttl_pass.is_none();
                out.name("TimeToLiveStatus").text(if has_all { "ENABLED" } else { "ENABLING" });
            }
            Some(TtlSource::PerItem) | None => out.name("TimeToLiveStatus").text("DISABLED"),
        });
    }))
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => request.table = reader.text()?,
            "TimeToLiveSpecification" => {
                request.specified = reader.structure(|reader, name| {
                    match name {
                        "Enabled" => request.enabled = reader.boolean()?,
                        "AttributeName" => request.attribute = reader.text()?,
                        _ => reader.skip()?,
                    }
                    Ok(())
                })?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.table("TableName", request.table.as_deref());
    shape.required("TimeToLiveSpecification", request.specified);
    if request.specified {
        let path = "TimeToLiveSpecification.AttributeName";
        shape.required(path, request.attribute.is_some());
        let attribute = request.attribute.as_deref().unwrap_or("-");
        shape.length(path, attribute.len(), 1, KEY_NAME_BYTES_MAX);
        shape.required("TimeToLiveSpecification.Enabled", request.enabled.is_some());
    }
    shape.check()?;
    Ok(request)
}
