//! From a tree to text: the canonical form, which parses to the same tree.
//!
//! Keywords stand in upper case, names only in quotes where they need them, one space between
//! words. Every node of the tree implements [`std::fmt::Display`].
//!
//! What it is not: it lays nothing out over lines.
//!
//! Invariant: what the parser made of a text prints as a text that the parser makes the same of.

mod modify;
mod names;
mod role;
mod schema;
mod select;
mod statement;
mod table;
mod terms;

use std::fmt::{self, Display, Formatter};

pub use names::{quoted_name, quoted_string};

/// Writes items with something between them.
fn list<T: Display>(f: &mut Formatter<'_>, items: &[T], between: &str) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            f.write_str(between)?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

/// Writes a word if it is wanted.
fn word(f: &mut Formatter<'_>, wanted: bool, word: &str) -> fmt::Result {
    if wanted { f.write_str(word) } else { Ok(()) }
}
