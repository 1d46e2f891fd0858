//! The members of ExportTableToPointInTime, and what they come to.

use crate::errors::{Error, Exception, Result, texts};
use crate::json::Reader;
use crate::limits::{
    BUCKET_NAME_CHARS_MAX, BUCKET_PREFIX_CHARS_MAX, EXPORT_WINDOW_SECONDS_MAX,
    EXPORT_WINDOW_SECONDS_MIN, KMS_KEY_CHARS_MAX,
};
use crate::shape::Shape;
use crate::streams::label_of;
use crate::transfers::{ExportFilter, FilterSpecification, Form, View, is_bucket_name};

/// A request to export a table.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) table: Option<String>,
    /// Seconds since the Unix epoch.
    pub(super) second: Option<i64>,
    pub(super) token: Option<String>,
    pub(super) bucket: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) prefix: Option<String>,
    pub(super) sse: Option<String>,
    pub(super) kms_key: Option<String>,
    pub(super) format: Option<String>,
    pub(super) export_type: Option<String>,
    window: Option<WindowRequest>,
    /// The members of the filter as JSON, empty without one.
    pub(super) filter_text: String,
    pub(super) filter: ExportFilter,
}

/// An IncrementalExportSpecification; seconds since the Unix epoch.
#[derive(Debug, Default)]
struct WindowRequest {
    from: Option<i64>,
    to: Option<i64>,
    view: Option<String>,
}

impl Request {
    pub(super) fn parse(body: &[u8]) -> Result<Self> {
        let mut request = Self::default();
        let mut filter = None;
        Reader::body(body, |reader, name| {
            match name {
                "FilterSpecification" => filter = FilterSpecification::read(reader)?,
                name => request.read(reader, name)?,
            }
            Ok(())
        })?;
        request.shape()?;
        request.check_type()?;
        if request.kms_key.is_some() && request.sse.as_deref() != Some("KMS") {
            return Err(Error::validation(texts::KMS_KEY_UNEXPECTED));
        }
        check_prefix(request.prefix.as_deref())?;
        if let Some(filter) = filter {
            request.filter_text = filter.text();
            request.filter = filter.check()?;
        }
        Ok(request)
    }

