//! Rows of cells as bytes: columns and collection elements that carry a write time and perhaps an
//! expiry.
//!
//! Merging rows is commutative, associative and idempotent, and a test holds it to that.
//!
//! Drawn byte by byte in `docs/format.md`, section "Rows of cells".

mod cell;
mod clustering;
mod codec;
mod derived;
pub mod due;
mod keys;
mod layout;
mod live_row;
mod merge;
mod order;
mod span;
mod spelling;
pub mod tombstones;
mod view_filter;

pub use cell::{
    Cell, CellKey, CellRow, Content, Deletion, Expiry, Liveness, Timestamp, has_expired,
};
pub use clustering::{ClusteringValue, join_partition, split_partition, take_into};
pub use codec::{
    LISTED_PATH_BYTES_MAX, Part, RowReader, StoredCell, chunk_count, decode_part,
    each_cell_of_chunks, encode_inserted, parts_of, parts_within, put_deletion, take_deletion,
};
pub use derived::{
    ENTRY_KEY_BYTES_MAX, ends_of, entries, entries_of_any_length, entry_value, is_entry, view_row,
};
pub use keys::{CellKeys, Packs, Place, ROW, STATICS, put_partition, span_range};
pub use layout::{CellsLayout, IndexLayout};
pub use live_row::{LiveCell, LiveRow, Visible};
pub use order::check_order;
pub use span::{Span, SpanBound};
pub use spelling::{plainly_spelled, whole, with_whole_digits};
pub use view_filter::ViewFilter;

#[cfg(test)]
mod tests;
