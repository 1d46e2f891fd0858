//! The part of a table's record that is about its change stream and its history.
//!
//! Names of members are part of the format: they may be added to, never changed.

use shelfmark_model::{ChangeImages, ChangeStream, History, OpenShard, StreamShard};

use super::record::{damaged, number, unsigned};
use super::schema_codec::{Map, each, list, map, text};
use crate::error::Result;

/// Writes the stream of a table.
pub(super) fn stream_to_map(stream: &ChangeStream) -> Map {
    map([
        ("label", stream.label.as_str().into()),
        ("images", stream.images.word().into()),
        ("shards", list(&stream.shards, open_to_map)),
    ])
}

/// Reads the stream of a table.
pub(super) fn stream_from_map(map: &Map) -> Result<ChangeStream> {
    Ok(ChangeStream {
        label: text(map.get("label"))?.to_owned(),
        images: images(map)?,
        shards: each(map.get("shards"), open_from_map)?,
    })
}

fn open_to_map(shard: &OpenShard) -> Map {
    map([
        ("first", number(shard.first_token)),
        ("number", number(shard.number)),
        ("log", number(shard.log)),
    ])
}

fn open_from_map(map: &Map) -> Result<OpenShard> {
    Ok(OpenShard {
        first_token: unsigned(map.get("first"))?,
        number: unsigned(map.get("number"))?,
        log: unsigned(map.get("log"))?,
    })
}

/// Writes what a table says that holds a shard's log.
pub(super) fn shard_to_map(shard: &StreamShard) -> Map {
    let mut map = map([
        ("namespace", shard.namespace.as_str().into()),
        ("table", shard.table.as_str().into()),
        ("label", shard.label.as_str().into()),
        ("images", shard.images.word().into()),
        ("started", number(shard.started_at_micros)),
        ("number", number(shard.number)),
        ("first", number(shard.first_token)),
        ("opened", number(shard.opened_at_micros)),
    ]);
    for (name, value) in [("parent", shard.parent), ("closed", shard.closed_at_micros)] {
        if let Some(value) = value {
            map.insert(name.to_owned(), number(value));
        }
    }
    map
}

/// Reads what a table says that holds a shard's log.
pub(super) fn shard_from_map(map: &Map) -> Result<StreamShard> {
    let optional = |name: &str| map.get(name).map(|value| unsigned(Some(value))).transpose();
    Ok(StreamShard {
        namespace: text(map.get("namespace"))?.to_owned(),
        table: text(map.get("table"))?.to_owned(),
        label: text(map.get("label"))?.to_owned(),
        images: images(map)?,
        started_at_micros: unsigned(map.get("started"))?,
        number: unsigned(map.get("number"))?,
        parent: optional("parent")?,
        first_token: unsigned(map.get("first"))?,
        opened_at_micros: unsigned(map.get("opened"))?,
        closed_at_micros: optional("closed")?,
    })
}

/// Writes the history of a table.
pub(super) fn history_to_map(history: &History) -> Map {
    let mut map = map([("label", history.label.as_str().into()), ("log", number(history.log))]);
    if let Some(days) = history.days {
        map.insert("days".to_owned(), number(u64::from(days)));
    }
    map
}

/// Reads the history of a table.
pub(super) fn history_from_map(map: &Map) -> Result<History> {
    let days = map.get("days").map(|days| unsigned(Some(days))).transpose()?;
    Ok(History {
        label: text(map.get("label"))?.to_owned(),
        log: unsigned(map.get("log"))?,
        days: days.map(u32::try_from).transpose().map_err(|_| damaged())?,
    })
}

fn images(map: &Map) -> Result<ChangeImages> {
    ChangeImages::of_word(text(map.get("images"))?).ok_or_else(damaged)
}
