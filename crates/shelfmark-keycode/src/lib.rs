//! Encodes values of key types so that the order of bytes is the order of values.
//!
//! An ordered store compares keys as bytes; people compare values. This crate turns values into
//! bytes so that both agree: `a < b` exactly when `enc(a) < enc(b)`. Every component ends itself,
//! so components written one behind the other compare like the tuple of their values, and each
//! may be ascending or descending.
//!
//! * `put_…` and `take_…`: one component, typed, without detours; for hot paths.
//! * [`KeyType`] and [`KeyValue`] with [`encode`], [`decode`], [`skip`] and [`compare`]: the same
//!   for types known only at run time. [`KeyType`] is the list of all key types; the header of its
//!   module, `dynamic`, says which files a new one touches.
//! * [`prefix_successor`] and [`text_prefix_range`]: where ranges end.
//! * [`token`]: Cassandra's Murmur3 token.
//! * [`lexint`] and [`Ulid`]: codecs for people who build text keys by hand.
//! * [`Decimal`] and [`number`]: numbers of any precision, and DynamoDB's.
//!
//! What it is not: it knows no tables, no files, no wire forms and no clock, and draws no random
//! numbers itself.
//!
//! Invariant: decoders accept exactly what encoders write, never panic and never allocate more
//! than the input justifies.
//!
//! The bytes are drawn in `docs/format.md`, section "Keys".
//!
//! # Examples
//!
//! The newest first within each user, then all of one user's rows as one range:
//!
//! ```
//! use shelfmark_keycode::{Direction, prefix_successor, put_text, put_timestamp, take_text};
//!
//! let key = |user: &str, at: i64| {
//!     let mut key = Vec::new();
//!     put_text(&mut key, Direction::Ascending, user);
//!     put_timestamp(&mut key, Direction::Descending, at);
//!     key
//! };
//! assert!(key("ann", 2) < key("ann", 1));
//! assert!(key("ann", 1) < key("anna", 2));
//!
//! let mut start = Vec::new();
//! put_text(&mut start, Direction::Ascending, "ann");
//! let end = prefix_successor(&start).ok_or("unbounded")?;
//! assert!((start.clone()..end).contains(&key("ann", 7)));
//!
//! let mut rest = &start[..];
//! assert_eq!(take_text(&mut rest, Direction::Ascending)?, "ann");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod calendar;
mod component;
mod decimal;
mod direction;
mod dynamic;
mod error;
pub mod lexint;
pub mod number;
mod prefix;
mod token;
mod ulid;
mod uuid_text;

pub use component::{
    Kind, ORDERED_VARINT_BYTES_MAX, PACKED_FROM_BYTES, put_bool, put_bytes, put_bytes_prefix,
    put_cql_timeuuid, put_cql_uuid, put_date, put_date_days, put_decimal, put_end, put_f32,
    put_f64, put_i8, put_i16, put_i32, put_i64, put_i128, put_inet, put_integer,
    put_integer_be_bytes, put_kind, put_more, put_ordered_varint, put_packed_bytes,
    put_shorter_bytes, put_text, put_text_prefix, put_time, put_timestamp, put_u8, put_u16,
    put_u32, put_u64, put_u128, put_uuid, take_bool, take_bytes, take_bytes_into,
    take_cql_timeuuid, take_cql_uuid, take_date, take_date_days, take_decimal, take_f32, take_f64,
    take_i8, take_i16, take_i32, take_i64, take_i128, take_inet, take_integer, take_kind,
    take_more, take_ordered_varint, take_packed_bytes, take_text, take_time, take_timestamp,
    take_u8, take_u16, take_u32, take_u64, take_u128, take_uuid,
};
pub use decimal::{DECIMAL_BITS_MAX, Decimal, Magnitude};
pub use direction::Direction;
pub use dynamic::{KEY_DEPTH_MAX, KeyType, KeyValue, canonicalize, compare, decode, encode, skip};
pub use error::{KeyError, KeyErrorKind, Result};
pub use prefix::{bytes_prefix_range, prefix_successor, text_prefix_range};
pub use token::{token, token_bytes, token_from_bytes};
pub use ulid::{Overflow, ULID_TEXT_BYTES, Ulid, UlidGenerator};
pub use uuid_text::{parse_uuid, uuid_text};
