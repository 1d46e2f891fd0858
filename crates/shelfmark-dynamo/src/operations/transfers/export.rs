//! ExportTableToPointInTime and DescribeExport.

use shelfmark_engine::{ErrorKind, LedgerEntry, Moment};

use super::found::{by_arn, by_token};
use super::{hurry, of_server};
use crate::describe::put_seconds;
use crate::errors::{Error, Exception, Result, in_words, texts};
use crate::face::Face;
use crate::json::{Reader, Writer};
use crate::limits::{BUCKET_NAME_CHARS_MAX, BUCKET_PREFIX_CHARS_MAX};
use crate::operations::backups::find_table;
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table::{Meta, table_arn};
use crate::transfers::{EXPORTS, Transfer, is_bucket_name, new_id, take_status};

#[derive(Debug, Default)]
struct Request {
    table: Option<String>,
    /// Seconds since the Unix epoch.
    second: Option<i64>,
    token: Option<String>,
    bucket: Option<String>,
    owner: Option<String>,
    prefix: Option<String>,
    sse: Option<String>,
    format: Option<String>,
    export_type: Option<String>,
    has_filter: bool,
}

/// Answers ExportTableToPointInTime.
pub(crate) fn start(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = parse(body)?;
    let transfers = of_server(face)?;
    let table = find_table(face, request.table.as_deref().unwrap_or_default())?;
    let name = table.schema.name.name.clone();
    let engine = &face.engine;
    if engine.continuous_backups(&table)?.is_none() {
        let text = texts::recovery_is_off(&name);
        return Err(Error::new(Exception::PointInTimeRecoveryUnavailable, text));
    }
    let bucket = request.bucket.clone().unwrap_or_default();
    if !transfers.buckets.has(&bucket) {
        return Err(Error::validation(texts::no_such_bucket(&bucket)));
    }
    if let Some(entry) = same_request(face, &request, &name)? {
        return Ok(answer(face, &entry));
    }
    let now_ms = u64::try_from(face.now_ms()).unwrap_or_default();
    let second = request.second.and_then(|second| u64::try_from(second).ok());
    let (moment, export_ms) = match second {
        Some(second) => (Moment::At(second * 1_000_000), second * 1_000),
        None => (Moment::Latest, now_ms),
    };
    let mut transfer = Transfer::new(EXPORTS, &new_id(engine), now_ms);
    transfer.entry = face
        .mark(transfer.entry)
        .with("table", name)
        .with("table_id", Meta::of(&table).id)
        .with("bucket", bucket)
        .with("owner", request.owner.unwrap_or_default())
        .with("prefix", request.prefix.unwrap_or_default())
        .with("token", request.token.unwrap_or_default())
        .with_number("export_ms", export_ms);
    let id = transfer.entry.id.clone();
    let begun = transfers.begin(&transfer, || engine.begin_copy(&table, moment, &id));
    begun.map_err(|error| {
        in_words(
            error,
            &[(ErrorKind::TooOld, &|| {
                Error::new(Exception::InvalidExportTime, texts::EXPORT_TIME_INVALID)
            })],
        )
    })?;
    hurry(face);
    Ok(answer(face, &transfer.entry))
}

/// Answers DescribeExport.
pub(crate) fn describe(face: &Face, body: &[u8]) -> Result<Answered> {
    let not_found = |arn: &str| Error::new(Exception::ExportNotFound, texts::export_not_found(arn));
    let entry = by_arn(face, body, "ExportArn", (EXPORTS, "/export/"), not_found)?;
    Ok(answer(face, &entry))
}

/// Returns an export's ARN.
pub(super) fn export_arn(face: &Face, entry: &LedgerEntry) -> String {
    format!("{}/export/{}", table_arn(&face.options, entry.text("table")), entry.id)
}

/// Finds the export that an earlier request with the same token began.
fn same_request(face: &Face, request: &Request, table: &str) -> Result<Option<LedgerEntry>> {
    let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
    let (bucket, prefix) = (text(&request.bucket), text(&request.prefix));
    let same = [("table", table), ("bucket", &*bucket), ("prefix", &*prefix)];
    let conflict = || Error::new(Exception::ExportConflict, texts::EXPORT_TOKEN_USED);
    by_token(face, EXPORTS, request.token.as_deref(), &same, conflict)
}

fn answer(face: &Face, entry: &LedgerEntry) -> Answered {
    Writer::answer(|out| out.name("ExportDescription").object(|out| put(out, face, entry)))
}

