//! The dialect of the `cassandra-cli` command of 2012: cut, read, run.
//!
//! * [`script`] and [`document`] cut a text into commands, [`parse`] reads one as a [`Command`].
//! * [`Client`] runs commands over a [`Backend`], which is anything that takes CQL:
//!   [`Local`] is a face of the same process.
//! * Two modes: [`Mode::Strict`] reads what the original reads. [`Mode::Forgiving`] also reads
//!   what text processors make of scripts (curly and missing quotes, wide spaces, struck-out types,
//!   foreign comments); every repair is a [`Warning`] with its place.
//!
//! What it is not: Thrift. The commands run as CQL, on tables that CQL sees too.
//!
//! Invariant: what strict mode reads of a text without curly quotes, forgiving mode reads alike and
//! without a warning.
//!
//! Source: behaviour of `cassandra-cli` of Apache Cassandra 1.0, as its grammar states it.

mod backend;
mod client;
mod describe;
mod family;
mod lexer;
mod local;
#[cfg(test)]
mod local_tests;
mod parser;
mod read;
mod schema;
#[cfg(test)]
mod session_tests;
mod source;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod write;

use std::fmt;

pub use backend::{Backend, Reply, Table};
pub use client::Client;
pub use local::Local;
pub use parser::parse;
pub use source::{Piece, Place, Script, document, script};
pub use tree::{
    Access, Attribute, AttributeValue, Command, Comparison, Condition, Definition, HashValue, Value,
};

/// The greatest depth of nested hashes of attributes. One level is all that any attribute has.
pub const HASH_DEPTH_MAX: usize = 16;

/// The leniency of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing, like the original.
    Strict,
    /// Everything is mended whose meaning needs no guess.
    Forgiving,
}

/// Something that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    place: Place,
    text: String,
}

impl Warning {
    fn new(place: Place, text: impl Into<String>) -> Warning {
        Warning { place, text: text.into() }
    }

    /// Returns where it stood.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns what was mended, and how.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.place.line, self.place.column, self.text)
    }
}

/// A command that cannot be read. The message is the original's where it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    place: Place,
    text: String,
}

impl CliError {
    fn new(place: Place, text: impl Into<String>) -> CliError {
        CliError { place, text: text.into() }
    }

    /// Returns where it stands.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the message.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for CliError {}
