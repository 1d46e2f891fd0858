//! Reads a table by parallel scans, a segment each.

use std::marker::PhantomData;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use shelfmark_model::Item;

use super::client::{Client, Connect, parse};
use super::text::item_of;
use crate::control::Control;
use crate::error::{Error, ErrorKind, Result};
use crate::walk::{Mark, Page, Part, Source};

/// Most segments of one scan. Source: API reference, Scan, is 1,000,000; ours: each is a thread.
pub const SEGMENTS_MAX: usize = 256;

/// A table that is read in segments.
pub struct ItemSource<'s> {
    /// The endpoint.
    pub connect: &'s Connect<'s>,
    /// The settings of the transfer.
    pub control: &'s Control<'s>,
    /// The table's name.
    pub table: String,
    /// The number of segments.
    pub segments: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer<'a> {
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    last_evaluated_key: Option<&'a RawValue>,
}

struct Segment<'s> {
    client: Client<'s>,
    /// The request without its end.
    request: String,
    row: PhantomData<Item>,
}

impl Source for ItemSource<'_> {
    type Row = Item;

    fn open(&self, part: usize) -> Result<Box<dyn Part<Row = Item> + '_>> {
        // Items of one moment after the other: what was written before the scan is in it.
        let request = json!({
            "TableName": self.table,
            "ConsistentRead": true,
            "Segment": part,
            "TotalSegments": self.segments,
        });
        let request = request.to_string().trim_end_matches('}').to_owned();
        let client = Client::new(self.connect, self.control)?;
        Ok(Box::new(Segment { client, request, row: PhantomData }))
    }
}

impl Part for Segment<'_> {
    type Row = Item;

    fn page(&mut self, behind: &Mark) -> Result<Page<Item>> {
        let request = match behind {
            Mark::At(key) => format!("{},\"ExclusiveStartKey\":{key}}}", self.request),
            Mark::Begin | Mark::End => format!("{}}}", self.request),
        };
        let body = self.client.call("Scan", &request)?;
        let answer: Answer<'_> = parse("Scan", &body)?;
        let rows = answer.items.iter().map(|item| {
            item_of(item.get()).map_err(|why| {
                Error::new(ErrorKind::Refused, format!("Scan returned what is no item: {why}"))
            })
        });
        Ok(Page {
            rows: rows.collect::<Result<_>>()?,
            mark: match answer.last_evaluated_key {
                Some(key) if key.get() != "null" => Mark::At(key.get().to_owned()),
                _ => Mark::End,
            },
        })
    }
}
