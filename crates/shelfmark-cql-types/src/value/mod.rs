//! Serialised values: validated, compared, and turned into text, JSON, key components and back.
//!
//! Values travel through the face as the bytes of the protocol: validated once where they enter,
//! compared, and written out here. There is no enum of values; a read hands bytes on without looking
//! into them.
//!
//! What it is not: the types themselves and the walk over collections, which are the protocol's; no
//! terms and no functions.
//!
//! Invariant: functions of this module never panic on bytes that do not fit their type; those that
//! need valid bytes treat others as unsigned bytes or answer with an error.
//!
//! Source: Apache Cassandra 5.0, packages `db.marshal` and `serializers`, read 2026-11.

mod canonical;
mod compare;
mod composite;
mod json;
mod key;
mod number;
mod text;
mod time;
mod uuid;
mod validate;

#[cfg(test)]
mod tests;

pub use canonical::canonical;
pub use compare::compare;
pub use json::{Json, column_name as json_column_name, from_json, parse_json, put_json_name};
pub use json::{to_json, to_json_into};
pub use key::{key_type, partition_bytes, partition_parts};
pub use number::{
    decimal_from_parts, decimal_parts, decimal_to_scientific, parse_decimal, parse_varint,
    plain_decimal, varint_from_bytes, varint_to_bytes,
};
pub use shelfmark_cql_protocol::types::{
    CqlType, Elements, Entries, Fields, MarshalError, Native, Result, TYPE_DEPTH_MAX,
    TYPE_PARTS_MAX, UserType, VECTOR_DIMENSION_MAX, check_limits, check_limits_within, class_name,
    elements, entries, fields, maybe_quote, native_by_name, parse_class_name, put_cell,
    put_collection, put_field, put_tuple, put_type_option, take_type_option, take_vint, too_deep,
    unsigned_vint, vector_elements,
};
pub use text::{from_text, to_literal, to_text};
pub use time::{
    DATE_EPOCH, Duration, civil_from_days, days_from_civil, days_in_month, format_date,
    format_time, format_timestamp_utc, parse_date, parse_duration, parse_time, parse_timestamp,
    take_duration,
};
pub use uuid::{format_uuid, parse_uuid};
pub use validate::validate;

/// Keys of the engine nest as deep as types may.
const _: () = assert!(TYPE_DEPTH_MAX <= shelfmark_keycode::KEY_DEPTH_MAX);
