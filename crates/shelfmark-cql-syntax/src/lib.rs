//! CQL as text and as a tree: lexer, parser, syntax tree, printer.
//!
//! * [`parse`]: one statement from its text, as a [`ast::Parsed`]; [`parse_type`] and
//!   [`parse_term`] for parts.
//! * [`ast`]: the tree. Every node prints itself as canonical CQL.
//! * [`split`], [`with_plain_spaces`], [`complete`]: scripts and prompts.
//! * [`quoted_name`] and [`quoted_string`]: names and texts as CQL must write them.
//!
//! What it is not: it looks nothing up, so a statement that parses may still name what is not
//! there, and it executes nothing. It knows no files, sockets, clock or threads.
//!
//! Invariant: what was parsed prints as a text that parses to the same tree.
//!
//! Grammar: Apache Cassandra 5.0, CQL 3.4.7, and from later versions `LIST SUPERUSERS` and
//! `BEGIN TRANSACTION`, so that a refusal can name them. Messages are the original's.

pub mod ast;
mod complete;
mod described;
mod error;
mod lexer;
mod limits;
mod parser;
mod printer;
mod script;
mod span;

pub use complete::{Completions, complete};
pub use described::recreating;
pub use error::SyntaxError;
pub use limits::{DEPTH_MAX, TEXT_BYTES_MAX};
pub use parser::{parse, parse_term, parse_type};
pub use printer::{quoted_name, quoted_string};
pub use script::{Script, split, with_plain_spaces};
pub use span::Span;
