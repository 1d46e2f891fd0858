//! Labels and ARNs of streams: `arn:aws:dynamodb:<region>:<account>:table/<name>/stream/<label>`.
//!
//! A label is the time at which the stream was started, in milliseconds: `2026-11-23T17:01:53.120`.

use shelfmark_engine::{Engine, ErrorKind, StreamTable};
use shelfmark_keycode::calendar::civil_from_days;
use shelfmark_model::TableName;

use crate::errors::{Error, Exception, Result, texts};
use crate::limits::{STREAM_ARN_CHARS_MAX, STREAM_ARN_CHARS_MIN};
use crate::options::FaceOptions;
use crate::scope::ScopedEngine;
use crate::table::table_arn;

const MILLISECONDS_PER_DAY: i64 = 86_400_000;

/// The table and the label in a stream's ARN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamName {
    pub(crate) table: String,
    pub(crate) label: String,
}

/// Returns a stream's ARN.
pub(crate) fn stream_arn(options: &FaceOptions, table: &str, label: &str) -> String {
    format!("{}/stream/{label}", table_arn(options, table))
}

impl StreamName {
    /// Reads an ARN; whether region and account fit is for the scope to say.
    pub(crate) fn of_arn(arn: &str) -> Option<Self> {
        let chars = arn.chars().count();
        if !(STREAM_ARN_CHARS_MIN..=STREAM_ARN_CHARS_MAX).contains(&chars) {
            return None;
        }
        let resource = arn.strip_prefix("arn:aws:dynamodb:")?.splitn(3, ':').nth(2)?;
        let (table, label) = resource.strip_prefix("table/")?.split_once("/stream/")?;
        let is_plain = |text: &str| !text.is_empty() && !text.contains('/');
        (is_plain(table) && is_plain(label))
            .then(|| Self { table: table.to_owned(), label: label.to_owned() })
    }

    /// Reads the ARN of a request.
    pub(crate) fn asked(arn: Option<&str>) -> Result<Self> {
        let name = arn.and_then(Self::of_arn);
        name.ok_or_else(|| Error::validation(texts::INVALID_STREAM_ARN))
    }

    /// Finds the stream; `arn` is how the client called it.
    pub(crate) fn find(&self, engine: &ScopedEngine, arn: &str) -> Result<StreamTable> {
        let missing = || Error::new(Exception::ResourceNotFound, texts::stream_not_found(arn));
        if !engine.is_place_of(arn) {
            return Err(missing());
        }
        engine.stream(&engine.table_name(&self.table), &self.label).map_err(|error| {
            if error.kind() == ErrorKind::NotFound { missing() } else { error.into() }
        })
    }
}

/// Returns a label for a new stream of a table that none of its streams has or had of late.
pub(crate) fn free_label(
    engine: &Engine,
    table: &TableName,
    now_ms: i64,
) -> shelfmark_engine::Result<String> {
    let mut milliseconds = now_ms;
    loop {
        let label = label_of(milliseconds);
        match engine.stream(table, &label) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(label),
            Err(error) => return Err(error),
            Ok(_) => milliseconds += 1,
        }
    }
}

/// Formats milliseconds since the Unix epoch as `2026-11-23T17:01:53.120`.
pub(crate) fn label_of(milliseconds: i64) -> String {
    let days = milliseconds.div_euclid(MILLISECONDS_PER_DAY);
    let rest = milliseconds.rem_euclid(MILLISECONDS_PER_DAY);
    let (year, month, day) = civil_from_days(days);
    let (seconds, fraction) = (rest / 1_000, rest % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_times() {
        assert_eq!(label_of(0), "1970-01-01T00:00:00.000");
        assert_eq!(label_of(1_795_453_313_120), "2026-11-23T17:01:53.120");
    }

    #[test]
    fn arns_of_streams_are_read_and_others_are_not() {
        let options = FaceOptions::default();
        let arn = stream_arn(&options, "Music", "2026-11-23T17:01:53.120");
        let name = StreamName::of_arn(&arn).unwrap();
        assert_eq!((&*name.table, &*name.label), ("Music", "2026-11-23T17:01:53.120"));
        for wrong in [
            "",
            "fake-stream",
            "arn:aws:dynamodb:local:000000000000:table/Music",
            "arn:aws:dynamodb:local:000000000000:table/Music/stream/",
            "arn:aws:dynamodb:local:000000000000:table//stream/2026",
            "arn:aws:dynamodb:local:000000000000:table/Music/stream/a/b",
            "arn:aws:kinesis:local:000000000000:table/Music/stream/2026",
        ] {
            assert_eq!(StreamName::of_arn(wrong), None, "{wrong}");
        }
    }
}
