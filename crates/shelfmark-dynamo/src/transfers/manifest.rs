//! The manifests of an export, as the service writes them: a summary, and a line for each object.
//!
//! Source: Developer Guide, "DynamoDB table export output format", read 2026-11.

use md5::{Digest as _, Md5};
use shelfmark_engine::LedgerEntry;

use crate::face::FaceOptions;
use crate::json::Writer;
use crate::streams::label_of;
use crate::table::table_arn;

/// The version of the format that the summary names. Source: as above.
const VERSION: &str = "2020-06-30";

/// An object of items.
pub(super) struct DataFile {
    pub(super) key: String,
    pub(super) md5: String,
    pub(super) etag: String,
    pub(super) items: u64,
}

/// The checksum of an object, in the two forms that the service shows.
pub(super) struct Sums {
    pub(super) base64: String,
    pub(super) etag: String,
}

impl Sums {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let sum = Md5::digest(bytes);
        let mut base64 = Vec::new();
        crate::json::put_base64(&mut base64, &sum);
        Self {
            base64: String::from_utf8(base64).unwrap_or_default(),
            etag: format!("{}-1", hex::encode(sum)),
        }
    }
}

/// Returns the name of an object of items: 26 letters and digits that follow from its number.
pub(super) fn object_name(id: &str, number: u64) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let sum = Md5::digest(format!("{id}/{number}").as_bytes());
    let bits = sum.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    let letter = |place: u32| {
        let at = usize::try_from((bits >> (place * 5)) & 31).unwrap_or_default();
        LETTERS.get(at).map_or('a', |letter| char::from(*letter))
    };
    (0..26).map(|place| if place == 25 { letter(0) } else { letter(place) }).collect()
}

/// Returns the list of the objects, one in a line.
pub(super) fn files(files: &[DataFile]) -> Vec<u8> {
    let mut out = Vec::new();
    for file in files {
        out.extend(Writer::body(|out| {
            out.name("itemCount").integer(i64::try_from(file.items).unwrap_or(i64::MAX));
            out.name("md5Checksum").text(&file.md5);
            out.name("etag").text(&file.etag);
            out.name("dataFileS3Key").text(&file.key);
        }));
        out.push(b'\n');
    }
    out
}

/// Returns the summary of an export.
pub(super) fn summary(
    options: &FaceOptions,
    entry: &LedgerEntry,
    folder: &str,
    now_ms: u64,
) -> Vec<u8> {
    let number =
        |name: &str| i64::try_from(entry.number(name).unwrap_or_default()).unwrap_or(i64::MAX);
    let time = |milliseconds: i64| format!("{}Z", label_of(milliseconds));
    let table = table_arn(options, entry.text("table"));
    Writer::body(|out| {
        out.name("version").text(VERSION);
        out.name("exportArn").text(&format!("{table}/export/{}", entry.id));
        out.name("startTime").text(&time(number("start_ms")));
        out.name("endTime").text(&time(i64::try_from(now_ms).unwrap_or(i64::MAX)));
        out.name("tableArn").text(&table);
        out.name("tableId").text(entry.text("table_id"));
        out.name("exportTime").text(&time(number("export_ms")));
        out.name("s3Bucket").text(entry.text("bucket"));
        match entry.text("prefix") {
            "" => out.name("s3Prefix").number_text("null"),
            prefix => out.name("s3Prefix").text(prefix),
        }
        out.name("s3SseAlgorithm").text("AES256");
        out.name("s3SseKmsKeyId").number_text("null");
        out.name("manifestFilesS3Key").text(&format!("{folder}manifest-files.json"));
        out.name("billedSizeBytes").integer(number("bytes"));
        out.name("itemCount").integer(number("items"));
        out.name("outputFormat").text("DYNAMODB_JSON");
        out.name("exportType").text("FULL_EXPORT");
    })
}
