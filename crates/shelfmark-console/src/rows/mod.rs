//! Rows of a table: read by pages in key order, filtered by their key, opened, written.
//!
//! * `key_form`: conditions on the key, as a form; `typed`: typed text as values; `read`: pages;
//!   `show`: a page as HTML; `row`: one row in the forms people copy; `write`: adding, changing,
//!   deleting, and what that does to indexes.
//!
//! What it is not: a way around the faces. DynamoDB's tables are written by its operations and CQL's
//! by its statements, so that every rule of theirs holds; other tables are read only.

mod key_form;
mod read;
mod row;
mod show;
mod typed;
mod value;
mod write;

pub(crate) use key_form::KeyForm;
pub(crate) use read::{key_range, observed, wire_rows};
pub(crate) use show::{page, part};
pub(crate) use value::{item_text, value_text};
pub(crate) use write::act;