fn put(out: &mut Writer, face: &Face, entry: &LedgerEntry) {
    let number =
        |name: &str| i64::try_from(entry.number(name).unwrap_or_default()).unwrap_or(i64::MAX);
    let table = table_arn(&face.options, entry.text("table"));
    out.name("ExportArn").text(&export_arn(face, entry));
    out.name("ExportStatus").text(take_status(entry));
    put_seconds(out.name("StartTime"), number("start_ms"));
    if entry.number("end_ms").is_some() {
        put_seconds(out.name("EndTime"), number("end_ms"));
    }
    if take_status(entry) == "COMPLETED" {
        let key = format!("{}manifest-summary.json", crate::transfers::folder_of(entry));
        out.name("ExportManifest").text(&key);
    }
    out.name("TableArn").text(&table);
    out.name("TableId").text(entry.text("table_id"));
    put_seconds(out.name("ExportTime"), number("export_ms"));
    for (name, member) in [
        ("ClientToken", "token"),
        ("S3Bucket", "bucket"),
        ("S3BucketOwner", "owner"),
        ("S3Prefix", "prefix"),
        ("FailureCode", "failure_code"),
        ("FailureMessage", "failure_message"),
    ] {
        if !entry.text(member).is_empty() {
            out.name(name).text(entry.text(member));
        }
    }
    out.name("S3SseAlgorithm").text("AES256");
    out.name("ExportFormat").text("DYNAMODB_JSON");
    out.name("ExportType").text("FULL_EXPORT");
    if entry.number("end_ms").is_some() {
        out.name("BilledSizeBytes").integer(number("bytes"));
        out.name("ItemCount").integer(number("items"));
    }
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::body(body, |reader, name| {
        match name {
            "TableArn" => request.table = reader.text()?,
            "ExportTime" => request.second = reader.integer()?,
            "ClientToken" => request.token = reader.text()?,
            "S3Bucket" => request.bucket = reader.text()?,
            "S3BucketOwner" => request.owner = reader.text()?,
            "S3Prefix" => request.prefix = reader.text()?,
            "S3SseAlgorithm" => request.sse = reader.text()?,
            "ExportFormat" => request.format = reader.text()?,
            "ExportType" => request.export_type = reader.text()?,
            "FilterSpecification" => {
                request.has_filter = reader.structure(|reader, _| reader.skip())?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.table("TableArn", request.table.as_deref());
    shape_bucket(&mut shape, "S3Bucket", request.bucket.as_deref());
    if let Some(prefix) = &request.prefix {
        shape.text("S3Prefix", prefix, 0, BUCKET_PREFIX_CHARS_MAX);
    }
    shape.one_of("S3SseAlgorithm", request.sse.as_deref(), &["AES256", "KMS"]);
    shape.one_of("ExportFormat", request.format.as_deref(), &["DYNAMODB_JSON", "ION"]);
    let types = &["FULL_EXPORT", "INCREMENTAL_EXPORT"];
    shape.one_of("ExportType", request.export_type.as_deref(), types);
    shape.check()?;
    let unsupported = match &request {
        own if own.format.as_deref() == Some("ION") => Some("ExportFormat ION"),
        own if own.export_type.as_deref() == Some("INCREMENTAL_EXPORT") => {
            Some("ExportType INCREMENTAL_EXPORT")
        }
        own if own.has_filter => Some("FilterSpecification"),
        _ => None,
    };
    match unsupported {
        Some(member) => Err(Error::validation(texts::not_supported(member))),
        None => check_prefix(request.prefix.as_deref()).map(|()| request),
    }
}

/// Checks the shape of a bucket's name.
pub(super) fn shape_bucket(shape: &mut Shape, path: &str, bucket: Option<&str>) {
    shape.required(path, bucket.is_some());
    let Some(bucket) = bucket else { return };
    shape.text(path, bucket, 2, BUCKET_NAME_CHARS_MAX);
    if !is_bucket_name(bucket) {
        shape.pattern(path, bucket, texts::BUCKET_PATTERN);
    }
}

/// Refuses a prefix under which there can be no objects.
fn check_prefix(prefix: Option<&str>) -> Result<()> {
    let prefix = prefix.unwrap_or_default().trim_end_matches('/');
    match prefix.is_empty() || crate::transfers::key_parts(prefix).is_some() {
        true => Ok(()),
        false => Err(Error::validation(texts::PREFIX_IS_NO_KEY)),
    }
}
