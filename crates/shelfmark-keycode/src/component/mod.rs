//! Encodes the components of a key: one module per family, each with `put_…` and `take_…`.
//!
//! `put_…` appends the component to a buffer and allocates nothing but the buffer's growth.
//! `take_…` reads one component from the front of a cursor and moves the cursor behind it; on an
//! error the cursor stays where it was, and the error's position counts from there.
//!
//! What it is not: it checks no limits on key length (the store's `caps()` do) and no meaning (a
//! time of 25 hours has an order too; refusing it is the schema's work).
//!
//! Invariant, of every family and both directions: `a < b` exactly when `put(a) < put(b)`, no
//! encoding is a prefix of another, and `take` accepts exactly what `put` writes.

mod cursor;
mod decimal;
mod escape;
mod fixed;
mod inet;
mod integer;
mod kind;
mod packed;
mod temporal;
mod uuid;
mod varint;

pub(crate) use cursor::take_byte;
pub use decimal::{put_decimal, take_decimal};
pub(crate) use decimal::{put_parts, skip_decimal};
pub(crate) use escape::skip_bytes;
pub use escape::{
    put_bytes, put_bytes_prefix, put_text, put_text_prefix, take_bytes, take_bytes_into, take_text,
};
pub(crate) use fixed::skip_fixed;
pub use fixed::{
    put_bool, put_f32, put_f64, put_i8, put_i16, put_i32, put_i64, put_i128, put_u8, put_u16,
    put_u32, put_u64, put_u128, take_bool, take_f32, take_f64, take_i8, take_i16, take_i32,
    take_i64, take_i128, take_u8, take_u16, take_u32, take_u64, take_u128,
};
pub use inet::{put_inet, take_inet};
pub(crate) use integer::skip_integer;
pub use integer::{put_integer, put_integer_be_bytes, take_integer};
pub use kind::{Kind, put_end, put_kind, put_more, take_kind, take_more};
pub use packed::{PACKED_FROM_BYTES, put_packed_bytes, put_shorter_bytes, take_packed_bytes};
pub use temporal::{
    put_date, put_date_days, put_time, put_timestamp, take_date, take_date_days, take_time,
    take_timestamp,
};
pub use uuid::{
    put_cql_timeuuid, put_cql_uuid, put_uuid, take_cql_timeuuid, take_cql_uuid, take_uuid,
};
pub use varint::{ORDERED_VARINT_BYTES_MAX, put_ordered_varint, take_ordered_varint};
