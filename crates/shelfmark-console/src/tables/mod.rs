//! Tables of every face: the list, and the page of each with its key line.

mod found;
mod list;
mod page;

pub(crate) use found::{Found, address, key_type_text};
pub(crate) use list::list;
pub(crate) use page::{find_key, page, table_head};
