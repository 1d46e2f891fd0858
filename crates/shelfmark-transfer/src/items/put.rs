//! Puts items by batches, and one by one where a batch is refused.
//!
//! Invariant: an item is counted once it is durable at the endpoint; putting it again changes nothing.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use shelfmark_model::Item;

use super::client::{Client, backoff, parse};
use super::text::text_of;
use crate::error::{Error, ErrorKind, Result};
use crate::sums::Sums;

/// Items of one BatchWriteItem. Source: API reference, BatchWriteItem, read 2026-11.
const BATCH_ITEMS_MAX: usize = 25;
/// Bytes of items in one request. Source: ours; the service takes 16 MB, a console 4.
const BATCH_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Times that what was left unprocessed is sent. Source: ours, as a request that meets a busy server.
const LEFT_TRIES_MAX: u32 = 30;

/// The exceptions that are about one item.
const OF_ITEM: [&str; 2] = ["ValidationException", "ItemCollectionSizeLimitExceededException"];

/// Puts items into one table.
pub struct ItemPutter<'p> {
    client: Client<'p>,
    /// The table's name as JSON.
    table: String,
}

/// The outcome of a write of some rows.
#[derive(Debug, Default)]
pub struct Put {
    /// Those that were put.
    pub sums: Sums,
    /// Those that were refused, by their place among those given, with the reason.
    pub refused: Vec<(usize, String)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer<'a> {
    #[serde(borrow, default)]
    unprocessed_items: Option<&'a RawValue>,
}

impl<'p> ItemPutter<'p> {
    /// Creates one over a connection.
    #[must_use]
    pub fn new(client: Client<'p>, table: &str) -> Self {
        Self { client, table: json!(table).to_string() }
    }

    /// Puts items; returns once they are durable.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Refused`]: the endpoint refuses what is not about one item.
    /// * [`ErrorKind::Unreachable`], [`ErrorKind::Stopped`]: some of the items may have been put; put them
    ///   again.
    pub fn put(&self, items: &[Item]) -> Result<Put> {
        let texts: Vec<String> = items.iter().map(text_of).collect();
        let mut put = Put::default();
        let mut begin = 0;
        while begin < texts.len() {
            let mut bytes = 0;
            let fits = texts.iter().skip(begin).take(BATCH_ITEMS_MAX).take_while(|text| {
                bytes += text.len();
                bytes <= BATCH_BYTES_MAX
            });
            let end = begin + fits.count().max(1);
            self.put_batch(texts.get(begin..end).unwrap_or_default(), begin, &mut put)?;
            begin = end;
        }
        Ok(put)
    }

    fn put_batch(&self, texts: &[String], begin: usize, put: &mut Put) -> Result<()> {
        let requests: Vec<String> =
            texts.iter().map(|text| format!("{{\"PutRequest\":{{\"Item\":{text}}}}}")).collect();
        let mut left = format!("{{{}:[{}]}}", self.table, requests.join(","));
        for tries in 1..=LEFT_TRIES_MAX {
            let request = format!("{{\"RequestItems\":{left}}}");
            let body = match self.client.ask("BatchWriteItem", &request)? {
                Ok(body) => body,
                Err(refusal) if OF_ITEM.contains(&refusal.name.as_str()) => {
                    return self.put_each(texts, begin, put);
                }
                Err(refusal) => return Err(refusal.into()),
            };
            let answer: Answer<'_> = parse("BatchWriteItem", &body)?;
            match answer.unprocessed_items.map(RawValue::get) {
                None | Some("{}" | "null") => {
                    texts.iter().for_each(|text| put.sums.add(text.as_bytes()));
                    return Ok(());
                }
                Some(rest) => left = rest.to_owned(),
            }
            self.client.control().wait(backoff(tries))?;
        }
        let why = "the table takes no more writes: it leaves items of a batch unprocessed again and again";
        Err(Error::new(ErrorKind::Refused, why))
    }

    /// Puts items one by one, to find those that are refused; of one key the last stays.
    fn put_each(&self, texts: &[String], begin: usize, put: &mut Put) -> Result<()> {
        for (place, text) in (begin..).zip(texts) {
            let request = format!("{{\"TableName\":{},\"Item\":{text}}}", self.table);
            match self.client.ask("PutItem", &request)? {
                Ok(_) => put.sums.add(text.as_bytes()),
                Err(refusal) if OF_ITEM.contains(&refusal.name.as_str()) => {
                    put.refused.push((place, refusal.message));
                }
                Err(refusal) => return Err(refusal.into()),
            }
        }
        Ok(())
    }
}

/// Returns true if an answer's member is there and not null.
pub(super) fn has(json: &Json, name: &str) -> bool {
    json.get(name).is_some_and(|value| !value.is_null())
}
