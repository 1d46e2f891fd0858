//! Change streams as DynamoDB shows them: names of streams and shards, sequence numbers, iterators and
//! records.
//!
//! The engine keeps the changes; here is only how they are called and spelled. What it is not: the
//! operations, which are in `operations`.
//!
//! Invariant: every text that names a place in a stream (ARN, shard id, sequence number, iterator)
//! follows from what is stored, so it means the same after a restart.

mod iterator;
mod name;
mod record;
mod sequence;
mod shard;

pub(crate) use iterator::{Iterator, IteratorFault};
pub(crate) use name::{StreamName, free_label, label_of, stream_arn};
pub(crate) use record::put_record;
pub(crate) use sequence::position_of;
pub(crate) use shard::{SHARD_ID_PREFIX, find_shard, put_shard, shard_id, shard_number};

use shelfmark_model::ChangeImages;

/// The values of `StreamViewType`.
pub(crate) const VIEW_TYPES: &[&str] =
    &["OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE"];

/// Returns the images that a view type asks for.
pub(crate) fn images_of(view_type: &str) -> Option<ChangeImages> {
    ChangeImages::ALL.into_iter().find(|images| view_type_of(*images) == view_type)
}

/// Returns the view type that shows these images.
pub(crate) const fn view_type_of(images: ChangeImages) -> &'static str {
    match images {
        ChangeImages::Keys => "KEYS_ONLY",
        ChangeImages::New => "NEW_IMAGE",
        ChangeImages::Old => "OLD_IMAGE",
        ChangeImages::Both => "NEW_AND_OLD_IMAGES",
    }
}
