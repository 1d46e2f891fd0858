//! ExportTableToPointInTime and DescribeExport.

use shelfmark_engine::{ErrorKind, LedgerEntry, Moment};

use super::export_request::Request;
use super::found::{ArnWords, by_arn, by_token, check_table_arn};
use super::{hurry, of_server};
use crate::describe::put_seconds;
use crate::errors::{Error, Exception, Result, in_words, texts};
use crate::face::Face;
use crate::json::Writer;
use crate::operations::backups::find_table;
use crate::operations::key_range::check_export_filter;
use crate::reply::Answered;
use crate::table::{Meta, table_arn};
use crate::transfers::{EXPORTS, Form, Transfer, new_id, take_status};

/// Answers ExportTableToPointInTime.
pub(crate) fn start(face: &Face, body: &[u8]) -> Result<Answered> {
    let request = Request::parse(body)?;
    let transfers = of_server(face)?;
    let arn = request.table.as_deref().unwrap_or_default();
    check_table_arn(face, arn)?;
    let table = find_table(face, arn).map_err(|error| {
        if error.exception != Exception::TableNotFound {
            return error;
        }
        Error::new(Exception::TableNotFound, texts::backup_table_not_found(arn))
    })?;
    check_export_filter(&table, &request.filter)?;
    let name = table.schema.name.name.clone();
    let engine = &face.engine;
    let meta = Meta::of(&table);
    let span = request.window(meta.created_ms, face.now_ms())?;
    if engine.continuous_backups(&table)?.is_none() {
        let text = texts::recovery_is_off(&name);
        return Err(Error::new(Exception::PointInTimeRecoveryUnavailable, text));
    }
    if let Some(entry) = same_request(face, &request, &name)? {
        return Ok(answer(face, &entry));
    }
    let now_ms = u64::try_from(face.now_ms()).unwrap_or_default();
    // Before 1970 nothing is kept, as in its first second.
    let second = request.second.map(|second| u64::try_from(second).unwrap_or_default());
    let (moment, export_ms) = match second {
        Some(second) => {
            (Moment::At(second.saturating_mul(1_000_000)), second.saturating_mul(1_000))
        }
        None => (Moment::Latest, now_ms),
    };
    let mut transfer = Transfer::new(EXPORTS, &new_id(engine), now_ms);
    transfer.entry = entry_of(face.mark(transfer.entry), &request, span)
        .with("table", name)
        .with("table_id", meta.id);
    if span.is_none() {
        transfer.entry = transfer.entry.clone().with_number("export_ms", export_ms);
    }
    let id = transfer.entry.id.clone();
    let begun = match span {
        None => transfers.begin(&transfer, || {
            engine.begin_copy(&table, moment, &id)?;
            engine.put_ledger_entry(transfer.entry.clone().with("is_prepared", true))
        }),
        Some((from, to)) => transfers.begin(&transfer, || {
            let window = engine.begin_window(&table, (from * 1_000_000, to * 1_000_000), &id)?;
            engine.put_ledger_entry(window.put(transfer.entry.clone()))
        }),
    };
    begun.map_err(|error| {
        in_words(
            error,
            &[(ErrorKind::TooOld, &|| {
                Error::new(Exception::InvalidExportTime, texts::EXPORT_TIME_INVALID)
            })],
        )
    })?;
    hurry(face, &transfer);
    Ok(answer(face, &transfer.entry))
}

/// Writes down what a request asks for.
fn entry_of(entry: LedgerEntry, request: &Request, span: Option<(u64, u64)>) -> LedgerEntry {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let entry = request
        .form()
        .put(entry)
        .with("bucket", text(&request.bucket))
        .with("owner", text(&request.owner))
        .with("prefix", text(&request.prefix))
        .with("token", text(&request.token))
        .with("sse", request.sse.as_deref().unwrap_or("AES256"))
        .with("kms_key", text(&request.kms_key))
        .with("export_type", text(&request.export_type))
        .with("filter", request.filter_text.as_str())
        .with("asked_span", request.asked_span())
        .with("asked_second", request.second.map(|own| own.to_string()).unwrap_or_default());
    match span {
        Some((from, to)) => {
            entry.with_number("from_ms", from * 1_000).with_number("to_ms", to * 1_000)
        }
        None => entry,
    }
}

/// Answers DescribeExport.
pub(crate) fn describe(face: &Face, body: &[u8]) -> Result<Answered> {
    let words = ArnWords {
        exception: Exception::ExportNotFound,
        invalid: texts::INVALID_EXPORT_ARN,
        elsewhere: texts::EXPORT_ELSEWHERE,
        not_found: texts::export_not_found,
    };
    let entry = by_arn(face, body, "ExportArn", (EXPORTS, "/export/"), &words)?;
    Ok(answer(face, &entry))
}

/// Returns an export's ARN.
pub(super) fn export_arn(face: &Face, entry: &LedgerEntry) -> String {
    format!("{}/export/{}", table_arn(&face.options, entry.text("table")), entry.id)
}

/// Finds the export that an earlier request with the same token began.
fn same_request(face: &Face, request: &Request, table: &str) -> Result<Option<LedgerEntry>> {
    let asked = entry_of(LedgerEntry::new("", ""), request, None).with("table", table);
    let same = [
        ["table", "bucket", "owner", "prefix", "sse", "kms_key"].as_slice(),
        ["view", "export_type", "filter", "asked_second", "asked_span"].as_slice(),
    ]
    .concat();
    let mut same: Vec<(&str, &str)> = same.iter().map(|name| (*name, asked.text(name))).collect();
    // It is kept as a flag.
    let format = request.form().name();
    same.push(("format", format));
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
    if entry.number("export_ms").is_some() {
        put_seconds(out.name("ExportTime"), number("export_ms"));
    }
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
    // Entries of builds that kept neither have the only ones that there were.
    let or = |member: &str, default: &str| match entry.text(member) {
        "" => default.to_owned(),
        own => own.to_owned(),
    };
    out.name("S3SseAlgorithm").text(&or("sse", "AES256"));
    if !entry.text("kms_key").is_empty() {
        out.name("S3SseKmsKeyId").text(entry.text("kms_key"));
    }
    let form = Form::of(entry);
    out.name("ExportFormat").text(form.name());
    // As the service does, only where the request named one.
    if !entry.text("export_type").is_empty() {
        out.name("ExportType").text(entry.text("export_type"));
    }
    if let Some(view) = form.view {
        out.name("IncrementalExportSpecification").object(|out| {
            put_seconds(out.name("ExportFromTime"), number("from_ms"));
            put_seconds(out.name("ExportToTime"), number("to_ms"));
            out.name("ExportViewType").text(view.name());
        });
    }
    if !entry.text("filter").is_empty() {
        out.name("FilterSpecification").number_text(entry.text("filter"));
    }
    out.name("DestinationType").text("S3");
    if entry.number("end_ms").is_some() {
        out.name("BilledSizeBytes").integer(number("bytes"));
        out.name("ItemCount").integer(number("items"));
    }
}
