//! The members of ImportTable, and what they come to.

use crate::errors::{Error, Result, texts};
use crate::json::{Reader, Writer};
use crate::limits::{BUCKET_PREFIX_CHARS_MAX, CSV_HEADER_CHARS_MAX, CSV_HEADERS_MAX};
use crate::operations::create_table;
use crate::shape::Shape;
use crate::transfers::{Compression, Format, InputOptions};

use super::export_request::{shape_bucket, shape_owner, shape_token};

/// A request to import a table.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) token: Option<String>,
    pub(super) bucket: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) prefix: Option<String>,
    format: Option<String>,
    compression: Option<String>,
    delimiter: Option<String>,
    header: Option<Vec<String>>,
    has_options: bool,
    has_source: bool,
    has_table: bool,
    pub(super) table: create_table::Request,
}

impl Request {
    pub(super) fn parse(body: &[u8]) -> Result<Self> {
        let mut request = Self::default();
        Reader::body(body, |reader, name| request.read(reader, name))?;
        let mut shape = Shape::older();
        // The service model has it optional, and the service does not.
        shape.required("ClientToken", request.token.is_some());
        shape_token(&mut shape, request.token.as_deref());
        shape.required("S3BucketSource", request.has_source);
        if request.has_source {
            let path = "S3BucketSource.S3Bucket";
            shape_bucket(&mut shape, path, request.bucket.as_deref());
            shape_owner(&mut shape, "S3BucketSource.S3BucketOwner", request.owner.as_deref());
        }
        if let Some(prefix) = &request.prefix {
            shape.text("S3BucketSource.S3KeyPrefix", prefix, 0, BUCKET_PREFIX_CHARS_MAX);
        }
        shape.required("InputFormat", request.format.is_some());
        shape.one_of("InputFormat", request.format.as_deref(), &["DYNAMODB_JSON", "ION", "CSV"]);
        let packings = &["ZSTD", "NONE", "GZIP"];
        shape.one_of("InputCompressionType", request.compression.as_deref(), packings);
        if let Some(delimiter) = &request.delimiter {
            let path = "InputFormatOptions.Csv.Delimiter";
            let mut letters = delimiter.chars();
            let is_one = letters.next().is_some_and(|own| ",;:|\t ".contains(own));
            if !is_one || letters.next().is_some() {
                shape.pattern(path, delimiter, texts::DELIMITER_PATTERN);
            }
            shape.text(path, delimiter, 1, 1);
        }
        if let Some(header) = &request.header {
            let path = "InputFormatOptions.Csv.HeaderList";
            shape.length(path, header.len(), 1, CSV_HEADERS_MAX);
            for name in header {
                shape.text(&format!("{path}.member"), name, 1, CSV_HEADER_CHARS_MAX);
            }
        }
        shape.required("TableCreationParameters", request.has_table);
        shape.check()?;
        create_table::shape(&request.table)?;
        if request.has_options && request.format() != "CSV" {
            let text = texts::input_options_unexpected(request.format());
            return Err(Error::validation(text));
        }
        Ok(request)
    }

    fn read(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<()> {
        match name {
            "ClientToken" => self.token = reader.text()?,
            "S3BucketSource" => {
                self.has_source = reader.structure(|reader, name| {
                    match name {
                        "S3Bucket" => self.bucket = reader.text()?,
                        "S3BucketOwner" => self.owner = reader.text()?,
                        "S3KeyPrefix" => self.prefix = reader.text()?,
                        _ => reader.skip()?,
                    }
                    Ok(())
                })?;
            }
            "InputFormat" => self.format = reader.text()?,
            "InputCompressionType" => self.compression = reader.text()?,
            "InputFormatOptions" => {
                self.has_options =
                    reader.structure(|reader, name| self.read_options(reader, name))?;
            }
            "TableCreationParameters" => {
                self.has_table = reader.structure(|reader, name| self.table.read(reader, name))?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    }

    fn read_options(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<()> {
        if name != "Csv" {
            return reader.skip();
        }
        let present = reader.structure(|reader, name| {
            match name {
                "Delimiter" => self.delimiter = reader.text()?,
                "HeaderList" => self.header = reader.texts()?,
                _ => reader.skip()?,
            }
            Ok(())
        });
        present.map(drop)
    }

    /// Returns how objects are read.
    pub(super) fn options(&self) -> InputOptions {
        InputOptions {
            format: Format::read(self.format()),
            compression: Compression::read(self.compression()),
            delimiter: self.delimiter.as_ref().and_then(|own| own.chars().next()).unwrap_or(','),
            header: self.header.clone().unwrap_or_default(),
        }
    }

    /// Returns the members that the description shows as they were given: `InputFormatOptions`, or nothing.
    pub(super) fn shown_options(&self) -> String {
        if self.delimiter.is_none() && self.header.is_none() {
            return String::new();
        }
        let text = Writer::body(|out| {
            out.name("Csv").object(|out| {
                if let Some(delimiter) = &self.delimiter {
                    out.name("Delimiter").text(delimiter);
                }
                if let Some(header) = &self.header {
                    out.name("HeaderList")
                        .list(|out| header.iter().for_each(|name| out.text(name)));
                }
            });
        });
        String::from_utf8(text).unwrap_or_default()
    }

    pub(super) fn format(&self) -> &str {
        self.format.as_deref().unwrap_or("DYNAMODB_JSON")
    }

    pub(super) fn compression(&self) -> &str {
        self.compression.as_deref().unwrap_or("NONE")
    }
}
