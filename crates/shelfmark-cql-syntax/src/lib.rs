//! CQL as text and as a tree: lexer, parser, syntax tree, printer.
//!
//! * [`ast`]: the tree of one statement.
//!
//! What it is not: it looks nothing up, so a statement that parses may still name what is not
//! there, and it executes nothing. It knows no files, sockets, clock or threads.
//!
//! Grammar: Apache Cassandra 5.0, CQL 3.4.7.

pub mod ast;
mod span;

pub use span::Span;
