//! Items of DynamoDB tables, read from and written to an endpoint: a face in this process, or a server.
//!
//! What it is not: the engine. Tables are made and items are put by the requests that every client has, so
//! what a table's rules refuse is refused here, too.
//!
//! Invariant: an item's fixed form, from which checksums are made, is DynamoDB's JSON with its attributes
//! sorted and its numbers as the service writes them.

mod client;
pub(crate) mod csv;
mod definition;
mod migrate;
pub(crate) mod plain;
mod put;
mod scan;
mod text;
mod transfer;
mod workbench;

pub(crate) use client::backoff;
pub use client::{Client, Connect};
pub use definition::{Created, Definition};
pub use migrate::{ItemMigration, migrate_items};
pub use put::{ItemPutter, Put};
pub use scan::{ItemSource, SEGMENTS_MAX};
pub use text::{item_of, text_of};
pub use transfer::{
    Exported, ItemExport, ItemForm, ItemImport, Target, export_items, import_items, records_of,
};
pub use workbench::{WorkbenchTable, read_workbench};
