//! ImportTable and DescribeImport.

use shelfmark_engine::{Engine, ErrorKind, LedgerEntry};
use shelfmark_model::TableSchema;

use super::found::{ArnWords, by_arn, by_token};
use super::import_request::Request;
use super::{hurry, of_server};
use crate::describe::{self, put_seconds};
use crate::errors::{Error, Exception, Result, in_words, texts};
use crate::face::Face;
use crate::json::Writer;
use crate::operations::create_table;
use crate::reply::Answered;
use crate::table::{Meta, table_arn};
use crate::transfers::{IMPORTS, Transfer, new_id, take_status};

/// Answers ImportTable. The table is CREATING until it has all items.
pub(crate) fn start(face: &Face, body: &[u8]) -> Result<Answered> {
    let mut request = Request::parse(body)?;
    let transfers = of_server(face)?;
    let engine = &face.engine;
    let name = request.table.table.clone().unwrap_or_default();
    let exists = || Error::new(Exception::ResourceInUse, texts::table_exists(&name));
    let found = crate::table::find_named(engine, &name);
    // As the service does, which looks for the table first: a token counts until the import has ended.
    if found.as_ref().is_ok_and(|table| !Engine::is_being_filled(table)) {
        return Err(exists());
    }
    if let Some(entry) = same_request(face, &request, &name)? {
        return Ok(answer(face, &entry));
    }
    let schema = create_table::schema(face, std::mem::take(&mut request.table))?;
    if found.is_ok() {
        return Err(exists());
    }
    let now_ms = u64::try_from(face.now_ms()).unwrap_or_default();
    let mut transfer = Transfer::new(IMPORTS, &new_id(engine), now_ms);
    let entry = request.options().put(face.mark(transfer.entry));
    transfer.entry = entry
        .with("table", name.as_str())
        .with("table_id", Meta::read(&schema.options.face).id)
        .with("bucket", request.bucket.clone().unwrap_or_default())
        .with("owner", request.owner.clone().unwrap_or_default())
        .with("prefix", request.prefix.clone().unwrap_or_default())
        .with("token", request.token.clone().unwrap_or_default())
        .with("format", request.format())
        .with("compression", request.compression())
        .with("options", request.shown_options())
        .with("parameters", parameters(&schema));
    let begun = transfers.begin(&transfer, || engine.begin_filling(schema));
    begun.map_err(|error| in_words(error, &[(ErrorKind::AlreadyExists, &|| exists())]))?;
    hurry(face, &transfer);
    Ok(answer(face, &transfer.entry))
}

/// Answers DescribeImport.
pub(crate) fn describe(face: &Face, body: &[u8]) -> Result<Answered> {
    let words = ArnWords {
        exception: Exception::ImportNotFound,
        invalid: texts::INVALID_IMPORT_ARN,
        elsewhere: texts::IMPORT_ELSEWHERE,
        not_found: texts::import_not_found,
    };
    let entry = by_arn(face, body, "ImportArn", (IMPORTS, "/import/"), &words)?;
    Ok(answer(face, &entry))
}

/// Returns an import's ARN.
pub(super) fn import_arn(face: &Face, entry: &LedgerEntry) -> String {
    format!("{}/import/{}", table_arn(&face.options, entry.text("table")), entry.id)
}

/// Writes `S3BucketSource`.
pub(super) fn put_source(out: &mut Writer, entry: &LedgerEntry) {
    out.name("S3BucketSource").object(|out| {
        for (name, member) in
            [("S3BucketOwner", "owner"), ("S3Bucket", "bucket"), ("S3KeyPrefix", "prefix")]
        {
            if !entry.text(member).is_empty() {
                out.name(name).text(entry.text(member));
            }
        }
    });
}

/// Finds the import that an earlier request with the same token began.
fn same_request(face: &Face, request: &Request, table: &str) -> Result<Option<LedgerEntry>> {
    // As the service does, which looks at the table alone.
    let same = [("table", table)];
    let conflict = || Error::new(Exception::ImportConflict, texts::IMPORT_TOKEN_USED);
    by_token(face, IMPORTS, request.token.as_deref(), &same, conflict)
}

/// Returns `TableCreationParameters` as the descriptions show them.
fn parameters(schema: &TableSchema) -> String {
    let text = Writer::body(|out| describe::put_parameters(out, schema));
    String::from_utf8(text).unwrap_or_default()
}

fn answer(face: &Face, entry: &LedgerEntry) -> Answered {
    Writer::answer(|out| out.name("ImportTableDescription").object(|out| put(out, face, entry)))
}

fn put(out: &mut Writer, face: &Face, entry: &LedgerEntry) {
    let number =
        |name: &str| i64::try_from(entry.number(name).unwrap_or_default()).unwrap_or(i64::MAX);
    out.name("ImportArn").text(&import_arn(face, entry));
    out.name("ImportStatus").text(take_status(entry));
    out.name("TableArn").text(&table_arn(&face.options, entry.text("table")));
    out.name("TableId").text(entry.text("table_id"));
    if !entry.text("token").is_empty() {
        out.name("ClientToken").text(entry.text("token"));
    }
    put_source(out, entry);
    out.name("ErrorCount").integer(number("errors"));
    out.name("InputFormat").text(entry.text("format"));
    if !entry.text("options").is_empty() {
        out.name("InputFormatOptions").number_text(entry.text("options"));
    }
    out.name("InputCompressionType").text(entry.text("compression"));
    out.name("TableCreationParameters").number_text(entry.text("parameters"));
    put_seconds(out.name("StartTime"), number("start_ms"));
    if entry.number("end_ms").is_some() {
        put_seconds(out.name("EndTime"), number("end_ms"));
    }
    if number("bytes") > 0 || entry.number("end_ms").is_some() {
        out.name("ProcessedSizeBytes").integer(number("bytes"));
    }
    out.name("ProcessedItemCount").integer(number("processed"));
    out.name("ImportedItemCount").integer(number("imported"));
    for (name, member) in [("FailureCode", "failure_code"), ("FailureMessage", "failure_message")] {
        if !entry.text(member).is_empty() {
            out.name(name).text(entry.text(member));
        }
    }
}
