//! The four operations on Kinesis streaming destinations.
//!
//! There is no Kinesis here that could be reached, so enabling a destination goes as it goes on the
//! service for a data stream that the caller may not use: the answer is ENABLING, and the destination
//! is shown as ENABLE_FAILED from then on.

use super::resource::change_meta;
use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::{DESTINATIONS_MAX, STREAM_ARN_CHARS_MAX, STREAM_ARN_CHARS_MIN};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{self, Meta};

const PRECISIONS: &[&str] = &["MILLISECOND", "MICROSECOND"];

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    arn: Option<String>,
    precision: Option<String>,
}

/// Answers EnableKinesisStreamingDestination.
pub(super) fn enable(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, true)?;
    let table = table::find_own(&face.engine, request.table.as_deref().unwrap_or_default())?;
    let name = &table.schema.name.name;
    let arn = request.arn.unwrap_or_default();
    let known = Meta::of(&table).tools.destinations;
    if !known.contains_key(&arn) && known.len() >= DESTINATIONS_MAX {
        return Err(Error::new(Exception::LimitExceeded, texts::DESTINATIONS_TOO_MANY));
    }
    let (entry, precision) = (arn.clone(), request.precision.clone());
    change_meta(face, name, move |meta| {
        meta.tools.destinations.insert(entry, precision);
    })?;
    Ok(Writer::answer(|out| {
        out.name("TableName").text(name);
        out.name("StreamArn").text(&arn);
        out.name("DestinationStatus").text("ENABLING");
        out.name("EnableKinesisStreamingConfiguration").object(|out| {
            if let Some(precision) = &request.precision {
                out.name("ApproximateCreationDateTimePrecision").text(precision);
            }
        });
    }))
}

/// Answers DisableKinesisStreamingDestination: no destination is ever active.
pub(super) fn disable(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, true)?;
    table::find_own(&face.engine, request.table.as_deref().unwrap_or_default())?;
    Err(Error::validation(texts::DESTINATION_NOT_ACTIVE))
}

/// Answers UpdateKinesisStreamingDestination: no destination is ever active.
pub(super) fn update(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, true)?;
    let table = table::find_own(&face.engine, request.table.as_deref().unwrap_or_default())?;
    if request.precision.is_none() {
        return Err(Error::validation(texts::DESTINATION_WITHOUT_CHANGE));
    }
    let arn = request.arn.unwrap_or_default();
    Err(Error::validation(texts::destination_not_updated(&table.schema.name.name, &arn)))
}

/// Answers DescribeKinesisStreamingDestination.
pub(super) fn describe(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body, false)?;
    let table = table::find_own(&face.engine, request.table.as_deref().unwrap_or_default())?;
    let destinations = Meta::of(&table).tools.destinations;
    Ok(Writer::answer(|out| {
        out.name("KinesisDataStreamDestinations").list(|out| {
            for (arn, precision) in &destinations {
                out.object(|out| {
                    out.name("StreamArn").text(arn);
                    out.name("DestinationStatus").text("ENABLE_FAILED");
                    out.name("DestinationStatusDescription").text(texts::DESTINATION_FAILED);
                    if let Some(precision) = precision {
                        out.name("ApproximateCreationDateTimePrecision").text(precision);
                    }
                });
            }
        });
        out.name("TableName").text(&table.schema.name.name);
    }))
}

fn parse(body: &[u8], has_arn: bool) -> Result<Request> {
    let mut request = Request::default();
    let mut member = String::new();
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => request.table = reader.text()?,
            "StreamArn" => request.arn = reader.text()?,
            "EnableKinesisStreamingConfiguration" | "UpdateKinesisStreamingConfiguration" => {
                name.clone_into(&mut member);
                reader.structure(|reader, name| {
                    match name {
                        "ApproximateCreationDateTimePrecision" => {
                            request.precision = reader.text()?;
                        }
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
    if has_arn {
        shape.required("StreamArn", request.arn.is_some());
        if let Some(arn) = &request.arn {
            let (least, most) = (STREAM_ARN_CHARS_MIN, STREAM_ARN_CHARS_MAX);
            shape.text("StreamArn", arn, least, most);
        }
    }
    let path = format!("{member}.ApproximateCreationDateTimePrecision");
    shape.one_of(&path, request.precision.as_deref(), PRECISIONS);
    shape.check()?;
    Ok(request)
}
