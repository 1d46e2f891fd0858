//! Values as JSON and back, as `SELECT JSON`, `INSERT JSON`, `toJson` and `fromJson` do it.
//!
//! Source of forms and texts: Cassandra 5.0, `toJSONString` and `fromJSONObject` of its types, read
//! 2026-11.

mod read;
mod write;

pub use read::column_name;
pub use read::{Json, from_json, parse_json};
pub use write::put_name as put_json_name;
pub use write::{to_json, to_json_into};
