//! The manifests of an export, as the service writes them: a summary, and a line for each object.
//!
//! Source: Developer Guide, "DynamoDB table export output format", read 2026-11.

use md5::{Digest as _, Md5};

use crate::json::Writer;
use crate::streams::label_of;

/// The versions of the format that the summary names: of a whole table, and of changes. Source: as above.
const VERSION: &str = "2020-06-30";
const WINDOW_VERSION: &str = "2023-08-01";

/// An object of items, as the list of an export shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// Its key.
    pub key: String,
    /// Its checksum.
    pub sums: ObjectSums,
    /// Its number of items.
    pub items: u64,
}

/// The checksum of an object, in the two forms that the service shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectSums {
    /// The MD5 of its bytes, as base64.
    pub base64: String,
    /// The tag that a bucket shows for it.
    pub etag: String,
}

impl ObjectSums {
    /// Computes the checksum of an object's bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let sum = Md5::digest(bytes);
        let mut base64 = Vec::new();
        crate::json::put_base64(&mut base64, &sum);
        Self {
            base64: String::from_utf8(base64).unwrap_or_default(),
            etag: format!("{}-1", hex::encode(sum)),
        }
    }
}

/// Returns an id: a time in milliseconds of 14 digits and eight random hexadecimal ones.
#[must_use]
pub fn id(now_ms: u64, random: u64) -> String {
    format!("{now_ms:014}-{:08x}", random >> 32)
}

/// Returns what the keys of an export's objects begin with.
#[must_use]
pub fn folder(prefix: &str, id: &str) -> String {
    let prefix = prefix.trim_end_matches('/');
    let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
    format!("{prefix}AWSDynamoDB/{id}/")
}

/// Returns what the keys of the objects begin with that hold the changes of all exports of a prefix.
#[must_use]
pub fn common_folder(prefix: &str) -> String {
    folder(prefix, "").trim_end_matches('/').to_owned() + "/"
}

/// Returns the key of an object of items; `ending` is `json.gz` or `ion.gz`.
#[must_use]
pub fn object_key(folder: &str, id: &str, number: u64, ending: &str) -> String {
    format!("{folder}data/{}.{ending}", object_name(id, number))
}

/// Returns the name of an object of items: 26 letters and digits that follow from its number.
fn object_name(id: &str, number: u64) -> String {
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
#[must_use]
pub fn files(files: &[DataFile]) -> Vec<u8> {
    let mut out = Vec::new();
    for file in files {
        out.extend(Writer::body(|out| {
            out.name("itemCount").integer(i64::try_from(file.items).unwrap_or(i64::MAX));
            out.name("md5Checksum").text(&file.sums.base64);
            out.name("etag").text(&file.sums.etag);
            out.name("dataFileS3Key").text(&file.key);
        }));
        out.push(b'\n');
    }
    out
}

/// An export as its summary shows it; times are in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary<'s> {
    /// The id of the export.
    pub id: &'s str,
    /// The ARN of the table.
    pub table_arn: &'s str,
    /// The id of the table.
    pub table_id: &'s str,
    /// The bucket; empty if there is none.
    pub bucket: &'s str,
    /// The prefix of its objects; empty if there is none.
    pub prefix: &'s str,
    /// The beginning of the keys of its objects.
    pub folder: &'s str,
    /// The time of its begin.
    pub start_ms: u64,
    /// The time of its end.
    pub end_ms: u64,
    /// The moment that it shows.
    pub export_ms: u64,
    /// The bytes of its items.
    pub bytes: u64,
    /// The number of its items.
    pub items: u64,
    /// The form of its items, as the service names it.
    pub format: &'s str,
    /// The span of time whose changes it has, if it is not of a whole table.
    pub window: Option<Window<'s>>,
}

/// A span of time whose changes are exported; times are in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window<'s> {
    /// The first moment of it.
    pub from_ms: u64,
    /// The first moment behind it.
    pub to_ms: u64,
    /// The images that are shown, as the service names them.
    pub view: &'s str,
}

impl Summary<'_> {
    /// Returns the summary as the service writes it.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        let integer = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let time = |milliseconds: u64| format!("{}Z", label_of(integer(milliseconds)));
        Writer::body(|out| {
            let version = if self.window.is_some() { WINDOW_VERSION } else { VERSION };
            out.name("version").text(version);
            out.name("exportArn").text(&format!("{}/export/{}", self.table_arn, self.id));
            out.name("startTime").text(&time(self.start_ms));
            out.name("endTime").text(&time(self.end_ms));
            out.name("tableArn").text(self.table_arn);
            out.name("tableId").text(self.table_id);
            match self.window {
                None => out.name("exportTime").text(&time(self.export_ms)),
                Some(window) => {
                    out.name("exportFromTime").text(&time(window.from_ms));
                    out.name("exportToTime").text(&time(window.to_ms));
                }
            }
            out.name("s3Bucket").text(self.bucket);
            match self.prefix {
                "" => out.name("s3Prefix").number_text("null"),
                prefix => out.name("s3Prefix").text(prefix),
            }
            out.name("s3SseAlgorithm").text("AES256");
            out.name("s3SseKmsKeyId").number_text("null");
            out.name("manifestFilesS3Key").text(&format!("{}manifest-files.json", self.folder));
            out.name("billedSizeBytes").integer(integer(self.bytes));
            out.name("itemCount").integer(integer(self.items));
            out.name("outputFormat").text(self.format);
            match self.window {
                None => out.name("exportType").text("FULL_EXPORT"),
                Some(window) => {
                    out.name("outputView").text(window.view);
                    out.name("exportType").text("INCREMENTAL_EXPORT");
                }
            }
        })
    }
}