    fn read(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<()> {
        match name {
            "TableArn" => self.table = reader.text()?,
            "ExportTime" => self.second = reader.integer()?,
            "ClientToken" => self.token = reader.text()?,
            "S3Bucket" => self.bucket = reader.text()?,
            "S3BucketOwner" => self.owner = reader.text()?,
            "S3Prefix" => self.prefix = reader.text()?,
            "S3SseAlgorithm" => self.sse = reader.text()?,
            "S3SseKmsKeyId" => self.kms_key = reader.text()?,
            "ExportFormat" => self.format = reader.text()?,
            "ExportType" => self.export_type = reader.text()?,
            "IncrementalExportSpecification" => {
                let mut window = WindowRequest::default();
                let present = reader.structure(|reader, name| {
                    match name {
                        "ExportFromTime" => window.from = reader.integer()?,
                        "ExportToTime" => window.to = reader.integer()?,
                        "ExportViewType" => window.view = reader.text()?,
                        _ => reader.skip()?,
                    }
                    Ok(())
                })?;
                self.window = present.then_some(window);
            }
            _ => reader.skip()?,
        }
        Ok(())
    }

    fn shape(&self) -> Result<()> {
        let mut shape = Shape::older();
        shape.table("TableArn", self.table.as_deref());
        shape_token(&mut shape, self.token.as_deref());
        shape_bucket(&mut shape, "S3Bucket", self.bucket.as_deref());
        shape_owner(&mut shape, "S3BucketOwner", self.owner.as_deref());
        if let Some(prefix) = &self.prefix {
            shape.text("S3Prefix", prefix, 1, BUCKET_PREFIX_CHARS_MAX);
        }
        shape.one_of("S3SseAlgorithm", self.sse.as_deref(), &["AES256", "KMS"]);
        if let Some(key) = &self.kms_key {
            shape.text("S3SseKmsKeyId", key, 1, KMS_KEY_CHARS_MAX);
        }
        shape.one_of("ExportFormat", self.format.as_deref(), &["DYNAMODB_JSON", "ION"]);
        let types = &["FULL_EXPORT", "INCREMENTAL_EXPORT"];
        shape.one_of("ExportType", self.export_type.as_deref(), types);
        let view = self.window.as_ref().and_then(|window| window.view.as_deref());
        let path = "IncrementalExportSpecification.ExportViewType";
        shape.one_of(path, view, &["NEW_IMAGE", "NEW_AND_OLD_IMAGES"]);
        shape.check()
    }

    /// Checks that the kind of the export and the span of time go together.
    fn check_type(&self) -> Result<()> {
        let text = match (self.export_type.as_deref(), &self.window) {
            (Some("INCREMENTAL_EXPORT"), None) => texts::EXPORT_WINDOW_REQUIRED,
            (Some("INCREMENTAL_EXPORT"), Some(WindowRequest { from: None, .. })) => {
                texts::EXPORT_FROM_REQUIRED
            }
            (Some("INCREMENTAL_EXPORT"), Some(_)) | (_, None) => return Ok(()),
            (Some(_), Some(_)) => texts::EXPORT_WINDOW_OF_FULL,
            (None, Some(_)) => texts::EXPORT_TYPE_REQUIRED,
        };
        Err(Error::validation(text))
    }

    /// Returns the form of the objects.
    pub(super) fn form(&self) -> Form {
        let view = self.window.as_ref().map(|window| window.view.as_deref().and_then(View::read));
        Form {
            is_ion: self.format.as_deref() == Some("ION"),
            view: view.map(|view| view.unwrap_or(View::NewAndOld)),
        }
    }

    /// Returns the span of time as it was asked for, to tell requests apart; empty without one.
    pub(super) fn asked_span(&self) -> String {
        let Some(window) = &self.window else { return String::new() };
        let shown = |second: Option<i64>| second.map(|own| own.to_string()).unwrap_or_default();
        format!("{}/{}", shown(window.from), shown(window.to))
    }

    /// Returns the span of time of an incremental export, in seconds; the end does not belong to it.
    /// `created_ms` is when the table was created.
    pub(super) fn window(&self, created_ms: i64, now_ms: i64) -> Result<Option<(u64, u64)>> {
        let Some(window) = &self.window else { return Ok(None) };
        let from = window.from.unwrap_or_default();
        let to = window.to.unwrap_or(now_ms / 1_000);
        let refuse = |text: String| Err(Error::new(Exception::InvalidExportTime, text));
        if from < created_ms / 1_000 {
            return refuse(texts::export_from_too_early(&shown_second(from)));
        }
        if to > now_ms / 1_000 {
            return refuse(texts::export_to_too_late(&shown_second(to)));
        }
        if to.saturating_sub(from) < EXPORT_WINDOW_SECONDS_MIN {
            return refuse(texts::EXPORT_WINDOW_TOO_SHORT.to_owned());
        }
        if to.saturating_sub(from) > EXPORT_WINDOW_SECONDS_MAX {
            return refuse(texts::EXPORT_WINDOW_TOO_LONG.to_owned());
        }
        let whole = |second: i64| u64::try_from(second).unwrap_or_default();
        Ok(Some((whole(from), whole(to))))
    }
}

/// Formats a second since the Unix epoch as `2026-11-23T17:01:53Z`.
fn shown_second(second: i64) -> String {
    // Years of more than four digits are nobody's.
    let second = second.clamp(0, 253_402_300_799);
    let label = label_of(second.saturating_mul(1_000));
    format!("{}Z", label.split('.').next().unwrap_or_default())
}

/// Checks the shape of a token, if there is one.
pub(super) fn shape_token(shape: &mut Shape, token: Option<&str>) {
    if let Some(token) = token.filter(|token| token.is_empty() || token.contains('$')) {
        shape.pattern("ClientToken", token, texts::TOKEN_PATTERN);
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

/// Checks the shape of an account.
pub(super) fn shape_owner(shape: &mut Shape, path: &str, owner: Option<&str>) {
    let is_account =
        |owner: &str| owner.len() == 12 && owner.bytes().all(|own| own.is_ascii_digit());
    if let Some(owner) = owner.filter(|owner| !is_account(owner)) {
        shape.pattern(path, owner, texts::ACCOUNT_PATTERN);
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
