//! A change as a stream record.

use shelfmark_engine::{ItemChange, Table};
use shelfmark_model::{ChangeImages, Item, StreamShard, item_size_bytes};
use xxhash_rust::xxh3::xxh3_128;

use super::sequence::sequence_number;
use super::view_type_of;
use crate::json::{Writer, put_item};
use crate::options::FaceOptions;

/// Version of the form of records. Source: observed on the service, 2026.
const EVENT_VERSION: &str = "1.1";

/// Writes the record of a change of this shard. `log` is the table of the shard, which has the key of
/// the table that changed.
pub(crate) fn put_record(
    out: &mut Writer,
    options: &FaceOptions,
    log: &Table,
    shard: &StreamShard,
    change: &ItemChange,
) {
    let number = sequence_number(change.position);
    let name = match (&change.old, &change.new) {
        (None, _) => "INSERT",
        (Some(_), Some(_)) => "MODIFY",
        (Some(_), None) => "REMOVE",
    };
    out.object(|out| {
        out.name("awsRegion").text(&options.region);
        out.name("dynamodb").object(|out| put_change(out, log, shard.images, change, &number));
        let place = format!("{}/{}/{number}", shard.table, shard.label);
        out.name("eventID").text(&format!("{:032x}", xxh3_128(place.as_bytes())));
        out.name("eventName").text(name);
        out.name("eventSource").text("aws:dynamodb");
        out.name("eventVersion").text(EVENT_VERSION);
        if change.expired {
            out.name("userIdentity").object(|out| {
                out.name("PrincipalId").text("dynamodb.amazonaws.com");
                out.name("Type").text("Service");
            });
        }
    });
}

fn put_change(
    out: &mut Writer,
    log: &Table,
    images: ChangeImages,
    change: &ItemChange,
    number: &str,
) {
    let item = change.new.as_ref().or(change.old.as_ref());
    let key = |item: &Item| -> Item {
        let names = log.schema.key_names();
        names.filter_map(|name| Some((name, item.get(name)?.clone()))).collect()
    };
    let key = item.map(key).unwrap_or_default();
    let new = change.new.as_ref().filter(|_| images.has_new());
    let old = change.old.as_ref().filter(|_| images.has_old());
    let seconds = change.at_micros / 1_000_000;
    out.name("ApproximateCreationDateTime").integer(i64::try_from(seconds).unwrap_or(i64::MAX));
    out.name("Keys");
    put_item(out, &key);
    for (name, image) in [("NewImage", new), ("OldImage", old)] {
        if let Some(image) = image {
            out.name(name);
            put_item(out, image);
        }
    }
    out.name("SequenceNumber").text(number);
    let images_bytes = [new, old].into_iter().flatten().map(item_size_bytes).sum::<usize>();
    out.name("SizeBytes").count(item_size_bytes(&key) + images_bytes);
    out.name("StreamViewType").text(view_type_of(images));
}
