//! Records of the catalogue as bytes: the schemas of tables.
//!
//! A record is an item in the codec of rows, so that the catalogue has no format of its own.

mod cells_codec;
mod key_type;
pub mod keys;
mod limits;
mod migration;
mod record;
mod schema_codec;
mod streams_codec;

pub use limits::RECORD_SIZE_BYTES_MAX;
pub use migration::MigrationMark;
pub use record::TableRecord;
